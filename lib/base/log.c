/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "fg_log.h"

static fg_log_sink log_sink;
static void *log_context;

void
fg_log_set_sink(fg_log_sink sink, void *context)
{
	log_sink = sink;
	log_context = context;
}

void
fg_log(enum fg_log_level level, const char *format, ...)
{
	char line[512];
	va_list args;

	if (log_sink == NULL)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	log_sink(log_context, level, line);
}
