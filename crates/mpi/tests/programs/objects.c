/* Objects that programs make: keys of attributes, copies, names, graphs, error codes. Each part checks itself; rank 0 prints
   "objects: right". Any number of processes. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size, wrong, deleted;

#define CHECK(what) do { if (!(what)) { wrong++; printf("rank %d, line %d: %s\n", rank, __LINE__, #what); } } while (0)

static int frees_its_key(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)value, (void)extra;
    deleted++;
    return MPI_Comm_free_keyval(&key);
}

/* A key may be freed again and again as long as something is attached under it. */
static void keys(void) {
    MPI_Comm one, other;
    int key, again, flag;
    void *value;
    MPI_Comm_dup(MPI_COMM_SELF, &one);
    MPI_Comm_dup(MPI_COMM_SELF, &other);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, frees_its_key, &key, NULL);
    again = key;
    MPI_Comm_set_attr(one, key, &rank);
    MPI_Comm_set_attr(other, key, &size);
    MPI_Comm_free(&one);
    CHECK(deleted == 1);
    CHECK(MPI_Comm_free_keyval(&key) == MPI_SUCCESS && key == MPI_KEYVAL_INVALID);
    CHECK(MPI_Comm_get_attr(other, again, &value, &flag) == MPI_SUCCESS && flag && value == &size);
    MPI_Comm_free(&other);
    CHECK(deleted == 2);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Comm_free_keyval(&again) != MPI_SUCCESS);
}

static int no_copy(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag) {
    (void)type, (void)key, (void)extra, (void)in, (void)out;
    *flag = 1;
    return MPI_ERR_OTHER;
}

/* A copy that fails is no datatype. */
static void copies(void) {
    MPI_Datatype type, copy = MPI_INT;
    int key;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_create_keyval(no_copy, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_set_attr(type, key, NULL);
    CHECK(MPI_Type_dup(type, &copy) != MPI_SUCCESS && copy == MPI_DATATYPE_NULL);
    MPI_Type_free_keyval(&key);
    MPI_Type_free(&type);
}

/* Of two names for a type, the one that the standard calls a synonym is not given. */
static void names(void) {
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Type_get_name(MPI_LONG_LONG, name, &length);
    CHECK(!strcmp(name, "MPI_LONG_LONG_INT") && length == 17);
    MPI_Type_get_name(MPI_C_FLOAT_COMPLEX, name, &length);
    CHECK(!strcmp(name, "MPI_C_COMPLEX"));
}

static int is_weighted(int edges, const int *weights) {
    MPI_Comm graph;
    int degree = edges, in, out, weighted, to = (rank + 1) % size;
    MPI_Dist_graph_create(MPI_COMM_WORLD, edges, &rank, &degree, &to, weights, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    CHECK(in + out >= 0);
    MPI_Comm_free(&graph);
    return weighted;
}

/* Graphs have weights unless it is said that they have none; those who name no edges do not say. */
static void graphs(void) {
    int weight = 3;
    CHECK(is_weighted(1, &weight));
    CHECK(!is_weighted(1, MPI_UNWEIGHTED));
    CHECK(is_weighted(0, MPI_WEIGHTS_EMPTY));
    CHECK(is_weighted(0, NULL));
    CHECK(!is_weighted(0, MPI_UNWEIGHTED));
    CHECK(is_weighted(rank == 0, rank == 0 ? &weight : MPI_UNWEIGHTED));
    CHECK(!is_weighted(rank == 0, rank == 0 ? MPI_UNWEIGHTED : NULL));
}

static void operators(void) {
    MPI_Count count = rank + 1, all = 0;
    MPI_Aint address = rank == 0, any = 0;
    MPI_Allreduce(&count, &all, 1, MPI_COUNT, MPI_LAND, MPI_COMM_WORLD);
    MPI_Allreduce(&address, &any, 1, MPI_AINT, MPI_LOR, MPI_COMM_WORLD);
    CHECK(all == 1 && any == 1);
}

/* Two buffers of one call are two: where data lie in their place already, MPI_IN_PLACE says so. */
static void buffers(void) {
    int values[64] = {0}, one = 1;
    CHECK(MPI_Reduce_local(values, values, 1, MPI_INT, MPI_SUM) == MPI_ERR_BUFFER);
    CHECK(MPI_Reduce_local(&one, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM) == MPI_ERR_BUFFER);
    CHECK(MPI_Reduce_local(&one, values, 1, MPI_INT, MPI_SUM) == MPI_SUCCESS && values[0] == 1);
    if (size > 64) return;
    CHECK(MPI_Allgather(values + rank, 1, MPI_INT, values, 1, MPI_INT, MPI_COMM_WORLD) == MPI_ERR_BUFFER);
}

static void forgives(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    *code = MPI_SUCCESS;
}

/* A communicator that is not made is none; an error handler may change the code that the call gives. */
static void errors(void) {
    MPI_Comm cart = MPI_COMM_SELF;
    MPI_Errhandler handler;
    int dims[2] = {size, 2}, periods[2] = {0, 0};
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart) != MPI_SUCCESS && cart == MPI_COMM_NULL);
    MPI_Comm_create_errhandler(forgives, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    CHECK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
}

static void codes(void) {
    int class, code, other, found;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_code(MPI_ERR_ARG, &other);
    CHECK(MPI_Remove_error_class(class) != MPI_SUCCESS);
    MPI_Error_class(other, &found);
    CHECK(found == MPI_ERR_ARG);
    CHECK(MPI_Remove_error_code(code) == MPI_SUCCESS && MPI_Remove_error_code(other) == MPI_SUCCESS);
    CHECK(MPI_Remove_error_class(class) == MPI_SUCCESS && MPI_Remove_error_class(class) != MPI_SUCCESS);
}

int main(int argc, char **argv) {
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    keys();
    copies();
    names();
    graphs();
    operators();
    buffers();
    errors();
    codes();
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("objects: %s\n", all ? "wrong" : "right");
    MPI_Finalize();
    return wrong != 0;
}
