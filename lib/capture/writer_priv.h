/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

#include "fg_capture.h"
#include "records_priv.h"

/** The files of a capture: which one is written, and how. Belongs to one thread. */
struct writer {
	const struct fg_capture_config *config;
	char *path;
	FILE *file;
	int fd; /* of the file */
	bool pcapng;
	uint64_t in_file; /* bytes */
	unsigned number;  /* of the file, where there are several */
};

/** @p config must live as long as the writer. */
int writer_open(struct writer *w, const struct fg_capture_config *config, struct fg_error *err);

/** @return 0 or -errno */
int writer_put(struct writer *w, const struct record *record);
int writer_flush(struct writer *w);
void writer_close(struct writer *w);
