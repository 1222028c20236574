/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trigger of a capture: a frame that matches, or a gap in the numbers of a stream. Control sets it up
 * before the trial; while it runs, the lcore that receives the frames is the only writer.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <pcap/pcap.h>

#include "fg_capture.h"

struct rte_mbuf;

struct trigger {
	struct bpf_program program; /* without instructions: none */
	/* by stream of the trial: the number behind the highest that has come; NULL: not asked for */
	uint64_t *next;
	uint16_t first_id, ids; /* of the trial */
};

/** @return 0, -EINVAL, -ENOMEM */
int trigger_init(struct trigger *t, const struct fg_capture_config *config, struct fg_error *err);
void trigger_free(struct trigger *t);

static inline bool
trigger_exists(const struct trigger *t)
{
	return t->program.bf_insns != NULL || t->next != NULL;
}

/**
 * Does this frame fire the trigger? Call it for every frame; a missed call looks like a gap.
 * @param tap      what sees the frame, with the ids of its trial
 * @param missing  out: frames of its stream between the highest so far and this one
 */
bool trigger_fires(struct trigger *t, const struct fg_tap *tap, const struct rte_mbuf *m, uint64_t *missing);
