/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FG_IMPAIR_H
#define FG_IMPAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a path does to the frames of one direction: loss, delay variation, reordering, duplication, corruption. Here
 * it is only decided; who uses it loses, holds and copies the frames (fg_delay_line.h). What is decided depends on
 * nothing but the configuration, the seed, and the number and time of the frame, and each kind of impairment has
 * random numbers of its own, so that one does not change the pattern of another.
 */

/** How often something happens: to every n-th frame, and besides to each with a probability. */
struct fg_chance {
	uint64_t every; /* 0: never */
	double random;  /* 0 to 1 */
};

enum fg_jitter {
	FG_JITTER_UNIFORM,     /* 0 to twice the mean */
	FG_JITTER_NORMAL,      /* mean and standard deviation; a delay below 0 becomes 0 */
	FG_JITTER_EXPONENTIAL, /* as the waiting time behind Poisson traffic */
	FG_JITTER_PARETO,      /* of the second kind (Lomax): from 0, with a heavy tail */
};

/** A member that is 0 impairs nothing. */
struct fg_impair_config {
	struct fg_chance loss;
	uint32_t loss_run;     /* frames lost in a row each time by loss.every, its last ones; 0 is 1 */
	uint64_t loss_pattern; /* bit i: frame i of every loss_pattern_length is lost */
	uint32_t loss_pattern_length;     /* up to 64; 0: no pattern */
	double burst_begin, burst_end;    /* Gilbert-Elliott: into and out of the bad state, per frame */
	double burst_loss, burst_between; /* and the loss in the bad and in the good state */

	int jitter;            /* enum fg_jitter */
	double jitter_mean_ns; /* further delay; 0: none */
	double jitter_deviation_ns;
	double jitter_shape; /* Pareto: its exponent, above 1 */
	double jitter_max_ns; /* what goes beyond is cut to this; 0: twice the mean (uniform), mean and six deviations
	                       * (normal), 20 times the mean (the others) */
	bool jitter_reorders; /* a frame may pass those before it; else it waits until they have gone */

	struct fg_chance reorder;
	uint32_t reorder_places; /* a frame waits until so many later ones have passed it */
	double reorder_ns;       /* but no longer than this; with no places: it comes so much later */

	struct fg_chance duplicate;
	double duplicate_ns; /* the copy comes so much after the frame */

	struct fg_chance corrupt;
	uint32_t corrupt_bits;  /* different ones that are inverted in the frame; 0 is 1, at most 64 */
	uint32_t corrupt_skip;  /* octets at the front that stay whole */
	uint32_t corrupt_spare; /* and at the end, the FCS not counted */
};

/** When and where fg_chance strikes. */
struct fg_dice {
	uint64_t every, count;
	uint64_t below; /* strikes when a random number is; 0: never */
	uint64_t random;
};

/** One direction. One writer; members are private. */
struct fg_impair {
	struct fg_dice loss, burst, reorder, duplicate, corrupt;
	uint64_t loss_run, pattern, pattern_length, pattern_next;
	uint64_t burst_begin, burst_end, burst_loss, burst_between; /* as `below` */
	bool bad;
	bool loses, alters; /* is there any loss, anything else? */
	int jitter;
	double mean, deviation, shape, max; /* ticks */
	bool jitter_reorders;
	uint64_t jitter_random, corrupt_random;
	uint64_t last; /* release of the frame before */
	uint32_t places, bits, skip, spare;
	uint64_t late, copy_after; /* ticks */
};

/** What becomes of a frame that is not lost. */
struct fg_fate {
	uint64_t time;   /* when it goes on; with places: at the latest */
	uint32_t places; /* it waits for so many later frames; 0: for none */
	bool corrupt;
	bool duplicate;
	uint64_t copy_time; /* when the copy goes on, at the latest */
};

/**
 * @param hz     ticks per second of the times handed over later
 * @param where  what the keys stand under, for the error
 * @return       0 or -EINVAL
 */
int fg_impair_init(struct fg_impair *impair, const struct fg_impair_config *config, uint64_t hz,
		   const char *where, struct fg_error *err);

/** Begin anew: the same seed brings the same decisions. */
void fg_impair_reset(struct fg_impair *impair, uint64_t seed);

/** Whether the next frame is lost. To be asked once for each. */
bool fg_impair_lost(struct fg_impair *impair);

/** What becomes of a frame that would go on at @p time, ticks. */
void fg_impair_decide(struct fg_impair *impair, uint64_t time, struct fg_fate *fate);

/** Invert bits of a frame of @p length octets. @return false: no octet of it may be hit, so it was left alone */
bool fg_impair_corrupt(struct fg_impair *impair, uint8_t *frame, uint32_t length);

/** How many frames are kept at most, but for chance, when @p fps come a second. Copies are not counted. */
double fg_impair_kept(const struct fg_impair_config *config, double fps);

/** Share of the frames of which a copy is made, or which are changed. */
double fg_impair_copied(const struct fg_impair_config *config);

#ifdef __cplusplus
}
#endif
#endif
