/* One-sided communication: each part checks itself; rank 0 prints "windows: right". Any number of processes from 2 on. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, wrong;

#define CHECK(what) do { if (!(what)) { wrong++; printf("rank %d, line %d: %s\n", rank, __LINE__, #what); } } while (0)

static int class_of(int code) { int class; MPI_Error_class(code, &class); return class; }

static void fences(void) {
    double *memory;
    MPI_Win win;
    MPI_Win_allocate(4 * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    void *base; int flag; MPI_Aint *bytes; int *unit, *flavor, *model;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag); CHECK(flag && base == memory);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &flag); CHECK(flag && *bytes == 32);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag); CHECK(flag && *unit == 8);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag); CHECK(flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag); CHECK(flag && *model == MPI_WIN_UNIFIED);
    for (int i = 0; i < 4; i++) memory[i] = -1;
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    double mine[2] = {rank, rank + 0.5};
    MPI_Put(mine, 2, MPI_DOUBLE, (rank + 1) % size, 1, 2, MPI_DOUBLE, win);
    MPI_Win_fence(0, win);
    int left = (rank + size - 1) % size;
    CHECK(memory[1] == left && memory[2] == left + 0.5 && memory[0] == -1 && memory[3] == -1);
    double one = 1, far = 0;
    MPI_Accumulate(&one, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, win);
    MPI_Get(&far, 1, MPI_DOUBLE, (rank + 1) % size, 1, 1, MPI_DOUBLE, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK(far == rank);
    if (rank == 0) CHECK(memory[0] == size - 1);
    MPI_Win_free(&win);
    CHECK(win == MPI_WIN_NULL);
}

/* A column goes into a row of the neighbour. */
static void types(void) {
    int memory[16], matrix[16];
    MPI_Win win;
    for (int i = 0; i < 16; i++) { memory[i] = -1; matrix[i] = 100 * rank + i; }
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Datatype column;
    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Win_fence(0, win);
    MPI_Put(matrix + 1, 1, column, right, 4, 4, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 4; i++) CHECK(memory[4 + i] == 100 * left + 4 * i + 1);
    int ones[4] = {1, 1, 1, 1};
    MPI_Win_fence(0, win);
    MPI_Accumulate(ones, 4, MPI_INT, right, 2, 1, column, MPI_SUM, win);
    MPI_Win_fence(0, win);
    CHECK(memory[2] == 0 && memory[6] == 100 * left + 10 && memory[10] == 0 && memory[14] == 0 && memory[3] == -1);
    MPI_Type_free(&column);
    MPI_Win_free(&win);
}

static void counters(void) {
    long counter[2] = {0, 0};
    MPI_Win win;
    MPI_Win_create(counter, sizeof counter, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    long one = 1, sum = 0, swapped = 0;
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 5; i++) {
        long before = -1;
        MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        CHECK(before >= 0 && before < 5 * size);
        sum += before;
        long expected, found = 0;
        do {
            expected = found;
            long next = expected + 1;
            MPI_Compare_and_swap(&next, &expected, &found, MPI_LONG, 0, 1, win);
            MPI_Win_flush(0, win);
        } while (found != expected);
        swapped++;
    }
    MPI_Win_unlock_all(win);
    long all;
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    long n = 5L * size;
    CHECK(all == n * (n - 1) / 2 && swapped == 5);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) CHECK(counter[0] == n && counter[1] == n);
    MPI_Win_free(&win);
}

static void locks(void) {
    int memory = 0;
    MPI_Win win;
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < 3; i++) {
        int value;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_flush(1, win);
        value++;
        MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        int seen = -1;
        MPI_Request request;
        MPI_Rget(&seen, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Win_unlock(1, win);
        CHECK(seen >= value);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        CHECK(memory == 3 * size);
        MPI_Win_unlock(1, win);
    }
    MPI_Win_free(&win);
}

static void groups(void) {
    int memory[8] = {0};
    MPI_Win win;
    MPI_Group all, origins, target;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_get_group(win, &all);
    int zero = 0;
    MPI_Group_incl(all, 1, &zero, &target);
    MPI_Group_excl(all, 1, &zero, &origins);
    for (int round = 1; round <= 3; round++) {
        if (rank == 0) {
            MPI_Win_post(origins, 0, win);
            if (round == 2) {
                int over = 0;
                while (!over) MPI_Win_test(win, &over);
            } else
                MPI_Win_wait(win);
            for (int i = 1; i < size && i < 8; i++) CHECK(memory[i] == 10 * round + i);
        } else {
            MPI_Win_start(target, 0, win);
            int value = 10 * round + rank;
            if (rank < 8) MPI_Put(&value, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
            MPI_Win_complete(win);
        }
    }
    MPI_Group_free(&all);
    MPI_Group_free(&origins);
    MPI_Group_free(&target);
    MPI_Win_free(&win);
}

static void shared(void) {
    int *mine, *first;
    MPI_Win win;
    MPI_Win_allocate_shared((rank + 1) * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int i = 0; i <= rank; i++) mine[i] = rank;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Aint bytes;
    int unit, place = 0;
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first);
    CHECK(bytes == sizeof(int) && unit == sizeof(int));
    for (int other = 0; other < size; other++)
        for (int i = 0; i <= other; i++) CHECK(first[place++] == other);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

/* A rank looks at its own memory until another has written there. */
static void looking(void) {
    volatile int *flag;
    MPI_Win win;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&flag, &win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    double start = MPI_Wtime();
    if (rank == 0) {
        int one = 1;
        MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_flush(1, win);
    } else if (rank == 1) {
        while (!*flag) MPI_Win_sync(win);
        CHECK(MPI_Wtime() >= start);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

static void dynamic(void) {
    int memory[4] = {0};
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK(MPI_Win_attach(win, memory, sizeof memory) == MPI_SUCCESS);
    CHECK(class_of(MPI_Win_attach(win, memory + 1, 4)) == MPI_ERR_RMA_ATTACH);
    MPI_Aint address, there;
    MPI_Get_address(memory, &address);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Sendrecv(&address, 1, MPI_AINT, left, 0, &there, 1, MPI_AINT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, right, MPI_Aint_add(there, 2 * sizeof(int)), 1, MPI_INT, win);
    CHECK(class_of(MPI_Put(&rank, 1, MPI_INT, right, MPI_Aint_add(there, sizeof memory), 1, MPI_INT, win)) == MPI_ERR_RMA_RANGE);
    MPI_Win_fence(0, win);
    CHECK(memory[2] == left);
    CHECK(MPI_Win_detach(win, memory) == MPI_SUCCESS);
    CHECK(class_of(MPI_Win_detach(win, memory)) == MPI_ERR_RMA_ATTACH);
    MPI_Win_free(&win);
}

static void errors(void) {
    int memory = 0, value = 1;
    MPI_Win win;
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK(class_of(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win)) == MPI_ERR_RMA_SYNC);
    CHECK(class_of(MPI_Win_unlock(0, win)) == MPI_ERR_RMA_SYNC);
    CHECK(class_of(MPI_Win_complete(win)) == MPI_ERR_RMA_SYNC);
    CHECK(class_of(MPI_Win_flush_all(win)) == MPI_ERR_RMA_SYNC);
    CHECK(class_of(MPI_Win_lock(17, 0, 0, win)) == MPI_ERR_LOCKTYPE);
    CHECK(class_of(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win)) == MPI_ERR_RANK);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    CHECK(class_of(MPI_Put(&value, 1, MPI_INT, 0, 4, 1, MPI_INT, win)) == MPI_ERR_RMA_RANGE);
    CHECK(class_of(MPI_Win_fence(0, win)) == MPI_ERR_RMA_SYNC);
    CHECK(class_of(MPI_Win_free(&win)) == MPI_ERR_RMA_SYNC);
    CHECK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win) == MPI_SUCCESS);
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    fences();
    types();
    counters();
    locks();
    groups();
    shared();
    looking();
    dynamic();
    errors();
    int all;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all == 0) printf("windows: right\n");
    MPI_Finalize();
    return wrong != 0;
}
