/* What libgomp has once for all processes: the lock of critical sections without a name, and that of atomics it cannot do otherwise.
 * A process that waits in one of them must not keep others out. */
#include "shim.h"

#include <pthread.h>

static pthread_mutex_t critical = PTHREAD_MUTEX_INITIALIZER, atomic = PTHREAD_MUTEX_INITIALIZER;

void GOMP_critical_start(void) { pthread_mutex_lock(&critical); }
void GOMP_critical_end(void) { pthread_mutex_unlock(&critical); }
void GOMP_atomic_start(void) { pthread_mutex_lock(&atomic); }
void GOMP_atomic_end(void) { pthread_mutex_unlock(&atomic); }
