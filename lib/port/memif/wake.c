/* SPDX-License-Identifier: BSD-3-Clause */
/* Wake a memif peer: by a poll that is complete at once, whose completion signals the peer's eventfd. */
#include <errno.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "memif_wake.h"

enum { COMPLETED = 64 /* polls whose results wait to be thrown away */ };

static aio_context_t context; /* of the process, as long as it lives */
static int failure;

static void
set_up(void)
{
	failure = syscall(SYS_io_setup, COMPLETED, &context) == 0 ? 0 : -errno;
}

int
memif_wake_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, set_up);
	return failure;
}

void
memif_wake(int descriptor, int ready)
{
	struct iocb poll = {
		.aio_lio_opcode = IOCB_CMD_POLL,
		.aio_fildes = (uint32_t)ready,
		.aio_buf = POLLOUT,
		.aio_flags = IOCB_FLAG_RESFD,
		.aio_resfd = (uint32_t)descriptor,
	};
	struct iocb *const polls[] = {&poll};
	struct io_event results[COMPLETED];

	for (int i = 0; i < 2 && syscall(SYS_io_submit, context, 1, polls) < 0 && errno == EAGAIN; i++)
		syscall(SYS_io_getevents, context, 1, COMPLETED, results, &(struct timespec){0});
}
