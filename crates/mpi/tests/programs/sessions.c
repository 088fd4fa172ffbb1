/* Buffers of sessions, and what is known of the hardware: rank 0 prints "sessions: right". Run it with 2 processes or more. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size, wrong;

#define CHECK(what) do { if (!(what)) { wrong++; printf("rank %d, line %d: %s\n", rank, __LINE__, #what); } } while (0)

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* A session's buffer serves the communicators that come from it, and those that are made of them. */
static void buffers(MPI_Session session, MPI_Comm comm) {
    static char buffer[1000 + MPI_BSEND_OVERHEAD];
    char data[1000], *back;
    int length, to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request request;
    MPI_Comm copy;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    memset(data, rank, sizeof data);
    CHECK(class_of(MPI_Bsend(data, 1000, MPI_CHAR, to, 0, comm)) == MPI_ERR_BUFFER);
    CHECK(MPI_Session_attach_buffer(session, buffer, sizeof buffer) == MPI_SUCCESS);
    CHECK(class_of(MPI_Session_attach_buffer(session, buffer, sizeof buffer)) == MPI_ERR_BUFFER);
    CHECK(MPI_Bsend(data, 1000, MPI_CHAR, to, 0, comm) == MPI_SUCCESS);
    MPI_Recv(data, 1000, MPI_CHAR, from, 0, comm, MPI_STATUS_IGNORE);
    CHECK(data[0] == from && data[999] == from);
    CHECK(MPI_Session_flush_buffer(session) == MPI_SUCCESS);
    MPI_Comm_dup(comm, &copy);
    CHECK(MPI_Bsend(data, 1000, MPI_CHAR, to, 0, copy) == MPI_SUCCESS);
    MPI_Session_iflush_buffer(session, &request);
    MPI_Recv(data, 1000, MPI_CHAR, from, 0, copy, MPI_STATUS_IGNORE);
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    MPI_Comm_free(&copy);
    CHECK(MPI_Session_detach_buffer(session, &back, &length) == MPI_SUCCESS);
    CHECK(back == buffer && length == (int)sizeof buffer);
    CHECK(class_of(MPI_Bsend(data, 1, MPI_CHAR, to, 0, comm)) == MPI_ERR_BUFFER);
}

/* The kinds of hardware that the library names can be split by. */
static void hardware(MPI_Comm comm) {
    MPI_Info info, hint;
    MPI_Comm part;
    int number, index, flag, restricted = 0;
    char key[MPI_MAX_INFO_KEY], value[16];
    MPI_Get_hw_resource_info(&info);
    MPI_Info_get_nkeys(info, &number);
    CHECK(number > 0);
    for (index = 0; index < number; index++) {
        MPI_Info_get_nthkey(info, index, key);
        MPI_Info_get(info, key, 15, value, &flag);
        CHECK(flag && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0));
        if (strcmp(value, "true") == 0) {
            restricted++;
            MPI_Info_create(&hint);
            MPI_Info_set(hint, "mpi_hw_resource_type", key);
            MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_GUIDED, 0, hint, &part);
            CHECK(part != MPI_COMM_NULL);
            MPI_Comm_free(&part);
            MPI_Info_free(&hint);
        }
    }
    CHECK(restricted > 0);
    MPI_Info_free(&info);
}

int main(void) {
    MPI_Session session;
    MPI_Group all, others;
    MPI_Comm comm;
    int sum, none[1];
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Group_excl(all, 0, none, &others);
    MPI_Group_free(&all);
    MPI_Comm_create_from_group(others, "test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&others);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    buffers(session, comm);
    hardware(comm);
    MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
    if (rank == 0 && sum == 0)
        printf("sessions: right\n");
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}
