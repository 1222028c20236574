/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"
#include "fg_task.h"

__BEGIN_DECLS

/*
 * Frames that a port receives, written to files for Wireshark and the like. The lcore only filters and copies
 * them into a buffer; a thread writes them. When the buffer is full, the frame is not kept and is counted: a
 * capture may fall behind, the measurement may not. With `patient` the lcore waits instead: for the virtual
 * wire, whose time does not pass meanwhile.
 *
 * With a trigger it works as a logic analyser does: what arrives goes round in the buffer, and when the
 * trigger fires the last `before` frames are written, and what follows. After `after` more frames it waits
 * for the next time; a trigger that fires meanwhile makes it begin to count again.
 *
 * The functions belong to the control thread; the tap is for one port at a time.
 */
struct fg_capture;

struct fg_capture_config {
	const char
		*path; /* of the file; ".pcapng" at its end: that format, else pcap. Both with nanoseconds */
	const char *filter;  /* in the language of pcap-filter(7); NULL: all frames */
	const char *trigger; /* the same: fires at a frame for which it holds; NULL: from the start */
	bool on_loss;    /* fires, too, when a test frame arrives before one that its stream sent earlier */
	uint64_t before; /* frames kept before the one that fires, as far as half of the buffer holds them */
	uint64_t after;  /* frames kept from it on, then it waits for the next; 0: all */
	uint32_t slice;  /* bytes kept of each frame; 0: all of it */
	uint64_t buffer; /* bytes between lcore and thread; 0: 64 MiB */
	uint64_t file_octets; /* begin another file after this many; 0: one file */
	unsigned files;   /* then keep this many of the latest; 0: all. They are named PATH.0, PATH.1 ... */
	uint64_t frames;  /* stop after this many; 0: no end */
	int64_t epoch_ns; /* added to the engine's time to make it time since 1970 */
	bool patient;
};

/** Counts of the frames that the tap saw. */
struct fg_capture_counts {
	uint64_t seen;
	uint64_t filtered; /* not wanted: by filter, trigger or number; may fall, when a trigger fires */
	uint64_t dropped;  /* wanted, but the buffer was full */
	uint64_t written;  /* in a file */
	uint64_t octets;   /* of frames, in files */
	uint64_t triggers; /* times the trigger has fired */
};

/**
 * Open the file and start the thread.
 * @return 0; -EINVAL a filter that libpcap rejects, -ENOMEM, or the file system's error
 */
int fg_capture_open(const struct fg_capture_config *config, struct fg_capture **out, struct fg_error *err);

/** For fg_engine_tap(), or fg_trial_config.tap. */
struct fg_tap *fg_capture_tap(struct fg_capture *capture);

/** Counts so far; exact after fg_capture_flush() when nothing arrives any more. */
void fg_capture_get_counts(const struct fg_capture *capture, struct fg_capture_counts *out);

/** Wait until all that was kept so far is in the file. @return 0, or what went wrong in writing */
int fg_capture_flush(struct fg_capture *capture, struct fg_error *err);

/** Write the rest and close. */
void fg_capture_close(struct fg_capture *capture);

__END_DECLS
