/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fg_error.h"
#include "fg_task.h"

__BEGIN_DECLS

/*
 * Do the frames that a replay sends arrive as they were sent, and in that order? Frames of a capture carry no
 * number, so they are known by a digest of their octets: the sender notes it of each frame, the tap of the
 * receiving port notes it of each arrival, and a thread compares the two sequences while they grow. Memory
 * stays the same however long that takes.
 *
 * An arrival is the frame that was sent next after the last one in order; else the nearest one with this
 * digest: ahead (those skipped are missing), or behind (late, or once more). Among frames with the same
 * bytes this can take one for another; the number of missing ones is still exact. One that comes more than
 * 65,536 frames late is not known any more. Padding of frames below 60 bytes is no difference.
 */
struct fg_verify;

struct fg_verify_config {
	bool patient; /* the lcores wait for the thread: for the virtual wire */
};

struct fg_verify_counts {
	uint64_t sent;       /* noted before they were sent */
	uint64_t same;       /* different ones of them that arrived */
	uint64_t reordered;  /* of these: after one that was sent later (RFC 4737) */
	uint64_t duplicates; /* arrived once more */
	uint64_t foreign;    /* arrived, and was not sent: changed, or from another sender */
	/* the same, but of protocols between neighbours: ARP, ND, LLDP, STP ... */
	uint64_t talk;
	uint64_t unchecked; /* not noted, since the thread was behind: then nothing is sure */
};

/** @return 0, or -ENOMEM */
int fg_verify_create(const struct fg_verify_config *config, struct fg_verify **out, struct fg_error *err);

/** Forget everything and begin to compare. Not while a trial runs. @return 0, or why there is no thread */
int fg_verify_start(struct fg_verify *verify, struct fg_error *err);

/** For fg_trial_config.tap. */
struct fg_tap *fg_verify_tap(struct fg_verify *verify);

/** A frame is about to be sent, @p length bytes without FCS. By the lcore that sends. */
void fg_verify_note_sent(struct fg_verify *verify, const uint8_t *frame, size_t length);

/** Compare the rest. Not while a trial runs. */
void fg_verify_finish(struct fg_verify *verify);

/** Counts so far; exact after fg_verify_finish(). */
void fg_verify_get_counts(const struct fg_verify *verify, struct fg_verify_counts *out);
void fg_verify_free(struct fg_verify *verify);

__END_DECLS
