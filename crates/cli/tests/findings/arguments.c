/* Arguments that several processes give alike, or that stay as they are until a communication is over. */
#include "cases.h"

static MPI_Comm two_groups(void) {
    MPI_Comm group, both;
    MPI_Comm_split(WORLD, rank >= size / 2, rank, &group);
    MPI_Intercomm_create(group, 0, WORLD, rank < size / 2 ? size / 2 : 0, 7, &both);
    MPI_Comm_free(&group);
    return both;
}

// 3: collective-mismatch
CASE(dimensions) {
    MPI_Comm grid;
    int dims[2] = {1, size}, periods[2] = {0, 0};
    if (WRONG && rank == 0) dims[0] = size, dims[1] = 1;
    MPI_Cart_create(WORLD, 2, dims, periods, 0, &grid); //!
    MPI_Comm_free(&grid);
}

// 3: collective-mismatch
CASE(periods) {
    MPI_Comm grid;
    int dims[1] = {size}, periods[1] = {WRONG && rank == 1};
    MPI_Cart_create(WORLD, 1, dims, periods, 0, &grid); //!
    MPI_Comm_free(&grid);
}

// 3: collective-mismatch
CASE(edges_of_graph) {
    MPI_Comm graph;
    int index[3] = {1, 2, 3}, edges[3] = {1, 2, 0};
    if (WRONG && rank == 2) edges[0] = 2;
    MPI_Graph_create(WORLD, 3, index, edges, 0, &graph); //!
    MPI_Comm_free(&graph);
}

// 3: collective-mismatch
CASE(edges_of_one_end) {
    MPI_Comm graph;
    int source = (rank + 2) % 3, destination = (rank + 1) % 3;
    if (WRONG && rank == 0) destination = 2;
    MPI_Dist_graph_create_adjacent(WORLD, 1, &source, MPI_UNWEIGHTED, 1, &destination, //!
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);          //!
    MPI_Comm_free(&graph);
}

// 3: collective-mismatch
CASE(weights_of_edges) {
    MPI_Comm graph;
    int source = (rank + 2) % 3, destination = (rank + 1) % 3, in = source, out = WRONG && rank == 1 ? 9 : rank;
    MPI_Dist_graph_create_adjacent(WORLD, 1, &source, &in, 1, &destination, &out, //!
                                   MPI_INFO_NULL, 0, &graph);                     //!
    MPI_Comm_free(&graph);
}

// 4: collective-mismatch
CASE(union_of_groups) {
    MPI_Comm both = two_groups(), merged;
    MPI_Intercomm_merge(both, WRONG ? rank % 2 : rank / 2, &merged); //!
    MPI_Comm_free(&merged);
    MPI_Comm_free(&both);
}

// 4: collective-mismatch
CASE(no_root_of_two_groups) {
    MPI_Comm both = two_groups();
    int x = 0, root = rank >= size / 2 ? 1 : rank == 1 && !WRONG ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Bcast(&x, 1, MPI_INT, root, both); //!
    MPI_Comm_free(&both);
}

// 4: collective-mismatch
CASE(operators_of_two_groups) {
    MPI_Comm both = two_groups();
    int x = 1, y;
    MPI_Allreduce(&x, &y, 1, MPI_INT, WRONG && rank < size / 2 ? MPI_MAX : MPI_SUM, both); //!
    MPI_Comm_free(&both);
}

// 4: collective-mismatch
CASE(blocks_of_two_groups) {
    MPI_Comm both = two_groups();
    int x[2] = {0}, all[8];
    int count = rank >= size / 2 ? 2 : 1, other = WRONG ? count : 3 - count;
    MPI_Allgather(x, count, MPI_INT, all, other, MPI_INT, both); //!
    MPI_Comm_free(&both);
}

// 3: invalid-argument
CASE(blocks_overlap) {
    int out[16] = {0}, in[16], counts[4] = {2, 2, 2, 2}, from[4] = {0, 2, 4, 6}, to[4] = {0, 2, 4, 6};
    if (WRONG) to[1] = 1;
    MPI_Alltoallv(out, counts, from, MPI_INT, in, counts, to, MPI_INT, WORLD); //!
}

// 3: buffer-race
CASE(counts_stored) {
    int x = rank, all[8], counts[4] = {1, 1, 1, 1}, away[4] = {0, 1, 2, 3};
    MPI_Request request;
    MPI_Iallgatherv(&x, 1, MPI_INT, all, counts, away, MPI_INT, WORLD, &request);
    if (WRONG) away[1] = 3; //!
    MPI_Wait(&request, &status);
    away[1] = 3;
}

// 3: buffer-race
CASE(counts_stored_at_the_root) {
    int x = rank, all[8], counts[4] = {1, 1, 1, 1}, away[4] = {0, 1, 2, 3};
    MPI_Request request;
    MPI_Igatherv(&x, 1, MPI_INT, all, counts, away, MPI_INT, 0, WORLD, &request);
    if (WRONG ? rank == 0 : rank != 0) counts[2] = 5; //!
    MPI_Wait(&request, &status);
}

// 3: buffer-race
CASE(types_stored) {
    int out[4] = {0}, in[4], counts[4] = {1, 1, 1, 1}, away[4] = {0, 4, 8, 12};
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    MPI_Request request;
    MPI_Ialltoallw(out, counts, away, types, in, counts, away, types, WORLD, &request);
    if (WRONG) types[0] = MPI_FLOAT; //!
    MPI_Wait(&request, &status);
    types[0] = MPI_FLOAT;
}

// 3: buffer-race
CASE(counts_of_prepared) {
    int x = rank, all[8], counts[4] = {1, 1, 1, 1}, away[4] = {0, 1, 2, 3};
    MPI_Request request;
    MPI_Allgatherv_init(&x, 1, MPI_INT, all, counts, away, MPI_INT, WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < 2; round++) {
        MPI_Start(&request);
        MPI_Wait(&request, &status);
    }
    if (WRONG) away[0] = 4; //!
    MPI_Request_free(&request);
    away[0] = 4;
}

// 3: buffer-race
CASE(counts_of_neighbors) {
    MPI_Comm ring;
    int dims[1] = {size}, periods[1] = {1}, out[2] = {rank, rank}, in[2];
    int counts[4] = {1, 1, 7, 7}, away[4] = {0, 1, 7, 7};
    MPI_Request request;
    MPI_Cart_create(WORLD, 1, dims, periods, 0, &ring);
    MPI_Ineighbor_alltoallv(out, counts, away, MPI_INT, in, counts, away, MPI_INT, ring, &request);
    counts[WRONG ? 1 : 2] = 8; //!
    MPI_Wait(&request, &status);
    MPI_Comm_free(&ring);
}

// 2: type-mismatch
CASE(types_of_partitions) {
    int x[8] = {0};
    MPI_Request request;
    if (rank == 0) {
        MPI_Psend_init(x, 4, 2, MPI_INT, 1, 5, WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready_range(0, 3, request);
    } else {
        MPI_Precv_init(x, 2, 4, WRONG ? MPI_FLOAT : MPI_INT, 0, 5, WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    }
    MPI_Wait(&request, &status); //!
    MPI_Request_free(&request);
}

// 2: window-race
CASE(partitions_order_windows) {
    int *memory, x = 1;
    MPI_Win window;
    MPI_Request request;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &memory, &window);
    MPI_Win_lock_all(0, window);
    if (rank == 0)
        MPI_Psend_init(&x, 1, 1, MPI_INT, 1, 5, WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(&x, 1, 1, MPI_INT, 0, 5, WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    if (rank == 0) {
        if (WRONG) MPI_Pready(0, request);
        MPI_Put(&size, 1, MPI_INT, 1, 0, 1, MPI_INT, window); //!
        MPI_Win_flush(1, window);
        if (!WRONG) MPI_Pready(0, request);
    }
    MPI_Wait(&request, &status);
    if (rank == 1) x = *memory; //!
    MPI_Win_unlock_all(window);
    MPI_Request_free(&request);
    MPI_Win_free(&window);
}

// 3: invalid-argument
CASE(copy_used_too_early) {
    MPI_Comm copy;
    MPI_Request request;
    int place;
    MPI_Comm_idup(WORLD, &copy, &request);
    if (WRONG) MPI_Comm_rank(copy, &place); //!
    MPI_Wait(&request, &status);
    MPI_Comm_rank(copy, &place);
    MPI_Comm_free(&copy);
}

// 2: invalid-argument
CASE(nothing_of_no_type) {
    int x = 0;
    MPI_Send(&x, 1, WRONG ? MPI_DATATYPE_NULL : MPI_INT, MPI_PROC_NULL, 0, WORLD); //!
}

// 2: invalid-argument
CASE(file_closed_twice) {
    MPI_File file;
    MPI_File_open(WORLD, "arguments.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_close(&file);
    if (!WRONG) MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_File_close(&file); //!
}

// 2: invalid-argument
CASE(sum_of_text) {
    char x[4] = {0}, y[4];
    MPI_Allreduce(x, y, 4, WRONG ? MPI_CHAR : MPI_SIGNED_CHAR, MPI_SUM, WORLD); //!
}

static void keep(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)in, (void)inout, (void)count, (void)type;
}

// 2: invalid-argument
CASE(bits_of_text) {
    char x[4] = {0}, y[4];
    MPI_Op op;
    MPI_Op_create(keep, 1, &op);
    MPI_Reduce(x, y, 4, MPI_CHAR, WRONG ? MPI_BOR : op, 0, WORLD); //!
    MPI_Op_free(&op);
}

// 2: invalid-argument
CASE(sum_of_text_in_a_window) {
    char memory[4] = {0}, x[4] = {1};
    MPI_Win win;
    MPI_Win_create(memory, 4, 1, MPI_INFO_NULL, WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Accumulate(x, 4, MPI_CHAR, 1, 0, 4, MPI_CHAR, WRONG ? MPI_SUM : MPI_REPLACE, win); //!
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}
