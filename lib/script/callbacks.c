/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An error in a callback of the event loop has no caller above it that could catch it. luv prints it and ends
 * the process: ports, sockets and files stay as they are. Here it is handed to a function of Lua, which has
 * the job in the foreground raise it (framegauge.core.job), and the loop goes on.
 *
 * luv has luv_set_callback() for programs that bring a virtual machine of their own. It is a library that
 * Lua loads at run time; so the function is looked up in the file that luv's other functions come from.
 */
#include <dlfcn.h>
#include <string.h>

#include "script_priv.h"

typedef int (*protected_call)(lua_State *L, int arguments, int results, int flags);

static const char catcher[] = "framegauge.callbacks"; /* in the registry: the function */

/* As luv_cfpcall() does it: leaves the results, or nothing, on the stack; returns how many, or -status. */
static int
call_back(lua_State *L, int arguments, int results, int flags)
{
	int below = lua_gettop(L) - arguments - 1, status;

	(void)flags; /* whether to exit and what to print: neither */
	lua_getfield(L, LUA_REGISTRYINDEX, catcher);
	lua_insert(L, below + 1);
	status = lua_pcall(L, arguments, results, below + 1);
	if (status == 0) {
		lua_remove(L, below + 1);
		return lua_gettop(L) - below;
	}
	if (status == LUA_ERRMEM) { /* Lua calls no handler for this one */
		lua_pushvalue(L, below + 1);
		lua_pushvalue(L, -2);
		lua_pcall(L, 1, 0, 0);
	}
	lua_settop(L, below);
	return -status;
}

/* catch(function of luv, function(error)) -> whether errors of its callbacks are caught from now on */
static int catch (lua_State *L)
{
	union {
		lua_CFunction of_lua;
		void *address;
	} known = {.of_lua = lua_tocfunction(L, 1)};
	union {
		void *address;
		void (*call)(lua_State *L, protected_call call);
	} set = {NULL};
	Dl_info place;
	void *library;

	luaL_checktype(L, 2, LUA_TFUNCTION);
	library = known.address != NULL && dladdr(known.address, &place) != 0
			  ? dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
			  : NULL;
	if (library != NULL)
		set.address = dlsym(library, "luv_set_callback");
	if (set.address != NULL) {
		lua_setfield(L, LUA_REGISTRYINDEX, catcher);
		set.call(L, call_back);
	}
	if (library != NULL)
		dlclose(library); /* Lua has it open, too */
	lua_pushboolean(L, set.address != NULL);
	return 1;
}

int
luaopen_framegauge_callbacks(lua_State *L)
{
	lua_createtable(L, 0, 1);
	lua_pushcfunction(L, catch);
	lua_setfield(L, -2, "catch");
	return 1;
}
