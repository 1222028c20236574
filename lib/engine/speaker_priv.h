/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The multicast messages of a port in a trial (speaker.c). Control makes it before the trial and reads its
 * results afterwards; in between the tx lcore of the port's first queue alone writes it.
 */
#include "fg_results.h"
#include "neighbour_priv.h"

struct speaker_times {
	uint64_t start, step; /* of traffic; on the wire, of time: ticks */
	uint64_t time_flag;   /* of mbufs with a launch time */
	int time_offset;
};

/** The speaker of a port. @return NULL without memory */
struct speaker *speaker_create(const struct fg_trial_config *config, unsigned port,
			       struct responder *responder, const struct speaker_times *times);
void speaker_free(struct speaker *speaker);
struct fg_task *speaker_task(struct speaker *speaker);
/** Of membership @p i of its port. */
void speaker_result(const struct speaker *speaker, unsigned i, struct fg_member_result *out);
