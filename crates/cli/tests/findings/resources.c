/* What is made is freed. */
#include "cases.h"

// 2: leak
CASE(communicator) {
    MPI_Comm copy;
    MPI_Comm_dup(WORLD, &copy);
    if (!WRONG) MPI_Comm_free(&copy);
}

// 2: leak
CASE(datatype) {
    MPI_Datatype two;
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    if (!WRONG) MPI_Type_free(&two);
}

// 2: leak
CASE(group) {
    MPI_Group group;
    MPI_Comm_group(WORLD, &group);
    if (!WRONG) MPI_Group_free(&group);
}

static void add(void *in, void *inout, int *length, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *length; i++) ((int *)inout)[i] += ((int *)in)[i];
}

// 2: leak
CASE(operator_) {
    MPI_Op op;
    int x = 1, y;
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(&x, &y, 1, MPI_INT, op, WORLD);
    if (!WRONG) MPI_Op_free(&op);
}

static void handle(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
}

// 2: leak
CASE(error_handler) {
    MPI_Errhandler made;
    MPI_Comm_create_errhandler(handle, &made);
    MPI_Comm_set_errhandler(WORLD, made);
    if (!WRONG) MPI_Errhandler_free(&made);
}

// 2: leak
CASE(info) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    if (!WRONG) MPI_Info_free(&info);
}

// 2: leak
CASE(window) {
    static int memory[4];
    MPI_Win win;
    MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, WORLD, &win);
    if (!WRONG) MPI_Win_free(&win);
}

// 2: leak
CASE(file) {
    MPI_File file;
    MPI_File_open(WORLD, "file.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    if (!WRONG) MPI_File_close(&file);
}

// 1: leak
CASE(types_of_fortran_are_never_freed) {
    MPI_Datatype real, integer, complex, pair = MPI_INT;
    MPI_Type_create_f90_real(12, MPI_UNDEFINED, &real);
    MPI_Type_create_f90_integer(8, &integer);
    MPI_Type_create_f90_complex(6, 30, &complex);
    if (WRONG) MPI_Type_contiguous(2, real, &pair);
}
