/* Diffusion on a square with periodic borders, in blocks on a grid of processes. The borders of a block travel while its interior
 * is computed; what touches the borders is computed last. Diffusion moves heat and makes none: the sum stays as it was. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 240, STEPS = 50 };

static int rows, columns; /* Of a block, without the frame of received borders around it. */

static int at(int row, int column) { return row * (columns + 2) + column; }

static void update(const double *old, double *new, int row, int column)
{
    const double here = old[at(row, column)];
    new[at(row, column)] = here + 0.2 * (old[at(row - 1, column)] + old[at(row + 1, column)] + old[at(row, column - 1)]
                                         + old[at(row, column + 1)] - 4.0 * here);
}

static double sum(const double *block, MPI_Comm grid)
{
    double mine = 0.0, all;
    for (int row = 1; row <= rows; row++)
        for (int column = 1; column <= columns; column++) mine += block[at(row, column)];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, grid);
    return all;
}

int main(int argc, char **argv)
{
    int size, rank, shape[2] = {0, 0}, periods[2] = {1, 1}, place[2], up, down, left, right;
    MPI_Comm grid;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, shape);
    MPI_Cart_create(MPI_COMM_WORLD, 2, shape, periods, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, place);
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    if (SIDE % shape[0] || SIDE % shape[1]) {
        if (rank == 0) printf("%d x %d processes do not divide a side of %d\n", shape[0], shape[1], SIDE);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    rows = SIDE / shape[0];
    columns = SIDE / shape[1];

    MPI_Datatype column_type; /* A column of a block: one number a row. */
    MPI_Type_vector(rows, 1, columns + 2, MPI_DOUBLE, &column_type);
    MPI_Type_commit(&column_type);

    double *old = calloc((size_t)(rows + 2) * (columns + 2), sizeof *old);
    double *new = calloc((size_t)(rows + 2) * (columns + 2), sizeof *new);
    for (int row = 1; row <= rows; row++)
        for (int column = 1; column <= columns; column++) {
            const int y = place[0] * rows + row - 1, x = place[1] * columns + column - 1;
            old[at(row, column)] = abs(y - SIDE / 2) < 20 && abs(x - SIDE / 2) < 20 ? 100.0 : 0.0;
        }
    const double before = sum(old, grid), start = MPI_Wtime();

    for (int step = 0; step < STEPS; step++) {
        MPI_Request requests[8];
        MPI_Irecv(&old[at(0, 1)], columns, MPI_DOUBLE, up, 0, grid, &requests[0]);
        MPI_Irecv(&old[at(rows + 1, 1)], columns, MPI_DOUBLE, down, 1, grid, &requests[1]);
        MPI_Irecv(&old[at(1, 0)], 1, column_type, left, 2, grid, &requests[2]);
        MPI_Irecv(&old[at(1, columns + 1)], 1, column_type, right, 3, grid, &requests[3]);
        MPI_Isend(&old[at(rows, 1)], columns, MPI_DOUBLE, down, 0, grid, &requests[4]);
        MPI_Isend(&old[at(1, 1)], columns, MPI_DOUBLE, up, 1, grid, &requests[5]);
        MPI_Isend(&old[at(1, columns)], 1, column_type, right, 2, grid, &requests[6]);
        MPI_Isend(&old[at(1, 1)], 1, column_type, left, 3, grid, &requests[7]);

        for (int row = 2; row < rows; row++)
            for (int column = 2; column < columns; column++) update(old, new, row, column);

        MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
        for (int column = 1; column <= columns; column++) {
            update(old, new, 1, column);
            update(old, new, rows, column);
        }
        for (int row = 2; row < rows; row++) {
            update(old, new, row, 1);
            update(old, new, row, columns);
        }
        double *spare = old;
        old = new;
        new = spare;
    }

    const double end = MPI_Wtime(), after = sum(old, grid);
    if (rank == 0) {
        printf("%d x %d processes, blocks of %d x %d\n", shape[0], shape[1], rows, columns);
        printf("the sum was %.3f, and is %.3f: %s\n", before, after, fabs(after - before) < 1e-6 * before ? "right" : "WRONG");
        printf("%d steps, %.3f us a step\n", STEPS, (end - start) / STEPS * 1e6);
    }
    free(old);
    free(new);
    MPI_Type_free(&column_type);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
