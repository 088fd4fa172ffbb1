/* Point-to-point communication: arguments, types, requests, order. */
#include "cases.h"

// 2: deadlock
CASE(receives_first) {
    int x = rank;
    if (rank == 0 || WRONG) {
        MPI_Recv(&x, 1, MPI_INT, 1 - rank, 0, WORLD, &status);
        MPI_Send(&x, 1, MPI_INT, 1 - rank, 0, WORLD);
    } else {
        MPI_Send(&x, 1, MPI_INT, 1 - rank, 0, WORLD);
        MPI_Recv(&x, 1, MPI_INT, 1 - rank, 0, WORLD, &status);
    }
}

// 2: deadlock
CASE(sends_first) {
    int x = rank, y;
    if (WRONG) {
        MPI_Send(&x, 1, MPI_INT, 1 - rank, 0, WORLD);
        MPI_Recv(&y, 1, MPI_INT, 1 - rank, 0, WORLD, &status);
    } else
        MPI_Sendrecv(&x, 1, MPI_INT, 1 - rank, 0, &y, 1, MPI_INT, 1 - rank, 0, WORLD, &status);
}

// 2: deadlock
CASE(other_tag) {
    int x = 0;
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 3, WORLD);
    else MPI_Recv(&x, 1, MPI_INT, 0, WRONG ? 4 : 3, WORLD, &status);
}

// 2: deadlock
CASE(other_communicator) {
    int x = 0;
    MPI_Comm copy;
    MPI_Comm_dup(WORLD, &copy);
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 3, copy);
    else MPI_Recv(&x, 1, MPI_INT, 0, 3, WRONG ? WORLD : copy, &status);
    MPI_Comm_free(&copy);
}

// 3: deadlock
CASE(any_then_named) {
    int x = 0;
    if (rank == 0) {
        MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, &status);
        int other = WRONG ? 2 : 3 - status.MPI_SOURCE;
        MPI_Recv(&x, 1, MPI_INT, other, 0, WORLD, &status);
    } else
        MPI_Send(&x, 1, MPI_INT, 0, 0, WORLD);
}

// 2: type-mismatch
CASE(int_as_float) {
    int x = 0;
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, WORLD);
    else MPI_Recv(&x, 1, WRONG ? MPI_FLOAT : MPI_INT, 0, 0, WORLD, &status); //!
}

// 2: type-mismatch
CASE(doubles_as_longs_later) {
    double x[4] = {0};
    MPI_Request request;
    if (rank == 0) MPI_Isend(x, 4, WRONG ? MPI_LONG : MPI_DOUBLE, 1, 0, WORLD, &request);
    else MPI_Irecv(x, 4, MPI_DOUBLE, 0, 0, WORLD, &request);
    MPI_Wait(&request, &status); //!
}

// 2: type-mismatch
CASE(struct_in_another_order) {
    struct { int i; double d; } pair = {1, 2};
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, others[2] = {MPI_DOUBLE, MPI_INT}, type;
    MPI_Aint swapped[2] = {8, 0};
    if (rank == 0 && WRONG) MPI_Type_create_struct(2, lengths, swapped, others, &type);
    else MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    if (rank == 0) MPI_Send(&pair, 1, type, 1, 0, WORLD);
    else MPI_Recv(&pair, 1, type, 0, 0, WORLD, &status); //!
    MPI_Type_free(&type);
}

// 2: truncation
CASE(too_long) {
    int x[4] = {0};
    if (rank == 0) MPI_Send(x, 4, MPI_INT, 1, 0, WORLD);
    else MPI_Recv(x, WRONG ? 3 : 4, MPI_INT, 0, 0, WORLD, &status); //!
}

// 2: invalid-argument
CASE(negative_count) {
    int x = 0;
    if (rank == 0) MPI_Send(&x, WRONG ? -1 : 1, MPI_INT, 1, 0, WORLD); //!
    else MPI_Recv(&x, 1, MPI_INT, 0, 0, WORLD, &status);
}

// 2: invalid-argument
CASE(no_such_rank) {
    int x = 0;
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, WRONG ? 7 : 1, 0, WORLD); //!
    else MPI_Recv(&x, 1, MPI_INT, 0, 0, WORLD, &status);
}

// 2: invalid-argument
CASE(negative_tag) {
    int x = 0;
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, WRONG ? -3 : 3, WORLD); //!
    else MPI_Recv(&x, 1, MPI_INT, 0, 3, WORLD, &status);
}

// 2: invalid-argument
CASE(any_tag_of_a_send) {
    int x = 0;
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, WRONG ? MPI_ANY_TAG : 3, WORLD); //!
    else MPI_Recv(&x, 1, MPI_INT, 0, MPI_ANY_TAG, WORLD, &status);
}

// 2: invalid-argument
CASE(null_communicator) {
    int x = 0;
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, WRONG ? MPI_COMM_NULL : WORLD); //!
    else MPI_Recv(&x, 1, MPI_INT, 0, 0, WORLD, &status);
}

// 2: invalid-argument
CASE(freed_communicator) {
    int x = 0;
    MPI_Comm copy, old;
    MPI_Comm_dup(WORLD, &copy);
    old = copy;
    if (WRONG) MPI_Comm_free(&copy);
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, old); //!
    else MPI_Recv(&x, 1, MPI_INT, 0, 0, old, &status);  //!
    if (!WRONG) MPI_Comm_free(&copy);
}

// 2: invalid-argument
CASE(null_datatype) {
    int x = 0;
    if (rank == 0) MPI_Send(&x, 1, WRONG ? MPI_DATATYPE_NULL : MPI_INT, 1, 0, WORLD); //!
    else MPI_Recv(&x, 1, MPI_INT, 0, 0, WORLD, &status);
}

// 2: invalid-argument
CASE(type_not_committed) {
    int x[2] = {0};
    MPI_Datatype two;
    MPI_Type_contiguous(2, MPI_INT, &two);
    if (!WRONG) MPI_Type_commit(&two);
    if (rank == 0) MPI_Send(x, 1, two, 1, 0, WORLD); //!
    else MPI_Recv(x, 1, two, 0, 0, WORLD, &status);  //!
    MPI_Type_free(&two);
}

// 2: invalid-argument
CASE(null_buffer) {
    int x = 0;
    if (rank == 0) MPI_Send(WRONG ? NULL : &x, 1, MPI_INT, 1, 0, WORLD); //!
    else MPI_Recv(&x, 1, MPI_INT, 0, 0, WORLD, &status);
}

// 2: request
CASE(never_waited) {
    int x = 0;
    MPI_Request request;
    if (rank == 0) MPI_Isend(&x, 1, MPI_INT, 1, 0, WORLD, &request);
    else MPI_Irecv(&x, 1, MPI_INT, 0, 0, WORLD, &request);
    if (!WRONG || rank == 1) MPI_Wait(&request, &status);
}

// 2: request
CASE(never_started) {
    int x = 0;
    MPI_Request request;
    if (rank == 0) MPI_Send_init(&x, 1, MPI_INT, 1, 0, WORLD, &request);
    else MPI_Recv_init(&x, 1, MPI_INT, 0, 0, WORLD, &request);
    if (!WRONG) MPI_Start(&request);
    MPI_Wait(&request, &status);
    MPI_Request_free(&request); //!
}

// 2: request
CASE(persistent_never_freed) {
    int x = 0;
    MPI_Request request;
    if (rank == 0) MPI_Send_init(&x, 1, MPI_INT, 1, 0, WORLD, &request);
    else MPI_Recv_init(&x, 1, MPI_INT, 0, 0, WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, &status);
    if (!WRONG || rank == 0) MPI_Request_free(&request);
}

// 2: request
CASE(freed_while_receiving) {
    int x = 0;
    MPI_Request request;
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, WORLD);
    else {
        MPI_Irecv(&x, 1, MPI_INT, 0, 0, WORLD, &request);
        if (WRONG) MPI_Request_free(&request); //!
        else MPI_Wait(&request, &status);
    }
}

// 2: invalid-argument
CASE(started_twice) {
    int x = 0;
    MPI_Request request;
    if (rank == 0) MPI_Send_init(&x, 1, MPI_INT, 1, 0, WORLD, &request);
    else MPI_Recv_init(&x, 1, MPI_INT, 0, 0, WORLD, &request);
    MPI_Start(&request);
    if (WRONG) MPI_Start(&request); //!
    MPI_Wait(&request, &status);
    MPI_Request_free(&request);
}

// 2: invalid-argument
CASE(waited_with_an_old_handle) {
    int x = 0;
    MPI_Request request, old;
    if (rank == 0) MPI_Isend(&x, 1, MPI_INT, 1, 0, WORLD, &request);
    else MPI_Irecv(&x, 1, MPI_INT, 0, 0, WORLD, &request);
    old = request;
    MPI_Wait(&request, &status);
    if (WRONG) MPI_Wait(&old, &status); //!
}

// 2: ready-send
CASE(not_ready) {
    int x = 0;
    MPI_Request request;
    if (rank == 0) {
        if (!WRONG) MPI_Recv(&x, 0, MPI_INT, 1, 1, WORLD, &status);
        MPI_Rsend(&x, 1, MPI_INT, 1, 0, WORLD); //!
    } else {
        MPI_Irecv(&x, 1, MPI_INT, 0, 0, WORLD, &request);
        if (!WRONG) MPI_Send(&x, 0, MPI_INT, 0, 1, WORLD);
        MPI_Wait(&request, &status);
    }
}

// 3: assertion
CASE(first_comes_first) {
    int x;
    if (rank == 0) {
        MPI_Recv(&x, 1, MPI_INT, WRONG ? MPI_ANY_SOURCE : 1, 0, WORLD, &status);
        if (x != 1) abort(); //!
        MPI_Recv(&x, 1, MPI_INT, WRONG ? MPI_ANY_SOURCE : 2, 0, WORLD, &status);
    } else
        MPI_Send(&rank, 1, MPI_INT, 0, 0, WORLD);
}

// 3: assertion
CASE(later_than_a_collective) {
    int x = rank, sum, y;
    MPI_Request request = MPI_REQUEST_NULL;
    /* The sum of all says nothing about whether the message of rank 1 has come. */
    if (rank == 1) MPI_Isend(&x, 1, MPI_INT, 2, 0, WORLD, &request);
    MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, WORLD);
    if (rank == 0) MPI_Send(&x, 1, MPI_INT, 2, 0, WORLD);
    if (rank == 2) {
        MPI_Recv(&y, 1, MPI_INT, WRONG ? MPI_ANY_SOURCE : 1, 0, WORLD, &status);
        if (y != 1) abort(); //!
        MPI_Recv(&y, 1, MPI_INT, WRONG ? MPI_ANY_SOURCE : 0, 0, WORLD, &status);
    }
    MPI_Wait(&request, &status);
}

// 2: deadlock
CASE(order_of_two_communicators) {
    int x = 1, y = 0, flag;
    MPI_Comm copy;
    MPI_Request request;
    MPI_Comm_dup(WORLD, &copy);
    if (rank == 1) {
        MPI_Isend(&x, 1, MPI_INT, 0, 0, WORLD, &request);
        MPI_Ssend(&x, 1, MPI_INT, 0, 0, copy);
        MPI_Wait(&request, &status);
    } else {
        MPI_Recv(&y, 1, MPI_INT, 1, 0, copy, &status);
        MPI_Irecv(&y, 1, MPI_INT, 1, 0, WORLD, &request);
        MPI_Test(&request, &flag, &status);
        if (!flag) {
            /* What was sent before on another communicator may still be on its way. */
            if (WRONG) MPI_Recv(&x, 1, MPI_INT, 1, 1, WORLD, &status);
            MPI_Wait(&request, &status);
        }
    }
    MPI_Comm_free(&copy);
}

// 2: assertion
CASE(any_of_two_sends) {
    int x = 0, y[2], which;
    MPI_Request requests[2];
    if (rank == 0) {
        for (int i = 0; i < 2; i++) MPI_Isend(&x, 1, MPI_INT, 1, i, WORLD, &requests[i]);
        MPI_Waitany(2, requests, &which, &status);
        if (WRONG && which != 0) abort(); //!
        MPI_Wait(&requests[1 - which], &status);
    } else
        for (int i = 0; i < 2; i++) MPI_Recv(&y[i], 1, MPI_INT, 0, i, WORLD, &status);
}

/* The receive is certainly complete, since what was sent after it has come; so is the send. Either may be told. */
static void any_of_receive_and_send(int expected) {
    int x = 0, y = 0, z = 0, which, tag = 7;
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Irecv(&x, 1, MPI_INT, 1, 0, WORLD, &requests[0]);
        MPI_Recv(&y, 1, MPI_INT, 1, 1, WORLD, &status);
        MPI_Isend(&y, 1, MPI_INT, 1, 2, WORLD, &requests[1]);
        MPI_Recv(&z, 1, MPI_INT, 1, tag, WORLD, &status);
        MPI_Waitany(2, requests, &which, &status);
        if (WRONG && which != expected) abort(); //!
        MPI_Wait(&requests[1 - which], &status);
    } else {
        MPI_Send(&x, 1, MPI_INT, 0, 0, WORLD);
        MPI_Send(&x, 1, MPI_INT, 0, 1, WORLD);
        MPI_Recv(&y, 1, MPI_INT, 0, 2, WORLD, &status);
        MPI_Send(&x, 1, MPI_INT, 0, tag, WORLD);
    }
}

// 2: assertion
CASE(any_is_not_always_the_receive) {
    any_of_receive_and_send(0);
}

// 2: assertion
CASE(any_is_not_always_the_send) {
    any_of_receive_and_send(1);
}

/* What Waitany has left out may still be complete, or not, when it is tested. */
static void tested_after_any(int expected) {
    int x = 0, y = 0, which, flag;
    MPI_Request requests[2];
    if (rank == 0) {
        MPI_Irecv(&x, 1, MPI_INT, 1, 0, WORLD, &requests[0]);
        MPI_Isend(&y, 1, MPI_INT, 1, 0, WORLD, &requests[1]);
        MPI_Waitany(2, requests, &which, &status);
        MPI_Test(&requests[1 - which], &flag, &status);
        if (WRONG && which == 1 && flag == expected) abort(); //!
        if (!flag) MPI_Wait(&requests[1 - which], &status);
    } else {
        MPI_Send(&x, 1, MPI_INT, 0, 0, WORLD);
        MPI_Recv(&y, 1, MPI_INT, 0, 0, WORLD, &status);
    }
}

// 2: assertion
CASE(left_by_any_and_complete) {
    tested_after_any(1);
}

// 2: assertion
CASE(left_by_any_and_not_complete) {
    tested_after_any(0);
}

// 3: assertion
CASE(another_than_was_probed) {
    int x;
    MPI_Status found;
    if (rank > 0) {
        MPI_Send(&rank, 1, MPI_INT, 0, 0, WORLD);
        return;
    }
    for (int i = 1; i < size; i++) {
        MPI_Probe(MPI_ANY_SOURCE, 0, WORLD, &found);
        MPI_Recv(&x, 1, MPI_INT, WRONG ? MPI_ANY_SOURCE : found.MPI_SOURCE, 0, WORLD, &status);
        if (x != found.MPI_SOURCE) abort(); //!
    }
}

// 2: deadlock
CASE(tested_for_ever) {
    int x = 0, flag = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(&x, 1, MPI_INT, 1, 0, WORLD, &request);
        while (!flag) MPI_Test(&request, &flag, &status);
    } else if (!WRONG)
        MPI_Send(&x, 1, MPI_INT, 0, 0, WORLD);
}

// 2: deadlock
CASE(probed_for_ever) {
    int x = 0, flag = 0;
    if (rank == 0) {
        while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &flag, &status);
        MPI_Recv(&x, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, WORLD, &status);
    } else if (!WRONG)
        MPI_Send(&x, 1, MPI_INT, 0, 0, WORLD);
}

// 2: assertion
CASE(cancelled_sends) {
    int x = 1, y = 0, flag = 0, other = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Isend(&x, 1, MPI_INT, 1, 7, WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        MPI_Send(&flag, 1, MPI_INT, 1, 0, WORLD);
        // Nobody receives it; or it may be received before.
        if (WRONG && !flag) abort();
    } else {
        if (WRONG) MPI_Iprobe(0, 7, WORLD, &other, &status);
        if (other) MPI_Recv(&y, 1, MPI_INT, 0, 7, WORLD, &status);
        MPI_Recv(&flag, 1, MPI_INT, 0, 0, WORLD, &status);
        if (flag == other) abort();
    }
}

// 2: type-mismatch
CASE(exact_lengths) {
    int x[4] = {0};
    MPI_Info info;
    MPI_Comm exact;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_exact_length", "true");
    MPI_Comm_dup_with_info(WORLD, info, &exact);
    MPI_Info_free(&info);
    if (rank == 0) MPI_Send(x, 3, MPI_INT, 1, 0, exact);
    else MPI_Recv(x, WRONG ? 4 : 3, MPI_INT, 0, 0, exact, &status); //!
    MPI_Comm_free(&exact);
}
