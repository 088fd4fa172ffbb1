/* One-sided communication: epochs, and accesses that nothing orders. */
#include "cases.h"

static int memory[16], data[16];
static MPI_Win win;

static void begin(void) {
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, WORLD, &win);
}

static void end(void) {
    MPI_Win_free(&win); //!
}

// 2: epoch
CASE(put_without_an_epoch) {
    begin();
    if (!WRONG) MPI_Win_fence(0, win);
    if (rank == 0) MPI_Put(data, 1, MPI_INT, 1, 0, 1, MPI_INT, win); //!
    if (!WRONG) MPI_Win_fence(0, win);
    end();
}

// 2: epoch
CASE(last_fence_missing) {
    begin();
    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Put(data, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    if (!WRONG) MPI_Win_fence(0, win);
    end();
}

// 2: epoch
CASE(never_unlocked) {
    begin();
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(data, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        if (!WRONG) MPI_Win_unlock(1, win);
    }
    end();
}

// 2: epoch
CASE(unlocked_twice) {
    begin();
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Win_unlock(1, win);
        if (WRONG) MPI_Win_unlock(1, win); //!
    }
    end();
}

// 2: epoch
CASE(locked_twice) {
    begin();
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        if (WRONG) MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win); //!
        MPI_Win_unlock(1, win);
    }
    end();
}

// 2: deadlock
CASE(started_and_never_posted) {
    MPI_Group all, other;
    int one = 1, zero = 0;
    begin();
    MPI_Comm_group(WORLD, &all);
    MPI_Group_incl(all, 1, rank == 0 ? &one : &zero, &other);
    if (rank == 0) {
        MPI_Win_start(other, 0, win);
        MPI_Put(data, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
    } else if (!WRONG) {
        MPI_Win_post(other, 0, win);
        MPI_Win_wait(win);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&other);
    end();
}

// 2: deadlock
CASE(locks_that_cross) {
    int first = WRONG ? rank : 0;
    begin();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, first, 0, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1 - first, 0, win);
    MPI_Win_unlock(1 - first, win);
    MPI_Win_unlock(first, win);
    end();
}

// 3: window-race
CASE(two_puts) {
    begin();
    MPI_Win_fence(0, win);
    if (rank > 0) MPI_Put(data, 1, MPI_INT, 0, WRONG ? 0 : rank, 1, MPI_INT, win); //!
    MPI_Win_fence(0, win);
    end();
}

// 3: window-race
CASE(put_and_get) {
    begin();
    MPI_Win_fence(0, win);
    if (rank == 1) MPI_Put(data, 2, MPI_INT, 0, 0, 2, MPI_INT, win);              //!
    if (rank == 2) MPI_Get(data, 1, MPI_INT, 0, WRONG ? 1 : 2, 1, MPI_INT, win); //!
    MPI_Win_fence(0, win);
    end();
}

// 2: window-race
CASE(two_puts_of_one) {
    begin();
    MPI_Win_fence(0, win);
    if (rank == 0) {
        MPI_Put(data, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        if (!WRONG) MPI_Win_fence(0, win);
        MPI_Put(data + 1, 1, MPI_INT, 1, 0, 1, MPI_INT, win); //!
    } else if (!WRONG)
        MPI_Win_fence(0, win);
    MPI_Win_fence(0, win);
    end();
}

// 2: window-race
CASE(load_of_what_is_put) {
    int x = 0;
    begin();
    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Put(data, 1, MPI_INT, 1, 3, 1, MPI_INT, win); //!
    else if (WRONG) x = memory[3];                                    //!
    MPI_Win_fence(0, win);
    x += memory[3];
    if (x > 99) abort();
    MPI_Win_fence(0, win);
    end();
}

// 2: window-race
CASE(store_to_what_is_got) {
    begin();
    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Get(data, 1, MPI_INT, 1, 3, 1, MPI_INT, win); //!
    else memory[WRONG ? 3 : 4] = 7;                                   //!
    MPI_Win_fence(0, win);
    end();
}

// 2: window-race
CASE(store_while_others_may_put) {
    begin();
    if (rank == 1) {
        if (!WRONG) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        memory[0] = 5; //!
        if (!WRONG) MPI_Win_unlock(1, win);
    } else {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(data, 1, MPI_INT, 1, 0, 1, MPI_INT, win); //!
        MPI_Win_unlock(1, win);
    }
    end();
}

// 3: window-race
CASE(puts_under_shared_locks) {
    begin();
    if (rank > 0) {
        MPI_Win_lock(WRONG ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Put(data, 1, MPI_INT, 0, 0, 1, MPI_INT, win); //!
        MPI_Win_unlock(0, win);
    }
    end();
}

// 3: window-race
CASE(two_operators) {
    begin();
    MPI_Win_fence(0, win);
    MPI_Accumulate(data, 1, MPI_INT, 0, 0, 1, MPI_INT, WRONG && rank == 1 ? MPI_PROD : MPI_SUM, win); //!
    MPI_Win_fence(0, win);
    end();
}

// 3: window-race
CASE(accumulate_and_put) {
    begin();
    MPI_Win_fence(0, win);
    if (rank == 1) MPI_Accumulate(data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win); //!
    if (rank == 2) MPI_Put(data, 1, MPI_INT, 0, WRONG ? 0 : 1, 1, MPI_INT, win);     //!
    MPI_Win_fence(0, win);
    end();
}

// 2: buffer-race
CASE(load_before_the_get_is_complete) {
    int x = 0;
    begin();
    MPI_Win_fence(0, win);
    if (rank == 0) {
        MPI_Get(data, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        if (WRONG) x = data[0]; //!
    }
    MPI_Win_fence(0, win);
    x += data[0];
    if (x > 99) abort();
    end();
}

// 2: buffer-race
CASE(load_before_the_fetch_is_complete) {
    int one = 1, x = 0, old = 0;
    begin();
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, win);
    if (WRONG) x = old; //!
    MPI_Win_flush(0, win);
    x += old;
    MPI_Win_unlock_all(win);
    if (x > 99) abort();
    end();
}

// 2: buffer-race
CASE(flush_of_another_than_the_fetch) {
    int one = 1, x = 0, old = 0;
    begin();
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Win_flush(WRONG ? 1 : 0, win);
    x += old; //!
    MPI_Win_unlock_all(win);
    if (x > 99) abort();
    end();
}

// 2: buffer-race
CASE(store_before_the_accumulate_is_complete) {
    MPI_Request done;
    begin();
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Raccumulate(data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win, &done);
    if (WRONG) data[0] = 5; //!
    MPI_Wait(&done, MPI_STATUS_IGNORE);
    data[0] = 6;
    MPI_Win_unlock(0, win);
    end();
}

// 2: buffer-race
CASE(store_before_the_put_is_complete) {
    begin();
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        MPI_Put(data, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        if (!WRONG) MPI_Win_flush_local(1, win);
        data[0] = 3; //!
    }
    MPI_Win_unlock_all(win);
    end();
}

// 2: window-race
CASE(load_after_a_barrier_alone) {
    int x;
    begin();
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        MPI_Put(data, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        if (!WRONG) MPI_Win_flush(1, win);
    }
    MPI_Barrier(WORLD);
    x = memory[0];       //!
    if (x > 99) abort(); //!
    MPI_Barrier(WORLD);
    MPI_Win_unlock_all(win);
    end();
}

// 2: window-race
CASE(posted_and_touched) {
    MPI_Group all, other;
    int one = 1, zero = 0;
    begin();
    MPI_Comm_group(WORLD, &all);
    MPI_Group_incl(all, 1, rank == 0 ? &one : &zero, &other);
    if (rank == 0) {
        MPI_Win_start(other, 0, win);
        MPI_Put(data, 1, MPI_INT, 1, 0, 1, MPI_INT, win); //!
        MPI_Win_complete(win);
    } else {
        memory[0] = 1;
        MPI_Win_post(other, 0, win);
        if (WRONG) memory[0] = 2; //!
        MPI_Win_wait(win);
        memory[0] = 3;
    }
    MPI_Group_free(&all);
    MPI_Group_free(&other);
    end();
}

// 2: invalid-argument
CASE(beyond_the_window) {
    begin();
    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Put(data, 1, MPI_INT, 1, WRONG ? 16 : 15, 1, MPI_INT, win); //!
    MPI_Win_fence(0, win);
    end();
}

// 2: assertion
CASE(counter) {
    int one = 1, before[2] = {-1, -1};
    begin();
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(&one, &before[rank], MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    if (WRONG && rank == 0 && before[0] == 1) abort(); //!
    if (before[rank] < 0 || before[rank] > 1) abort();
    end();
}

// 2: type-mismatch
CASE(put_as_another_type) {
    begin();
    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Put(data, 1, MPI_INT, 1, 0, 1, WRONG ? MPI_FLOAT : MPI_INT, win); //!
    MPI_Win_fence(0, win);
    end();
}

// 3: window-race
CASE(accumulates_of_two_types) {
    begin();
    MPI_Win_fence(0, win);
    MPI_Datatype type = WRONG && rank == 1 ? MPI_FLOAT : MPI_INT;
    MPI_Accumulate(data, 1, type, 0, 0, 1, type, MPI_SUM, win); //!
    MPI_Win_fence(0, win);
    end();
}

static MPI_Datatype entries_at(int first, int second) {
    MPI_Datatype type;
    int lengths[2] = {1, 1}, places[2] = {first, second};
    MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

// 2: invalid-argument
CASE(got_over_each_other) {
    MPI_Datatype type = entries_at(0, !WRONG);
    begin();
    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Get(data, 1, type, 1, 0, 2, MPI_INT, win); //!
    MPI_Win_fence(0, win);
    end();
    MPI_Type_free(&type);
}

// 2: invalid-argument
CASE(fetched_over_each_other) {
    MPI_Datatype type = entries_at(0, !WRONG);
    begin();
    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Get_accumulate(data + 4, 2, MPI_INT, data, 1, type, 1, 0, 2, MPI_INT, MPI_SUM, win); //!
    MPI_Win_fence(0, win);
    end();
    MPI_Type_free(&type);
}

// 2: invalid-argument
CASE(window_at_no_place) {
    MPI_Win_create(NULL, WRONG ? 32 : 0, 4, MPI_INFO_NULL, WORLD, &win); //!
    MPI_Win_fence(0, win);
    end();
}

// 2: window-race
CASE(freed_before_its_window) {
    int *block = malloc(64);
    MPI_Win_create(block, 64, 4, MPI_INFO_NULL, WORLD, &win);
    MPI_Win_fence(0, win);
    if (WRONG) free(block); //!
    end();
    if (!WRONG) free(block);
}

// 2: window-race
CASE(given_back_before_its_window) {
    int *block;
    MPI_Alloc_mem(64, MPI_INFO_NULL, &block);
    MPI_Win_create(block, 64, 4, MPI_INFO_NULL, WORLD, &win);
    MPI_Win_fence(0, win);
    if (WRONG) MPI_Free_mem(block); //!
    end();
    if (!WRONG) MPI_Free_mem(block);
}

// 2: window-race
CASE(load_of_a_window_after_a_long_loop) {
    begin();
    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Put(data, 1, MPI_INT, 1, 0, 1, MPI_INT, win); //!
    if (rank == 1) {
        volatile double sum = 0;
        for (int i = 0; i < 20000; i++) sum += i * 0.5;
        if (memory[WRONG ? 0 : 1] == 4711) puts("there"); //!
    }
    MPI_Win_fence(0, win);
    end();
}
