/* The program whose processes replay traces: all they do is done by the library. */
extern int MPI_Init(int*, char***);
extern int MPI_Finalize(void);
extern void simurgh_replay(void);

int main(void) {
    MPI_Init(0, 0);
    simurgh_replay();
    return MPI_Finalize();
}
