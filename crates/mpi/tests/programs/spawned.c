/* Processes that are started later: the program starts itself, with arguments that say what it is then. Each part checks itself;
   rank 0 prints "spawned: right". Run it with 2 processes or more. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size, wrong, global = 17;

#define CHECK(what) do { if (!(what)) { wrong++; printf("rank %d, line %d: %s\n", rank, __LINE__, #what); } } while (0)

/* What a process sends home when it ends. */
static void report(MPI_Comm parent) {
    MPI_Send(&wrong, 1, MPI_INT, 0, 99, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        printf("a parent that was left is there\n");
}

static void hear(MPI_Comm children) {
    int count, index, found;
    MPI_Comm_remote_size(children, &count);
    for (index = 0; rank == 0 && index < count; index++) {
        MPI_Recv(&found, 1, MPI_INT, index, 99, children, MPI_STATUS_IGNORE);
        CHECK(found == 0);
    }
    MPI_Comm_disconnect(&children);
    CHECK(children == MPI_COMM_NULL);
}

/* Three of them: their world is theirs, and a broadcast and a merge reach both sides. */
static void family(char *self) {
    MPI_Comm children, both;
    char *arguments[] = {"family", "two words", "", NULL};
    int codes[3] = {9, 9, 9}, index, value = 42, sum, place, many;
    MPI_Comm_spawn(self, arguments, 3, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &children, codes);
    for (index = 0; index < 3; index++)
        CHECK(codes[index] == MPI_SUCCESS);
    MPI_Comm_remote_size(children, &many);
    CHECK(many == 3);
    MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children);
    MPI_Intercomm_merge(children, 0, &both);
    MPI_Comm_rank(both, &place);
    MPI_Comm_size(both, &many);
    CHECK(place == rank && many == size + 3);
    MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, both);
    CHECK(sum == many * (many - 1) / 2);
    MPI_Comm_free(&both);
    hear(children);
}

static void of_family(int argc, char **argv) {
    MPI_Comm parent, again, both;
    int value = 0, sum, place, many, *number, flag;
    char name[MPI_MAX_OBJECT_NAME];
    CHECK(argc == 4 && strcmp(argv[2], "two words") == 0 && strcmp(argv[3], "") == 0);
    CHECK(size == 3 && global == 17);
    global = rank;
    MPI_Comm_get_parent(&parent);
    MPI_Comm_get_parent(&again);
    CHECK(parent == again && parent != MPI_COMM_NULL);
    MPI_Comm_get_name(parent, name, &many);
    CHECK(strcmp(name, "MPI_COMM_PARENT") == 0);
    MPI_Comm_remote_size(parent, &many);
    MPI_Bcast(&value, 1, MPI_INT, 0, parent);
    CHECK(value == 42);
    MPI_Intercomm_merge(parent, 1, &both);
    MPI_Comm_rank(both, &place);
    CHECK(place == many + rank);
    MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, both);
    CHECK(sum == (many + 3) * (many + 2) / 2);
    MPI_Comm_free(&both);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(global == rank);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag);
    CHECK(flag && *number == 0);
    report(parent);
}

/* Two programs, with hosts of their own; then one starts another. */
static void several(char *self) {
    MPI_Comm children;
    char *commands[] = {self, self}, *first[] = {"several", "0", NULL}, *second[] = {"several", "1", NULL};
    char **arguments[] = {first, second};
    int counts[] = {1, 2};
    MPI_Info infos[2];
    MPI_Info_create(&infos[0]);
    MPI_Info_set(infos[0], "host", "node-5");
    infos[1] = MPI_INFO_NULL;
    MPI_Comm_spawn_multiple(2, commands, arguments, counts, infos, 0, MPI_COMM_WORLD, &children,
                            MPI_ERRCODES_IGNORE);
    MPI_Info_free(&infos[0]);
    hear(children);
}

static void of_several(char **argv) {
    MPI_Comm parent, children;
    int *number, flag, length;
    char host[MPI_MAX_PROCESSOR_NAME];
    char *arguments[] = {"last", NULL};
    CHECK(size == 3);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag);
    CHECK(flag && *number == (rank > 0) && argv[2][0] == '0' + *number);
    MPI_Get_processor_name(host, &length);
    CHECK((strcmp(host, "node-5") == 0) == (rank == 0));
    MPI_Comm_spawn(argv[0], arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
    MPI_Send(&rank, 1, MPI_INT, 0, 3, children);
    MPI_Recv(&flag, 1, MPI_INT, 0, 3, children, MPI_STATUS_IGNORE);
    CHECK(flag == rank + 100);
    MPI_Comm_disconnect(&children);
    MPI_Comm_get_parent(&parent);
    report(parent);
}

static void last(void) {
    MPI_Comm parent;
    int value;
    MPI_Comm_get_parent(&parent);
    MPI_Recv(&value, 1, MPI_INT, 0, 3, parent, MPI_STATUS_IGNORE);
    value += 100;
    MPI_Send(&value, 1, MPI_INT, 0, 3, parent);
    MPI_Comm_disconnect(&parent);
}

/* One-sided communication between those who were there and those who came. */
static void windows(char *self) {
    MPI_Comm children, both;
    MPI_Win window;
    char *arguments[] = {"windows", NULL};
    int place, many, *memory;
    MPI_Comm_spawn(self, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(children, 0, &both);
    MPI_Comm_rank(both, &place);
    MPI_Comm_size(both, &many);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, both, &memory, &window);
    *memory = -1;
    MPI_Win_fence(0, window);
    MPI_Put(&place, 1, MPI_INT, (place + 1) % many, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    CHECK(*memory == (place + many - 1) % many);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, many - 1, 0, window);
    MPI_Win_unlock(many - 1, window);
    MPI_Win_free(&window);
    MPI_Comm_free(&both);
    hear(children);
}

static void of_windows(void) {
    MPI_Comm parent, both;
    MPI_Win window;
    int place, many, *memory;
    MPI_Comm_get_parent(&parent);
    MPI_Intercomm_merge(parent, 1, &both);
    MPI_Comm_rank(both, &place);
    MPI_Comm_size(both, &many);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, both, &memory, &window);
    MPI_Win_fence(0, window);
    MPI_Put(&place, 1, MPI_INT, (place + 1) % many, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    CHECK(*memory == place - 1);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Win_unlock(0, window);
    MPI_Win_free(&window);
    MPI_Comm_free(&both);
    report(parent);
}

/* What cannot be started is told to all, and nothing was started. */
static void mistakes(void) {
    MPI_Comm children = MPI_COMM_WORLD;
    int codes[2] = {-1, -1}, class, counts[] = {1, 1};
    char *commands[] = {"./spawned", "./no such program"};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL}, nowhere;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Comm_spawn("./no such program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, codes), &class);
    CHECK(class == MPI_ERR_SPAWN && children == MPI_COMM_NULL);
    if (rank == 0)
        CHECK(codes[0] == MPI_ERR_SPAWN && codes[1] == MPI_ERR_SPAWN);
    MPI_Error_class(MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, counts, infos, 1, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE), &class);
    CHECK(class == MPI_ERR_SPAWN && children == MPI_COMM_NULL);
    MPI_Info_create(&nowhere);
    MPI_Info_set(nowhere, "host", "nowhere");
    MPI_Error_class(MPI_Comm_spawn("./spawned", MPI_ARGV_NULL, 2, nowhere, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE), &class);
    CHECK(class == MPI_ERR_SPAWN);
    MPI_Info_free(&nowhere);
    MPI_Error_class(MPI_Comm_spawn("./spawned", MPI_ARGV_NULL, 2, MPI_INFO_NULL, size, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE), &class);
    CHECK(class == MPI_ERR_ROOT);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
    MPI_Comm parent;
    int all, *number, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        if (strcmp(argv[1], "family") == 0)
            of_family(argc, argv);
        else if (strcmp(argv[1], "several") == 0)
            of_several(argv);
        else if (strcmp(argv[1], "windows") == 0)
            of_windows();
        else
            last();
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &number, &flag);
    CHECK(flag && *number == 16);
    mistakes();
    family(argv[0]);
    several(argv[0]);
    windows(argv[0]);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all == 0)
        printf("spawned: right\n");
    MPI_Finalize();
    return 0;
}
