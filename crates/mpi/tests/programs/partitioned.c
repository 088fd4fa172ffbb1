/* Partitioned messages: each part checks itself; rank 0 prints "partitioned: right". Run it with 2 processes or more. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, wrong;

#define CHECK(what) do { if (!(what)) { wrong++; printf("rank %d, line %d: %s\n", rank, __LINE__, #what); } } while (0)

/* Data go from rank 0 to rank 1, in partitions of different sizes on both sides, in several rounds, the last ones first. */
static void divided(int sent, int received, int total, int rounds) {
    int *data = malloc(total * sizeof(int)), index, round;
    MPI_Request request;
    MPI_Status status;
    if (rank == 0)
        MPI_Psend_init(data, sent, total / sent, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(data, received, total / received, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (round = 0; round < rounds; round++) {
        for (index = 0; index < total; index++)
            data[index] = rank == 0 ? index * 3 + round : -1;
        MPI_Start(&request);
        if (rank == 0) {
            for (index = sent - 1; index >= 0; index--)
                MPI_Pready(index, request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            for (index = 0; index < received; index++) {
                int flag = 0, part = total / received;
                while (!flag)
                    MPI_Parrived(request, index, &flag);
                CHECK(data[index * part] == index * part * 3 + round);
                CHECK(data[index * part + part - 1] == (index * part + part - 1) * 3 + round);
            }
            MPI_Wait(&request, &status);
            MPI_Get_count(&status, MPI_INT, &index);
            CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 7 && index == total);
            for (index = 0; index < total; index++)
                CHECK(data[index] == index * 3 + round);
        }
    }
    MPI_Request_free(&request);
    CHECK(request == MPI_REQUEST_NULL);
    free(data);
}

/* Requests of one tag meet in the order in which they were made, not in that in which they are started. */
static void order(void) {
    int first[4] = {1, 2, 3, 4}, second[2] = {50, 60}, list[2] = {3, 0}, flag;
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Psend_init(first, 4, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
        MPI_Psend_init(second, 2, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
        MPI_Start(&requests[1]);
        MPI_Pready_range(0, 1, requests[1]);
        MPI_Start(&requests[0]);
        MPI_Pready_list(2, list, requests[0]);
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        MPI_Pready_range(1, 2, requests[0]);
    } else {
        memset(first, 0, sizeof first);
        memset(second, 0, sizeof second);
        MPI_Precv_init(first, 2, 2, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
        MPI_Precv_init(second, 1, 2, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
        MPI_Startall(2, requests);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(first[0] == 1 && first[1] == 2 && first[2] == 3 && first[3] == 4);
    CHECK(second[0] == 50 && second[1] == 60);
    /* What is not active has arrived. */
    if (rank == 1) {
        MPI_Parrived(requests[0], 1, &flag);
        CHECK(flag);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* Several of one tag, the last of which is started first by the sender. */
static void backwards(void) {
    enum { MANY = 5 };
    int data[MANY][6], which, index;
    MPI_Request requests[MANY];
    for (which = 0; which < MANY; which++) {
        for (index = 0; index < 6; index++)
            data[which][index] = rank == 0 ? 10 * which + index : -1;
        if (rank == 0)
            MPI_Psend_init(data[which], 3, 2, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[which]);
        else
            MPI_Precv_init(data[which], 2, 3, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[which]);
    }
    for (which = MANY - 1; rank == 0 && which >= 0; which--) {
        MPI_Start(&requests[which]);
        MPI_Pready_range(0, 2, requests[which]);
    }
    if (rank == 1)
        MPI_Startall(MANY, requests);
    MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
    for (which = 0; which < MANY; which++) {
        for (index = 0; index < 6; index++)
            CHECK(data[which][index] == 10 * which + index);
        MPI_Request_free(&requests[which]);
    }
}

/* Every other integer of the sender becomes a block of the receiver. Ordinary messages of the same tag are others. */
static void strided(void) {
    int from[24], to[12], plain = rank, index;
    MPI_Datatype every_other;
    MPI_Request request;
    MPI_Type_vector(2, 1, 2, MPI_INT, &every_other);
    MPI_Type_create_resized(every_other, 0, 4 * sizeof(int), &every_other);
    MPI_Type_commit(&every_other);
    for (index = 0; index < 24; index++)
        from[index] = index;
    if (rank == 0) {
        MPI_Psend_init(from, 3, 2, every_other, 1, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready_range(0, 2, request);
        MPI_Send(&plain, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
    } else {
        MPI_Precv_init(to, 4, 3, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Recv(&plain, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(plain == 0);
        MPI_Start(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (index = 0; rank == 1 && index < 12; index++)
        CHECK(to[index] == 2 * index);
    MPI_Request_free(&request);
    MPI_Type_free(&every_other);
}

/* To itself, and to nobody. */
static void alone(void) {
    double from[4] = {1, 2, 3, 4}, to[4] = {0};
    MPI_Request requests[2];
    MPI_Status status;
    int flag = 0;
    MPI_Psend_init(from, 2, 2, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(to, 2, 2, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready(1, requests[0]);
    while (!flag)
        MPI_Parrived(requests[1], 1, &flag);
    CHECK(to[2] == 3 && to[3] == 4);
    MPI_Parrived(requests[1], 0, &flag);
    CHECK(!flag);
    MPI_Pready(0, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(to[0] == 1 && to[1] == 2);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Precv_init(to, 2, 2, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Request_free(&requests[0]);
    MPI_Psend_init(from, 2, 2, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Start(&requests[0]);
    MPI_Pready_range(0, 1, requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[0]);
}

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* What is wrong is told. */
static void mistakes(void) {
    int data[8], flag;
    MPI_Request send, receive, plain;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Psend_init(data, -1, 1, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &send)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Precv_init(data, 1, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_INFO_NULL, &send)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Precv_init(data, 1, 1, MPI_INT, 0, MPI_ANY_TAG, comm, MPI_INFO_NULL, &send)) == MPI_ERR_TAG);
    MPI_Psend_init(data, 4, 2, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &send);
    MPI_Precv_init(data, 2, 2, MPI_INT, 0, 0, comm, MPI_INFO_NULL, &receive);
    CHECK(class_of(MPI_Pready(0, send)) == MPI_ERR_REQUEST);
    MPI_Start(&send);
    MPI_Start(&receive);
    CHECK(class_of(MPI_Pready(4, send)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Pready(-1, send)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Pready_range(2, 1, send)) == MPI_ERR_ARG);
    CHECK(class_of(MPI_Pready(0, receive)) == MPI_ERR_REQUEST);
    CHECK(class_of(MPI_Parrived(send, 0, &flag)) == MPI_ERR_REQUEST);
    CHECK(class_of(MPI_Cancel(&send)) == MPI_ERR_REQUEST);
    CHECK(MPI_Pready(1, send) == MPI_SUCCESS);
    CHECK(class_of(MPI_Pready(1, send)) == MPI_ERR_ARG);
    MPI_Pready(0, send);
    MPI_Pready_range(2, 3, send);
    CHECK(MPI_Wait(&send, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(class_of(MPI_Wait(&receive, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
    CHECK(class_of(MPI_Parrived(receive, 2, &flag)) == MPI_ERR_ARG);
    plain = MPI_REQUEST_NULL;
    CHECK(MPI_Parrived(plain, 0, &flag) == MPI_SUCCESS && flag);
    MPI_Request_free(&send);
    MPI_Request_free(&receive);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank < 2) {
        divided(1, 1, 60, 2);
        divided(4, 4, 60, 3);
        divided(3, 5, 60, 2);
        divided(15, 2, 60, 2);
        divided(2, 5, 100000, 2);
        order();
        backwards();
        strided();
    }
    alone();
    mistakes();
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all == 0)
        printf("partitioned: right\n");
    MPI_Finalize();
    return 0;
}
