/* A master hands out tasks one by one: whoever asks gets the next. It does not know who will ask: it receives from any source. */
#include <mpi.h>
#include <stdio.h>

enum { TASKS = 20, RESULT = 1, TASK = 2, STOP = 3 };

/* Whether a number is a prime. */
static int prime(int number)
{
    for (int divisor = 2; divisor * divisor <= number; divisor++)
        if (number % divisor == 0) return 0;
    return number > 1;
}

/* How many primes there are among the hundred numbers of a task. */
static int count(int task)
{
    int primes = 0;
    for (int number = 100 * task; number < 100 * (task + 1); number++) primes += prime(number);
    return primes;
}

static void master(int workers)
{
    int primes = 0, next = 0, busy = workers;
    while (busy > 0) {
        int found;
        MPI_Status status;
        MPI_Recv(&found, 1, MPI_INT, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
        primes += found; /* The first message of a worker only asks: it has found none. */
        if (next < TASKS) {
            MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, TASK, MPI_COMM_WORLD);
            next++;
        } else {
            MPI_Send(&next, 0, MPI_INT, status.MPI_SOURCE, STOP, MPI_COMM_WORLD);
            busy--;
        }
    }
    /* There are 303 primes below 2000. */
    printf("%d primes below %d: %s\n", primes, 100 * TASKS, primes == 303 ? "right" : "WRONG");
}

static int worker(void)
{
    int found = 0, done = 0;
    for (;;) {
        int task;
        MPI_Status status;
        MPI_Send(&found, 1, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
        MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == STOP) return done;
        found = count(task);
        done++;
    }
}

int main(int argc, char **argv)
{
    int rank, size, done = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr, "a master needs workers: run at least 2 processes\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (rank == 0)
        master(size - 1);
    else
        done = worker();

    int shares[64] = {0};
    if (size <= 64) {
        MPI_Gather(&done, 1, MPI_INT, shares, 1, MPI_INT, 0, MPI_COMM_WORLD);
        for (int worker = 1; rank == 0 && worker < size; worker++) printf("worker %d did %d tasks\n", worker, shares[worker]);
    }
    MPI_Finalize();
    return 0;
}
