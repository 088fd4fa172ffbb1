/* Programs with one mistake each, and their correct twins: `./program NAME` is right, and `./program NAME wrong` is not.
 *
 * Above each case stands with how many processes it is checked, and what is found. The line that is told has the mark "//!". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    const char *name;
    void (*run)(void);
    struct entry *next;
};

static struct entry *entries;
static int rank, size, WRONG;
static MPI_Status status;
#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

#define CASE(name)                                                        \
    static void name(void);                                               \
    static struct entry entry_##name = {#name, name, 0};                  \
    __attribute__((constructor)) static void add_##name(void) {           \
        entry_##name.next = entries, entries = &entry_##name;             \
    }                                                                     \
    static void name(void)

int main(int argc, char **argv) {
    struct entry *entry = entries;
    while (entry && strcmp(entry->name, argv[1])) entry = entry->next;
    if (!entry) return 2;
    WRONG = argc > 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    entry->run();
    MPI_Finalize(); //! leaks
    return 0;
}
