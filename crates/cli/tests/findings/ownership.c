/* Memory that a communication owns: given back, touched by the C library, or after its request is gone. */
#include "cases.h"
#include <sys/mman.h>

// 2: buffer-race
CASE(freed_while_sending) {
    int *x = malloc(40);
    MPI_Request request;
    for (int i = 0; i < 10; i++) x[i] = i;
    if (rank == 0) {
        MPI_Isend(x, 10, MPI_INT, 1, 0, WORLD, &request);
        if (WRONG) free(x); //!
        MPI_Wait(&request, &status);
        if (!WRONG) free(x);
    } else {
        MPI_Recv(x, 10, MPI_INT, 0, 0, WORLD, &status);
        free(x);
    }
}

// 2: buffer-race
CASE(grown_while_receiving) {
    int *x = calloc(4, 4);
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(x, 4, MPI_INT, 1, 0, WORLD, &request);
        if (WRONG) x = realloc(x, 100000); //!
        MPI_Wait(&request, &status);
        if (!WRONG) x = realloc(x, 100000);
    } else
        MPI_Send(x, 4, MPI_INT, 0, 0, WORLD);
    free(x);
}

// 2: buffer-race
CASE(unmapped_while_receiving) {
    int *x = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), y = rank;
    MPI_Request request;
    MPI_Irecv(x, 1, MPI_INT, 1 - rank, 0, WORLD, &request);
    MPI_Send(&y, 1, MPI_INT, 1 - rank, 0, WORLD);
    if (WRONG) munmap(x, 8192); //!
    MPI_Wait(&request, &status);
    if (!WRONG) munmap(x, 8192);
}

// 2: buffer-race
CASE(stored_after_its_request_is_freed) {
    int x = 1, y = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(&x, 1, MPI_INT, 1, 0, WORLD, &request);
        MPI_Request_free(&request);
        if (WRONG) x = 2; //!
        MPI_Recv(&y, 1, MPI_INT, 1, 0, WORLD, &status);
        x = 3;
    } else {
        MPI_Recv(&y, 1, MPI_INT, 0, 0, WORLD, &status);
        MPI_Send(&y, 1, MPI_INT, 0, 0, WORLD);
    }
}

// 3: buffer-race
CASE(an_answer_of_somebody_else) {
    int x = 1, y = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(&x, 1, MPI_INT, 1, 0, WORLD, &request);
        MPI_Request_free(&request);
        MPI_Recv(&y, 1, MPI_INT, WRONG ? 2 : 1, 0, WORLD, &status);
        x = 3; //!
        MPI_Recv(&y, 1, MPI_INT, WRONG ? 1 : 2, 0, WORLD, &status);
    } else {
        if (rank == 1) MPI_Recv(&y, 1, MPI_INT, 0, 0, WORLD, &status);
        MPI_Send(&y, 1, MPI_INT, 0, 0, WORLD);
    }
}

// 2: buffer-race
CASE(length_of_a_text_that_is_received) {
    char x[16] = "text";
    volatile size_t length = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(x, 16, MPI_CHAR, 1, 0, WORLD, &request);
        if (WRONG) length = strlen(x); //!
        MPI_Wait(&request, &status);
        length += strlen(x);
    } else
        MPI_Send(x, 16, MPI_CHAR, 0, 0, WORLD);
}

// 2: buffer-race
CASE(text_copied_while_sending) {
    static char x[32] = "text", word[32] = "other";
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(x, 32, MPI_CHAR, 1, 0, WORLD, &request);
        if (WRONG) strcpy(x, word); //!
        MPI_Wait(&request, &status);
        strcpy(x, word);
    } else
        MPI_Recv(x, 32, MPI_CHAR, 0, 0, WORLD, &status);
}

// 2: buffer-race
CASE(printed_into_while_sending) {
    static char x[64], y[64];
    MPI_Request request;
    sprintf(x, "of %d", rank);
    if (rank == 0) {
        MPI_Isend(x, 64, MPI_CHAR, 1, 0, WORLD, &request);
        snprintf(WRONG ? x : y, 64, "step %d of %d", size, rank); //!
        MPI_Wait(&request, &status);
        sprintf(x, "done");
    } else
        MPI_Recv(y, 64, MPI_CHAR, 0, 0, WORLD, &status);
}

// 2: buffer-race
CASE(shown_while_receiving) {
    static char x[64] = "nothing";
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(x, 64, MPI_CHAR, 1, 0, WORLD, &request);
        if (WRONG) printf("rank %d: %5.2f %s\n", rank, 0.5, x); //!
        MPI_Wait(&request, &status);
        printf("rank %d: %5.2f %s\n", rank, 0.5, x);
    } else
        MPI_Send(x, 64, MPI_CHAR, 0, 0, WORLD);
}

static int compare(const void *one, const void *other) { return *(const int *)one - *(const int *)other; }

// 2: buffer-race
CASE(sorted_while_sending) {
    int x[4] = {4, 3, 2, 1};
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(x, 4, MPI_INT, 1, 0, WORLD, &request);
        if (WRONG) qsort(x, 4, sizeof *x, compare); //!
        MPI_Wait(&request, &status);
        qsort(x, 4, sizeof *x, compare);
    } else
        MPI_Recv(x, 4, MPI_INT, 0, 0, WORLD, &status);
}

// 2: buffer-race
CASE(partition_stored_when_it_is_ready) {
    int x[4] = {0};
    MPI_Request request;
    if (rank == 0) {
        MPI_Psend_init(x, 2, 2, MPI_INT, 1, 0, WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        x[0] = 1;
        MPI_Pready(0, request);
        x[WRONG ? 1 : 2] = 2; //!
        MPI_Pready(1, request);
    } else {
        MPI_Precv_init(x, 2, 2, MPI_INT, 0, 0, WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    }
    MPI_Wait(&request, &status);
    x[1]++;
    MPI_Request_free(&request);
}

// 2: buffer-race
CASE(partition_read_before_it_is_there) {
    int x[4] = {0}, flag = 0, sum = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Psend_init(x, 2, 2, MPI_INT, 1, 0, WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready_range(0, 1, request);
    } else {
        MPI_Precv_init(x, 2, 2, MPI_INT, 0, 0, WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Parrived(request, 0, &flag);
        if (flag) sum += x[1] + (WRONG ? x[2] : 0); //!
    }
    MPI_Wait(&request, &status);
    if (sum + x[3] > 99) abort();
    MPI_Request_free(&request);
}

// 1: buffer-race
CASE(stored_while_it_is_written) {
    int x[4] = {0};
    MPI_File file;
    MPI_Request request;
    MPI_File_open(WORLD, "numbers", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_iwrite(file, x, 3, MPI_INT, &request);
    x[WRONG ? 2 : 3] = 1; //!
    MPI_Wait(&request, &status);
    MPI_File_close(&file);
}

// 1: buffer-race
CASE(loaded_while_it_is_read) {
    int x[4] = {0}, sum = 0;
    MPI_File file;
    MPI_Request request;
    MPI_File_open(WORLD, "numbers", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, x, 4, MPI_INT, &status);
    MPI_File_iread_at(file, 0, x, 4, MPI_INT, &request);
    if (WRONG) sum += x[1]; //!
    MPI_Wait(&request, &status);
    sum += x[1];
    MPI_File_close(&file);
    if (sum > 99) abort();
}

// 2: buffer-race
CASE(read_between_begin_and_end) {
    int x[4] = {0}, sum = 0;
    MPI_File file;
    MPI_File_open(WORLD, "numbers", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, 16 * rank, x, 4, MPI_INT, &status);
    MPI_File_read_at_all_begin(file, 16 * rank, x, 4, MPI_INT);
    if (WRONG) sum += x[1]; //!
    MPI_File_read_at_all_end(file, x, &status);
    sum += x[1];
    MPI_File_close(&file);
    if (sum > 99) abort();
}

// 2: invalid-argument
CASE(attached_buffer_is_too_small) {
    char buffer[4096];
    int x[8] = {0};
    void *gone;
    int bytes;
    MPI_Buffer_attach(buffer, (WRONG ? 1 : 4) * (sizeof x + MPI_BSEND_OVERHEAD));
    for (int i = 0; i < 4; i++)
        if (rank == 0) MPI_Bsend(x, 8, MPI_INT, 1, 0, WORLD); //!
        else MPI_Recv(x, 8, MPI_INT, 0, 0, WORLD, &status);
    MPI_Buffer_detach(&gone, &bytes);
}

// 2: invalid-argument
CASE(overlapping_entries) {
    int x[4] = {0}, lengths[2] = {2, 2}, places[2] = {0, WRONG ? 1 : 2};
    MPI_Datatype type;
    MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    if (rank == 0) MPI_Send(x, 1, type, 1, 0, WORLD);
    else MPI_Recv(x, 1, type, 0, 0, WORLD, &status); //!
    MPI_Type_free(&type);
}

// 2: request
CASE(one_request_twice) {
    int x = 0, y = 0;
    MPI_Request requests[3];
    MPI_Isend(&x, 1, MPI_INT, 1 - rank, 0, WORLD, &requests[0]);
    MPI_Irecv(&y, 1, MPI_INT, 1 - rank, 0, WORLD, &requests[1]);
    requests[2] = requests[1];
    MPI_Waitall(WRONG ? 3 : 2, requests, MPI_STATUSES_IGNORE); //!
}

// 2: request
CASE(collective_cancelled) {
    int x = 0, y = 0;
    MPI_Request request;
    MPI_Irecv(&y, 1, MPI_INT, 1 - rank, 0, WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, WORLD, &request);
    if (WRONG) MPI_Cancel(&request); //!
    MPI_Wait(&request, &status);
}

// 2: buffer-race
CASE(attached_buffer_is_stored_to) {
    static char buffer[4096];
    int x = 1, bytes;
    void *gone;
    MPI_Buffer_attach(buffer, sizeof buffer);
    buffer[1] = 1;
    if (rank == 0) MPI_Bsend(&x, 1, MPI_INT, 1, 0, WORLD);
    else MPI_Recv(&x, 1, MPI_INT, 0, 0, WORLD, &status);
    if (WRONG) buffer[100] = 1; //!
    MPI_Buffer_detach(&gone, &bytes);
    buffer[100] = 1;
}

// 2: buffer-race
CASE(attached_buffer_is_loaded) {
    static char buffer[4096];
    int x = 1, y = 0, bytes, sum = 0;
    void *gone;
    MPI_Buffer_attach(buffer, sizeof buffer);
    if (rank == 0) {
        MPI_Bsend(&x, 1, MPI_INT, 1, 0, WORLD);
        if (WRONG) sum += buffer[100]; //!
        MPI_Recv(&y, 1, MPI_INT, 1, 0, WORLD, &status);
        sum += buffer[100];
    } else {
        MPI_Recv(&y, 1, MPI_INT, 0, 0, WORLD, &status);
        MPI_Send(&y, 1, MPI_INT, 0, 0, WORLD);
    }
    if (sum > 99) abort();
    MPI_Buffer_detach(&gone, &bytes);
}

// 2: buffer-race
CASE(attached_buffer_is_freed) {
    char *buffer = malloc(4096);
    int x = 1, bytes;
    void *gone;
    MPI_Request request;
    MPI_Buffer_attach(buffer, 4096);
    if (rank == 0) {
        MPI_Ibsend(&x, 1, MPI_INT, 1, 0, WORLD, &request);
        MPI_Wait(&request, &status);
        if (WRONG) free(buffer); //!
    } else
        MPI_Recv(&x, 1, MPI_INT, 0, 0, WORLD, &status);
    MPI_Buffer_detach(&gone, &bytes);
    if (!WRONG) free(buffer);
}

// 2: buffer-race
CASE(attached_buffer_receives) {
    static char buffer[4096];
    int x = 1;
    MPI_Buffer_attach(buffer, sizeof buffer);
    if (rank == 0) {
        MPI_Bsend(&x, 1, MPI_INT, 1, 0, WORLD);
        if (!WRONG) MPI_Buffer_flush();
        MPI_Recv(buffer, 1, MPI_INT, 1, 0, WORLD, &status); //!
    } else {
        MPI_Recv(&x, 1, MPI_INT, 0, 0, WORLD, &status);
        MPI_Send(&x, 1, MPI_INT, 0, 0, WORLD);
    }
}

// 2: buffer-race
CASE(matched_message_is_loaded_early) {
    int x[4] = {0}, sum = 0;
    MPI_Message message;
    MPI_Request request;
    if (rank == 0) MPI_Send(x, 4, MPI_INT, 1, 0, WORLD);
    else {
        MPI_Mprobe(0, 0, WORLD, &message, &status);
        MPI_Imrecv(x, 4, MPI_INT, &message, &request);
        if (WRONG) sum += x[1]; //!
        MPI_Wait(&request, &status);
        sum += x[1];
    }
    if (sum > 99) abort();
}

// 2: buffer-race
CASE(matched_message_into_what_is_sent) {
    int x[4] = {0}, y[4] = {0};
    MPI_Message message;
    MPI_Request request;
    MPI_Isend(x, 4, MPI_INT, 1 - rank, 0, WORLD, &request);
    MPI_Mprobe(1 - rank, 0, WORLD, &message, &status);
    MPI_Mrecv(WRONG ? x : y, 4, MPI_INT, &message, &status); //!
    MPI_Wait(&request, &status);
}

static MPI_File opened(void) {
    MPI_File file;
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    MPI_File_open(WORLD, "numbers", mode, MPI_INFO_NULL, &file);
    return file;
}

// 2: call-order
CASE(split_collective_begun_twice) {
    int x[4] = {0}, y[4] = {0};
    MPI_File file = opened();
    MPI_File_read_all_begin(file, x, 4, MPI_INT);
    if (!WRONG) MPI_File_read_all_end(file, x, &status);
    MPI_File_read_all_begin(file, y, 4, MPI_INT); //!
    MPI_File_read_all_end(file, y, &status);
    MPI_File_close(&file);
}

// 2: call-order
CASE(split_collective_ended_as_another) {
    int x[4] = {0};
    MPI_File file = opened();
    MPI_File_write_at_all_begin(file, 16 * rank, x, 4, MPI_INT);
    if (WRONG) MPI_File_write_all_end(file, x, &status); //!
    else MPI_File_write_at_all_end(file, x, &status);
    MPI_File_close(&file);
}

// 2: call-order
CASE(split_collective_ended_without_a_begin) {
    int x[4] = {0};
    MPI_File file = opened();
    if (!WRONG) MPI_File_write_ordered_begin(file, x, 4, MPI_INT);
    MPI_File_write_ordered_end(file, x, &status); //!
    MPI_File_close(&file);
}

// 2: call-order
CASE(split_collective_never_ended) {
    int x[4] = {0};
    MPI_File file = opened();
    MPI_File_write_all_begin(file, x, 4, MPI_INT);
    if (!WRONG) MPI_File_write_all_end(file, x, &status);
    MPI_File_close(&file); //!
}

// 2: call-order
CASE(collective_within_a_split_one) {
    int x[4] = {0}, y[4] = {0};
    MPI_File file = opened();
    MPI_File_write_at_all_begin(file, 16 * rank, x, 4, MPI_INT);
    if (WRONG) MPI_File_write_at_all(file, 64 + 16 * rank, y, 4, MPI_INT, &status); //!
    else MPI_File_write_at(file, 64 + 16 * rank, y, 4, MPI_INT, &status);
    MPI_File_write_at_all_end(file, x, &status);
    MPI_File_close(&file);
}

// 2: invalid-argument
CASE(split_collective_ended_with_another_buffer) {
    int x[4] = {0}, y[4] = {0};
    MPI_File file = opened();
    MPI_File_read_at_all_begin(file, 0, x, 4, MPI_INT);
    MPI_File_read_at_all_end(file, WRONG ? y : x, &status); //!
    MPI_File_close(&file);
}

// 2: request
CASE(cancelled_and_left) {
    int x = 0;
    MPI_Request request;
    MPI_Irecv(&x, 1, MPI_INT, 1 - rank, 0, WORLD, &request);
    MPI_Cancel(&request);
    if (!WRONG) MPI_Wait(&request, &status);
}

// 2: deadlock
CASE(partitions_of_both_sides) {
    int x[4] = {0}, y[4] = {0};
    MPI_Request out, in;
    MPI_Psend_init(x, 2, 2, MPI_INT, 1 - rank, 0, WORLD, MPI_INFO_NULL, &out);
    MPI_Precv_init(y, 2, 2, MPI_INT, 1 - rank, 0, WORLD, MPI_INFO_NULL, &in);
    for (int i = 0; i < 2; i++) {
        if (!WRONG) MPI_Start(&in);
        MPI_Start(&out);
        MPI_Pready_range(0, 1, out);
        MPI_Wait(&out, &status);
        if (WRONG) MPI_Start(&in);
        MPI_Wait(&in, &status);
    }
    MPI_Request_free(&in);
    MPI_Request_free(&out);
}

// 2: request
CASE(freed_and_not_cancelled) {
    int x = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(&x, 1, MPI_INT, 1, 0, WORLD, &request);
        if (!WRONG) MPI_Cancel(&request);
        MPI_Request_free(&request); //!
        x = 1;
    }
}

// 1: invalid-argument
CASE(read_what_is_opened_to_be_written) {
    int x[4] = {0};
    int mode = MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE | (WRONG ? MPI_MODE_WRONLY : MPI_MODE_RDWR);
    MPI_File file;
    MPI_File_open(WORLD, "numbers", mode, MPI_INFO_NULL, &file);
    MPI_File_read(file, x, 4, MPI_INT, &status); //!
    MPI_File_close(&file);
}

// 2: buffer-race
CASE(persistent_from_nobody) {
    int x = 0, y = 1;
    MPI_Request requests[2];
    MPI_Recv_init(&x, 1, MPI_INT, WRONG ? 1 - rank : MPI_PROC_NULL, 0, WORLD, requests);
    MPI_Send_init(&y, 1, MPI_INT, WRONG ? 1 - rank : MPI_PROC_NULL, 0, WORLD, requests + 1);
    MPI_Startall(2, requests);
    x = 7; //!
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (!WRONG && x != 7) abort();
    MPI_Request_free(requests);
    MPI_Request_free(requests + 1);
}

// 1: buffer-race
CASE(partitions_for_nobody) {
    int x[2] = {0};
    MPI_Request request;
    int partner = WRONG ? 0 : MPI_PROC_NULL, y[2];
    MPI_Request other = MPI_REQUEST_NULL;
    if (WRONG) MPI_Precv_init(y, 2, 1, MPI_INT, 0, 0, WORLD, MPI_INFO_NULL, &other), MPI_Start(&other);
    MPI_Psend_init(x, 2, 1, MPI_INT, partner, 0, WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Pready_range(0, 1, request);
    x[1] = 5; //!
    MPI_Wait(&request, &status);
    MPI_Wait(&other, &status);
    MPI_Request_free(&request);
    if (WRONG) MPI_Request_free(&other);
}
