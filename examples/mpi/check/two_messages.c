// What does MPI guarantee of two messages between two processes? `simurgh check -n 2 ./two_messages QUESTION` answers.
//
//   0  Does each of two receives get the message that was sent for it?
//   1  May data be read before the wait for their receive?
//   2  May data be changed before the wait for their send?
//   3  May the second receive be over before the first?
//   4  When a synchronous send is over: is a receive posted that comes before the one that it met?
//   5  And one that comes after it?
#include <assert.h>
#include <mpi.h>
#include <stdlib.h>

static int question;

static void receive(void) {
    int first = 0, second = 0;
    MPI_Request requests[2];
    MPI_Irecv(&first, 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&second, 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
    if (question == 1) {
        assert(first == 6);
    }
    if (question == 3) {
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        assert(second == 7);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else {
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    assert(first == 6 && second == 7);
}

static void send(void) {
    int first = 6, second = 7;
    MPI_Request requests[2];
    MPI_Issend(&first, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[0]);
    if (question == 2) {
        first = 3;
    }
    MPI_Isend(&second, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

// The synchronous send can meet the second of three receives alone. A ready send is an error unless its receive is posted.
static void receive_three(void) {
    int data[3];
    MPI_Request requests[3];
    for (int number = 0; number < 3; number++) {
        MPI_Irecv(&data[number], 1, MPI_INT, 1, number, MPI_COMM_WORLD, &requests[number]);
    }
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    assert(data[0] == 0 && data[1] == 1 && data[2] == 2);
}

static void send_three(void) {
    int data[3] = {0, 1, 2};
    MPI_Ssend(&data[1], 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Rsend(&data[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (question == 4) {
        MPI_Send(&data[2], 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    } else {
        MPI_Rsend(&data[2], 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    question = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (question < 4) {
        rank == 0 ? receive() : send();
    } else {
        rank == 0 ? receive_three() : send_three();
    }
    MPI_Finalize();
    return 0;
}
