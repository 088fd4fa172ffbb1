/* Files: each part checks itself; rank 0 prints "files: right". The argument is a folder to write to. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, wrong;
static char path[1000];

#define CHECK(what) do { if (!(what)) { wrong++; printf("rank %d, line %d: %s\n", rank, __LINE__, #what); } } while (0)

static int class_of(int code) { int class; MPI_Error_class(code, &class); return class; }

static int count_of(MPI_Status *status) { int count; MPI_Get_count(status, MPI_INT, &count); return count; }

static void errors(void) {
    MPI_File file;
    int all = MPI_MODE_RDWR | MPI_MODE_CREATE;
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) == MPI_ERR_NO_SUCH_FILE);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &file)) == MPI_ERR_AMODE);
    CHECK(MPI_File_open(MPI_COMM_WORLD, path, all | MPI_MODE_EXCL, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    int amode;
    MPI_File_get_amode(file, &amode);
    CHECK(amode == (all | MPI_MODE_EXCL));
    CHECK(class_of(MPI_File_seek(file, -1, MPI_SEEK_SET)) == MPI_ERR_ARG);
    MPI_File_close(&file);
    CHECK(file == MPI_FILE_NULL);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, path, all | MPI_MODE_EXCL, MPI_INFO_NULL, &file)) == MPI_ERR_FILE_EXISTS);
    int value = 1;
    CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    CHECK(class_of(MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_READ_ONLY);
    MPI_File_close(&file);
    CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file) == MPI_SUCCESS);
    CHECK(class_of(MPI_File_read(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE)) == MPI_ERR_ACCESS);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(class_of(MPI_File_delete(path, MPI_INFO_NULL)) == MPI_ERR_NO_SUCH_FILE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank has every size-th block of 3 integers. */
static void views(void) {
    MPI_File file;
    MPI_Datatype block, pattern;
    MPI_Type_contiguous(3, MPI_INT, &block);
    MPI_Type_create_resized(block, 0, 3 * size * sizeof(int), &pattern);
    MPI_Type_commit(&pattern);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 8 + 3 * rank * sizeof(int), MPI_INT, pattern, "native", MPI_INFO_NULL);
    int data[12];
    for (int i = 0; i < 12; i++) data[i] = 1000 * rank + i;
    MPI_Status status;
    MPI_File_write_all(file, data, 6, MPI_INT, &status);
    CHECK(count_of(&status) == 6);
    MPI_Offset place, byte;
    MPI_File_get_position(file, &place);
    CHECK(place == 6);
    MPI_File_get_byte_offset(file, 7, &byte);
    CHECK(byte == (MPI_Offset)(8 + (3 * rank + 2 * 3 * size + 1) * sizeof(int)));
    MPI_File_write_at_all_begin(file, 6, data + 6, 6, MPI_INT);
    MPI_File_write_at_all_end(file, data + 6, &status);
    CHECK(count_of(&status) == 6);
    MPI_File_sync(file);
    MPI_File_seek(file, 0, MPI_SEEK_END);
    MPI_File_get_position(file, &place);
    CHECK(place == 12);
    MPI_File_get_size(file, &byte);
    CHECK(byte == (MPI_Offset)(8 + 12 * size * sizeof(int)));
    MPI_Offset displacement;
    MPI_Datatype etype, filetype;
    char name[MPI_MAX_DATAREP_STRING];
    MPI_File_get_view(file, &displacement, &etype, &filetype, name);
    CHECK(displacement == (MPI_Offset)(8 + 3 * rank * sizeof(int)) && etype == MPI_INT && !strcmp(name, "native"));
    MPI_Type_free(&filetype);
    MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    int right = (rank + 1) % size, seen[12];
    MPI_Request request;
    MPI_File_iread_at(file, 3 * right, seen, 3, MPI_INT, &request);
    MPI_Wait(&request, &status);
    CHECK(count_of(&status) == 3 && seen[0] == 1000 * right && seen[2] == 1000 * right + 2);
    MPI_File_read_at(file, 12 * size - 2, seen, 12, MPI_INT, &status);
    CHECK(count_of(&status) == 2 && seen[1] == 1000 * (size - 1) + 11);
    MPI_File_close(&file);
    MPI_Type_free(&block);
    MPI_Type_free(&pattern);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void shared(void) {
    MPI_File file;
    MPI_Status status;
    MPI_Offset place;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL);
    int data[64], total = size * (size + 1) / 2;
    for (int i = 0; i <= rank; i++) data[i] = rank;
    MPI_File_write_ordered(file, data, rank + 1, MPI_INT, &status);
    CHECK(count_of(&status) == rank + 1);
    MPI_File_get_position_shared(file, &place);
    CHECK(place == total);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_write_shared(file, &rank, 1, MPI_INT, &status);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_ordered(file, data, rank + 1, MPI_INT, &status);
    for (int i = 0; i <= rank; i++) CHECK(data[i] == rank);
    int one = -1, sum = 0;
    MPI_File_read_shared(file, &one, 1, MPI_INT, &status);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2);
    unsigned char bytes[4];
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 4, bytes, 4, MPI_BYTE, &status);
    CHECK(bytes[0] == 0 && bytes[3] == (size > 1));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_size(file, 6);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &place);
    CHECK(place == 6);
    MPI_File_close(&file);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(path, sizeof path, "%s/files-of-mpi-%d", argc > 1 ? argv[1] : "/tmp", size);
    if (rank == 0) remove(path);
    MPI_Barrier(MPI_COMM_WORLD);
    errors();
    views();
    shared();
    int all;
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all == 0) printf("files: right\n");
    MPI_Finalize();
    return wrong != 0;
}
