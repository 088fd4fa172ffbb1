/* Memory that a communication owns, touched by the program and by other calls. */
#include "cases.h"

// 2: buffer-race
CASE(store_while_sending) {
    int x = 1, y = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(&x, 1, MPI_INT, 1, 0, WORLD, &request);
        if (WRONG) x = 2; //!
        MPI_Wait(&request, &status);
        x = 3;
    } else
        MPI_Recv(&y, 1, MPI_INT, 0, 0, WORLD, &status);
}

// 2: buffer-race
CASE(same_value_stored_while_sending) {
    static int x = 1;
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(&x, 1, MPI_INT, 1, 0, WORLD, &request);
        if (WRONG) *(volatile int *)&x = 1; //!
        MPI_Wait(&request, &status);
    } else
        MPI_Recv(&x, 1, MPI_INT, 0, 0, WORLD, &status);
}

// 2: buffer-race
CASE(store_while_exchanging) {
    int x[2] = {1, 2}, y[2] = {0};
    MPI_Request request;
    MPI_Isendrecv(x, 2, MPI_INT, 1 - rank, 0, y, 2, MPI_INT, 1 - rank, 0, WORLD, &request);
    if (WRONG) x[1] = 7; //!
    MPI_Wait(&request, &status);
    x[0] = y[0];
}

// 2: buffer-race
CASE(receive_into_what_is_received) {
    int x[2] = {0}, y[2] = {1, 2}, z;
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(x, 2, MPI_INT, 1, 0, WORLD, &request);
        MPI_Recv(x, 1, MPI_INT, WRONG ? 1 : MPI_PROC_NULL, 1, WORLD, &status); //!
        if (!WRONG) MPI_Recv(&z, 1, MPI_INT, 1, 1, WORLD, &status);
        MPI_Wait(&request, &status);
    } else {
        MPI_Send(y, 1, MPI_INT, 0, 1, WORLD);
        MPI_Send(y, 2, MPI_INT, 0, 0, WORLD);
    }
}

// 2: buffer-race
CASE(load_while_replacing) {
    int x[2] = {1, 2}, y = 0;
    MPI_Request request;
    MPI_Isendrecv_replace(x, 2, MPI_INT, 1 - rank, 0, 1 - rank, 0, WORLD, &request);
    if (WRONG) y = x[1]; //!
    MPI_Wait(&request, &status);
    y += x[0];
    if (y > 99) abort();
}

// 2: buffer-race
CASE(load_while_receiving) {
    int *x = calloc(4, 4), y = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(x, 4, MPI_INT, 1, 0, WORLD, &request);
        if (WRONG) y = x[3]; //!
        MPI_Wait(&request, &status);
        y += x[0];
    } else
        MPI_Send(x, 4, MPI_INT, 0, 0, WORLD);
    free(x);
    if (y > 99) printf("%d\n", y);
}

// 2: buffer-race
CASE(store_while_receiving) {
    double x[4] = {0};
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(x, 3, MPI_DOUBLE, 1, 0, WORLD, &request);
        x[WRONG ? 2 : 3] = 1; //!
        MPI_Wait(&request, &status);
    } else
        MPI_Send(x, 3, MPI_DOUBLE, 0, 0, WORLD);
}

// 2: buffer-race
CASE(copied_while_receiving) {
    char *x = calloc(1, 5000), *y = calloc(1, 5000);
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(x, 5000, MPI_CHAR, 1, 0, WORLD, &request);
        if (WRONG) memcpy(y, x, 5000); //!
        MPI_Wait(&request, &status);
        memcpy(y, x, 5000);
    } else
        MPI_Send(x, 5000, MPI_CHAR, 0, 0, WORLD);
    if (y[7]) puts(y);
    free(x);
    free(y);
}

// 2: buffer-race
CASE(printed_before_it_is_there) {
    int x = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(&x, 1, MPI_INT, 1, 0, WORLD, &request);
        printf("waiting for the number\n");
        if (WRONG) printf("%d\n", x); //!
        MPI_Wait(&request, &status);
        printf("%d\n", x);
    } else
        MPI_Send(&x, 1, MPI_INT, 0, 0, WORLD);
}

// 2: buffer-race
CASE(two_receives) {
    int x[4] = {0};
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Irecv(x, 2, MPI_INT, 1, 0, WORLD, &requests[0]);
        MPI_Irecv(x + (WRONG ? 1 : 2), 2, MPI_INT, 1, 1, WORLD, &requests[1]); //!
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else
        for (int i = 0; i < 2; i++) MPI_Send(x, 2, MPI_INT, 0, i, WORLD);
}

// 2: buffer-race
CASE(sent_while_receiving) {
    int x = 0, y = 0;
    MPI_Request request;
    MPI_Irecv(&x, 1, MPI_INT, 1 - rank, 0, WORLD, &request);
    MPI_Send(WRONG ? &x : &y, 1, MPI_INT, 1 - rank, 0, WORLD); //!
    MPI_Wait(&request, &status);
}

// 2: buffer-race
CASE(columns) {
    int x[4][4] = {{0}};
    MPI_Datatype column;
    MPI_Request requests[2];
    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Irecv(&x[0][0], 1, column, 1 - rank, 0, WORLD, &requests[0]);
    MPI_Irecv(&x[0][WRONG ? 0 : 3], 1, column, 1 - rank, 1, WORLD, &requests[1]); //!
    x[2][1] = 5;
    MPI_Send(&x[0][1], 1, column, 1 - rank, 0, WORLD);
    MPI_Send(&x[0][2], 1, column, 1 - rank, 1, WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Type_free(&column);
}

// 2: buffer-race
CASE(broadcast_under_way) {
    int x = 0, y = 0;
    MPI_Request request;
    MPI_Ibcast(&x, 1, MPI_INT, 0, WORLD, &request);
    if (WRONG && rank == 1) y = x; //!
    MPI_Wait(&request, &status);
    if (y + x > 99) abort();
}

// 2: buffer-race
CASE(reduction_under_way) {
    double x[8] = {0}, y[8] = {0};
    MPI_Request request;
    MPI_Iallreduce(x, y, 8, MPI_DOUBLE, MPI_SUM, WORLD, &request);
    if (WRONG) x[0]++; //!
    MPI_Wait(&request, &status);
    x[1]++;
}

// 2: buffer-race
CASE(persistent_while_active) {
    int x = 0;
    MPI_Request request;
    if (rank == 0) MPI_Send_init(&x, 1, MPI_INT, 1, 0, WORLD, &request);
    else MPI_Recv_init(&x, 1, MPI_INT, 0, 0, WORLD, &request);
    for (int i = 0; i < 3; i++) {
        if (rank == 0) x = i;
        MPI_Start(&request);
        if (WRONG && rank == 0) x = 9; //!
        MPI_Wait(&request, &status);
        if (rank == 1 && x != i) abort();
    }
    MPI_Request_free(&request);
}

// 2: buffer-race
CASE(tested_and_not_complete) {
    int x = 0, flag = 0, sum = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(&x, 1, MPI_INT, 1, 0, WORLD, &request);
        MPI_Test(&request, &flag, &status);
        if (flag || WRONG) sum += x; //!
        if (!flag) MPI_Wait(&request, &status);
    } else
        MPI_Send(&x, 1, MPI_INT, 0, 0, WORLD);
    if (sum > 99) abort();
}

// 2: buffer-race
CASE(sent_from_where_it_is_received) {
    int x[4] = {0};
    MPI_Sendrecv(x, 2, MPI_INT, 1 - rank, 0, x + (WRONG ? 1 : 2), 2, MPI_INT, 1 - rank, 0, WORLD, &status); //!
}

static int sent = 1;

static int compares_and_stores(const void *a, const void *b) {
    sent = 2;
    return *(const int *)a - *(const int *)b;
}

/* What a library calls is not watched: what was sent is compared when it is completed. */
// 2: buffer-race
CASE(stored_by_a_comparison) {
    int x, sorted[2] = {2, 1};
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(&sent, 1, MPI_INT, 1, 0, WORLD, &request);
        if (WRONG) qsort(sorted, 2, sizeof *sorted, compares_and_stores);
        MPI_Wait(&request, &status); //!
        sent = 3;
    } else
        MPI_Recv(&x, 1, MPI_INT, 0, 0, WORLD, &status);
}

/* Many times as many instructions as a processor could be stopped after. */
static double computes(int turns) {
    volatile double sum = 0;
    for (int i = 0; i < turns; i++) sum += i * 0.5;
    return sum;
}

// 2: buffer-race
CASE(load_after_a_long_loop) {
    int x[10] = {0}, y[10] = {0};
    MPI_Request request;
    if (rank == 0)
        MPI_Send(x, 10, MPI_INT, 1, 0, WORLD);
    else {
        MPI_Irecv(y, 10, MPI_INT, 0, 0, WORLD, &request);
        computes(20000);
        if (WRONG && y[3] == 4711) puts("there"); //!
        MPI_Wait(&request, &status);
        if (y[3] == 4711) puts("there");
    }
}

// 2: buffer-race
CASE(store_after_a_long_loop) {
    int x[10] = {0}, y[10] = {0};
    MPI_Request request;
    if (rank == 0)
        MPI_Send(x, 10, MPI_INT, 1, 0, WORLD);
    else {
        MPI_Irecv(y, 10, MPI_INT, 0, 0, WORLD, &request);
        if (computes(20000) > 0 && WRONG) *(volatile int *)&y[3] = 0; //!
        MPI_Wait(&request, &status);
        y[3] = 1;
    }
}
