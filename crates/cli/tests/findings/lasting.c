/* What lasts from a call to its completion: accesses to windows and files by operations that are under way, and their buffers. */
#include "cases.h"
#include <unistd.h>

static int memory[16], data[16];
static MPI_Win win;
static MPI_Request request;
static MPI_File file;

static void begin(void) {
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, WORLD, &win);
    MPI_Win_fence(0, win);
}

static void end(void) {
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void put_at_1(void) {
    if (rank == 0) MPI_Put(data, 1, MPI_INT, 1, 0, 1, MPI_INT, win); //!
}

static void open_file(const char *name) {
    MPI_File_open(WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
}

// 2: window-race
CASE(a_receive_into_a_window) {
    begin();
    if (rank == 1) MPI_Irecv(memory, 1, MPI_INT, 0, 0, WORLD, &request);
    if (rank == 0) MPI_Send(data, 1, MPI_INT, 1, 0, WORLD);
    if (rank == 1 && !WRONG) MPI_Wait(&request, IGNORE);
    MPI_Win_fence(0, win);
    put_at_1();
    MPI_Win_fence(0, win);
    if (rank == 1 && WRONG) MPI_Wait(&request, IGNORE);
    end();
}

// 2: window-race
CASE(a_receive_into_a_window_that_others_lock) {
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, WORLD, &win);
    if (rank == 1) {
        MPI_Irecv(memory + !WRONG, 1, MPI_INT, 0, 0, WORLD, &request);
        MPI_Wait(&request, IGNORE);
    } else {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(data, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
        MPI_Send(data, 1, MPI_INT, 1, 0, WORLD);
    }
    MPI_Win_free(&win);
}

// 2: window-race
CASE(a_send_from_a_window) {
    begin();
    if (rank == 1) MPI_Isend(memory + !WRONG, 1, MPI_INT, 0, 0, WORLD, &request);
    MPI_Win_fence(0, win);
    put_at_1();
    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Recv(data + 1, 1, MPI_INT, 1, 0, WORLD, IGNORE);
    if (rank == 1) MPI_Wait(&request, IGNORE);
    end();
}

// 2: window-race
CASE(a_reduction_into_a_window) {
    begin();
    MPI_Iallreduce(data + 1, rank == 1 ? memory + !WRONG : data + 2, 1, MPI_INT, MPI_SUM, WORLD, &request);
    if (rank == 0) MPI_Get(data, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Wait(&request, IGNORE);
    end();
}

// 2: window-race
CASE(partitions_into_a_window) {
    begin();
    if (rank == 1) MPI_Precv_init(memory + !WRONG, 1, 1, MPI_INT, 0, 0, WORLD, MPI_INFO_NULL, &request);
    if (rank == 0) MPI_Psend_init(data + 1, 1, 1, MPI_INT, 1, 0, WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    if (rank == 0) MPI_Pready(0, request);
    put_at_1();
    MPI_Win_fence(0, win);
    MPI_Wait(&request, IGNORE);
    MPI_Request_free(&request);
    end();
}

// 2: window-race
CASE(a_file_read_into_a_window) {
    begin();
    open_file("lasting.data");
    if (rank == 1) MPI_File_iread_at(file, 0, memory + !WRONG, 1, MPI_INT, &request);
    put_at_1();
    MPI_Win_fence(0, win);
    if (rank == 1) MPI_Wait(&request, IGNORE);
    MPI_File_close(&file);
    end();
}

// 2: buffer-race
CASE(a_put_from_a_window) {
    begin();
    if (rank == 0) {
        MPI_Put(memory, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
        memory[WRONG ? 0 : 2] = 7; //!
    }
    end();
}

// 2: buffer-race
CASE(a_get_into_a_window) {
    begin();
    if (rank == 0) {
        MPI_Get(memory, 1, MPI_INT, 1, 1, 1, MPI_INT, win);
        MPI_Sendrecv(memory + (WRONG ? 0 : 2), 1, MPI_INT, 0, 0, data, 1, MPI_INT, 0, 0, WORLD, IGNORE); //!
    }
    end();
}

// 2: buffer-race
CASE(a_put_from_a_window_in_an_epoch_for_some) {
    MPI_Group all, other;
    int one = 1 - rank;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, WORLD, &win);
    MPI_Comm_group(WORLD, &all);
    MPI_Group_incl(all, 1, &one, &other);
    MPI_Win_post(other, 0, win);
    MPI_Win_start(other, 0, win);
    MPI_Put(memory + rank, 1, MPI_INT, 1 - rank, 4 + rank, 1, MPI_INT, win);
    if (WRONG) memory[rank] = 1; //!
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    memory[rank] = 2;
    MPI_Group_free(&all);
    MPI_Group_free(&other);
    MPI_Win_free(&win);
}

// 2: window-race
CASE(a_get_of_what_it_writes) {
    begin();
    MPI_Get(memory, 1, MPI_INT, rank, WRONG ? 0 : 1, 1, MPI_INT, win); //!
    end();
}

// 2: buffer-race
CASE(what_is_fetched_over_its_origin) {
    begin();
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(data, data + !WRONG, MPI_INT, 1, 0, MPI_SUM, win); //!
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

// 2: buffer-race
CASE(what_is_swapped_over_what_is_compared) {
    begin();
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock_all(0, win);
    MPI_Compare_and_swap(data, data + 1, data + 1 + !WRONG, MPI_INT, 1, 0, win); //!
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

// 2: file-race
CASE(a_write_that_is_waited_for_too_late) {
    open_file("lasting-write.data");
    if (rank == 1) MPI_File_iwrite_at(file, 0, data, 1, MPI_INT, &request);
    if (rank == 1 && !WRONG) MPI_Wait(&request, IGNORE);
    MPI_Barrier(WORLD);
    if (rank == 0) MPI_File_read_at(file, 0, data, 1, MPI_INT, IGNORE); //!
    if (rank == 1 && WRONG) MPI_Wait(&request, IGNORE);
    MPI_File_close(&file);
}

// 1: file-race
CASE(a_read_beside_an_own_write) {
    MPI_Request other;
    open_file("lasting-own.data");
    MPI_File_iwrite_at(file, 0, data, 1, MPI_INT, &request);
    if (!WRONG) MPI_Wait(&request, IGNORE);
    MPI_File_iread_at(file, 0, data + 1, 1, MPI_INT, &other); //!
    MPI_Wait(&other, IGNORE);
    MPI_Wait(&request, IGNORE);
    MPI_File_close(&file);
}

// 2: call-order
CASE(a_file_closed_before_its_write_is_over) {
    open_file("lasting-close.data");
    MPI_File_iwrite_at(file, rank * 4, data, 1, MPI_INT, &request);
    if (!WRONG) MPI_Wait(&request, IGNORE);
    MPI_File_close(&file); //!
    MPI_Wait(&request, IGNORE);
}

// 2: buffer-race
CASE(a_file_written_from_a_receive) {
    open_file("lasting-receive.data");
    if (rank == 1) {
        MPI_Irecv(data, 1, MPI_INT, 0, 0, WORLD, &request);
        if (!WRONG) MPI_Wait(&request, IGNORE);
        MPI_File_write_at(file, 0, data, 1, MPI_INT, IGNORE); //!
        MPI_Wait(&request, IGNORE);
    } else {
        MPI_Send(data, 1, MPI_INT, 1, 0, WORLD);
    }
    MPI_File_close(&file);
}

// 2: buffer-race
CASE(files_written_together_from_a_receive) {
    open_file("lasting-together.data");
    if (rank == 1) MPI_Irecv(data, 1, MPI_INT, 0, 0, WORLD, &request);
    if (rank == 0) MPI_Send(data, 1, MPI_INT, 1, 0, WORLD);
    if (rank == 1 && !WRONG) MPI_Wait(&request, IGNORE);
    MPI_File_write_ordered(file, data, 1, MPI_INT, IGNORE); //!
    if (rank == 1 && WRONG) MPI_Wait(&request, IGNORE);
    MPI_File_close(&file);
}

// 2: buffer-race
CASE(output_of_a_receive) {
    if (rank == 1) {
        MPI_Irecv(data, 1, MPI_INT, 0, 0, WORLD, &request);
        if (write(1, data + !WRONG, 4) != 4) abort(); //!
        MPI_Wait(&request, IGNORE);
    } else {
        MPI_Send(data, 1, MPI_INT, 1, 0, WORLD);
    }
}

// 2: buffer-race
CASE(a_stream_with_a_receive) {
    if (rank == 1) {
        MPI_Irecv(data, 1, MPI_INT, 0, 0, WORLD, &request);
        fwrite(data + !WRONG, 4, 1, stdout); //!
        MPI_Wait(&request, IGNORE);
    } else {
        MPI_Send(data, 1, MPI_INT, 1, 0, WORLD);
    }
}

// 2: buffer-race
CASE(packed_for_others_from_a_receive) {
    char packed[64];
    MPI_Aint position = 0;
    if (rank == 1) {
        MPI_Irecv(data, 1, MPI_INT, 0, 0, WORLD, &request);
        MPI_Pack_external("external32", data + !WRONG, 1, MPI_INT, packed, sizeof packed, &position); //!
        MPI_Wait(&request, IGNORE);
    } else {
        MPI_Send(data, 1, MPI_INT, 1, 0, WORLD);
    }
}

// 2: deadlock
CASE(a_request_freed_that_nobody_receives) {
    if (rank == 0) {
        MPI_Issend(data, 1, MPI_INT, 1, 0, WORLD, &request);
        MPI_Request_free(&request);
    } else if (!WRONG) {
        MPI_Recv(data, 1, MPI_INT, 0, 0, WORLD, IGNORE);
    }
}
