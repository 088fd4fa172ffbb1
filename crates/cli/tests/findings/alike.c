/* What all say alike, and what is no argument at all. */
#include "cases.h"

static int data[16], out[16];

static MPI_File open_file(const char *name) {
    MPI_File file;
    MPI_File_open(WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    return file;
}

// 3: collective-mismatch
CASE(nothing_to_reduce) {
    MPI_Reduce(data, out, WRONG && rank == 2 ? 0 : 2, MPI_INT, MPI_SUM, 0, WORLD); //!
}

// 3: collective-mismatch
CASE(nothing_to_scan) {
    MPI_Request request;
    MPI_Iscan(data, out, WRONG && rank == 2 ? 0 : 2, MPI_INT, MPI_SUM, WORLD, &request); //!
    MPI_Wait(&request, IGNORE);
}

// 3: collective-mismatch
CASE(nothing_to_gather) {
    int counts[3] = {1, 1, WRONG}, places[3] = {0, 1, 2};
    MPI_Gatherv(data, rank < 2, MPI_INT, out, counts, places, MPI_INT, 0, WORLD); //!
}

// 3: collective-mismatch
CASE(nothing_to_scatter) {
    int counts[3] = {1, 1, 0}, places[3] = {0, 1, 2};
    MPI_Scatterv(data, counts, places, MPI_INT, out, WRONG || rank < 2, MPI_INT, 0, WORLD); //!
}

// 3: buffer-race
CASE(what_neighbours_get_over_what_they_are_sent) {
    MPI_Comm ring;
    int periodic = 1;
    MPI_Cart_create(WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Neighbor_alltoall(data, 1, MPI_INT, WRONG ? data + 1 : out, 1, MPI_INT, ring); //!
    MPI_Comm_free(&ring);
}

// 2: buffer-race
CASE(what_all_get_over_what_they_send) {
    int counts[2] = {1, 1}, places[2] = {0, 2};
    // Blocks of the one lie between blocks of the other.
    MPI_Alltoallv(data, counts, places, MPI_INT, data + (WRONG ? 2 : 1), counts, places, MPI_INT, WORLD); //!
}

// 3: collective-mismatch
CASE(weights_of_some) {
    MPI_Comm graph;
    int before = (rank + 2) % 3, after = (rank + 1) % 3, weight = 1;
    int *weights = WRONG && rank == 0 ? MPI_UNWEIGHTED : &weight;
    MPI_Dist_graph_create_adjacent(WORLD, 1, &before, weights, 1, &after, weights, MPI_INFO_NULL, 0, &graph); //!
    MPI_Comm_free(&graph);
}

// 2: collective-mismatch
CASE(where_a_shared_pointer_goes) {
    MPI_File file = open_file("alike-seek.data");
    MPI_File_seek_shared(file, WRONG ? rank : 4, MPI_SEEK_SET); //!
    MPI_File_close(&file);
}

// 2: collective-mismatch
CASE(elements_of_a_view) {
    MPI_File file = open_file("alike-etype.data");
    MPI_Datatype type = WRONG && rank ? MPI_CHAR : MPI_INT;
    MPI_File_set_view(file, 0, type, type, "native", MPI_INFO_NULL); //!
    MPI_File_close(&file);
}

// 2: collective-mismatch
CASE(representation_of_a_view) {
    MPI_File file = open_file("alike-datarep.data");
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, WRONG && rank ? "external32" : "native", MPI_INFO_NULL); //!
    MPI_File_close(&file);
}

// 2: invalid-argument
CASE(no_representation) {
    MPI_File file = open_file("alike-nonsense.data");
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, WRONG ? "nonsense" : "internal", MPI_INFO_NULL); //!
    MPI_File_close(&file);
}

// 2: invalid-argument
CASE(a_file_type_of_other_elements) {
    MPI_File file = open_file("alike-filetype.data");
    MPI_Datatype floats, integers;
    MPI_Type_vector(2, 1, 2, MPI_FLOAT, &floats);
    MPI_Type_vector(2, 1, 2, MPI_INT, &integers);
    MPI_Type_commit(&floats);
    MPI_Type_commit(&integers);
    MPI_File_set_view(file, 0, MPI_INT, WRONG ? floats : integers, "native", MPI_INFO_NULL); //!
    MPI_File_set_view(file, 0, MPI_BYTE, floats, "native", MPI_INFO_NULL);
    MPI_Type_free(&floats);
    MPI_Type_free(&integers);
    MPI_File_close(&file);
}

// 2: collective-mismatch
CASE(a_file_closed_instead_of_written) {
    MPI_File file = open_file("alike-close.data");
    if (!WRONG || rank == 0) MPI_File_write_at_all(file, rank * 4, data, 1, MPI_INT, IGNORE); //!
    MPI_File_close(&file);                                                                    //!
}

// 2: leak
CASE(a_key_for_attributes) {
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(WORLD, key, data);
    if (!WRONG) MPI_Comm_free_keyval(&key);
}

// 2: epoch
CASE(a_hint_that_nobody_locks) {
    MPI_Win win;
    MPI_Info hints;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "no_locks", WRONG ? "true" : "false");
    MPI_Win_create(data, sizeof data, 4, hints, WORLD, &win);
    MPI_Info_free(&hints);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win); //!
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
}

// 2: invalid-argument
CASE(a_hint_that_sources_are_named) {
    MPI_Comm made;
    MPI_Info hints;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, WRONG ? "mpi_assert_no_any_source" : "mpi_assert_no_any_tag", "true");
    MPI_Comm_dup_with_info(WORLD, hints, &made);
    MPI_Info_free(&hints);
    if (rank == 0) MPI_Send(data, 1, MPI_INT, 1, 0, made);
    if (rank == 1) MPI_Recv(data, 1, MPI_INT, MPI_ANY_SOURCE, 0, made, IGNORE); //!
    MPI_Comm_free(&made);
}

static void first_of_two(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    memcpy(inout, in, *count * sizeof(int));
}

static void second_of_two(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)in, (void)inout, (void)count, (void)type;
}

// 3: collective-mismatch
CASE(operators_of_the_program) {
    MPI_Op op;
    MPI_Op_create(WRONG && rank == 2 ? first_of_two : second_of_two, 0, &op);
    MPI_Reduce(data, out, 2, MPI_INT, op, 0, WORLD); //!
    MPI_Op_free(&op);
}

// 3: collective-mismatch
CASE(operators_that_commute) {
    MPI_Op op;
    MPI_Op_create(second_of_two, WRONG && rank == 2, &op);
    MPI_Allreduce(data, out, 2, MPI_INT, op, WORLD); //!
    MPI_Op_free(&op);
}
