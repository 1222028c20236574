/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A stream as its sender knows it. Control fills it in at set-up (setup.c). From the start of the trial to
 * its end the tx lcore alone writes it; control may read the counts of frames and bytes at any time
 * (tx_sent(), tx_octets()), the rest when the trial has ended. The receiver looks at its frames, which nobody
 * changes.
 */
#include <rte_common.h>
#include <rte_mbuf.h>

#include "fg_clock.h"
#include "fg_frame.h"
#include "fg_pace.h"
#include "fg_series.h"
#include "fg_sizes.h"

struct tx_inject;
struct tx_round_robin;

enum { TX_NO_QUEUE = UINT32_MAX >> 1 }; /* of a stream that is not there */
enum { TX_MIX_SIZES = 8 };              /* up to which it pays to keep the longest frame in the buffers */
enum { TX_HEAD = 48 };                  /* bytes: Ethernet, IPv4 and UDP, also with a VLAN */

/**
 * What the sender needs of a template for each frame, in the cache line behind the stream's own: of ten
 * thousand streams no line stays in the caches, and in a template it is two.
 */
struct tx_head {
	const uint8_t *bytes; /* of the template; if the header is short, its copy below */
	uint16_t length, header, varies;
	uint8_t first[TX_HEAD];
};

struct tx_stream {
	/* four cache lines (TX_STREAM_HOT): one of ours, one of the frame's, and the lines of a pace */
	uint64_t sequence;               /* of the next frame */
	uint64_t sent, octets;           /* frames, and their bytes with FCS */
	const struct fg_template *frame; /* if all are of one size */
	uint64_t own_queue;    /* ticks and one more that a frame waited in its port, at most; or 0 */
	uint64_t last;         /* departure, ticks */
	uint64_t interval_end; /* of the series, ticks; UINT64_MAX: none is kept */
	uint16_t id;           /* in the signature */
	bool whole;            /* the buffers hold nothing yet: a frame is written whole */
	bool mixed;            /* or the longest of several: a frame has to be mended (tx_mix.h) */
	unsigned place;        /* in the schedule */
	struct tx_head head;   /* of that frame */
	struct fg_pace pace;   /* of the present load */

	const struct fg_sizes *sizes; /* NULL: all frames are of one size */
	struct rte_mempool *pool;
	bool slow;    /* its frames need more than to be filled and varied */
	bool stopped; /* on command */
	bool retired; /* the sender will not look at it again; written last (release) */
	/*
	 * the round robin that counts for it; NULL: it counts by itself. Released when its own counts are
	 * right
	 */
	struct tx_round_robin *round_robin;
	unsigned slot; /* there */

	const struct fg_sizes *config_sizes; /* the original of these; at set-up only */
	struct fg_template **frames;         /* of each size */
	unsigned templates;
	uint16_t ends[TX_MIX_SIZES + 1]; /* if mixed: their lengths, the shortest first, and UINT16_MAX */
	unsigned queue;                  /* that sends it, of the engine's */
	struct fg_pace *load;            /* all loads, as they were to begin */
	unsigned loads, present;
	uint64_t limit;         /* frames that may become due in all its loads; UINT64_MAX: any number */
	bool counted;           /* one of its loads is of a number that is known when it ends */
	uint64_t shift;         /* ticks by which stops have put off the loads */
	uint64_t stopped_at;    /* ticks; if stopped */
	uint64_t present_first; /* sequence number of the first frame of the present load */
	bool ordered;           /* a load of control's has taken the place of those planned */
	struct {
		uint64_t intended, late, off_schedule, worst_lag;
	} past;           /* of the loads before the present one */
	double peak_fps;  /* of all loads */
	double mean_fps;  /* of the fastest of its loads, with the pauses between bursts */
	uint64_t on_time; /* ticks a frame may be behind and still be on schedule */
	/* of a substream: its first frame's number in the stream, and from one to the next */
	uint64_t number, apart;
	uint64_t refused, no_mbuf;
	uint64_t first; /* departure, ticks */
	uint64_t left;  /* a port that pauses: the last departure. Writer: the lcore that polls the switch */
	struct fg_series *series;
	const struct fg_clock *clock;
	bool early;               /* frames are handed over before they depart */
	struct tx_inject *inject; /* errors on purpose; NULL: none */
} __rte_cache_aligned;

/** Bytes of a stream in which all is that a frame on schedule needs. */
enum { TX_STREAM_HOT = offsetof(struct tx_stream, pace) + offsetof(struct fg_pace, sizes) };

/** The template of a stream's frame @p number. */
static inline struct fg_template *
tx_template(const struct tx_stream *s, uint64_t number)
{
	return s->frames[s->sizes == NULL ? 0 : fg_sizes_kind(s->sizes, number)];
}

/** Finish the present load with its counts, and begin another load. */
static inline void
tx_leave_load(struct tx_stream *s, uint64_t intended)
{
	s->past.intended += intended;
	s->past.late += s->pace.late;
	s->past.off_schedule += s->pace.off_schedule;
	s->past.worst_lag = RTE_MAX(s->past.worst_lag, s->pace.worst_lag);
	s->present_first = s->sequence;
}

/** Has the sender released a stream? Then its counts are final. */
static inline bool
tx_is_retired(const struct tx_stream *s)
{
	return __atomic_load_n(&s->retired, __ATOMIC_ACQUIRE);
}

/** Limit the present load to the frames that earlier loads left of the stream's number. */
static inline void
tx_keep_limit(struct tx_stream *s)
{
	if (s->limit != UINT64_MAX) /* else a load without end keeps none */
		fg_pace_limit(&s->pace, s->limit - RTE_MIN(s->limit, s->past.intended));
}

/** Turn to the next load when the present one is done. */
static inline void
tx_next_load(struct tx_stream *s)
{
	while (unlikely(s->pace.next >= s->pace.total) && s->present + 1 < s->loads) {
		tx_leave_load(s, s->pace.total);
		s->pace = s->load[++s->present];
		if (s->counted)
			tx_keep_limit(s);
		fg_pace_on_time(&s->pace, s->on_time);
		fg_pace_move(&s->pace, s->shift);
	}
}

/**
 * The series of a stream turns to the interval in which its frame @p number departs.
 * @return its end, ticks
 */
static inline uint64_t
tx_series_depart(const struct tx_stream *s, uint64_t departure, uint64_t number)
{
	uint64_t end = fg_series_depart(s->series, fg_clock_ns(s->clock, departure), number);

	return end == UINT64_MAX ? UINT64_MAX : fg_clock_tick_at(s->clock, end);
}

/* round_robin_setup.c */

/** Frames of a stream that have gone; at any time. */
uint64_t tx_sent(const struct tx_stream *stream);
/** Their bytes with FCS. */
uint64_t tx_octets(const struct tx_stream *stream);
