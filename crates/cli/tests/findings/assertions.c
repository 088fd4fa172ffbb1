/* Windows: what a program promises and does not keep, memory that is shared, and messages into windows. */
#include "cases.h"

static int *memory, got;
static MPI_Win window;

static void open_window(void) {
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, WORLD, &memory, &window);
    for (int i = 0; i < 16; i++) memory[i] = 0;
    MPI_Barrier(WORLD);
}

static int *open_shared(void) {
    int *all, unit;
    MPI_Aint bytes;
    MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, WORLD, &memory, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &all);
    return all;
}

static void close_window(void) { MPI_Win_free(&window); }

// 2: epoch
CASE(something_precedes) {
    int x = 1;
    open_window();
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    MPI_Put(&x, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, window);
    MPI_Win_fence(WRONG ? MPI_MODE_NOPRECEDE : 0, window); //!
    MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, window);
    close_window();
}

// 2: epoch
CASE(something_succeeds) {
    int x = 1;
    open_window();
    MPI_Win_fence(WRONG ? MPI_MODE_NOSUCCEED : 0, window);
    MPI_Put(&x, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, window); //!
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    close_window();
}

// 2: epoch
CASE(put_where_none_is_expected) {
    int x = 1;
    open_window();
    MPI_Win_fence(WRONG || rank == 1 ? MPI_MODE_NOPUT : 0, window);
    if (rank == 1) MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, window); //!
    MPI_Win_fence(0, window);
    close_window();
}

// 2: epoch
CASE(put_to_who_posts_and_expects_none) {
    int x = 1, other = 1 - rank;
    MPI_Group all, group;
    open_window();
    MPI_Comm_group(WORLD, &all);
    MPI_Group_incl(all, 1, &other, &group);
    if (rank == 0) {
        MPI_Win_post(group, WRONG ? MPI_MODE_NOPUT : 0, window);
        MPI_Win_wait(window);
    } else {
        MPI_Win_start(group, 0, window);
        MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, window); //!
        MPI_Win_complete(window);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&group);
    close_window();
}

// 2: epoch
CASE(stored_where_none_was) {
    open_window();
    MPI_Win_fence(0, window);
    memory[1] = 5;
    MPI_Win_fence(WRONG ? MPI_MODE_NOSTORE : 0, window); //!
    MPI_Win_fence(MPI_MODE_NOSTORE, window);
    close_window();
}

// 3: epoch
CASE(locked_by_two_and_not_checked) {
    int x = 1;
    open_window();
    MPI_Barrier(WORLD);
    if (rank == 2 && !WRONG) MPI_Recv(&x, 1, MPI_INT, 1, 0, WORLD, &status);
    if (rank > 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, MPI_MODE_NOCHECK, window); //!
        MPI_Put(&x, 1, MPI_INT, 0, rank, 1, MPI_INT, window);
        MPI_Win_unlock(0, window);
    }
    if (rank == 1 && !WRONG) MPI_Send(&x, 1, MPI_INT, 2, 0, WORLD);
    close_window();
}

// 2: epoch
CASE(started_before_it_was_posted) {
    int x = 1, other = 1 - rank;
    MPI_Group all, group;
    open_window();
    MPI_Comm_group(WORLD, &all);
    MPI_Group_incl(all, 1, &other, &group);
    if (rank == 0) {
        MPI_Win_post(group, MPI_MODE_NOCHECK, window);
        if (!WRONG) MPI_Barrier(WORLD);
        MPI_Win_wait(window);
    } else {
        if (!WRONG) MPI_Barrier(WORLD);
        MPI_Win_start(group, MPI_MODE_NOCHECK, window); //!
        MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
        MPI_Win_complete(window);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&group);
    close_window();
}

// 2: epoch
CASE(requests_between_fences) {
    int x = 1;
    MPI_Request request;
    open_window();
    if (WRONG) {
        MPI_Win_fence(0, window);
        MPI_Rput(&x, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, window, &request); //!
        MPI_Wait(&request, &status);
        MPI_Win_fence(0, window);
    } else {
        MPI_Win_lock_all(0, window);
        MPI_Rput(&x, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, window, &request);
        MPI_Wait(&request, &status);
        MPI_Win_unlock_all(window);
    }
    close_window();
}

// 3: window-race
CASE(received_into_a_window) {
    int x = 1;
    open_window();
    MPI_Win_fence(0, window);
    if (rank == 1) MPI_Put(&x, 1, MPI_INT, 0, 2, 1, MPI_INT, window); //!
    if (rank == 2) MPI_Send(&x, 1, MPI_INT, 0, 0, WORLD);
    if (rank == 0) MPI_Recv(memory + (WRONG ? 2 : 3), 1, MPI_INT, 2, 0, WORLD, &status); //!
    MPI_Win_fence(0, window);
    close_window();
}

// 2: window-race
CASE(sent_from_a_window) {
    int x = 1, y = 0;
    open_window();
    MPI_Win_fence(0, window);
    if (rank == 1) MPI_Put(&x, 1, MPI_INT, 0, 2, 1, MPI_INT, window); //!
    if (rank == 0) MPI_Send(memory + (WRONG ? 2 : 3), 1, MPI_INT, 1, 0, WORLD); //!
    if (rank == 1) MPI_Recv(&y, 1, MPI_INT, 0, 0, WORLD, &status);
    MPI_Win_fence(0, window);
    close_window();
}

// 3: window-race
CASE(broadcast_into_a_window) {
    int x = 1;
    open_window();
    MPI_Win_fence(0, window);
    if (rank == 1) MPI_Put(&x, 1, MPI_INT, 0, 2, 1, MPI_INT, window); //!
    MPI_Bcast(memory + (WRONG ? 2 : 3), 1, MPI_INT, 2, WORLD); //!
    MPI_Win_fence(0, window);
    close_window();
}

// 2: window-race
CASE(got_and_put) {
    int x = 0;
    MPI_Request request;
    open_window();
    MPI_Win_lock_all(0, window);
    if (rank == 0) {
        MPI_Rget(&x, 1, MPI_INT, 1, 3, 1, MPI_INT, window, &request);
        if (!WRONG) MPI_Wait(&request, &status);
        MPI_Put(memory, 1, MPI_INT, 1, 3, 1, MPI_INT, window); //!
        if (WRONG) MPI_Wait(&request, &status);
    }
    MPI_Win_unlock_all(window);
    close_window();
}

// 2: window-race
CASE(shared_and_not_synchronised) {
    int *all = open_shared();
    MPI_Win_lock_all(0, window);
    if (rank == 0) all[3] = 7; //!
    if (!WRONG) {
        MPI_Win_sync(window);
        MPI_Barrier(WORLD);
        MPI_Win_sync(window);
    }
    if (rank == 1) got = all[3]; //!
    MPI_Win_unlock_all(window);
    if (got > 99) abort();
    close_window();
}

// 2: window-race
CASE(shared_between_fences) {
    int *all = open_shared();
    MPI_Win_fence(0, window);
    all[WRONG ? 0 : rank] = rank; //!
    MPI_Win_fence(0, window);
    got = all[1];
    close_window();
}

// 2: epoch
CASE(swapped_where_nothing_is_put) {
    int old = 0, new = 5, found;
    open_window();
    MPI_Win_fence(0, window);
    MPI_Win_fence(WRONG && rank == 1 ? MPI_MODE_NOPUT : 0, window);
    if (rank == 0) MPI_Compare_and_swap(&new, &old, &found, MPI_INT, 1, 0, window); //!
    MPI_Win_fence(0, window);
    close_window();
}
