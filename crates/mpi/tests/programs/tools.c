/* The tools interface: each part checks itself; rank 0 prints "tools: right". Run it with 2 processes or more. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size, wrong;

#define CHECK(what) do { if (!(what)) { wrong++; printf("rank %d, line %d: %s\n", rank, __LINE__, #what); } } while (0)

/* Before MPI_Init, and as often as somebody likes. */
static void begin(void) {
    int provided, number;
    CHECK(MPI_T_cvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
    CHECK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS && provided == MPI_THREAD_SINGLE);
    CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS && provided <= MPI_THREAD_MULTIPLE);
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    CHECK(MPI_T_cvar_get_num(&number) == MPI_SUCCESS && number > 0);
}

/* Control variables: read all, and change the one that decides when a send waits. */
static void controls(void) {
    int number, index, found, length, verbosity, bind, scope, count;
    char name[64], about[8], text[256];
    MPI_Datatype type;
    MPI_T_enum values;
    MPI_T_cvar_handle handle;
    MPI_T_cvar_get_num(&number);
    for (index = 0; index < number; index++) {
        int about_length = sizeof about, items, item, value;
        length = sizeof name;
        CHECK(MPI_T_cvar_get_info(index, name, &length, &verbosity, &type, &values, about, &about_length, &bind, &scope) == MPI_SUCCESS);
        CHECK(length == (int)strlen(name) + 1 && strlen(about) == 7 && about_length > 8);
        CHECK(bind == MPI_T_BIND_NO_OBJECT);
        CHECK(MPI_T_cvar_get_index(name, &found) == MPI_SUCCESS && found == index);
        CHECK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS && count >= 1);
        CHECK(MPI_T_cvar_read(handle, text) == MPI_SUCCESS);
        if (type == MPI_CHAR)
            CHECK(count == (int)strlen(text) + 1);
        if (values != MPI_T_ENUM_NULL) {
            CHECK(type == MPI_INT && MPI_T_enum_get_info(values, &items, NULL, NULL) == MPI_SUCCESS && items > 1);
            for (item = 0, found = 0; item < items; item++) {
                length = sizeof name;
                CHECK(MPI_T_enum_get_item(values, item, &value, name, &length) == MPI_SUCCESS && length > 1);
                found |= memcmp(&value, text, sizeof value) == 0;
            }
            CHECK(found);
            CHECK(MPI_T_enum_get_item(values, items, &value, name, &length) == MPI_T_ERR_INVALID_INDEX);
        }
        if (scope == MPI_T_SCOPE_READONLY || scope == MPI_T_SCOPE_CONSTANT)
            CHECK(MPI_T_cvar_write(handle, text) == MPI_T_ERR_CVAR_SET_NEVER);
        CHECK(MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS && handle == MPI_T_CVAR_HANDLE_NULL);
    }
    CHECK(MPI_T_cvar_get_index("no such variable", &found) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_cvar_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_cvar_read(handle, text) == MPI_T_ERR_INVALID_HANDLE);
}

/* A send of 100 bytes is over at once, until the limit is lower. */
static void eager(void) {
    unsigned long before, limit = 10;
    int index, count, flag;
    char data[100];
    MPI_T_cvar_handle handle;
    MPI_Request request;
    MPI_T_cvar_get_index("smpi/send-is-detached-thresh", &index);
    MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
    MPI_T_cvar_read(handle, &before);
    CHECK(before == 65536);
    if (rank == 0) {
        MPI_Isend(data, 100, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(flag);
        CHECK(MPI_T_cvar_write(handle, &limit) == MPI_SUCCESS);
        MPI_Isend(data, 100, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        MPI_Send(data, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_T_cvar_write(handle, &before);
    } else if (rank == 1) {
        MPI_Recv(data, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, 100, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, 100, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_T_cvar_handle_free(&handle);
}

/* One message to the next, and one from the last. */
static void pass_on(int bytes) {
    char data[2][40] = {{0}};
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Sendrecv(data[0], bytes, MPI_CHAR, next, 0, data[1], bytes, MPI_CHAR, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Messages and bytes are counted while a handle is started. */
static void performance(void) {
    MPI_T_pvar_session session, other;
    MPI_T_pvar_handle messages, bytes, requests, wrong_one;
    unsigned long long value;
    int index, count, number, classes, readonly, continuous, atomic;
    char name[64];
    MPI_Datatype type;
    MPI_T_pvar_get_num(&number);
    for (index = 0; index < number; index++) {
        count = sizeof name;
        CHECK(MPI_T_pvar_get_info(index, name, &count, NULL, &classes, &type, NULL, NULL, NULL, NULL, &readonly, &continuous, &atomic) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_get_index(name, classes, &count) == MPI_SUCCESS && count == index);
        CHECK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_STATE, &count) == MPI_T_ERR_INVALID_NAME);
    }
    CHECK(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
    MPI_T_pvar_session_create(&other);
    MPI_T_pvar_get_index("messages_sent", MPI_T_PVAR_CLASS_COUNTER, &index);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &messages, &count) == MPI_SUCCESS && count == 1);
    MPI_T_pvar_get_index("bytes_received", MPI_T_PVAR_CLASS_AGGREGATE, &index);
    MPI_T_pvar_handle_alloc(session, index, NULL, &bytes, &count);
    MPI_T_pvar_get_index("requests", MPI_T_PVAR_CLASS_LEVEL, &index);
    MPI_T_pvar_handle_alloc(session, index, NULL, &requests, &count);
    CHECK(MPI_T_pvar_read(other, messages, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_start(session, requests) == MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK(MPI_T_pvar_write(session, requests, &value) == MPI_T_ERR_PVAR_NO_WRITE);
    CHECK(MPI_T_pvar_readreset(session, requests, &value) == MPI_T_ERR_PVAR_NO_ATOMIC);
    pass_on(40);
    MPI_T_pvar_read(session, messages, &value);
    CHECK(value == 0);
    CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
    for (index = 0; index < 3; index++)
        pass_on(40);
    MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES);
    pass_on(40);
    MPI_T_pvar_read(session, messages, &value);
    CHECK(value == 3);
    MPI_T_pvar_read(session, bytes, &value);
    CHECK(value == 120);
    MPI_T_pvar_start(session, messages);
    pass_on(1);
    CHECK(MPI_T_pvar_readreset(session, messages, &value) == MPI_SUCCESS && value == 4);
    MPI_T_pvar_read(session, messages, &value);
    CHECK(value == 0);
    value = 1000;
    CHECK(MPI_T_pvar_write(session, messages, &value) == MPI_SUCCESS);
    pass_on(1);
    MPI_T_pvar_read(session, messages, &value);
    CHECK(value == 1001);
    wrong_one = messages;
    CHECK(MPI_T_pvar_handle_free(session, &messages) == MPI_SUCCESS && messages == MPI_T_PVAR_HANDLE_NULL);
    CHECK(MPI_T_pvar_read(session, wrong_one, &value) == MPI_T_ERR_INVALID_HANDLE);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_SUCCESS && session == MPI_T_PVAR_SESSION_NULL);
    CHECK(MPI_T_pvar_session_free(&session) == MPI_T_ERR_INVALID_SESSION);
    MPI_T_pvar_session_free(&other);
}

/* Categories hold all variables; there are no events, and one clock. */
static void rest(void) {
    int number, index, controls, performance, inner, seen = 0, all, list[64], stamp;
    MPI_Count ticks, most, before, after;
    char name[64];
    MPI_T_category_get_num(&number);
    MPI_T_cvar_get_num(&all);
    for (index = 0; index < number; index++) {
        int length = sizeof name, found;
        CHECK(MPI_T_category_get_info(index, name, &length, NULL, NULL, &controls, &performance, &inner) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_index(name, &found) == MPI_SUCCESS && found == index);
        CHECK(MPI_T_category_get_cvars(index, 64, list) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_pvars(index, 64, list) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_categories(index, 64, list) == MPI_SUCCESS);
        CHECK(MPI_T_category_get_num_events(index, &found) == MPI_SUCCESS && found == 0);
        CHECK(MPI_T_category_get_events(index, 64, list) == MPI_SUCCESS);
        seen += controls;
    }
    CHECK(seen == all);
    CHECK(MPI_T_category_get_cvars(number, 1, list) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_category_changed(&stamp) == MPI_SUCCESS);
    CHECK(MPI_T_event_get_num(&number) == MPI_SUCCESS && number == 0);
    CHECK(MPI_T_event_get_index("anything", &number) == MPI_T_ERR_INVALID_NAME);
    CHECK(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, NULL) == MPI_T_ERR_INVALID_INDEX);
    CHECK(MPI_T_source_get_num(&number) == MPI_SUCCESS && number == 1);
    CHECK(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, &index, &ticks, &most, NULL) == MPI_SUCCESS);
    CHECK(index == MPI_T_SOURCE_ORDERED && ticks > 0);
    MPI_T_source_get_timestamp(0, &before);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_T_source_get_timestamp(0, &after);
    CHECK(after > before && (double)after / ticks <= MPI_Wtime());
}

int main(int argc, char **argv) {
    int all, number;
    begin();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    controls();
    eager();
    performance();
    rest();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    CHECK(MPI_T_pvar_get_num(&number) == MPI_T_ERR_NOT_INITIALIZED);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all == 0)
        printf("tools: right\n");
    MPI_Finalize();
    return 0;
}
