/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What is measured of a stream at its receiver. Control fills it in at set-up (setup.c); during the trial the
 * rx lcore of its receiver alone writes it. The receiver is known from the start, or it is the queue at which
 * the first frame arrives: then the lcore that finds rx_unassigned there puts itself in its place, by an
 * atomic exchange, once. Control reads the copies in `live` at any time, the rest when the trial has ended.
 */
#include <rte_mbuf.h>

#include "fg_histogram.h"
#include "fg_net.h"
#include "fg_payload.h"
#include "fg_sequence.h"
#include "fg_series.h"
#include "fg_signature.h"
#include "fg_sizes.h"
#include "fg_stream_result.h"
#include "fg_variation.h"
#include "tx_stream.h"

struct fg_value_fields;
struct rx_inject;
struct rx_task;
struct rx_values;

/** Result of a payload comparison. */
struct rx_payload {
	uint32_t bits;             /* that differ */
	uint16_t octets, compared; /* that differ, of those compared */
	bool missing;              /* there is less than was sent */
};

/** What is measured of a stream only where it is asked for. */
struct rx_extended {
	struct fg_variation *variation; /* NULL: not asked for; so the others */
	struct fg_series *series;
	const struct tx_stream *sent; /* whose frames say what should stand before the signature */
	struct rx_inject *inject;     /* errors that the sender makes on purpose */
	int64_t max_delay;            /* ns: greater ones are loss */
	uint64_t expired;
	uint64_t *codepoints;         /* frames by PCP, DEI and DSCP */
	struct rx_values *values;     /* frames by bits of them */
	uint64_t corrupted, compared; /* frames; bytes of payload */
	struct fg_payload_errors errors;
};

/**
 * Copies of a stream's counts, for the screen. Writer: the rx lcore, some streams at a time; after the trial,
 * control.
 */
struct rx_live {
	uint64_t frames, octets, missing, delay_sum, delay_min, delay_max;
	uint64_t duplicates, reordered, first_arrival, last_arrival; /* ns of the clock */
};

/** What is remembered of a stream: numbers, discontinuities, delays. */
struct rx_window {
	unsigned numbers, points, kept;
};

struct rx_stream {
	struct fg_sequence *sequence;
	struct fg_histogram *latency;
	/* that measures it; &rx_unassigned until the first frame comes; &rx_elsewhere or NULL: none does */
	const struct rx_task *receiver;
	uint64_t next_look;    /* number from which on a frame is looked at: of the next two, the first */
	uint64_t last_arrival; /* ns */
	uint64_t longest_gap;
	uint64_t octets; /* of first copies, with FCS */
	uint32_t length; /* of its frames without FCS; 0: of several, or unknown. What differs: altered.c */
	/* every frame touches the line above; beyond it stands only what is seldom or was asked for */
	struct rx_extended *extended; /* NULL: nothing more was asked for */
	void *numbers;                /* which came, if that is more than the least; else NULL */
	int64_t peer_clock;           /* of the tester that sends it, ahead of ours, ns. Writer: control */
	const struct rx_task *home;   /* first queue of the port where it should arrive */
	uint64_t passed;              /* frames that arrived at other queues than the receiver's ... */
	uint32_t over;                /* ... at which; a bit for each */
	uint64_t gap_begin, first_arrival;
	const struct tx_stream *sent;
	struct rx_stream *copies;     /* the next one that measures its frames, at another port; or NULL */
	const struct fg_sizes *sizes; /* of its frames, if they are of several */
	struct fg_translation translation;
	uint64_t next_tag, next_payload; /* numbers; UINT64_MAX: none */
	uint64_t payload_checked;        /* frames */
	bool payload_changed;            /* of one of them */
	struct rx_window room;           /* of the first stream in this place */
	uint64_t tag_every;
	int64_t *tag;
	unsigned tags, tagged;
	struct rx_live live;
} __rte_cache_aligned;

static inline const struct rx_task *
rx_receiver(const struct rx_stream *stream)
{
	return __atomic_load_n(&stream->receiver, __ATOMIC_RELAXED);
}

/**
 * At one queue: frames with a stream's signature that are not measured: misdirected, or not the stream's.
 */
struct rx_rejected {
	uint64_t misdirected, altered[FG_ALTERED_KINDS];
};

/** Has a frame its sent length? With several sizes its number determines the length. */
static inline bool
rx_has_its_length(const struct rx_stream *stream, uint32_t octets, uint64_t number)
{
	if (likely(octets == stream->length))
		return true;
	return stream->sizes != NULL &&
	       octets + FG_ETHER_FCS == fg_sizes_of(stream->sizes, number & ~FG_SIGNATURE_COPY);
}

/* altered.c */

/**
 * Check a frame of another length than its stream's. If it is not the sent frame, count it in @p rejected
 * only.
 */
bool rx_is_altered(struct rx_rejected *rejected, const struct rx_stream *stream, const struct rte_mbuf *m,
		   uint64_t number);
/** Whether a device has translated the addresses of frame @p number. */
void rx_find_translation(struct rx_stream *stream, const struct rte_mbuf *m, uint64_t number);

/* payload.c */

/** Compare the payload of frame @p number, which is in @p m, with what was sent, and count what differs. */
void rx_payload_count(struct rx_extended *extended, const struct rte_mbuf *m, uint64_t number);
/** The same for another queue, which adds it. */
struct rx_payload rx_payload_check(const struct tx_stream *sent, const struct rte_mbuf *m, uint64_t number);
void rx_payload_add(struct rx_extended *extended, const struct rx_payload *found);
/**
 * Compare the payload of one of many frames, and decide which one is next. Once one has changed, all are.
 *
 * @param m       the frame, which has come as number @p sent of its stream; NULL: it is not here
 * @param number  among those measured
 * @return        false: it is not the frame that was sent
 */
bool rx_payload_sample(struct rx_stream *stream, const struct rte_mbuf *m, uint64_t sent, uint64_t number);

/* codepoints.c */

/** Counters of all combinations. @return NULL with @p err filled: -ENOMEM; free() them */
uint64_t *rx_codepoints_create(struct fg_error *err);
/** Which of the counters a frame belongs to. */
uint16_t rx_codepoints_of(const struct rte_mbuf *frame);

/* values.c */

/** A table without frames. @return NULL with @p err filled: -ENOMEM; free() it */
struct rx_values *rx_values_create(const struct fg_value_fields *fields, struct fg_error *err);
/** The value of a frame. */
uint64_t rx_values_of(const struct rx_values *values, const struct rte_mbuf *m);
void rx_values_count(struct rx_values *values, uint64_t value, uint32_t octets, int64_t delay,
		     uint64_t arrival_ns);

/* live.c */
void rx_publish_stream(struct rx_stream *stream);
