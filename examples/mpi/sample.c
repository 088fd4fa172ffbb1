// Loops that need not be executed every time, and memory that all ranks may share: a prediction for more ranks and more data than
// this machine could hold. With another MPI the macros of simurgh.h do nothing.
#include <mpi.h>
#include <simurgh.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 100, TIMES = 4 };

static double work(double* data, int count) {
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        data[i] = data[i] * 0.5 + i;
        sum += data[i];
    }
    return sum;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const size_t bytes = 1000u * 1000u * 1000u;
    double* data = SIMURGH_SHARED_MALLOC(bytes);
    double* more = SIMURGH_SHARED_MALLOC(8);
    int times = argc > 1 && strcmp(argv[1], "all") == 0 ? STEPS : TIMES;
    int executed = 0, all;
    double total = 0.0;
    for (int step = 0; step < STEPS; step++) {
        SIMURGH_SAMPLE_LOCAL(times) {
            total += work(data, 20000);
            executed++;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Reduce(&executed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d of %d blocks were executed, %d ranks had %zu MB\n", all, STEPS * size, size,
               bytes / 1000000 * (size_t)size);
    }
    SIMURGH_SHARED_FREE(more);
    SIMURGH_SHARED_FREE(data);
    MPI_Finalize();
    return total < 0.0;
}
