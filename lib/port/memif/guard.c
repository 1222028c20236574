/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "memif_guard.h"

enum { MOST = 4096 }; /* regions of all links */

/* Written under the lock; read by the signal's handler, in any thread. */
static struct {
	_Atomic(uint8_t *) at; /* NULL: free; written after the others */
	_Atomic size_t size;
	int socket;
} guarded[MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;

/* only what may be called in a signal's handler */
static void
on_bus_error(int signal, siginfo_t *info, void *context)
{
	const uint8_t *touched = info->si_addr;
	const int saved = errno;

	for (unsigned i = 0; i < MOST; i++) {
		uint8_t *at = atomic_load_explicit(&guarded[i].at, memory_order_acquire);

		const size_t size = guarded[i].size;

		/* and is it still this one whose size was read? */
		if (at == NULL || touched < at || touched >= at + size || at != guarded[i].at)
			continue;
		/* a peer may share more than there is memory */
		if (mmap(at, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
			break;
		shutdown(guarded[i].socket, SHUT_RDWR);
		errno = saved;
		return; /* the access is tried again */
	}
	if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != NULL)
		before.sa_sigaction(signal, info, context);
	else
		sigaction(signal, &before, NULL); /* and again: the signal now has its former action */
}

static void
catch_bus_errors(void)
{
	struct sigaction ours = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigemptyset(&ours.sa_mask);
	sigaction(SIGBUS, &ours, &before);
}

int
memif_guard_begin(uint8_t *at, size_t size, int socket)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int found = -1;

	pthread_once(&once, catch_bus_errors);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < MOST && found < 0; i++)
		if (atomic_load_explicit(&guarded[i].at, memory_order_relaxed) == NULL)
			found = i;
	if (found >= 0) {
		guarded[found].size = size;
		guarded[found].socket = socket;
		atomic_store_explicit(&guarded[found].at, at, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
	return found;
}

void
memif_guard_end(int guard)
{
	if (guard >= 0)
		atomic_store_explicit(&guarded[guard].at, NULL, memory_order_release);
}
