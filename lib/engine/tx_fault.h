/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TX_FAULT_H
#define TX_FAULT_H

#include "fg_fault.h"
#include "tx_priv.h"

enum {
	TX_FAULT_AHEAD = 64
}; /* departures that are known before they are certain; a power of two above BURST */

/** Errors on purpose of a stream. Written by the tx lcore only. */
struct tx_faults {
	struct fg_faults *program;
	_Atomic uint64_t made; /* departures that the program has told of */
	struct fg_departure ahead[TX_FAULT_AHEAD];
	struct fg_stream_faults how;
	struct fg_template *oversize; /* ours; NULL: none */
	uint64_t sent;                /* departures that are the port's */
	uint64_t skipped, wrong;      /* numbers left out, frames made wrong, among those */
	uint64_t kinds[FG_FAULTS];    /* frames */
};

/** What stream @p i gets wrong, if it does; after its frames. @return 0, -EINVAL, -ENOMEM */
int tx_faults_init(struct tx_stream *stream, const struct fg_stream_config *config,
		   const struct fg_port *port, struct fg_error *err);
void tx_faults_free(struct tx_faults *faults);
/** Are there frames of other lengths among them than the stream's? @p faults may be NULL */
bool tx_faults_resize(const struct tx_faults *faults);

/** Departure @p n; not far behind the last one that was asked for. */
const struct fg_departure *tx_faults_at(struct tx_faults *faults, uint64_t n);

/** Make the next frame of a stream that has faults. */
void tx_faults_make(const struct tx_task *task, struct tx_stream *stream, struct rte_mbuf *m,
		    uint64_t departure, bool launch);

/** The frame that was made first of those not yet sent is the port's now. */
void tx_faults_sent(struct tx_faults *faults);

/** Of the frames sent, those that were made wrong, and those by which the device is measured. */
static inline uint64_t
tx_wrong(const struct tx_stream *s)
{
	return s->faults == NULL ? 0 : __atomic_load_n(&s->faults->wrong, __ATOMIC_RELAXED);
}

/** Control may look at any time. */
static inline uint64_t
tx_measured(const struct tx_stream *s)
{
	return tx_sent(s) - tx_wrong(s);
}

#endif
