/* One-sided halo exchange: each rank puts its borders into its neighbours' windows. Nobody receives: fences tell when all is there. */
#include <mpi.h>
#include <stdio.h>

enum { CELLS = 1000, STEPS = 10 };

int main(int argc, char **argv)
{
    int rank, size;
    double *cells; /* 0 and CELLS + 1 are what the neighbours put. */
    MPI_Win window;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;

    MPI_Win_allocate((CELLS + 2) * sizeof *cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &cells, &window);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    for (int i = 0; i < CELLS + 2; i++) cells[i] = rank * CELLS + i - 1;

    /* Each step moves all numbers one cell to the right; the last of a rank becomes the first of the next. */
    const double start = MPI_Wtime();
    for (int step = 0; step < STEPS; step++) {
        MPI_Win_fence(0, window);
        MPI_Put(&cells[CELLS], 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, window);
        MPI_Put(&cells[1], 1, MPI_DOUBLE, left, CELLS + 1, 1, MPI_DOUBLE, window);
        MPI_Win_fence(MPI_MODE_NOSTORE, window);
        for (int i = CELLS; i >= 1; i--) cells[i] = cells[i - 1];
    }
    const double end = MPI_Wtime();

    int wrong = 0, all = 0;
    const int total = size * CELLS;
    for (int i = 1; i <= CELLS; i++) wrong += cells[i] != (rank * CELLS + i - 1 - STEPS + total) % total;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d cells moved by %d: %d are wrong\n%.3f us a step\n", total, STEPS, all, (end - start) / STEPS * 1e6);

    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
