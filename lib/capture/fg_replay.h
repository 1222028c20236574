/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_clock.h"
#include "fg_error.h"
#include "fg_rewrite.h"
#include "fg_task.h"

__BEGIN_DECLS

/*
 * Replay of a capture (pcap or pcapng, Ethernet): with its recorded times, faster or slower, or at a rate.
 * Every file is read through beforehand, so that a broken one is found before anything is sent. Times go back
 * a little where a card has several queues: such a frame leaves right behind the one before. Where they go
 * back far, by FG_REPLAY_ANEW_NS, the clock was set or another recording begins: the frames behind keep the
 * distances they were recorded with. Both are counted.
 *
 * One that fits `memory` stays there; of a larger one a thread then reads ahead of what is sent, so that its
 * size does not matter. Frames are sent as they are but for the changes of `rewrite`; a frame that the
 * capture cut short is filled up with zeros.
 *
 * A frame whose time has come leaves at the next poll, or, on a port that departs frames by itself, at its
 * time. One that is later than max_lag moves all that follow by as much: delays are not made up for by a
 * burst that nobody recorded.
 *
 * The functions belong to the control thread; the task is for one port of one trial.
 */
struct fg_replay;
struct fg_port;
struct fg_verify;

enum fg_replay_pace {
	FG_REPLAY_RECORDED, /* times of the capture, divided by `speed` */
	FG_REPLAY_FRAMES,   /* `speed` frames per second, evenly */
	/* `speed` bits per second, each frame as long as it takes; with preamble and gap */
	FG_REPLAY_BITS_L1,
	FG_REPLAY_BITS_L2, /* the same with the FCS, without preamble and gap */
};

/** A step back of this size restarts the times: a clock is then set, not slewed (RFC 5905, STEPT). */
enum { FG_REPLAY_ANEW_NS = 128000000 };

/** Check sequences in the file; a port adds one to each frame. */
enum fg_replay_fcs {
	FG_REPLAY_FCS_AS_SAID, /* removed where the file says that they are there */
	FG_REPLAY_FCS_REMOVE,  /* removed from all frames */
	FG_REPLAY_FCS_KEEP,    /* sent as if they were payload */
};

struct fg_replay_config {
	const char *path;
	enum fg_replay_pace pace;
	double speed;    /* above 0 */
	uint64_t loops;  /* times the capture is sent; 0: until the trial ends */
	uint64_t memory; /* bytes that may be read beforehand; 0: 256 MiB */
	enum fg_replay_fcs fcs;
	uint32_t max_frame;  /* bytes with FCS; larger frames are left out and counted */
	uint64_t max_lag_ns; /* see above */
	struct fg_rewrite rewrite;
	struct fg_verify *verify; /* gets every frame; NULL: none */
	bool patient;             /* wait for the file instead of sending late: for the virtual wire */
	bool facts_only;          /* read what it holds; it cannot be started, and DPDK need not run */
};

/** What a capture holds. */
struct fg_replay_facts {
	uint64_t frames;       /* that can be sent */
	uint64_t octets;       /* of them, with FCS; none counts less than the shortest frame */
	uint64_t last_octets;  /* of the last of them */
	uint64_t oversize;     /* left out: too large */
	uint64_t too_short;    /* left out: shorter than an Ethernet header */
	uint64_t wrong_length; /* left out: the file holds more bytes of them than they had */
	uint64_t truncated;    /* frames that the file holds in part only */
	uint64_t fcs_removed;  /* frames whose FCS in the file was removed: ports send their own */
	struct fg_rewrite_found rewritten;
	bool streams;         /* too large for the memory */
	uint64_t duration_ns; /* from the first to the last */
	uint64_t times_back;  /* frames whose time is before the time of one ahead of them in the file */
	uint64_t times_anew;  /* frames at which times begin anew */
	uint64_t gap_max_ns;  /* the longest time without a frame */
	uint64_t gap_frame;   /* number in the file, from 1, of the frame that ends it; 0: one frame only */
};

struct fg_replay_counts {
	uint64_t frames, octets; /* sent; bytes with FCS */
	uint64_t last_octets;    /* of the last frame, which begins at last_ns */
	uint64_t oversize;       /* left out */
	uint64_t truncated;      /* sent, with zeros for what the capture does not hold */
	uint64_t refused;        /* times the port did not take a frame that was due; it stayed due */
	uint64_t no_mbuf;        /* times there was no buffer for one; it stayed due */
	uint64_t starved;        /* polls at which the file had not been read yet */
	uint64_t slips;          /* times the schedule was moved, and by how much in all */
	uint64_t slipped_ns;
	uint64_t first_ns, last_ns;                                       /* departures */
	uint64_t error_p50_ns, error_p99_ns, error_p999_ns, error_max_ns; /* departures behind their times */
	bool done;                                                        /* all was sent */
};

/**
 * Open a capture.
 * @return 0; -EINVAL not an Ethernet capture, broken, without a frame, or an invalid speed; -ENOMEM; or
 * the file system's error. @p err names the file and, for a broken one, the frame.
 */
int fg_replay_open(const struct fg_replay_config *config, struct fg_replay **out, struct fg_error *err);

void fg_replay_get_facts(const struct fg_replay *replay, struct fg_replay_facts *out);

/** When and where to replay. */
struct fg_replay_place {
	struct fg_port *port;  /* that sends, and sends nothing else */
	struct fg_clock clock; /* fg_engine_clock() */
	uint64_t start_ns;     /* as fg_engine_prepare() gave it */
	uint64_t end_ns;       /* no frame is sent that is due then or later */
};

/** Begin at the beginning. @return 0, or -ENOMEM */
int fg_replay_start(struct fg_replay *replay, const struct fg_replay_place *place, struct fg_error *err);

/** For fg_trial_config.task, between fg_engine_prepare() and the end of the trial. */
struct fg_task *fg_replay_task(struct fg_replay *replay);

/** Counts so far; exact when no trial runs. */
void fg_replay_get_counts(const struct fg_replay *replay, struct fg_replay_counts *out);

/** Percentile of the frames' time behind the schedule, ns; 0 <= @p share <= 1. When no trial runs. */
uint64_t fg_replay_error_ns(const struct fg_replay *replay, double share);

/** The error that stopped the reading, if any. @return 0, or as fg_replay_open() */
int fg_replay_failure(const struct fg_replay *replay, struct fg_error *err);
void fg_replay_close(struct fg_replay *replay);

__END_DECLS
