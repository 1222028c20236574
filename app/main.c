/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program: hands its arguments to Lua (scripts-lua/framegauge/main.lua) and what comes back to the shell. Lua
 * answers every mistake a user can make; an error that gets as far as here is one of ours.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fg_log.h"
#include "fg_script.h"

enum {
	STATUS_USAGE = 2,
	STATUS_ENVIRONMENT = 4,
	STATUS_INTERNAL = 70,
};

/* Warnings and errors of the libraries and of DPDK; with --verbose everything they say. */
static void
print_log(void *most, enum fg_log_level level, const char *line)
{
	static const char *const names[] = {"error: ", "warning: ", "", ""};

	if (level <= *(const enum fg_log_level *)most)
		fprintf(stderr, "framegauge: %s%s\n", names[level], line);
}

static int
run(struct fg_script *vm, int argc, char *const argv[])
{
	struct fg_error err;
	int status = 0;

	if (fg_script_run(vm, "framegauge.main", argc, argv, &status, &err) != 0) {
		fflush(stdout);
		fprintf(stderr, "framegauge: internal error: %s\n", fg_script_traceback(vm));
		return STATUS_INTERNAL;
	}
	if (fflush(stdout) != 0 || ferror(stdout)) {
		perror("framegauge: cannot write the output");
		return status != 0 ? status : STATUS_ENVIRONMENT;
	}
	return status;
}

int
main(int argc, char *argv[])
{
	struct fg_script_config config = {.lua_path = getenv("FRAMEGAUGE_LUA")};
	struct fg_script *vm;
	struct fg_error err;
	enum fg_log_level most = FG_LOG_WARNING;
	int first = 1, status;

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
		return STATUS_USAGE;
	}
	status = run(vm, argc - first, argv + first);
	fg_script_close(vm);
	return status;
}
