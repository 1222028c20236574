/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whatever a user may call a plan. The input is a file's content, loaded as `framegauge check` would; what
 * must then hold is said in framegauge/fuzz_plan.lua. One virtual machine serves all inputs, as starting one
 * takes longer than loading a plan.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <sanitizer/lsan_interface.h>

#include "fg_script.h"

static struct fg_script *vm;
static int file; /* in memory; only its descriptor has a name */
static char path[64];

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct fg_script_config config = {.lua_path = FUZZ_FOLDER};
	struct fg_error err;

	file = memfd_create("plan", MFD_CLOEXEC);
	if (file < 0 || fg_script_create(&config, &vm, &err) != 0)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	/* what a first plan loads for good hangs on the machine's own heap, where the sanitizer does not look
	 * for it */
	__lsan_disable();
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	__lsan_enable();
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *const arguments[] = {path};
	struct fg_error err;
	int status;

	if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	if (fg_script_run(vm, "framegauge.fuzz_plan", 1, arguments, &status, &err) != 0) {
		fprintf(stderr, "%s\n", fg_script_traceback(vm));
		abort();
	}
	return 0;
}
