/* Receives that are begun, and completed in every way there is: whoever simulates them may begin several at once, and wait for several
 * at once, and nobody can tell. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define IS(condition) is(condition, #condition, __LINE__)

static void is(int condition, const char *text, int line)
{
    if (!condition) {
        fprintf(stderr, "line %d: %s is not so\n", line, text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static char block[100000];

static void send(int value, int tag)
{
    MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
}

static void sender(void)
{
    for (int i = 3; i >= 0; i--)
        send(100 + i, i);
    send(51, 51);
    send(60, 60);
    for (int i = 0; i < 5; i++) {
        send(10 * i, 71);
        send(i, 70);
    }
    send(80, 80);
    block[sizeof block - 1] = 7;
    int value = 83;
    MPI_Request requests[2];
    MPI_Isend(block, sizeof block, MPI_CHAR, 0, 82, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&value, 1, MPI_INT, 0, 83, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    send(84, 84);
}

static void receiver(void)
{
    int got[8], done, index, count;
    MPI_Request requests[4];
    MPI_Status status, statuses[4];

    /* One of them, then the others. */
    for (int i = 0; i < 4; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitany(4, requests, &index, &status);
    IS(got[index] == 100 + index && status.MPI_TAG == index);
    MPI_Waitall(4, requests, statuses);
    for (int i = 0; i < 4; i++) {
        IS(got[i] == 100 + i);
        IS(i == index || (statuses[i].MPI_TAG == i && statuses[i].MPI_SOURCE == 1));
    }

    /* The second, while the first never comes. */
    MPI_Irecv(&got[0], 1, MPI_INT, 1, 50, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&got[1], 1, MPI_INT, 1, 51, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[1], &status);
    IS(got[1] == 51);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &done);
    IS(done);

    /* Tested, and cancelled before anything else is asked. */
    MPI_Irecv(&got[0], 1, MPI_INT, 1, 60, MPI_COMM_WORLD, &requests[0]);
    do
        MPI_Test(&requests[0], &done, &status);
    while (!done);
    IS(got[0] == 60);
    MPI_Irecv(&got[0], 1, MPI_INT, 1, 99, MPI_COMM_WORLD, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &done);
    IS(done);

    /* Begun again and again. */
    MPI_Recv_init(&got[2], 1, MPI_INT, 1, 70, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&got[3], 1, MPI_INT, MPI_ANY_SOURCE, 71, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 5; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        IS(got[2] == i && got[3] == 10 * i && statuses[1].MPI_SOURCE == 1);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);

    /* Freed while it is under way; from oneself. */
    MPI_Irecv(&got[5], 1, MPI_INT, 1, 80, MPI_COMM_WORLD, &requests[0]);
    MPI_Request_free(&requests[0]);
    MPI_Irecv(&got[6], 1, MPI_INT, 0, 81, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&got[0], 1, MPI_INT, 0, 81, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    IS(got[6] == got[0]);

    /* One whose send waits, and one from nobody. */
    MPI_Irecv(block, sizeof block, MPI_CHAR, 1, 82, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&got[7], 1, MPI_INT, 1, 83, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    MPI_Get_count(&statuses[0], MPI_CHAR, &count);
    IS(count == (int)sizeof block && block[sizeof block - 1] == 7 && got[7] == 83);
    MPI_Irecv(block, 10, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&got[0], 1, MPI_INT, 1, 84, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    IS(statuses[0].MPI_SOURCE == MPI_PROC_NULL && got[0] == 84);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        receiver();
    if (rank == 1)
        sender();
    if (rank == 0)
        printf("requests: right\n");
    MPI_Finalize();
    return 0;
}
