/* What calls answer, and where: not in the buffer of an operation that is not completed. */
#include "cases.h"

static int both[16], *x = both + 8, *y = both;
static MPI_Request request, other;

/* Where the answer is wanted. */
static int *place(void) {
    return (WRONG ? x : y) + 1;
}

static void receive(void) {
    if (rank == 1) MPI_Irecv(x, 4, MPI_INT, 0, 0, WORLD, &request);
}

static void send(void) {
    if (rank == 0) MPI_Send(y, 4, MPI_INT, 1, 0, WORLD);
    if (rank == 1) MPI_Wait(&request, IGNORE);
}

// 2: buffer-race
CASE(how_many_processes) {
    receive();
    if (rank == 1) MPI_Comm_size(WORLD, place()); //!
    send();
    MPI_Comm_size(WORLD, x + 1);
}

// 2: buffer-race
CASE(which_rank) {
    receive();
    if (rank == 1) MPI_Comm_rank(WORLD, place()); //!
    send();
}

// 2: buffer-race
CASE(the_size_of_a_type) {
    if (rank == 0) MPI_Isend(x, 4, MPI_INT, 1, 0, WORLD, &request);
    if (rank == 0) MPI_Type_size(MPI_INT, place()); //!
    if (rank == 0) MPI_Wait(&request, IGNORE);
    if (rank == 1) MPI_Recv(y, 4, MPI_INT, 0, 0, WORLD, IGNORE);
}

// 2: buffer-race
CASE(how_many_elements) {
    MPI_Ibcast(x, 4, MPI_INT, 0, WORLD, &request);
    MPI_Sendrecv(y, 1, MPI_INT, rank, 1, y + 4, 1, MPI_INT, rank, 1, WORLD, &status);
    MPI_Get_count(&status, MPI_INT, place()); //!
    MPI_Wait(&request, IGNORE);
}

// 2: buffer-race
CASE(how_many_basic_elements) {
    MPI_Iallreduce(y, x, 4, MPI_INT, MPI_SUM, WORLD, &request);
    MPI_Sendrecv(y, 1, MPI_INT, rank, 1, y + 4, 1, MPI_INT, rank, 1, WORLD, &status);
    MPI_Get_elements(&status, MPI_INT, WRONG ? x : &size); //!
    MPI_Wait(&request, IGNORE);
}

// 2: buffer-race
CASE(whether_there_is_a_message) {
    receive();
    if (rank == 1) MPI_Iprobe(0, 9, WORLD, place(), IGNORE); //!
    send();
}

// 2: buffer-race
CASE(whether_another_is_complete) {
    receive();
    if (rank == 0) MPI_Send(y, 1, MPI_INT, 1, 1, WORLD);
    if (rank == 1) {
        MPI_Irecv(y + 4, 1, MPI_INT, 0, 1, WORLD, &other);
        MPI_Test(&other, place(), IGNORE); //!
        MPI_Wait(&other, IGNORE);
    }
    send();
}

// 2: buffer-race
CASE(whether_it_is_complete) {
    receive();
    int *flag = place();
    if (rank == 1 && WRONG) MPI_Request_get_status(request, flag, IGNORE); //!
    if (rank == 1 && !WRONG) {
        // What is received is what is answered in its place.
        do MPI_Test(&request, flag, IGNORE);
        while (!*flag);
    }
    send();
}

// 2: buffer-race
CASE(the_status_of_another) {
    static char room[64];
    if (rank == 0) MPI_Send(room, 64, MPI_BYTE, 1, 0, WORLD), MPI_Send(y, 1, MPI_INT, 1, 1, WORLD);
    if (rank == 1) {
        MPI_Status own;
        MPI_Irecv(room, 64, MPI_BYTE, 0, 0, WORLD, &request);
        MPI_Recv(y, 1, MPI_INT, 0, 1, WORLD, WRONG ? (MPI_Status *)room : &own); //!
        MPI_Wait(&request, (MPI_Status *)room);
    }
}

// 2: buffer-race
CASE(which_of_some) {
    receive();
    if (rank == 0) MPI_Send(y, 1, MPI_INT, 1, 1, WORLD);
    if (rank == 1) {
        MPI_Irecv(y + 4, 1, MPI_INT, 0, 1, WORLD, &other);
        int count;
        MPI_Waitsome(1, &other, &count, place(), MPI_STATUSES_IGNORE); //!
    }
    send();
}

// 2: buffer-race
CASE(the_group_of_a_window) {
    static MPI_Group groups[2], others[2];
    MPI_Win win;
    MPI_Win_create(y, 8 * sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank == 1) MPI_Get(groups, 2, MPI_INT, 0, 0, 2, MPI_INT, win);
    MPI_Group *group = WRONG ? groups : others;
    if (rank == 1) MPI_Win_get_group(win, group); //!
    MPI_Win_fence(0, win);
    if (rank == 1 && !WRONG) MPI_Group_free(group);
    MPI_Win_free(&win);
}

// 2: window-race
CASE(an_answer_in_a_window) {
    MPI_Win win;
    MPI_Win_create(x, 8 * sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &win);
    MPI_Win_fence(0, win);
    if (rank == 0) MPI_Put(y, 4, MPI_INT, 1, 0, 4, MPI_INT, win); //!
    if (rank == 1) MPI_Comm_rank(WORLD, WRONG ? x : x + 5);       //!
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

// 2: buffer-race
CASE(the_ranks_of_others) {
    MPI_Group all;
    int ranks[2] = {0, 1};
    MPI_Comm_group(WORLD, &all);
    MPI_Iscan(y, x, 4, MPI_INT, MPI_SUM, WORLD, &request);
    // The second of them lies there.
    MPI_Group_translate_ranks(all, 1 + WRONG, ranks, all, y + 7); //!
    MPI_Wait(&request, IGNORE);
    MPI_Group_free(&all);
}

// 2: buffer-race
CASE(coordinates) {
    MPI_Comm line;
    int zero = 0;
    MPI_Cart_create(WORLD, 1, &size, &zero, 0, &line);
    receive();
    if (rank == 1) MPI_Cart_coords(line, 1, 1, place()); //!
    send();
    MPI_Comm_free(&line);
}
