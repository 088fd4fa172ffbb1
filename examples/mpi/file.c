/* A file that all ranks write together, each its own part, and read back: each the part of the next. The name is the argument. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = 100000 };

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, all = 0;
    MPI_File file;
    MPI_Offset bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *name = argc > 1 ? argv[1] : "numbers.bin";
    const MPI_Offset part = (MPI_Offset)NUMBERS * sizeof(int);
    int *numbers = malloc(part);

    const double start = MPI_Wtime();
    if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
        fprintf(stderr, "%s cannot be opened\n", name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_File_set_size(file, 0);
    for (int i = 0; i < NUMBERS; i++) numbers[i] = rank * NUMBERS + i;
    MPI_File_write_at_all(file, rank * part, numbers, NUMBERS, MPI_INT, MPI_STATUS_IGNORE);
    /* What others wrote is there for sure after a sync, a barrier, and a sync. */
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    MPI_File_get_size(file, &bytes);
    const double written = MPI_Wtime();

    const int next = (rank + 1) % size;
    MPI_File_read_at_all(file, next * part, numbers, NUMBERS, MPI_INT, MPI_STATUS_IGNORE);
    for (int i = 0; i < NUMBERS; i++) wrong += numbers[i] != next * NUMBERS + i;
    MPI_File_close(&file);
    const double end = MPI_Wtime();

    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%lld bytes by %d ranks: %d numbers are wrong\n", (long long)bytes, size, all);
        printf("written in %.6f s, read in %.6f s\n", written - start, end - written);
        MPI_File_delete(name, MPI_INFO_NULL);
    }
    free(numbers);
    MPI_Finalize();
    return 0;
}
