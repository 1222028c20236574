/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "fg_error.h"

__BEGIN_DECLS

/** A Lua virtual machine with Framegauge's modules in it. One thread only: the one that created it. */
struct fg_script;

struct fg_script_config {
	const char
		*lua_path; /* a folder whose framegauge/ is preferred to the embedded modules; NULL: none */
};

/**
 * Make a virtual machine. No Lua has run yet.
 *
 * @param config  copied; NULL for the defaults
 * @return        0, -ENOMEM, -ENOTDIR for a lua_path that is no folder
 */
int fg_script_create(const struct fg_script_config *config, struct fg_script **out, struct fg_error *err);

/**
 * require() a module and call its function main with a table of the arguments.
 *
 * @param status  what main returned, 0 when it returned nothing
 * @return        0, or -EFAULT when Lua raised an error: see fg_script_traceback()
 */
int fg_script_run(struct fg_script *vm, const char *module, int argc, char *const argv[], int *status,
		  struct fg_error *err);

/** The last error raised, with the stack at that moment; "" when there was none. Valid until the next run or
 * close. */
const char *fg_script_traceback(const struct fg_script *vm);
void fg_script_close(struct fg_script *vm);

__END_DECLS
