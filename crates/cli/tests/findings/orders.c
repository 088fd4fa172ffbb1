/* What orders processes and what does not, and what programs wait for by looking. "assertion" is told by abort(). */
#include "cases.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

static int memory[16], data[16];
static MPI_Win win;

static void check(int holds) {
    if (!holds) abort();
}

static void begin_all(void) {
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, WORLD, &win);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(WORLD);
}

static void end_all(void) {
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

// 3: assertion
CASE(what_is_fetched_depends_on_updates) {
    int one = 1, before = -1;
    begin_all();
    if (rank == 1) MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    if (rank == 2) {
        MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        check(before == 1 || (before == 0 && !WRONG));
    }
    end_all();
}

// 3: assertion
CASE(who_replaces_last) {
    begin_all();
    if (rank > 0) MPI_Accumulate(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_flush(0, win);
    MPI_Barrier(WORLD);
    if (rank == 0) {
        int last;
        MPI_Fetch_and_op(NULL, &last, MPI_INT, 0, 0, MPI_NO_OP, win);
        MPI_Win_flush(0, win);
        check(last == 2 || (last == 1 && !WRONG));
    }
    end_all();
}

// 3: deadlock
CASE(a_flag_that_is_polled) {
    int one = 1, flag = 0;
    begin_all();
    if (rank == 1 && !WRONG) MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
    if (rank == 2) {
        while (!flag) {
            MPI_Fetch_and_op(NULL, &flag, MPI_INT, 0, 0, MPI_NO_OP, win);
            MPI_Win_flush(0, win);
        }
    }
    end_all();
}

// 2: deadlock
CASE(memory_that_is_looked_at_under_a_lock) {
    int one = 1, value = 0;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, WORLD, &win);
    if (rank == 0 && !WRONG) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
    }
    while (rank == 1 && !value) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        value = memory[0];
        MPI_Win_unlock(1, win);
    }
    MPI_Win_free(&win);
}

// 3: deadlock
CASE(all_count_and_look) {
    int one = 1, seen = 0;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, WORLD, &win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    if (!WRONG || rank > 0) MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    while (rank == 0 && seen < size) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Get_accumulate(NULL, 0, MPI_INT, &seen, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win);
}

// 2: deadlock
CASE(shared_memory_that_is_polled) {
    volatile int *mine, *first;
    MPI_Aint bytes;
    int unit;
    MPI_Win_allocate_shared(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &mine, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &first);
    mine[0] = mine[1] = 0;
    MPI_Win_lock_all(0, win);
    MPI_Win_sync(win);
    MPI_Barrier(WORLD);
    if (rank == 0) {
        first[1] = 7;
        MPI_Win_sync(win);
        if (!WRONG) first[0] = 1;
        MPI_Win_sync(win);
    } else {
        while (1) {
            MPI_Win_sync(win);
            if (first[0]) break;
        }
        MPI_Win_sync(win);
        check(first[1] == 7);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(WORLD);
    MPI_Win_free(&win);
}

// 2: window-race
CASE(a_flag_of_the_language) {
    int *mine, *first, there;
    MPI_Aint bytes;
    int unit;
    MPI_Win_allocate_shared(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &mine, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &first);
    mine[0] = mine[1] = 0;
    MPI_Barrier(WORLD);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        if (!WRONG) first[1] = 7;
        atomic_store((_Atomic int *)first, 1);
        if (WRONG) first[1] = 7; //!
    } else {
        while (!atomic_load((_Atomic int *)first)) MPI_Iprobe(0, 5, WORLD, &there, IGNORE);
        check(first[1] == 7 || WRONG); //!
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

// 2: window-race
CASE(a_put_before_the_lock_is_given_back) {
    int zero = 0, one = 1, before, value;
    begin_all();
    do {
        MPI_Compare_and_swap(&one, &zero, &before, MPI_INT, 0, 0, win);
        MPI_Win_flush(0, win);
    } while (before);
    MPI_Get(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, win); //!
    MPI_Win_flush(0, win);
    value++;
    MPI_Put(&value, 1, MPI_INT, 0, 1, 1, MPI_INT, win); //!
    if (!WRONG) MPI_Win_flush(0, win);
    MPI_Accumulate(&zero, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win);
    MPI_Win_flush(0, win);
    end_all();
}

// 3: assertion
CASE(a_broadcast_is_no_barrier) {
    int first = -1, second, word = 0;
    if (rank == 1) MPI_Send(&rank, 1, MPI_INT, 0, 0, WORLD);
    if (rank == 0) MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, IGNORE);
    if (WRONG) MPI_Bcast(&word, 1, MPI_INT, 2, WORLD);
    else MPI_Barrier(WORLD);
    if (rank == 2) MPI_Send(&rank, 1, MPI_INT, 0, 0, WORLD);
    if (rank == 0) {
        MPI_Recv(&second, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, IGNORE);
        check(first == 1);
    }
}

// 3: assertion
CASE(a_reduction_is_no_barrier) {
    int first = -1, second, sum;
    if (rank == 1) MPI_Send(&rank, 1, MPI_INT, 0, 0, WORLD);
    if (rank == 0) MPI_Recv(&first, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, IGNORE);
    if (WRONG) MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, WORLD);
    else MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD);
    if (rank == 2) MPI_Send(&rank, 1, MPI_INT, 0, 0, WORLD);
    if (rank == 0) {
        MPI_Recv(&second, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, IGNORE);
        check(first == 1);
    }
}

// 3: window-race
CASE(a_broadcast_orders_its_root_alone) {
    int word = 0;
    begin_all();
    if (rank == 1) {
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); //!
        MPI_Win_flush(0, win);
    }
    MPI_Bcast(&word, 1, MPI_INT, WRONG ? 0 : 1, WORLD);
    if (rank == 2) {
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); //!
        MPI_Win_flush(0, win);
    }
    end_all();
}

// 4: window-race
CASE(a_gather_orders_its_root_alone) {
    int all[4];
    begin_all();
    if (rank == 3) {
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); //!
        MPI_Win_flush(0, win);
    }
    MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, WRONG ? 0 : 2, WORLD);
    if (rank == 2) {
        MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); //!
        MPI_Win_flush(0, win);
    }
    end_all();
}

// 3: ready-send
CASE(a_broadcast_of_another) {
    MPI_Request request;
    int word = 0;
    if (rank == 0) MPI_Irecv(data, 1, MPI_INT, 1, 0, WORLD, &request);
    MPI_Bcast(&word, 1, MPI_INT, WRONG ? 2 : 0, WORLD);
    if (rank == 1) MPI_Rsend(&word, 1, MPI_INT, 0, 0, WORLD); //!
    if (rank == 0) MPI_Wait(&request, IGNORE);
}

// 3: window-race
CASE(attached_memory) {
    MPI_Aint address, all[3];
    MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &win);
    MPI_Win_attach(win, memory, sizeof memory);
    MPI_Get_address(memory, &address);
    MPI_Allgather(&address, 1, MPI_AINT, all, 1, MPI_AINT, WORLD);
    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Put(data, 2, MPI_INT, 1, all[1], 2, MPI_INT, win); //!
    if (rank == 1) memory[WRONG ? 1 : 3] = 4; //!
    MPI_Win_fence(0, win);
    MPI_Barrier(WORLD);
    MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
}

// 2: window-race
CASE(a_get_into_what_another_puts_to) {
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Put(data, 1, MPI_INT, 1, 0, 1, MPI_INT, win); //!
    if (rank == 1) MPI_Get(memory + !WRONG, 1, MPI_INT, 0, 0, 1, MPI_INT, win); //!
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

// 2: window-race
CASE(those_of_one_node) {
    MPI_Comm node;
    int *mine, *first, members;
    MPI_Aint bytes;
    int unit;
    MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &members);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &win);
    MPI_Win_shared_query(win, 0, &bytes, &unit, &first);
    MPI_Win_fence(0, win);
    if (rank == 0) first[0] = 1; //!
    if (!WRONG) MPI_Win_fence(0, win);
    if (rank == 1) data[0] = first[0]; //!
    MPI_Win_fence(0, win);
    check(members == size);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

// 2: buffer-race
CASE(told_that_it_is_complete) {
    if (rank == 0) {
        MPI_Request request;
        int flag = WRONG;
        MPI_Irecv(data, 1, MPI_INT, 1, 0, WORLD, &request);
        while (!flag) MPI_Request_get_status(request, &flag, IGNORE);
        check(data[0] == 9 || WRONG); //!
        MPI_Request_free(&request);
    } else {
        int nine = 9;
        MPI_Send(&nine, 1, MPI_INT, 0, 0, WORLD);
    }
}

// 2: buffer-race
CASE(packed_while_it_is_received) {
    if (rank == 0) {
        MPI_Request request;
        char packed[64];
        int position = 0;
        MPI_Irecv(data, 1, MPI_INT, 1, 0, WORLD, &request);
        if (!WRONG) MPI_Wait(&request, IGNORE);
        MPI_Pack(data, 1, MPI_INT, packed, sizeof packed, &position, WORLD); //!
        MPI_Wait(&request, IGNORE);
    } else {
        MPI_Send(data, 1, MPI_INT, 0, 0, WORLD);
    }
}

// 2: buffer-race
CASE(written_while_it_is_received) {
    if (rank == 0) {
        MPI_Request request;
        int null = open("/dev/null", O_WRONLY);
        MPI_Irecv(data, 1, MPI_INT, 1, 0, WORLD, &request);
        if (!WRONG) MPI_Wait(&request, IGNORE);
        if (write(null, data, sizeof data[0]) < 0) abort(); //!
        close(null);
        MPI_Wait(&request, IGNORE);
    } else {
        MPI_Send(data, 1, MPI_INT, 0, 0, WORLD);
    }
}

static void adds(void *in, void *inout, int *count, MPI_Datatype *type) {
    MPI_Aint low, extent;
    MPI_Type_get_extent(*type, &low, &extent);
    check(extent == 2 * sizeof(int));
    for (int i = 0; i < 2 * *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

// 3: leak
CASE(a_type_that_an_operator_uses) {
    MPI_Datatype pair;
    MPI_Op op;
    MPI_Request request;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(adds, 1, &op);
    MPI_Iallreduce(data, memory, 1, pair, op, WORLD, &request);
    MPI_Op_free(&op);
    if (!WRONG) MPI_Type_free(&pair);
    MPI_Wait(&request, IGNORE);
}

// 2: request
CASE(waited_for_before_it_is_started) {
    MPI_Request request;
    if (rank == 0) MPI_Recv_init(data, 1, MPI_INT, 1, 0, WORLD, &request);
    else MPI_Send_init(data, 1, MPI_INT, 0, 0, WORLD, &request);
    MPI_Wait(&request, IGNORE);
    if (!WRONG) {
        MPI_Start(&request);
        MPI_Wait(&request, IGNORE);
    }
    MPI_Request_free(&request); //!
}

static MPI_File file;

static void open_file(void) {
    MPI_File_open(WORLD, "orders.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
}

// 2: collective-mismatch
CASE(sizes_of_a_file) {
    open_file();
    MPI_File_set_size(file, 64 + (WRONG && rank == 1)); //!
    MPI_File_close(&file);
}

// 2: collective-mismatch
CASE(one_reads_and_one_writes) {
    open_file();
    if (WRONG && rank == 1) MPI_File_read_all(file, data, 1, MPI_INT, IGNORE); //!
    else MPI_File_write_all(file, data, 1, MPI_INT, IGNORE); //!
    MPI_File_close(&file);
}

// 2: call-order
CASE(begun_twice) {
    if (WRONG) MPI_Init(NULL, NULL); //!
}

/* Who holds a window together with others waits for one who wants to, after somebody who wants it alone: that one comes first. */
static void waits_within(int holder, int other) {
    int x = 0;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, WORLD, &win);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Win_unlock(0, win);
    }
    if (rank == holder) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Send(&x, 1, MPI_INT, other, 0, WORLD);
        MPI_Recv(&x, 1, MPI_INT, other, 0, WORLD, &status);
        MPI_Win_unlock(0, win);
    }
    if (rank == other) {
        MPI_Recv(&x, 1, MPI_INT, holder, 0, WORLD, &status);
        if (!WRONG) MPI_Send(&x, 1, MPI_INT, holder, 0, WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        MPI_Win_unlock(0, win);
        if (WRONG) MPI_Send(&x, 1, MPI_INT, holder, 0, WORLD);
    }
    MPI_Win_free(&win);
}

// 3: deadlock
CASE(the_first_waits_for_the_second_who_is_behind) {
    waits_within(1, 2);
}

// 3: deadlock
CASE(the_second_waits_for_the_first_who_is_behind) {
    waits_within(2, 1);
}

// 3: assertion
CASE(alone_before_or_after_others) {
    int one = 1, seen = 0;
    MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, WORLD, &win);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
    } else {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Get(&seen, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
        if (WRONG && rank == 2) check(seen == 0);
    }
    MPI_Win_free(&win);
}
