/* Conjugate gradients: solves A x = b for the matrix of -u'' on a line, which has 2 on its diagonal and -1 beside it. Each rank has
 * a part of the vectors. A product needs the neighbours' border numbers, a scalar product a sum over all ranks. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size, n; /* n: how many unknowns a rank has. */

/* q = A p. p has room for a number of each neighbour, before its first and behind its last. */
static void multiply(double *p, double *q)
{
    const int before = rank > 0 ? rank - 1 : MPI_PROC_NULL, behind = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    p[0] = p[n + 1] = 0.0;
    MPI_Sendrecv(&p[1], 1, MPI_DOUBLE, before, 0, &p[n + 1], 1, MPI_DOUBLE, behind, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&p[n], 1, MPI_DOUBLE, behind, 1, &p[0], 1, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i <= n; i++) q[i] = 2.0 * p[i] - p[i - 1] - p[i + 1];
}

static double dot(const double *a, const double *b)
{
    double mine = 0.0, all;
    for (int i = 1; i <= n; i++) mine += a[i] * b[i];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int unknowns = 240;
    n = unknowns / size + (rank < unknowns % size);

    double *x = calloc(n + 2, sizeof *x), *r = calloc(n + 2, sizeof *r), *p = calloc(n + 2, sizeof *p), *q = calloc(n + 2, sizeof *q);
    for (int i = 1; i <= n; i++) r[i] = p[i] = 1.0; /* b = 1, x = 0. */

    const double start = MPI_Wtime();
    const double first = dot(r, r);
    double now = first;
    int steps = 0;
    while (now > 1e-20 * first && steps < 2 * unknowns) {
        multiply(p, q);
        const double alpha = now / dot(p, q);
        for (int i = 1; i <= n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        const double next = dot(r, r), beta = next / now;
        for (int i = 1; i <= n; i++) p[i] = r[i] + beta * p[i];
        now = next;
        steps++;
    }
    const double end = MPI_Wtime();

    /* The residual as it is, not as the recurrence has it: b - A x. */
    multiply(x, q);
    for (int i = 1; i <= n; i++) r[i] = 1.0 - q[i];
    const double residual = sqrt(dot(r, r) / first);
    /* The solution is known: x(k) = k (N + 1 - k) / 2, k from 1. */
    int mine = n, behind = 0;
    MPI_Exscan(&mine, &behind, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) behind = 0;
    double error = 0.0, largest;
    for (int i = 1; i <= n; i++) {
        const double k = behind + i;
        error = fmax(error, fabs(x[i] - k * (unknowns + 1 - k) / 2.0));
    }
    MPI_Reduce(&error, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d unknowns on %d ranks: %d steps\n", unknowns, size, steps);
        printf("residual below 1e-9: %s; error below 1e-6: %s\n", residual < 1e-9 ? "yes" : "NO", largest < 1e-6 ? "yes" : "NO");
        printf("%.3f us a step\n", (end - start) / steps * 1e6);
    }
    free(x);
    free(r);
    free(p);
    free(q);
    MPI_Finalize();
    return 0;
}
