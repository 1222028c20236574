/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <sys/cdefs.h>

__BEGIN_DECLS

enum fg_log_level { FG_LOG_ERROR, FG_LOG_WARNING, FG_LOG_INFO, FG_LOG_DEBUG };

/** Takes one finished line without newline. Called on the thread that logs. */
typedef void (*fg_log_sink)(void *context, enum fg_log_level level, const char *line);

/** Where lines go from now on; NULL (the default) drops them. Control thread only, before other threads
 * start. */
void fg_log_set_sink(fg_log_sink sink, void *context);

/** Log one line. Libraries never print: the program chooses the sink. Never called from a packet lcore. */
void fg_log(enum fg_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

__END_DECLS
