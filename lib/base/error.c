/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "fg_error.h"

int
fg_error_set(struct fg_error *err, int code, const char *where, const char *format, ...)
{
	va_list args;

	if (err == NULL)
		return -code;
	err->code = code;
	snprintf(err->where, sizeof(err->where), "%s", where);
	va_start(args, format);
	vsnprintf(err->message, sizeof(err->message), format, args);
	va_end(args);
	return -code;
}
