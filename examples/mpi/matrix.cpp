// Parallel matrix multiplication: C = A B. Each rank has some rows of A and C, and some rows of B. The rows of B go round in a
// ring; while those that a rank has are multiplied, the next are under way.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace {

constexpr int side = 120;

double a(int row, int column) { return row + 2.0 * column; }
double b(int row, int column) { return row == column ? 2.0 : (column == 0 ? 1.0 : 0.0); }

// What C should be: column 0 of B has ones, and twos are on its diagonal.
double expected(int row, int column)
{
    if (column > 0) return 2.0 * a(row, column);
    double sum = 2.0 * a(row, 0);
    for (int k = 1; k < side; k++) sum += a(row, k);
    return sum;
}

} // namespace

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (side % size != 0) {
        if (rank == 0) std::printf("%d ranks do not divide %d rows\n", size, side);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int rows = side / size, next = (rank + 1) % size, previous = (rank + size - 1) % size;
    std::vector<double> mine(rows * side), result(rows * side, 0.0), current(rows * side), coming(rows * side);
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < side; column++) {
            mine[row * side + column] = a(rank * rows + row, column);
            current[row * side + column] = b(rank * rows + row, column);
        }

    const double start = MPI_Wtime();
    for (int step = 0; step < size; step++) {
        const int owner = (rank - step + size) % size; // Whose rows of B these are.
        const int count = rows * side;
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        if (step + 1 < size) {
            MPI_Irecv(coming.data(), count, MPI_DOUBLE, previous, step, MPI_COMM_WORLD, &requests[0]);
            MPI_Isend(current.data(), count, MPI_DOUBLE, next, step, MPI_COMM_WORLD, &requests[1]);
        }
        for (int row = 0; row < rows; row++)
            for (int k = 0; k < rows; k++)
                for (int column = 0; column < side; column++)
                    result[row * side + column] += mine[row * side + owner * rows + k] * current[k * side + column];
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        std::swap(current, coming);
    }
    const double end = MPI_Wtime();

    int wrong = 0, all = 0;
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < side; column++)
            wrong += std::fabs(result[row * side + column] - expected(rank * rows + row, column)) > 1e-9;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        std::printf("%d x %d numbers on %d ranks: %d are wrong\n", side, side, size, all);
        std::printf("%.3f us\n", (end - start) * 1e6);
    }
    MPI_Finalize();
    return 0;
}
