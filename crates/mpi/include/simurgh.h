/* What programs may tell Simurgh beside calling MPI: which loops need not be executed every time, which memory all processes
   may share, and how long something takes. With any other MPI, all of it does nothing: loops are executed, memory is allocated. */
#ifndef SIMURGH_H
#define SIMURGH_H

#include <stdlib.h>
#include <mpi.h>

#ifdef SIMURGH

#ifdef __cplusplus
extern "C" {
#endif
int simurgh_sample_begin(const char* file, int line, int global, int times, double error);
int simurgh_sample_end(const char* file, int line, int global);
void simurgh_execute(double seconds);
void simurgh_execute_flops(double flops);
double simurgh_host_speed(void);
void* simurgh_shared_malloc(size_t bytes, const char* file, int line);
void simurgh_shared_free(void* memory);
#ifdef __cplusplus
}
#endif

#define SIMURGH_SAMPLE_(global, times, error)                                                               \
    for (int simurgh_goes_on = simurgh_sample_begin(__FILE__, __LINE__, (global), (times), (error));        \
         simurgh_goes_on; simurgh_goes_on = simurgh_sample_end(__FILE__, __LINE__, (global)))

/* The block that follows is executed so many times by each process; afterwards it takes the mean of these times. */
#define SIMURGH_SAMPLE_LOCAL(times) SIMURGH_SAMPLE_(0, times, 0.0)
/* The same, so many times by all processes together. */
#define SIMURGH_SAMPLE_GLOBAL(times) SIMURGH_SAMPLE_(1, times, 0.0)
/* The block that follows is not executed: it takes so many seconds, or flops. */
#define SIMURGH_SAMPLE_DELAY(seconds) for (simurgh_execute(seconds); 0;)
#define SIMURGH_SAMPLE_FLOPS(flops) for (simurgh_execute_flops(flops); 0;)
/* Memory that all processes share which allocate at this place of the program: what is in it means nothing. */
#define SIMURGH_SHARED_MALLOC(bytes) simurgh_shared_malloc((bytes), __FILE__, __LINE__)
#define SIMURGH_SHARED_FREE(memory) simurgh_shared_free(memory)

#else

#define SIMURGH_SAMPLE_LOCAL(times)
#define SIMURGH_SAMPLE_GLOBAL(times)
#define SIMURGH_SAMPLE_DELAY(seconds)
#define SIMURGH_SAMPLE_FLOPS(flops)
#define SIMURGH_SHARED_MALLOC(bytes) malloc(bytes)
#define SIMURGH_SHARED_FREE(memory) free(memory)

#endif
#endif
