/* Functions of the C library, on the buffer of what is not completed. */
#define _GNU_SOURCE
#include "cases.h"
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wchar.h>

static char there[64], own[64];
static MPI_Request request;
static volatile long seen;

/* The buffer of a receive that is not completed, or another. */
static char *text(void) {
    strcpy(own, "some 1 words");
    if (rank == 0) MPI_Send(own, 64, MPI_BYTE, 1, 0, WORLD);
    if (rank == 1) MPI_Irecv(there, 64, MPI_BYTE, 0, 0, WORLD, &request);
    return WRONG && rank == 1 ? there : own;
}

static void end(void) {
    if (rank == 1) MPI_Wait(&request, IGNORE);
}

static int compare(const void *one, const void *two) {
    return *(const char *)one - *(const char *)two;
}

// 2: buffer-race
CASE(words) {
    char *words = text();
    seen = strtok(words, " ") != 0; //!
    end();
}

// 2: buffer-race
CASE(words_with_a_place) {
    char *words = text(), *next;
    seen = strtok_r(words, " ", &next) != 0; //!
    end();
}

// 2: buffer-race
CASE(words_of_a_pointer) {
    char *words = text();
    seen = strsep(&words, " ") != 0; //!
    end();
}

// 2: buffer-race
CASE(span) {
    char *words = text();
    seen = strspn(words, "abc"); //!
    end();
}

// 2: buffer-race
CASE(span_of_others) {
    char *words = text();
    seen = strcspn(words, "abc"); //!
    end();
}

// 2: buffer-race
CASE(compared_by_language) {
    char *words = text();
    seen = strcoll("abc", words); //!
    end();
}

// 2: buffer-race
CASE(transformed) {
    char *words = text();
    seen = strxfrm(words, "abc", 8); //!
    end();
}

// 2: buffer-race
CASE(bytes_swapped) {
    char *bytes = text();
    swab("abcd", bytes, 4); //!
    end();
}

// 2: buffer-race
CASE(searched) {
    char *bytes = text(), key = 3;
    // Compilers put it in its place otherwise.
    void *(*volatile search)(const void *, const void *, size_t, size_t, int (*)(const void *, const void *)) = bsearch;
    seen = search(&key, bytes, 8, 1, compare) != 0; //!
    end();
}

// 2: buffer-race
CASE(sorted) {
    char *bytes = text();
    qsort(bytes, 8, 1, compare); //!
    end();
}

// 2: buffer-race
CASE(found) {
    char *bytes = text();
    seen = memchr(bytes, 'w', 10) != 0; //!
    end();
}

// 2: buffer-race
CASE(a_part_duplicated) {
    char *words = text(), *copy;
    copy = strndup(words, 4); //!
    seen = copy[0];
    free(copy);
    end();
}

// 2: buffer-race
CASE(wide_characters) {
    wchar_t *wide = (wchar_t *)text();
    wmemset(wide + 2, L'a', 2); //!
    end();
}

// 2: buffer-race
CASE(a_number) {
    char *words = text();
    seen = strtoul(words + 5, 0, 10); //!
    end();
}

// 2: buffer-race
CASE(written_from_several_places) {
    char *bytes = text();
    struct iovec places[2] = {{"a", 1}, {bytes, 4}};
    int file = open("/dev/null", O_WRONLY);
    seen = writev(file, places, 2); //!
    close(file);
    end();
}
