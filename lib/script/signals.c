/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ctrl-C, in two steps.
 *
 * The first SIGINT, SIGTERM or SIGHUP becomes a byte in a pipe, which the event loop waits for like any other
 * input: the test that runs can then stop where it stands, write down what it has, and put the host back. A
 * terminal that closes sends SIGHUP; under nohup that stays ignored. The second signal, should it come
 * before the first has been dealt with, ends the process at once. It has to: the loop may not be turning,
 * because some Lua never yields. That is why libuv's own signal handles do not do here: they speak only
 * through the loop.
 *
 * At a prompt a process that ends is no answer. There the virtual machine is guarded: the signal also sets a
 * hook, and Lua that never yields is stopped by it, with the error an interrupted job gets from its wait. The
 * hook spares our own modules, which yield sooner or later and must not be torn out of what they do, and it
 * stays until the signal has been answered, so that a pcall() in an endless loop cannot swallow it. Compiled
 * traces see no hooks: a caller that runs guarded Lua leaves it to the interpreter
 * (framegauge.console.evaluate). Only a C function that does not return is beyond its reach; that takes as
 * many signals as one sends in anger.
 *
 * Without a terminal for Ctrl-C an alarm does the same: the loop postpones it as long as it turns. SIGTERM,
 * which a service manager sends once, ends the process when the loop has not turned for that long; the alarm
 * comes again for one that was sent before.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "script_priv.h"

enum { INTERRUPTED = 130, PATIENCE = 5 /* signals */, OVERDUE_S = 5 };

static int pipe_ends[2] = {-1, -1};
static volatile sig_atomic_t unanswered; /* counted by the handler, cleared by the loop's thread */

static lua_State *guarded;            /* NULL: none */
static int interruption = LUA_NOREF;  /* the error object, in the registry */
static int overrun = LUA_NOREF;       /* the one of the alarm */
static volatile sig_atomic_t overdue; /* the alarm has come; set by its handler, cleared when it is put off */
static volatile sig_atomic_t
	terminated;      /* SIGTERM or SIGHUP has come; set by its handler, cleared by the loop's thread */
static char spared[512]; /* how the names of our own chunks begin */

static void
drain(void)
{
	unsigned char bytes[16];

	while (read(pipe_ends[0], bytes, sizeof(bytes)) > 0)
		;
}

/* The hook: raise the interruption in whatever Lua is not ours. */
static void
stop_lua(lua_State *L, lua_Debug *activation)
{
	if (lua_getinfo(L, "S", activation) == 0 || strncmp(activation->source, spared, strlen(spared)) == 0)
		return;
	if (unanswered != 0 && !terminated) /* else the loop is to read that the program shall end */
		drain();
	lua_rawgeti(L, LUA_REGISTRYINDEX, unanswered != 0 ? interruption : overrun);
	lua_error(L);
}

static void
stop_at_once(void)
{
	static const char farewell[] = "\nframegauge: stopped at once\n";
	/* it may be what the loop waits for */
	struct pollfd errors = {.fd = STDERR_FILENO, .events = POLLOUT};

	if (poll(&errors, 1, 0) == 1 && write(STDERR_FILENO, farewell, sizeof(farewell) - 1) < 0)
		_exit(INTERRUPTED);
	_exit(INTERRUPTED);
}

static void
on_signal(int number)
{
	unsigned char byte = (unsigned char)number;
	int saved = errno;

	if (unanswered >= (guarded != NULL ? PATIENCE : 1) || (number != SIGINT && overdue))
		stop_at_once();
	terminated |= number == SIGTERM || number == SIGHUP;
	unanswered++;
	if (guarded != NULL)
		lua_sethook(guarded, stop_lua, LUA_MASKCOUNT,
			    1); /* the one Lua call that a handler may make */
	if (write(pipe_ends[1], &byte, 1) < 0)
		errno = 0; /* a full pipe already holds the message */
	errno = saved;
}

static void
on_alarm(int number)
{
	(void)number;
	if (overdue && terminated)
		stop_at_once();
	overdue = 1;
	alarm(OVERDUE_S);
	if (guarded != NULL)
		lua_sethook(guarded, stop_lua, LUA_MASKCOUNT, 1);
}

/* the terminal was closed: as SIGTERM, unless somebody wants it ignored, as nohup does */
static void
heed_hang_up(const struct sigaction *action)
{
	struct sigaction before;

	if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, action, NULL);
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
	heed_hang_up(&action);
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
	terminated = 0;
	if (guarded != NULL)
		lua_sethook(guarded, NULL, 0, 0); /* the loop turns: it will tell the job */
	lua_pushinteger(L, byte);
	return 1;
}

/* signals.answered(): whatever the first signal interrupted has unwound; the next one is a first one
 * again. */
static int
signals_answered(lua_State *L)
{
	unanswered = 0;
	if (guarded != NULL)
		lua_sethook(L, NULL, 0, 0);
	return 0;
}

/*
 * signals.guard(error object, chunk name): from now on signals stop any Lua except chunks whose names
 * begin so. signals.guard(): no longer.
 */
static int
signals_guard(lua_State *L)
{
	guarded = NULL;
	lua_sethook(L, NULL, 0, 0);
	luaL_unref(L, LUA_REGISTRYINDEX, interruption);
	interruption = LUA_NOREF;
	if (lua_gettop(L) == 0)
		return 0;
	snprintf(spared, sizeof(spared), "%s", luaL_checkstring(L, 2));
	if (lua_pushthread(L) == 0)
		return luaL_error(L, "signals.guard: not in a coroutine, which may not live long enough");
	lua_pushvalue(L, 1);
	interruption = luaL_ref(L, LUA_REGISTRYINDEX);
	guarded = L;
	return 0;
}

/*
 * signals.watch(seconds, error object): unless it is called again within that time, guarded Lua is stopped
 * with this error. signals.watch(seconds) puts it off, signals.watch(0) ends it.
 */
static int
signals_watch(lua_State *L)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct itimerval timer = {.it_value.tv_sec = (time_t)luaL_checkinteger(L, 1)};

	if (lua_gettop(L) > 1) {
		luaL_unref(L, LUA_REGISTRYINDEX, overrun);
		lua_pushvalue(L, 2);
		overrun = luaL_ref(L, LUA_REGISTRYINDEX);
		sigemptyset(&action.sa_mask);
		sigaction(SIGALRM, &action, NULL);
	}
	setitimer(ITIMER_REAL, &timer, NULL);
	if (overdue != 0 && unanswered == 0)
		lua_sethook(L, NULL, 0, 0);
	overdue = 0;
	return 0;
}

int
luaopen_framegauge_signals(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"open", signals_open},   {"take", signals_take},   {"answered", signals_answered},
		{"guard", signals_guard}, {"watch", signals_watch}, {NULL, NULL},
	};

	lua_createtable(L, 0, 5);
	luaL_register(L, NULL, functions);
	return 1;
}
