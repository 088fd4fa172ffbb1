/* Accesses to files that nothing orders. */
#include "cases.h"

static MPI_File opened(void) {
    MPI_File file;
    MPI_File_open(WORLD, "files.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    return file;
}

// 2: file-race
CASE(two_write_one_place) {
    MPI_File file = opened();
    MPI_File_write_at(file, WRONG ? 0 : 4 * rank, &rank, 1, MPI_INT, IGNORE); //!
    MPI_File_close(&file);
}

// 2: file-race
CASE(read_while_written) {
    int x = 5, y = 0;
    MPI_File file = opened();
    if (rank == 0) MPI_File_write_at(file, 0, &x, 1, MPI_INT, IGNORE); //!
    if (!WRONG) MPI_Barrier(WORLD);
    if (rank == 1) {
        MPI_File_read_at(file, 0, &y, 1, MPI_INT, IGNORE); //!
        if (!WRONG && y != 5) abort();
    }
    MPI_File_close(&file);
}

// 3: file-race
CASE(a_message_orders) {
    int x = rank;
    MPI_File file = opened();
    if (rank > 0) MPI_Recv(&x, 1, MPI_INT, rank - 1, 0, WORLD, IGNORE);
    MPI_File_write_at(file, 0, &x, 1, MPI_INT, IGNORE); //!
    x++;
    if (rank < 2) MPI_Send(&x, 1, MPI_INT, rank + 1, 0, WORLD);
    if (WRONG) MPI_File_write_at(file, 0, &x, 1, MPI_INT, IGNORE); //!
    MPI_File_close(&file);
}

// 3: file-race
CASE(all_write_one_heading) {
    int heading = WRONG ? rank : 7;
    MPI_File file = opened();
    MPI_File_write_at(file, 0, &heading, 1, MPI_INT, IGNORE); //!
    MPI_File_close(&file);
}

// 2: file-race
CASE(views_that_overlap) {
    int x[2] = {rank, rank};
    MPI_Datatype two, every_other;
    MPI_File file = opened();
    MPI_Type_vector(2, 1, 2, MPI_INT, &two);
    // Without this the next two would begin where the other process writes.
    MPI_Type_create_resized(two, 0, 16, &every_other);
    MPI_Type_commit(&every_other);
    MPI_File_set_view(file, WRONG ? 0 : 4 * rank, MPI_INT, every_other, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, x, 2, MPI_INT, IGNORE); //!
    MPI_File_write(file, x, 1, MPI_INT, IGNORE);     //!
    MPI_Type_free(&two);
    MPI_Type_free(&every_other);
    MPI_File_close(&file);
}

// 2: assertion
CASE(one_after_the_other) {
    int x = 5, y = 0;
    MPI_File file = opened();
    MPI_File_set_atomicity(file, 1);
    if (rank == 1) MPI_File_write_at(file, 0, &x, 1, MPI_INT, IGNORE);
    if (rank == 0) {
        MPI_File_read_at(file, 0, &y, 1, MPI_INT, IGNORE);
        if (y != 5 && (WRONG || y != 0)) abort(); //!
    }
    MPI_File_close(&file);
}

// 2: assertion
CASE(the_other_way_round) {
    int x = 5, y = 0;
    MPI_File file = opened();
    MPI_File_set_atomicity(file, 1);
    if (rank == 1) MPI_File_write_at(file, 0, &x, 1, MPI_INT, IGNORE);
    if (rank == 0) {
        MPI_File_read_at(file, 0, &y, 1, MPI_INT, IGNORE);
        if (y != 0 && (WRONG || y != 5)) abort(); //!
    }
    MPI_File_close(&file);
}

// 2: assertion
CASE(where_the_shared_pointer_is) {
    MPI_Offset at = 0;
    MPI_File file = opened();
    if (rank == 1) MPI_File_write_shared(file, &rank, 1, MPI_INT, IGNORE);
    if (rank == 0) MPI_File_get_position_shared(file, &at);
    if (at && (WRONG || at != 4)) abort(); //!
    MPI_File_close(&file);
}

// 3: assertion
CASE(shared_pointer_in_turn) {
    int first = -1;
    MPI_File file = opened();
    MPI_File_write_shared(file, &rank, 1, MPI_INT, IGNORE);
    MPI_Barrier(WORLD);
    if (rank == 0) MPI_File_read_at(file, 0, &first, 1, MPI_INT, IGNORE);
    if (rank == 0 && (first < 0 || (WRONG && first == 2))) abort(); //!
    MPI_File_close(&file);
}

// 2: call-order
CASE(sync_while_written) {
    MPI_Request request;
    MPI_File file = opened();
    MPI_File_iwrite_at(file, 4 * rank, &rank, 1, MPI_INT, &request);
    if (!WRONG) MPI_Wait(&request, &status);
    MPI_File_sync(file); //!
    if (WRONG) MPI_Wait(&request, &status);
    MPI_File_close(&file);
}

// 2: call-order
CASE(view_while_read) {
    int x = 0;
    MPI_Request request;
    MPI_File file = opened();
    MPI_File_iread_at(file, 0, &x, 1, MPI_INT, &request);
    if (!WRONG) MPI_Wait(&request, &status);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL); //!
    if (WRONG) MPI_Wait(&request, &status);
    MPI_File_close(&file);
}

// 1: call-order
CASE(size_within_split) {
    int x[2] = {0};
    MPI_File file = opened();
    MPI_File_read_at_all_begin(file, 0, x, 2, MPI_INT);
    if (!WRONG) MPI_File_read_at_all_end(file, x, &status);
    MPI_File_set_size(file, 64); //!
    if (WRONG) MPI_File_read_at_all_end(file, x, &status);
    MPI_File_close(&file);
}

// 2: call-order
CASE(collective_within_split) {
    int x[2] = {0}, y[2] = {1, 2};
    MPI_Request request;
    MPI_File file = opened();
    MPI_File_write_at_all_begin(file, 8 * rank, y, 2, MPI_INT);
    if (!WRONG) MPI_File_write_at_all_end(file, y, &status);
    MPI_File_iread_at_all(file, 8 * rank, x, 2, MPI_INT, &request); //!
    MPI_Wait(&request, &status);
    if (WRONG) MPI_File_write_at_all_end(file, y, &status);
    MPI_File_close(&file);
}

// 1: call-order
CASE(seek_in_order_alone) {
    int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE;
    MPI_File file;
    MPI_File_open(WORLD, "ordered.data", WRONG ? mode | MPI_MODE_SEQUENTIAL : mode, MPI_INFO_NULL, &file);
    MPI_File_seek(file, 8, MPI_SEEK_SET); //!
    MPI_File_write_shared(file, &rank, 1, MPI_INT, &status);
    MPI_File_close(&file);
}
