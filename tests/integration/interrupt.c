/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For interruptions.py, which loads it into the tester by LD_PRELOAD: send the process the signal FG_SIGNAL
 * when a file has been renamed to a path that ends in FG_SIGNAL_AT, or is about to be opened there to be
 * written to; FG_SIGNAL_AFTER ms later, by a timer of the kernel. So a signal comes at the same place of a
 * run each time, however late the test itself is.
 */
#undef _FILE_OFFSET_BITS /* else open() is open64() */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void
send_signal(int number)
{
	const char *after = getenv("FG_SIGNAL_AFTER");
	const struct itimerspec once = {.it_value.tv_nsec = (after != NULL ? atol(after) : 0) * 1000000};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
	timer_t timer;

	if (after == NULL || timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
	    timer_settime(timer, 0, &once, NULL) != 0)
		kill(getpid(), number);
}

static void
meet(const char *path)
{
	static int is_sent;
	const char *end = getenv("FG_SIGNAL_AT"), *number = getenv("FG_SIGNAL");
	size_t length = strlen(path);

	if (is_sent || end == NULL || number == NULL || length < strlen(end) ||
	    strcmp(path + length - strlen(end), end) != 0)
		return;
	is_sent = 1;
	send_signal(atoi(number));
}

int
rename(const char *from, const char *to)
{
	int (*next)(const char *, const char *) =
		(int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
	int ret = next(from, to);

	meet(to);
	return ret;
}

static int
open_next(const char *name, const char *path, int flags, mode_t mode)
{
	int (*next)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, name);

	if ((flags & O_ACCMODE) != O_RDONLY)
		meet(path);
	return next(path, flags, mode);
}

static mode_t
mode_of(int flags, va_list more)
{
	return (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
}

int
open(const char *path, int flags, ...)
{
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = mode_of(flags, more);
	va_end(more);
	return open_next("open", path, flags, mode);
}

int
open64(const char *path, int flags, ...)
{
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = mode_of(flags, more);
	va_end(more);
	return open_next("open64", path, flags, mode);
}
