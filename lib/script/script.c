/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything a person can ask of Framegauge is decided in Lua; this file is the small piece of C that gets
 * Lua going.
 *
 * The modules under scripts-lua/ travel inside the program, so that one file can be copied to a tester host
 * and run. They are kept as source: a message can then name file and line, and the few milliseconds of
 * compiling do not matter. A folder given by the user comes first, module by module, which is how the Lua
 * side is worked on without building.
 *
 * The embedded loader stands directly behind package.preload, before package.path is searched: a framegauge/
 * folder that happens to lie in the current directory must not change what the program does.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fg_script.h"
#include "script_priv.h"

struct fg_script {
	lua_State *lua;
	char *lua_path;
	char *traceback;
};

struct run_request {
	const char *module;
	int argc;
	char *const *argv;
	int status;
};

static int
compare_name(const void *key, const void *module)
{
	return strcmp(key, ((const struct fg_script_module *)module)->name);
}

static const struct fg_script_module *
find_embedded(const char *name)
{
	size_t n = 0;

	while (fg_script_modules[n].name != NULL)
		n++;
	return bsearch(name, fg_script_modules, n, sizeof(fg_script_modules[0]), compare_name);
}

/* Leaves the path of the module's file in the user's folder on the stack, or nothing and returns false. */
static bool
push_override(lua_State *L, const char *folder, const char *name)
{
	static const char *const tails[] = {".lua", "/init.lua"};
	const char *path;

	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		luaL_gsub(L, name, ".", "/");
		path = lua_pushfstring(L, "%s/%s%s", folder, lua_tostring(L, -1), tails[i]);
		lua_remove(L, -2);
		if (access(path, R_OK) == 0)
			return true;
		lua_pop(L, 1);
	}
	return false;
}

/* A package.loaders entry: module name -> loader function, or a string saying where was looked. */
static int
load_module(lua_State *L)
{
	const char *name = luaL_checkstring(L, 1);
	const struct fg_script *vm = lua_touserdata(L, lua_upvalueindex(1));
	const struct fg_script_module *module;

	if (strncmp(name, "framegauge", strlen("framegauge")) != 0)
		return 0;
	if (vm->lua_path != NULL && push_override(L, vm->lua_path, name)) {
		if (luaL_loadfile(L, lua_tostring(L, -1)) != 0)
			return lua_error(L);
		return 1;
	}
	module = find_embedded(name);
	if (module == NULL) {
		lua_pushfstring(L, "\n\tno module '%s' inside the program", name);
		return 1;
	}
	if (luaL_loadbuffer(L, module->source, module->size, module->chunk) != 0)
		return lua_error(L);
	return 1;
}

/* source.read(module) -> the text of one of our modules, or nil: documentation is made from it */
static int
read_source(lua_State *L)
{
	const char *name = luaL_checkstring(L, 1);
	const struct fg_script *vm = lua_touserdata(L, lua_upvalueindex(1));
	const struct fg_script_module *module;

	if (vm->lua_path != NULL && push_override(L, vm->lua_path, name)) {
		lua_getglobal(L, "io");
		lua_getfield(L, -1, "open");
		lua_pushvalue(L, -3);
		lua_call(L, 1, 1);
		lua_getfield(L, -1, "read");
		lua_insert(L, -2);
		lua_pushliteral(L, "*a");
		lua_call(L, 2, 1);
		return 1;
	}
	module = find_embedded(name);
	if (module == NULL)
		return 0;
	lua_pushlstring(L, module->source, module->size);
	return 1;
}

static void
add_source_module(struct fg_script *vm)
{
	lua_State *L = vm->lua;

	lua_getglobal(L, "package");
	lua_getfield(L, -1, "loaded");
	lua_createtable(L, 0, 1);
	lua_pushlightuserdata(L, vm);
	lua_pushcclosure(L, read_source, 1);
	lua_setfield(L, -2, "read");
	lua_setfield(L, -2, "framegauge.source");
	lua_pop(L, 2);
}

static void
add_loader(struct fg_script *vm)
{
	lua_State *L = vm->lua;

	lua_getglobal(L, "package");
	lua_getfield(L, -1, "loaders");
	for (int i = (int)lua_objlen(L, -1); i >= 2; i--) {
		lua_rawgeti(L, -1, i);
		lua_rawseti(L, -2, i + 1);
	}
	lua_pushlightuserdata(L, vm);
	lua_pushcclosure(L, load_module, 1);
	lua_rawseti(L, -2, 2);
	lua_pop(L, 2);
}

static void
add_c_modules(lua_State *L)
{
	static const luaL_Reg modules[] = {
		{"framegauge.build", luaopen_framegauge_build},
		{"framegauge.callbacks", luaopen_framegauge_callbacks},
		{"framegauge.editor", luaopen_framegauge_editor},
		{"framegauge.signals", luaopen_framegauge_signals},
		{"framegauge.yaml", luaopen_framegauge_yaml},
	};

	lua_getglobal(L, "package");
	lua_getfield(L, -1, "preload");
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		lua_pushcfunction(L, modules[i].func);
		lua_setfield(L, -2, modules[i].name);
	}
	lua_pop(L, 2);
}

static int
set_lua_path(struct fg_script *vm, const char *path, struct fg_error *err)
{
	struct stat st;

	if (path == NULL || *path == '\0')
		return 0;
	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return fg_error_set(err, ENOTDIR, "--lua-path", "%s is not a folder", path);
	vm->lua_path = strdup(path);
	return vm->lua_path != NULL ? 0 : fg_error_set(err, ENOMEM, "script", "out of memory");
}

static int
next_entry(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 2);
	if (lua_next(L, 1) != 0)
		return 2;
	lua_pushnil(L);
	return 1;
}

static int
all_entries(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_pushvalue(L, 1);
	lua_pushnil(L);
	return 3;
}

/*
 * What LuaJIT of March 2022, which Debian 12 has, compiles for next() and pairs() may lose the upper half of
 * a pointer, and then crashes (its issue 829, mended in April 2022): 11 of 40 runs of fleet_spec.lua did. It
 * does not compile functions of C. Versions behind the last beta are mended.
 */
static void
keep_next_from_compiling(lua_State *L)
{
	bool mended;

	lua_getglobal(L, "jit");
	lua_getfield(L, -1, "version");
	mended = strstr(lua_tostring(L, -1), "2.1.0-beta") == NULL;
	lua_pop(L, 2);
	if (mended)
		return;
	lua_pushcfunction(L, next_entry);
	lua_pushvalue(L, -1);
	lua_setglobal(L, "next");
	lua_pushcclosure(L, all_entries, 1);
	lua_setglobal(L, "pairs");
}

/* Runs protected: the libraries' tables take memory, and running out of it raises. */
static int
open_protected(lua_State *L)
{
	struct fg_script *vm = lua_touserdata(L, 1);

	luaL_openlibs(L);
	keep_next_from_compiling(L);
	add_loader(vm);
	add_c_modules(L);
	add_source_module(vm);
	return 0;
}

int
fg_script_create(const struct fg_script_config *config, struct fg_script **out, struct fg_error *err)
{
	struct fg_script *vm = calloc(1, sizeof(*vm));
	int rc;

	*out = NULL;
	if (vm == NULL)
		return fg_error_set(err, ENOMEM, "script", "out of memory");
	rc = set_lua_path(vm, config != NULL ? config->lua_path : NULL, err);
	if (rc == 0) {
		vm->lua = luaL_newstate();
		if (vm->lua == NULL || lua_cpcall(vm->lua, open_protected, vm) != 0)
			rc = fg_error_set(err, ENOMEM, "script", "no memory for the Lua virtual machine");
	}
	if (rc != 0) {
		fg_script_close(vm);
		return rc;
	}
	*out = vm;
	return 0;
}

/* require(module).main(arguments) */
static int
run_protected(lua_State *L)
{
	struct run_request *request = lua_touserdata(L, 1);

	lua_getglobal(L, "require");
	lua_pushstring(L, request->module);
	lua_call(L, 1, 1);
	lua_getfield(L, -1, "main");
	lua_createtable(L, request->argc, 0);
	for (int i = 0; i < request->argc; i++) {
		lua_pushstring(L, request->argv[i]);
		lua_rawseti(L, -2, i + 1);
	}
	lua_call(L, 1, 1);
	request->status = (int)lua_tointeger(L, -1);
	return 0;
}

/*
 * Error -> text with the stack. An error object that carries the stack of the coroutine it was raised in
 * (job.lua) keeps that one, for ours would only show the event loop.
 */
static int
describe_error(lua_State *L)
{
	const char *message = lua_tostring(L, 1);

	if (message == NULL && luaL_callmeta(L, 1, "__tostring"))
		message = lua_tostring(L, -1);
	if (message == NULL)
		message = lua_pushfstring(L, "(an error object of type %s)", luaL_typename(L, 1));
	if (lua_istable(L, 1)) {
		lua_pushliteral(L, "traceback");
		lua_rawget(L, 1);
		if (lua_isstring(L, -1)) {
			lua_pushfstring(L, "%s\n%s", message, lua_tostring(L, -1));
			return 1;
		}
	}
	luaL_traceback(L, L, message, 1);
	return 1;
}

int
fg_script_run(struct fg_script *vm, const char *module, int argc, char *const argv[], int *status,
	      struct fg_error *err)
{
	struct run_request request = {.module = module, .argc = argc, .argv = argv};
	lua_State *L = vm->lua;
	int rc = 0;

	free(vm->traceback);
	vm->traceback = NULL;
	lua_pushcfunction(L, describe_error);
	lua_pushcfunction(L, run_protected);
	lua_pushlightuserdata(L, &request);
	if (lua_pcall(L, 1, 0, 1) != 0) {
		const char *text = lua_tostring(L, -1);

		vm->traceback = strdup(text != NULL ? text : "(no message)");
		rc = fg_error_set(err, EFAULT, module, "%.*s", (int)strcspn(fg_script_traceback(vm), "\n"),
				  fg_script_traceback(vm));
	}
	lua_settop(L, 0);
	*status = request.status;
	return rc;
}

const char *
fg_script_traceback(const struct fg_script *vm)
{
	return vm->traceback != NULL ? vm->traceback : "";
}

void
fg_script_close(struct fg_script *vm)
{
	if (vm == NULL)
		return;
	if (vm->lua != NULL)
		lua_close(vm->lua);
	free(vm->traceback);
	free(vm->lua_path);
	free(vm);
}
