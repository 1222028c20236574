/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"
#include "fg_trigger.h"

__BEGIN_DECLS

/*
 * What a path does to the frames of one direction: loss, delay variation, reordering, duplication,
 * corruption, ECN. This file only decides; fg_path.h holds, copies and changes the frames. A decision depends
 * on the configuration, the seed, and the number and time of the frame. Each kind of impairment has random
 * numbers of its own, so one kind does not change the pattern of another.
 */

enum fg_jitter {
	FG_JITTER_UNIFORM,     /* 0 to twice the mean */
	FG_JITTER_NORMAL,      /* mean and standard deviation; a delay below 0 becomes 0 */
	FG_JITTER_EXPONENTIAL, /* exponential, as the wait behind Poisson traffic */
	FG_JITTER_PARETO,      /* of the second kind (Lomax): from 0, with a heavy tail */
};

/** A member that is 0 impairs nothing. */
struct fg_impair_config {
	struct fg_trigger loss;
	uint32_t loss_run;            /* burst length of loss.every: the last frames of each period; 0 is 1 */
	uint64_t loss_pattern;        /* bit i: frame i of every loss_pattern_length is lost */
	uint32_t loss_pattern_length; /* up to 64; 0: no pattern */
	double burst_begin, burst_end;    /* Gilbert-Elliott: into and out of the bad state, per frame */
	double burst_loss, burst_between; /* and the loss in the bad and in the good state */

	int jitter;            /* enum fg_jitter */
	double jitter_mean_ns; /* further delay; 0: none */
	double jitter_deviation_ns;
	double jitter_shape; /* Pareto: its exponent, above 1 */
	/*
	 * largest delay; 0: twice the mean (uniform), mean plus six deviations (normal), 20 times the mean
	 * (others)
	 */
	double jitter_max_ns;
	bool jitter_reorders; /* a frame may overtake earlier frames; else it waits until they have left */

	struct fg_trigger reorder;
	uint32_t reorder_places; /* a frame waits until this many later frames have passed it */
	double reorder_ns;       /* longest wait; with 0 places: further delay */

	struct fg_trigger duplicate;
	double duplicate_ns; /* the copy comes this long after the frame */

	struct fg_trigger corrupt;
	uint32_t corrupt_bits;  /* number of different bits inverted in a frame; 0 is 1, at most 64 */
	uint32_t corrupt_skip;  /* first bytes that are never corrupted */
	uint32_t corrupt_spare; /* last bytes that are never corrupted, without FCS */

	/* RFC 3168, ECN-capable packets: set CE, as a congested queue; clear ECN */
	struct fg_trigger mark_ce, bleach;
};

/** Counters of a path, and their names in a report. */
#define FG_PATH_COUNTERS(X)                                                         \
	X(lost_on_path, "dropped (loss)")                                           \
	X(duplicated, "duplicated")                                                 \
	X(corrupted, "corrupted")                                                   \
	X(ce_marked, "marked (CE)")                                                 \
	X(bleached, "bleached (ECN)")                                               \
	X(reordered, "reordered") /* came out behind a later frame (RFC 4737, 3) */ \
	X(no_buffer, "not duplicated (no buffer)")

#define FG_PATH_COUNTER_FIELD(name, text) uint64_t name;
struct fg_path_counters {
	FG_PATH_COUNTERS(FG_PATH_COUNTER_FIELD)
};

/** Actions that change the bytes of a frame, each with a row in impair.c. */
enum fg_impair_action { FG_IMPAIR_CORRUPT, FG_IMPAIR_CE, FG_IMPAIR_BLEACH, FG_IMPAIR_ACTIONS };

/** One direction. One writer; members are private. */
struct fg_impair {
	struct fg_impair_config config;
	struct fg_trigger_state loss, burst, reorder, duplicate, action[FG_IMPAIR_ACTIONS];
	uint64_t burst_begin, burst_end, burst_loss, burst_between; /* as fg_random_limit() */
	uint64_t pattern_next;
	bool bad;                    /* the state of the bursts */
	bool loses, alters;          /* whether any loss, any other impairment is configured */
	double mean, deviation, max; /* of the jitter, ticks */
	uint64_t jitter_random, action_random[FG_IMPAIR_ACTIONS];
	uint64_t last;             /* release of the frame before */
	uint64_t late, copy_after; /* ticks */
};

/** The verdict on a frame that is not lost. */
struct fg_verdict {
	uint64_t time;    /* release time; with places: the latest */
	uint32_t places;  /* it waits for this many later frames; 0: it does not wait */
	uint32_t actions; /* bits 1 << enum fg_impair_action */
	bool duplicate;
	uint64_t copy_time; /* when the copy goes on, at the latest */
};

/**
 * @param hz     ticks per second of the times handed over later
 * @param where  prefix of the keys, for the error
 * @return       0 or -EINVAL
 */
int fg_impair_init(struct fg_impair *impair, const struct fg_impair_config *config, uint64_t hz,
		   const char *where, struct fg_error *err);

/** Restart: the same seed gives the same decisions. */
void fg_impair_reset(struct fg_impair *impair, uint64_t seed);

/** Whether the next frame is lost. Call once per frame. */
bool fg_impair_lost(struct fg_impair *impair);

/** Decide on a frame whose unimpaired release is at @p time, ticks. */
void fg_impair_decide(struct fg_impair *impair, uint64_t time, struct fg_verdict *verdict);

/**
 * Change the bytes of a frame.
 * @param actions   of its verdict
 * @param counters  count the actions done; an action beyond a frame's end is skipped
 * @return          bytes of the frame that are left
 */
uint32_t fg_impair_change(struct fg_impair *impair, uint32_t actions, uint8_t *frame, uint32_t length,
			  struct fg_path_counters *counters);

/** Expected maximum of held frames at @p fps frames a second, without copies. */
double fg_impair_kept(const struct fg_impair_config *config, double fps);

/** Share of the frames that are copied or changed. */
double fg_impair_copied(const struct fg_impair_config *config);

__END_DECLS
