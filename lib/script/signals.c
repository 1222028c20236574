/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ctrl-C, in two steps.
 *
 * The first SIGINT or SIGTERM becomes a byte in a pipe, which the event loop waits for like any other input: the
 * test that runs can then stop where it stands and write down what it has. The second one, should it come before the
 * first has been dealt with, ends the process at once. It has to: the loop may not be turning, because some Lua never
 * yields. That is why libuv's own signal handles do not do here: they speak only through the loop.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "script_priv.h"

enum { INTERRUPTED = 130 };

static int pipe_ends[2] = {-1, -1};
static volatile sig_atomic_t unanswered; /* written by the handler, cleared by the loop's thread */

static void
on_signal(int number)
{
	static const char farewell[] = "\nframegauge: stopped at once\n";
	unsigned char byte = (unsigned char)number;
	int saved = errno;

	if (unanswered != 0) {
		if (write(STDERR_FILENO, farewell, sizeof(farewell) - 1) < 0)
			_exit(INTERRUPTED);
		_exit(INTERRUPTED);
	}
	unanswered = 1;
	if (write(pipe_ends[1], &byte, 1) < 0)
		unanswered = 1; /* a full pipe already says what there is to say */
	errno = saved;
}

/* signals.open() -> descriptor that turns readable on the first signal. Calling it again is harmless. */
static int
signals_open(lua_State *L)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	if (pipe_ends[0] < 0 && pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return luaL_error(L, "cannot make the pipe for signals: %s", strerror(errno));
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	lua_pushinteger(L, pipe_ends[0]);
	return 1;
}

/* signals.take() -> number of the signal that came, or nil. The next one still counts as the second. */
static int
signals_take(lua_State *L)
{
	unsigned char byte;

	if (pipe_ends[0] < 0 || read(pipe_ends[0], &byte, 1) != 1)
		return 0;
	lua_pushinteger(L, byte);
	return 1;
}

/* signals.answered(): whatever the first signal interrupted has unwound; the next one is a first one again. */
static int
signals_answered(lua_State *L)
{
	(void)L;
	unanswered = 0;
	return 0;
}

int
luaopen_framegauge_signals(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"open", signals_open}, {"take", signals_take}, {"answered", signals_answered}, {NULL, NULL}};

	lua_createtable(L, 0, 3);
	luaL_register(L, NULL, functions);
	return 1;
}
