/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <pcap/pcap.h>

#include "fg_net.h"
#include "fg_replay.h"
#include "pcapng_priv.h"

/** A capture file, read from front to back. */
struct reader {
	const struct fg_replay_config *config;
	pcap_t *pcap; /* or, if NULL, pcapng */
	struct pcapng pcapng;
	uint32_t fcs;       /* of a pcap: bytes of the check sequence that it says its frames have */
	uint64_t read;      /* frames of the file so far */
	uint64_t last_ns;   /* the latest time of the file, since its times began anew */
	uint64_t gap_ns[2]; /* the latest two distances between frames */
	bool timed;         /* the file has said a time */
	uint64_t times_back, times_anew, gap_max_ns, gap_frame;             /* as in fg_replay_facts */
	uint64_t oversize, truncated, too_short, wrong_length, fcs_removed; /* as in fg_replay_facts */
	struct fg_rewrite_found found;
	uint8_t frame[FG_FRAME_MAX + FG_REWRITE_ROOM]; /* the present one, as it is to be sent */
	uint32_t length;                               /* bytes without FCS */
	uint64_t time_ns; /* since the first frame of the file; never goes back */
};

int reader_open(struct reader *reader, const struct fg_replay_config *config, struct fg_error *err);
/** @return 1: there is a frame, 0: the end, or a negative errno */
int reader_next(struct reader *reader, struct fg_error *err);
/** From one loop to the next: as long as all frames take, and an average gap. ns */
uint64_t reader_period(const struct reader *reader);
void reader_close(struct reader *reader);
