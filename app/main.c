/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program: hands its arguments to Lua (scripts-lua/framegauge/cli/main.lua) and its exit status to the
 * shell. Lua answers every mistake a user can make; an error that gets as far as here is one of ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fg_log.h"
#include "fg_script.h"

enum {
	STATUS_USAGE = 2,
	STATUS_ENVIRONMENT = 4,
	STATUS_INTERNAL = 70,
};

/* Bytes from which a block has a mapping of its own, which free() returns to the system. glibc begins with
 * this limit, raises it to the largest block that was freed, and leaves large blocks in a heap full of holes.
 * A limit that is set stays, and so does then the free memory at the end of the heap from which on it goes
 * back to the system, 128 KiB: what one round gives back the next would have to ask for again. */
enum { OWN_MAPPING = 128 * 1024, KEPT_FREE = 4 * 1024 * 1024 };

/* Warnings and errors of the libraries and of DPDK; with --verbose everything they say. */
static void
print_log(void *most, enum fg_log_level level, const char *line)
{
	static const char *const names[] = {"error: ", "warning: ", "", ""};

	if (level <= *(const enum fg_log_level *)most)
		fprintf(stderr, "framegauge: %s%s\n", names[level], line);
}

/*
 * A standard stream that is closed would be the next file that is opened, and what is printed would end up in
 * that. What takes its place would break its users.
 */
static void
hold_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(STATUS_ENVIRONMENT);
}

/* As many files can be opened as the event loop and one more need: libuv ends the process where it gets
 * none. */
static bool
can_open_files(void)
{
	int fds[12], n = 0;

	while (n < (int)(sizeof(fds) / sizeof(fds[0])) && (fds[n] = dup(STDERR_FILENO)) >= 0)
		n++;
	for (int i = 0; i < n; i++)
		close(fds[i]);
	return n == (int)(sizeof(fds) / sizeof(fds[0]));
}

/* What was printed has arrived. Where the reader has left, that changes nothing of what was done. */
static int
check_output(int status)
{
	struct pollfd out = {.fd = STDOUT_FILENO};
	const char *cause = "an earlier part of it was lost";
	bool has_left;

	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	has_left = poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
	if ((fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY)
		cause = "it is closed";
	fprintf(stderr, "framegauge: cannot write the output: %s\n",
		has_left ? "its reader has left" : cause);
	return status != 0 || has_left ? status : STATUS_ENVIRONMENT;
}

static int
run(struct fg_script *vm, int argc, char *const argv[])
{
	struct fg_error err;
	int status = 0;

	if (fg_script_run(vm, "framegauge.cli.main", argc, argv, &status, &err) != 0) {
		fflush(stdout);
		fprintf(stderr, "framegauge: internal error: %s\n", fg_script_traceback(vm));
		return STATUS_INTERNAL;
	}
	return check_output(status);
}

int
main(int argc, char *argv[])
{
	struct fg_script_config config = {.lua_path = getenv("FRAMEGAUGE_LUA")};
	struct fg_script *vm;
	struct fg_error err;
	enum fg_log_level most = FG_LOG_WARNING;
	int first = 1, status;

	mallopt(M_MMAP_THRESHOLD, OWN_MAPPING);
	mallopt(M_TRIM_THRESHOLD, KEPT_FREE);
	hold_streams();
	if (!can_open_files()) {
		fprintf(stderr, "framegauge: too few files may be open (ulimit -n)\n");
		return STATUS_ENVIRONMENT;
	}
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of its write(), which we tell */
	for (; first < argc; first++) {
		if (strcmp(argv[first], "--verbose") == 0)
			most = FG_LOG_DEBUG;
		else if (strcmp(argv[first], "--lua-path") == 0 && first + 1 < argc)
			config.lua_path = argv[++first];
		else
			break;
	}
	fg_log_set_sink(print_log, &most);
	if (fg_script_create(&config, &vm, &err) != 0) {
		fprintf(stderr, "framegauge: %s: %s\n", err.where, err.message);
		return err.code == ENOMEM ? STATUS_ENVIRONMENT : STATUS_USAGE;
	}
	argv[first - 1] = argv[0];
	status = run(vm, argc - first + 1, argv + first - 1);
	fg_script_close(vm);
	return status;
}
