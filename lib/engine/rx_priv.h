/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RX_PRIV_H
#define RX_PRIV_H

#include "engine_priv.h"
#include "fg_pace.h"
#include "fg_signature.h"
#include "series_priv.h"
#include "tx_priv.h"

/** What became of the payload of a frame. */
struct rx_payload {
	uint32_t bits;             /* that differ */
	uint16_t octets, compared; /* that differ, of those compared */
	bool missing;              /* there is less than was sent */
};

/** What is measured of a stream only where it is asked for. Written by the rx lcore only. */
struct rx_extra {
	struct fg_variation *variation; /* NULL: not asked for; so the others */
	struct series *series;
	const struct tx_stream *sent; /* whose frames say what should stand before the signature */
	struct rx_faults *faults;     /* that the sender makes on purpose */
	int64_t latest;               /* ns: greater delays are loss */
	uint64_t expired;
	uint64_t *marks;              /* frames by PCP, DEI and DSCP */
	uint64_t corrupted, compared; /* frames; octets of payload */
	struct fg_payload_errors errors;
};

struct rx_faults;
struct rx_lanes;
struct rx_note;

/** Copies of a stream's counts, for the screen. Writer: the rx lcore, a few streams at a time; after the trial, control. */
struct rx_live {
	_Atomic uint64_t frames, octets, missing, delay_sum, delay_min, delay_max;
};

/** What is measured of a stream at its receiver. Written by the rx lcore only. */
struct rx_stream {
	struct fg_sequence *sequence;
	struct fg_histogram *latency;
	const struct rx_task *_Atomic receiver; /* that measures it; &rx_nobody until the first frame comes */
	uint64_t next_tag;                      /* number; UINT64_MAX: none */
	uint64_t last_arrival;                  /* ns */
	uint64_t longest_gap;
	uint64_t octets; /* of first copies, with FCS */
	uint32_t length; /* of its frames without FCS; 0: they are of several. What differs: rx_altered.c */
	/* with every frame: the line above; beyond it only what is seldom or was asked for */
	struct rx_extra *extra;     /* NULL: nothing more was asked for */
	const struct rx_task *home; /* first lane of the port where it should arrive */
	uint64_t passed;            /* frames that arrived at other lanes than the receiver ... */
	uint32_t over;              /* ... at which; a bit for each */
	uint64_t gap_begin, first_arrival;
	const struct tx_stream *sent;
	const struct fg_sizes *sizes; /* of its frames, if they are of several */
	struct fg_translation translation;
	uint64_t tag_every;
	int64_t *tag;
	unsigned tags, tagged;
	struct rx_live live;
} __rte_cache_aligned;

/** Of a stream at one lane: frames that should not come there, and what is not its frame though it has its signature. */
struct rx_astray {
	uint64_t misdirected, altered[FG_ALTERED_KINDS];
};

/** Trackers and histograms of all streams, one stream after the other. */
struct rx_measures {
	uint8_t *first;
	size_t each, sequence; /* octets: of a stream, and of its tracker, with which it begins */
};

static inline struct fg_sequence *
rx_measures_sequence(const struct rx_measures *m, unsigned i)
{
	return (struct fg_sequence *)(void *)(m->first + i * m->each);
}

static inline struct fg_histogram *
rx_measures_latency(const struct rx_measures *m, unsigned i)
{
	return (struct fg_histogram *)(void *)(m->first + i * m->each + m->sequence);
}

/** Receive from one lane. Written by the rx lcore only. */
struct rx_task {
	struct fg_task task;
	struct fg_port *port;
	const struct clock *clock;
	struct rx_stream *streams; /* of the trial, by id - first_id */
	uint16_t first_id, ids;
	uint16_t lane;         /* which */
	struct rx_note *notes; /* of the streams; NULL: they are few */
	struct rx_measures measures;
	int time_offset;
	uint64_t time_flag;
	struct rte_ring *to_responder;
	struct fg_sink *sink; /* NULL: none */
	bool took;            /* the sink has, in this poll */
	struct fg_tap *tap;   /* of the trial; NULL: none */
	struct standing_tap *standing;
	_Atomic int64_t other_clock; /* of the tester that sends, ahead of ours, ns; writer: control */
	uint64_t frames, misdirected, foreign;
	struct rx_astray *astray;   /* by stream */
	const struct rx_task *home; /* first lane of the port */
	struct rx_lanes *lanes;     /* NULL: it is the only one */
	uint64_t kind[FG_NET_KINDS];
	unsigned next_live; /* stream whose counts are to be copied next */
	struct published published;
} __rte_cache_aligned;

/** The receiver of streams that belong to no lane yet. */
extern const struct rx_task rx_nobody;

/** The loop: does the port say when a frame arrived, is more than the plain counts asked for, are there more lanes, are
 * streams many? */
typedef uint64_t (*rx_poller)(struct fg_task *task, uint64_t now);
rx_poller rx_choose(bool stamped, bool more, bool lanes, bool many);
/** Measure all that other lanes have passed on. */
void rx_take_all_passed(struct rx_task *rx);
/** Compare the payload of frame @p number, which is in @p m, with what was sent, and count what differs. */
void rx_payload_count(struct rx_extra *extra, const struct rte_mbuf *m, uint64_t number);
/** The same for another lane, which adds it. */
struct rx_payload rx_payload_check(const struct tx_stream *sent, const struct rte_mbuf *m, uint64_t number);
void rx_payload_add(struct rx_extra *extra, const struct rx_payload *found);

/* rx_altered.c */

/** Has a frame the length of that which was sent? Of several sizes its number says which. */
static inline bool
rx_has_its_length(const struct rx_stream *stream, uint32_t octets, uint64_t number)
{
	if (likely(octets == stream->length))
		return true;
	return stream->sizes != NULL &&
	       octets + FG_ETHER_FCS == fg_sizes_of(stream->sizes, number & ~FG_SIGNATURE_COPY);
}

/** Is a frame of another length than its stream's not the one that was sent? Then it is counted, and is nothing else. */
bool rx_is_altered(struct rx_task *task, struct rx_stream *stream, const struct rte_mbuf *m, uint64_t number);
/** Whether a device has translated the addresses of frame @p number. */
void rx_find_translation(struct rx_stream *stream, const struct rte_mbuf *m, uint64_t number);

/* rx_tap.c */

static inline bool
rx_is_tapped(const struct rx_task *t)
{
	return t->tap != NULL || atomic_load_explicit(&t->standing->tap, memory_order_relaxed) != NULL;
}

/** Let those look who want to. */
void rx_show(const struct rx_task *task, struct rte_mbuf *const *frames, unsigned n, uint64_t arrival,
	     bool stamped);

/* rx_live.c */
void rx_publish(struct fg_task *task);
void rx_publish_stream(struct rx_stream *stream);

/** Counters of marks. @return NULL with @p err filled: -ENOMEM; free() them */
uint64_t *marks_create(struct fg_error *err);
/** Which of the counters a frame with its marks belongs to. */
uint16_t marks_of(const struct rte_mbuf *frame);

/** The receiver of a lane between trials, and what those of all trials have in common. */
void rx_idle_init(struct fg_engine *engine, unsigned lane, struct rx_task *rx);
/** The receiver of lane @p lane in a trial. */
int rx_task_init(struct fg_engine *engine, struct trial *trial, unsigned lane,
		 const struct fg_trial_config *config, struct fg_error *err);
/** Compile what is measured of stream @p i; after tx_init(). */
int rx_stream_init(const struct fg_engine *engine, struct trial *trial, unsigned i,
		   const struct fg_trial_config *config, const struct image *timeline, struct fg_error *err);
/** Room to put the results of parts together, if there are any. */
int rx_sums_init(struct trial *trial, struct fg_error *err);
void rx_free(const struct fg_engine *engine, struct trial *trial);

/** What was received of a stream; after the trial, and after tx_result(). */
void rx_result(const struct fg_engine *engine, unsigned stream, struct fg_stream_result *out);
/** The part of it that follows from its series, if it has one. */
void series_result(const struct fg_engine *engine, unsigned stream, struct fg_stream_result *out);

#endif
