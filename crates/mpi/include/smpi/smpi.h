/* The names that programs for SimGrid's SMPI use, by those of simurgh.h. */
#ifndef SIMURGH_SMPI_H
#define SIMURGH_SMPI_H

#include <mpi.h>
#include <simurgh.h>

#define SMPI_SAMPLE_LOCAL(begin, condition, step, times, error) \
    for (begin; condition; step) SIMURGH_SAMPLE_(0, times, error)
#define SMPI_SAMPLE_GLOBAL(begin, condition, step, times, error) \
    for (begin; condition; step) SIMURGH_SAMPLE_(1, times, error)
#define SMPI_SAMPLE_LOCAL_TAG(begin, condition, step, times, error, tag) \
    SMPI_SAMPLE_LOCAL(begin, condition, step, times, error)
#define SMPI_SAMPLE_GLOBAL_TAG(begin, condition, step, times, error, tag) \
    SMPI_SAMPLE_GLOBAL(begin, condition, step, times, error)
#define SMPI_SAMPLE_DELAY(seconds) SIMURGH_SAMPLE_DELAY(seconds)
#define SMPI_SAMPLE_FLOPS(flops) SIMURGH_SAMPLE_FLOPS(flops)

#define SMPI_SHARED_MALLOC(bytes) SIMURGH_SHARED_MALLOC(bytes)
#define SMPI_SHARED_FREE(memory) SIMURGH_SHARED_FREE(memory)
#define SMPI_FREE(memory) SIMURGH_SHARED_FREE(memory)
#define smpi_shared_malloc(bytes, file, line) simurgh_shared_malloc(bytes, file, line)
#define smpi_shared_free(memory) simurgh_shared_free(memory)

#define smpi_execute(seconds) simurgh_execute(seconds)
#define smpi_execute_benched(seconds) simurgh_execute(seconds)
#define smpi_execute_flops(flops) simurgh_execute_flops(flops)
#define smpi_execute_flops_benched(flops) simurgh_execute_flops(flops)
#define smpi_get_host_power() simurgh_host_speed()

#endif
