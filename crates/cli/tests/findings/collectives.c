/* Collectives: the same ones in the same order, with arguments that fit. */
#include "cases.h"

// 3: collective-mismatch
CASE(barrier_and_broadcast) {
    int x = 0;
    if (rank == 1 && WRONG) MPI_Barrier(WORLD); //!
    MPI_Bcast(&x, 1, MPI_INT, 0, WORLD);        //!
    if (rank != 1 || !WRONG) MPI_Barrier(WORLD); //!
}

// 3: collective-mismatch
CASE(roots) {
    int x = 0;
    MPI_Bcast(&x, 1, MPI_INT, WRONG && rank == 2 ? 1 : 0, WORLD); //!
}

// 3: collective-mismatch
CASE(operators) {
    int x = 1, y;
    MPI_Allreduce(&x, &y, 1, MPI_INT, WRONG && rank == 1 ? MPI_MAX : MPI_SUM, WORLD); //!
}

// 3: collective-mismatch
CASE(counts) {
    int x[4] = {0};
    MPI_Bcast(x, WRONG && rank == 1 ? 3 : 4, MPI_INT, 0, WORLD); //!
}

// 3: collective-mismatch
CASE(types) {
    double x[2] = {0}, y[2];
    MPI_Reduce(x, y, 2, WRONG && rank == 1 ? MPI_LONG : MPI_DOUBLE, MPI_SUM, 0, WORLD); //!
}

// 3: collective-mismatch
CASE(gathered_as_something_else) {
    int x = 0;
    float all[8];
    MPI_Gather(&x, 1, MPI_INT, all, 1, WRONG ? MPI_FLOAT : MPI_INT, 0, WORLD); //!
}

// 3: collective-mismatch
CASE(scattered_too_much) {
    int all[8] = {0}, x[2];
    MPI_Scatter(all, WRONG ? 2 : 1, MPI_INT, x, 1, MPI_INT, 0, WORLD); //!
}

// 3: collective-mismatch
CASE(all_to_all_counts) {
    int out[16] = {0}, in[16];
    int count = WRONG && rank == 1 ? 2 : 1;
    MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, WORLD); //!
}

// 3: collective-mismatch
CASE(blocking_and_not) {
    MPI_Request request;
    if (WRONG && rank == 0) {
        MPI_Barrier(WORLD); //!
        return;
    }
    MPI_Ibarrier(WORLD, &request); //!
    MPI_Wait(&request, &status);
}

// 2: collective-mismatch
CASE(two_that_cross) {
    MPI_Request one, two;
    int x = 0, y = 0;
    if (WRONG && rank == 1) {
        MPI_Ibarrier(WORLD, &two); //!
        MPI_Ibcast(&x, 1, MPI_INT, 0, WORLD, &one);
    } else {
        MPI_Ibcast(&x, 1, MPI_INT, 0, WORLD, &one); //!
        MPI_Ibarrier(WORLD, &two);
    }
    MPI_Wait(&one, &status);
    MPI_Wait(&two, &status);
    (void)y;
}

// 2: deadlock
CASE(two_communicators) {
    MPI_Comm copy;
    MPI_Comm_dup(WORLD, &copy);
    int first = WRONG && rank == 1;
    MPI_Barrier(first ? copy : WORLD);
    MPI_Barrier(first ? WORLD : copy);
    MPI_Comm_free(&copy);
}

// 3: deadlock
CASE(one_does_not_come) {
    if (rank != 1 || !WRONG) MPI_Barrier(WORLD);
}

// 2: deadlock
CASE(receive_across_a_barrier) {
    int x = 0;
    if (rank == 0) {
        if (!WRONG) MPI_Barrier(WORLD);
        MPI_Recv(&x, 1, MPI_INT, 1, 0, WORLD, &status);
        if (WRONG) MPI_Barrier(WORLD);
    } else {
        MPI_Barrier(WORLD);
        MPI_Send(&x, 1, MPI_INT, 0, 0, WORLD);
    }
}

// 2: invalid-argument
CASE(no_such_root) {
    int x = 0;
    MPI_Bcast(&x, 1, MPI_INT, WRONG ? 9 : 0, WORLD); //!
}

// 2: invalid-argument
CASE(null_operator) {
    int x = 0, y;
    MPI_Allreduce(&x, &y, 1, MPI_INT, WRONG ? MPI_OP_NULL : MPI_SUM, WORLD); //!
}

// 2: invalid-argument
CASE(operator_for_another_type) {
    double x = 0, y;
    MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, WRONG ? MPI_BAND : MPI_SUM, WORLD); //!
}

// 2: invalid-argument
CASE(same_buffer_twice) {
    int x[2] = {0}, y[2];
    MPI_Allreduce(x, WRONG ? x : y, 2, MPI_INT, MPI_SUM, WORLD); //!
}

// 3: collective-mismatch
CASE(split_and_dup) {
    MPI_Comm made;
    if (WRONG && rank == 2) MPI_Comm_dup(WORLD, &made); //!
    else MPI_Comm_split(WORLD, 0, rank, &made);         //!
    MPI_Comm_free(&made);
}

// 3: collective-mismatch
CASE(one_never_creates) {
    MPI_Group all, two;
    MPI_Comm made = MPI_COMM_NULL;
    int first[2] = {0, 1};
    MPI_Comm_group(WORLD, &all);
    MPI_Group_incl(all, 2, first, &two);
    if (rank < 2 || !WRONG) MPI_Comm_create(WORLD, two, &made);
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
    MPI_Group_free(&two);
    MPI_Group_free(&all);
}

// 2: deadlock
CASE(gathers_may_synchronise) {
    int x = 0, all[2];
    if (rank == 0) {
        if (!WRONG) MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, 0, WORLD);
        MPI_Recv(&x, 1, MPI_INT, 1, 0, WORLD, &status);
        if (WRONG) MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, 0, WORLD);
    } else {
        MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, 0, WORLD);
        MPI_Send(&x, 1, MPI_INT, 0, 0, WORLD);
    }
}

// 2: collective-mismatch
CASE(access_modes_differ) {
    MPI_File file;
    int amode = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;
    MPI_File_open(WORLD, "numbers", WRONG && rank ? MPI_MODE_RDWR : amode, MPI_INFO_NULL, &file); //!
    MPI_File_close(&file);
}

// 3: collective-mismatch
CASE(groups_differ) {
    int ranks[] = {0, 1, 2}, swapped[] = {1, 0, 2};
    MPI_Group all, group;
    MPI_Comm comm;
    MPI_Comm_group(WORLD, &all);
    MPI_Group_incl(all, rank == 2 ? 0 : 2, WRONG && rank == 1 ? swapped : ranks, &group);
    MPI_Comm_create(WORLD, group, &comm); //!
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
}

// 3: invalid-argument
CASE(gathered_into_one_place) {
    int x = 0, all[3] = {0}, counts[] = {1, 1, 1}, places[] = {0, 1, WRONG ? 1 : 2};
    MPI_Gatherv(&x, 1, MPI_INT, all, counts, places, MPI_INT, 0, WORLD); //!
}

// 2: buffer-race
CASE(reduced_in_place) {
    int x[4] = {0}, counts[] = {2, 2};
    MPI_Request request;
    MPI_Ireduce_scatter(MPI_IN_PLACE, x, counts, MPI_INT, MPI_SUM, WORLD, &request);
    if (WRONG) x[1] = 5; //!
    MPI_Wait(&request, &status);
    MPI_Iallreduce(MPI_IN_PLACE, x, 4, MPI_INT, MPI_SUM, WORLD, &request);
    MPI_Wait(&request, &status);
}

// 3: collective-mismatch
CASE(types_of_neighbours) {
    int x[4] = {0}, y[8] = {0}, sizes[1] = {size}, periods[1] = {1};
    MPI_Comm ring;
    MPI_Datatype type = WRONG && rank == 1 ? MPI_FLOAT : MPI_INT;
    MPI_Cart_create(WORLD, 1, sizes, periods, 0, &ring);
    MPI_Neighbor_allgather(x, 4, type, y, 4, type, ring); //!
    MPI_Comm_free(&ring);
}

// 2: collective-mismatch
CASE(counts_of_neighbours) {
    int x[8] = {0}, y[8] = {0}, sizes[1] = {size}, periods[1] = {1};
    MPI_Comm ring;
    MPI_Request request;
    MPI_Cart_create(WORLD, 1, sizes, periods, 0, &ring);
    MPI_Ineighbor_alltoall(x, WRONG && rank ? 1 : 2, MPI_INT, y, WRONG && rank ? 1 : 2, MPI_INT, ring, &request); //!
    MPI_Wait(&request, &status);
    MPI_Comm_free(&ring);
}

// 4: collective-mismatch
CASE(parts_of_a_grid) {
    int dims[2] = {2, 2}, periods[2] = {0, 0}, remain[2] = {1, 0};
    MPI_Comm grid, part;
    MPI_Cart_create(WORLD, 2, dims, periods, 0, &grid);
    if (WRONG && rank == 3) remain[0] = 0, remain[1] = 1;
    MPI_Cart_sub(grid, remain, &part); //!
    MPI_Comm_free(&part);
    MPI_Comm_free(&grid);
}

// 2: collective-mismatch
CASE(windows_of_one_size) {
    int memory[4];
    MPI_Info info;
    MPI_Win win;
    MPI_Info_create(&info);
    MPI_Info_set(info, "same_size", "true");
    MPI_Win_create(memory, WRONG && rank ? 8 : 16, sizeof *memory, info, WORLD, &win); //!
    MPI_Info_free(&info);
    MPI_Win_free(&win);
}
