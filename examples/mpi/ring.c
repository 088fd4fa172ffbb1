/* A token goes round: each rank adds its number and passes it on. What it costs is the time of a message, as often as there are ranks. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, token = 0;
    const int rounds = 3;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    const double start = MPI_Wtime();
    for (int round = 0; round < rounds; round++) {
        if (rank == 0) { /* The first begins, and waits for the token to come back. */
            MPI_Sendrecv_replace(&token, 1, MPI_INT, next, round, previous, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("round %d: the token is %d\n", round, token);
        } else {
            MPI_Recv(&token, 1, MPI_INT, previous, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            token += rank;
            MPI_Send(&token, 1, MPI_INT, next, round, MPI_COMM_WORLD);
        }
    }
    if (rank == 0) {
        const int expected = rounds * (size * (size - 1) / 2);
        printf("%d ranks, %d rounds, %.3f us a round: %s\n", size, rounds, (MPI_Wtime() - start) / rounds * 1e6,
               token == expected ? "right" : "WRONG");
    }

    MPI_Finalize();
    return 0;
}
