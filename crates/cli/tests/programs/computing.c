/* Computes twice, before a receive and while it is not completed, when its instructions are watched: both have to be the same. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long state;
static double matrix[40][40], vector[40], product[40];
static float roots[100];
static int numbers[300];
static short rounded[100];
static unsigned char bytes[256];
static char text[4000];

static unsigned long long next(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

static double fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static int compare(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

static int by_table(int number) {
    switch (number & 7) {
    case 0: return 1;
    case 1: return number * 3;
    case 2: return number ^ 5;
    case 3: return -number;
    case 4: return number / 7;
    case 5: return number % 11;
    default: return number >> 2;
    }
}

static void compute(char *out, size_t room) {
    unsigned long long hash = 14695981039346656037ull, word;
    const unsigned long long prime = 1099511628211ull;
    state = 88172645463325252ull;
    for (int i = 0; i < 40; i++) {
        vector[i] = i * 0.25;
        for (int j = 0; j < 40; j++) matrix[i][j] = (i + 1.0) / (j + 1.0);
    }
    for (int i = 0; i < 40; i++) {
        double sum = 0;
        for (int j = 0; j < 40; j++) sum += matrix[i][j] * vector[j];
        product[i] = sum;
    }
    for (int i = 0; i < 100; i++) {
        roots[i] = sqrtf((float)i) * 1.5f;
        rounded[i] = (short)(roots[i] * 100);
    }
    for (int i = 0; i < 256; i++) bytes[i] = (unsigned char)(i * 7 + (i >> 3));
    for (int i = 0; i < 300; i++) numbers[i] = (int)(next() % 1000) - 500;
    qsort(numbers, 300, sizeof *numbers, compare);
    for (int i = 0; i < 300; i++) hash = (hash ^ (unsigned)by_table(numbers[i])) * prime;
    for (int i = 0; i < 40; i++) {
        memcpy(&word, &product[i], sizeof word);
        hash = (hash ^ word) * prime;
    }
    for (int i = 0; i < 100; i++) hash = ((hash ^ (unsigned short)rounded[i]) << 5) | (hash >> 59);
    for (int i = 0; i < 256; i++) hash = hash * 31 + bytes[i];
    long double extended = 1;
    for (int i = 1; i < 30; i++) extended = extended * i / (i + 0.5L);
    unsigned bits = 0;
    for (int i = 1; i < 50; i++)
        bits += (unsigned)(hash / (unsigned)i) % 97 + __builtin_popcountll(hash >> i) + __builtin_ctzll(hash | 1ull << 40);
    int (*volatile pointer)(const void *, const void *) = compare;
    memset(text, 'x', 3000);
    strcpy(text + 10, "hello");
    snprintf(out, room, "%llx %.17g %.20Lg %u %d %s %.9g", hash, fibonacci(14), extended, bits,
             pointer(&numbers[0], &numbers[299]), text + 10, roots[99]);
}

int main(int argc, char **argv) {
    static char before[400], meanwhile[400];
    int rank, sent[10] = {0}, received[10];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) MPI_Send(sent, 10, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        compute(before, sizeof before);
        MPI_Irecv(received, 10, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        compute(meanwhile, sizeof meanwhile);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (strcmp(before, meanwhile)) {
            printf("%s\n%s\n", before, meanwhile);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
    MPI_Finalize();
    return 0;
}
