/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DPDK's log. It would go to the standard error of the program, between our own lines and into the
 * middle of a progress display. Here it becomes lines of fg_log(). While a device is being opened its error
 * lines are collected as well: they are the only place where a driver reports why it failed, and they end up
 * in the fg_error.
 *
 * Some libraries below DPDK (libxdp, libbpf) and EAL's usage text print to the standard streams whatever one
 * does. fg_eal_log_begin() points those streams at a file in memory and fg_eal_log_end() logs what it holds.
 * Only the control thread opens devices, and nothing else in the process prints meanwhile.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_log.h>

#include "fg_eal.h"
#include "fg_log.h"

/* Guarded by the lock of the stream: DPDK's interrupt thread logs too */
static FILE *stream;
static bool collecting;
static int capture = -1; /* the file in memory */
static char reason[256]; /* the first error lines since fg_eal_log_begin() */
static char line[512];   /* the line being put together */
static size_t line_length;

static int saved_stdout = -1, saved_stderr = -1; /* the streams it stands in for */

static void
collect_reason(const char *text)
{
	size_t used = strlen(reason);
	const char *bracket = strstr(text, "(): ");

	if (bracket != NULL)
		text = bracket + 4; /* drivers put their function's name first */
	if (used + 2 < sizeof(reason))
		snprintf(reason + used, sizeof(reason) - used, "%s%.200s", used > 0 ? "; " : "", text);
}

static void
end_line(uint32_t level)
{
	enum fg_log_level ours = FG_LOG_DEBUG;

	line[line_length] = '\0';
	line_length = 0;
	if (line[0] == '\0')
		return;
	if (level <= RTE_LOG_ERR)
		ours = FG_LOG_WARNING;
	else if (level == RTE_LOG_WARNING)
		ours = FG_LOG_INFO;
	if (collecting && level <= RTE_LOG_ERR && strncmp(line, "PANIC in", 8) != 0)
		collect_reason(line);
	if (capture >= 0)
		dprintf(capture, "%s\n", line); /* the program may log to a stream we have taken away */
	else
		fg_log(collecting ? FG_LOG_DEBUG : ours, "%s", line);
}

static ssize_t
take(void *cookie, const char *text, size_t size)
{
	int level = rte_log_cur_msg_loglevel();

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\n')
			end_line((uint32_t)level);
		else if (line_length < sizeof(line) - 1)
			line[line_length++] = text[i];
	}
	return (ssize_t)size;
}

int
fg_eal_log_open(struct fg_error *err)
{
	if (stream == NULL)
		stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = take});
	if (stream == NULL || rte_openlog_stream(stream) != 0)
		return fg_error_set(err, ENOMEM, "host", "no memory for DPDK's log");
	return 0;
}

void
fg_eal_log_begin(void)
{
	flockfile(stream);
	collecting = true;
	reason[0] = '\0';
	capture = memfd_create("framegauge-log", MFD_CLOEXEC);
	funlockfile(stream);
	if (capture < 0)
		return;
	fflush(stdout);
	fflush(stderr);
	saved_stdout = dup(STDOUT_FILENO);
	saved_stderr = dup(STDERR_FILENO);
	if (saved_stdout >= 0)
		dup2(capture, STDOUT_FILENO);
	if (saved_stderr >= 0)
		dup2(capture, STDERR_FILENO);
}

static void
restore(int *saved, int target)
{
	if (*saved < 0)
		return;
	dup2(*saved, target);
	close(*saved);
	*saved = -1;
}

static void
log_captured(int fd)
{
	FILE *in = fdopen(fd, "r");
	char text[400];

	if (in == NULL)
		return;
	rewind(in);
	while (fgets(text, sizeof(text), in) != NULL) {
		text[strcspn(text, "\n")] = '\0';
		if (text[0] != '\0')
			fg_log(FG_LOG_DEBUG, "%s", text);
	}
	fclose(in);
}

const char *
fg_eal_log_end(void)
{
	int captured;

	fflush(stdout);
	fflush(stderr);
	restore(&saved_stdout, STDOUT_FILENO);
	restore(&saved_stderr, STDERR_FILENO);
	flockfile(stream);
	captured = capture;
	capture = -1;
	collecting = false;
	funlockfile(stream);
	if (captured >= 0)
		log_captured(captured);
	return reason;
}
