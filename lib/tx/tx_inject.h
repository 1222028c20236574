/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Errors that a stream makes on purpose, at its sender: see inject.c. Made by control; the tx lcore alone
 * writes them during the trial. The receiver follows `made`, which is stored (release) after the departure it
 * counts has been decided, and read (acquire) when a frame has come.
 */
#include "fg_inject.h"
#include "fg_stream_config.h"
#include "tx_task.h"

/* departures that are known before they are certain; a power of two above FG_BURST */
enum { TX_INJECT_AHEAD = 64 };

/** Errors on purpose of a stream. Written by the tx lcore only. */
struct tx_inject {
	struct fg_injector *program;
	uint64_t made; /* departures that the program has told of; the receiver follows it */
	struct fg_departure ahead[TX_INJECT_AHEAD];
	struct fg_stream_faults how;
	struct fg_template *oversize;    /* ours; NULL: none */
	uint64_t sent;                   /* departures that are the port's */
	uint64_t skipped, wrong;         /* numbers left out, frames made wrong, among those */
	uint64_t kinds[FG_INJECT_KINDS]; /* frames */
};

/** Set up the deliberate errors of stream @p i, if any; after its frames. @return 0, -EINVAL, -ENOMEM */
int tx_inject_init(struct tx_stream *stream, const struct fg_stream_config *config,
		   const struct fg_port *port, struct fg_error *err);
void tx_inject_free(struct tx_inject *inject);
/** Are there frames of other lengths among them than the stream's? @p inject may be NULL */
bool tx_inject_resize(const struct tx_inject *inject);
/** Are those that are made runts, or too long, of that many bytes without FCS? @p inject may be NULL */
bool tx_inject_makes_length(const struct tx_inject *inject, uint32_t octets);

/** Departure @p n; not far behind the last one that was asked for. */
const struct fg_departure *tx_inject_at(struct tx_inject *inject, uint64_t n);

/** Make the next frame of a stream that has faults. */
void tx_inject_make(const struct tx_task *task, struct tx_stream *stream, struct rte_mbuf *m,
		    uint64_t departure, bool launch);

/** The frame that was made first of those not yet sent is the port's now. */
void tx_inject_sent(struct tx_inject *inject);

/** Only the first @p sent departures have left: count them again. Control, after the trial. */
int tx_inject_recount(struct tx_inject *inject, uint64_t sent, struct fg_error *err);

/** Of the frames sent, those that were made wrong, and those by which the device is measured. */
static inline uint64_t
tx_wrong(const struct tx_stream *s)
{
	return s->inject == NULL ? 0 : __atomic_load_n(&s->inject->wrong, __ATOMIC_RELAXED);
}

/** Control may look at any time. */
static inline uint64_t
tx_measured(const struct tx_stream *s)
{
	return tx_sent(s) - tx_wrong(s);
}
