/* Processes that meet: at ports, under names that were published, by a socket. Each part checks itself; rank 0 prints
   "ports: right". Run it with 4 processes or more. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int rank, size, wrong;

#define CHECK(what) do { if (!(what)) { wrong++; printf("rank %d, line %d: %s\n", rank, __LINE__, #what); } } while (0)

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

/* Two halves of the world meet at a port of the first, twice. */
static void halves(void) {
    MPI_Comm half, both;
    char port[MPI_MAX_PORT_NAME] = "";
    int round, first = rank < size / 2, many, mine, theirs;
    MPI_Comm_split(MPI_COMM_WORLD, first, 0, &half);
    MPI_Comm_rank(half, &mine);
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Publish_name("halves", MPI_INFO_NULL, port);
        CHECK(class_of(MPI_Publish_name("halves", MPI_INFO_NULL, port)) == MPI_ERR_SERVICE);
    }
    for (round = 0; round < 2; round++) {
        if (first)
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &both);
        else {
            if (mine == 0)
                while (MPI_Lookup_name("halves", MPI_INFO_NULL, port) != MPI_SUCCESS)
                    ;
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &both);
        }
        MPI_Comm_remote_size(both, &many);
        CHECK(many == (first ? size - size / 2 : size / 2));
        if (mine < many && mine < size / 2) {
            MPI_Sendrecv(&rank, 1, MPI_INT, mine, 0, &theirs, 1, MPI_INT, mine, 0, both, MPI_STATUS_IGNORE);
            CHECK(theirs == (first ? size / 2 + mine : mine));
        }
        MPI_Comm_disconnect(&both);
    }
    if (rank == 0) {
        CHECK(MPI_Unpublish_name("halves", MPI_INFO_NULL, port) == MPI_SUCCESS);
        CHECK(class_of(MPI_Unpublish_name("halves", MPI_INFO_NULL, port)) == MPI_ERR_SERVICE);
        CHECK(class_of(MPI_Lookup_name("halves", MPI_INFO_NULL, port)) == MPI_ERR_NAME);
        CHECK(MPI_Close_port(port) == MPI_SUCCESS);
        CHECK(class_of(MPI_Close_port(port)) == MPI_ERR_PORT);
        CHECK(class_of(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &both)) == MPI_ERR_PORT);
        CHECK(class_of(MPI_Comm_connect("nonsense", MPI_INFO_NULL, 0, MPI_COMM_SELF, &both)) == MPI_ERR_PORT);
    }
    MPI_Comm_free(&half);
}

/* All others come to one port, each by itself; a message that nobody has received does not hinder those who part. */
static void many(void) {
    MPI_Comm both;
    char port[MPI_MAX_PORT_NAME] = "";
    int index, value, seen = 0;
    MPI_Request request;
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank > 0) {
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &both);
        MPI_Isend(&rank, 1, MPI_INT, 0, 0, both, &request);
        MPI_Request_free(&request);
        MPI_Comm_disconnect(&both);
    }
    for (index = 1; rank == 0 && index < size; index++) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &both);
        MPI_Irecv(&value, 1, MPI_INT, 0, 0, both, &request);
        MPI_Comm_disconnect(&both);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        seen |= 1 << value;
    }
    if (rank == 0) {
        CHECK(seen == (1 << size) - 2);
        MPI_Close_port(port);
    }
}

/* Nobody accepts: who connects is told after some time, and who comes later is not hindered. */
static void in_vain(void) {
    MPI_Comm both;
    MPI_Info info;
    char port[MPI_MAX_PORT_NAME] = "";
    double before;
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "timeout", "5");
        before = MPI_Wtime();
        CHECK(class_of(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &both)) == MPI_ERR_PORT);
        CHECK(MPI_Wtime() - before > 4.99 && MPI_Wtime() - before < 5.01);
        MPI_Info_free(&info);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank < 2) {
        if (rank == 0)
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &both);
        else
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &both);
        MPI_Comm_disconnect(&both);
    }
    if (rank == 0)
        MPI_Close_port(port);
}

/* Two processes that share a socket. */
static void joined(void) {
    int ends[2], theirs;
    MPI_Comm both;
    if (rank > 1)
        return;
    if (rank == 0) {
        CHECK(class_of(MPI_Comm_join(12345, &both)) == MPI_ERR_ARG && both == MPI_COMM_NULL);
        CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
        MPI_Send(&ends[1], 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else
        MPI_Recv(&ends[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(MPI_Comm_join(ends[0], &both) == MPI_SUCCESS);
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &theirs, 1, MPI_INT, 0, 0, both, MPI_STATUS_IGNORE);
    CHECK(theirs == 1 - rank);
    MPI_Comm_disconnect(&both);
    close(ends[0]);
}

int main(int argc, char **argv) {
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    halves();
    many();
    in_vain();
    joined();
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all == 0)
        printf("ports: right\n");
    MPI_Finalize();
    return 0;
}
