/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FG_TRIAL_H
#define FG_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "fg_fault.h"
#include "fg_spoil.h"
#include "fg_task.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the engine is asked to do in a trial: which streams, how their frames lie in time, who else works in it. */

enum { FG_MAX_PORTS = 16, FG_MAX_LCORES = 64, FG_MAX_STREAMS = 16384 };

struct fg_sizes;
struct fg_template;

/** Without end: so many frames, or so long. */
#define FG_ENDLESS UINT64_MAX

/** How the departures of a load lie in time (fg_pace.h). */
enum fg_load_shape { FG_LOAD_CONSTANT, FG_LOAD_BURSTS, FG_LOAD_RAMP, FG_LOAD_POISSON, FG_LOAD_SCATTER };

/**
 * What a stream sends for a while. A constant load of a number of frames lasts frames / fps; any that says how long it
 * lasts sends what falls into that time, and the next load begins when it is over.
 */
struct fg_load {
	double fps; /* frames per second: the mean of a cycle of sizes; at the beginning of a ramp */
	uint64_t
		frames; /* to send; FG_ENDLESS: until told to stop; 0 with `ns`: as many as the time is for */
	uint64_t ns;    /* how long it lasts; 0: as its frames take. A ramp needs it. */
	enum fg_load_shape shape;
	double end_fps; /* ramp: at its end */
	uint64_t burst; /* bursts: frames in each ... */
	double burst_fps; /* ... and how many a second within one; `fps` is that of the whole. Scatter: no two frames
			   * are closer than at this rate; 0: as close as it happens */
	uint64_t seed; /* Poisson, scatter */
	/*
	 * Frames of several sizes: a frame leaves when all octets before it have had their time at a constant bit rate,
	 * and not evenly spaced. `overhead` is what counts of each frame besides its octets with FCS: 20 for a bit rate
	 * at layer 1, 0 at layer 2, less than 0 at layer 3. Not for a Poisson process.
	 */
	bool by_octets;
	int overhead;
	uint64_t
		max_lag_ns; /* how long a frame may be overdue and still be sent; 0, or more: as in the trial */
};

/**
 * Streams of one port can share a load and take turns: of every `every` frames of it this stream sends `take`, from
 * number `first` on. So the frames of the port stay evenly spaced, whichever stream they are of; and a stream whose
 * turn nobody else fills sends bursts.
 */
struct fg_turn {
	uint64_t first, take, every; /* every = 0: all frames of the load are this stream's */
};

/**
 * What may be measured of a stream beside loss, order and delay, which always are. Each costs the receiver time with
 * every frame and memory for every stream, so it is done where it is asked for.
 */
enum fg_measure {
	FG_MEASURE_VARIATION = 1, /* IPDV (RFC 3393) and jitter (RFC 3550) */
	FG_MEASURE_SERIES = 2,    /* everything over time, see fg_engine_series(); availability */
	FG_MEASURE_PAYLOAD =
		4,            /* what stands between headers and signature: does it arrive as it was sent? */
	FG_MEASURE_MARKS = 8, /* PCP, DEI and DSCP with which frames arrive, see fg_engine_marks() */
};

/** Errors that a stream makes on purpose: which frames are wrong (fg_fault.h), and how (fg_spoil.h). */
struct fg_stream_faults {
	struct fg_faults_config program;
	struct fg_spoil spoil;
	const struct fg_template *oversize; /* or NULL; must live until fg_engine_prepare() returns */
};

/** Traffic of one direction of one flow. */
struct fg_stream_config {
	unsigned tx_port, rx_port;  /* indexes into fg_engine_config.port */
	bool unmeasured;            /* modifier frames (RFC 2544, 11): sent beside the test, not looked for */
	struct fg_turn turn;        /* with the other streams of tx_port; the same in each load */
	unsigned loads;             /* one follows the other without a gap */
	const struct fg_load *load; /* must live until fg_engine_prepare() returns */
	double phase; /* how far its first departure is put off, in times between two frames; spreads equal streams */
	bool idle; /* sends nothing until fg_engine_stream_start() */
	const struct fg_template
		*frame; /* if all are of one size; must live until fg_engine_prepare() returns */
	const struct fg_sizes *sizes;            /* or NULL; the same */
	const struct fg_template *const *frames; /* one of each kind of `sizes`; the same */
	uint64_t tag_first; /* number of the first tagged frame, whose delay is kept by itself */
	uint64_t tag_every; /* and of the next, and so on; 0: only the first */
	unsigned tags;      /* how many; 0: none */
	unsigned measure;   /* enum fg_measure, or-ed */
	uint64_t
		latest_ns; /* what arrives so long after it was sent counts as lost (RFC 7680); 0: any time will do */
	const struct fg_stream_faults *faults; /* or NULL; must live until fg_engine_prepare() returns */
};

/** Work of others in a trial (fg_task.h). */
struct fg_trial_task {
	struct fg_task *task;
	unsigned port;   /* for which port */
	bool at_receive; /* on the lcore that receives on it; else on the one that sends */
};

/** What each port that sends says to its IPv4 gateway beside the test (RFC 2544, 11.2 and 11.3). */
struct fg_talk {
	uint64_t query_ns;  /* an SNMP query at the start and every so often; 0: none */
	uint64_t update_ns; /* a RIP update at the start and every so often, alternating; 0: none */
	char community[33]; /* of the query */
	uint32_t interface; /* that it asks about, ifIndex */
};

struct fg_trial_config {
	unsigned streams;
	const struct fg_stream_config *stream;
	unsigned tasks;
	const struct fg_trial_task *task;   /* the tasks themselves must live as long as the trial */
	struct fg_sink *sink[FG_MAX_PORTS]; /* of each port, or NULL; called by its receiving lcore */
	struct fg_tap *tap[FG_MAX_PORTS];   /* the same; see also fg_engine_tap() */
	/* addresses for which a port answers ARP, Neighbor Discovery and echo, from its own on; 0 is 1 */
	uint32_t addresses[FG_MAX_PORTS];
	uint64_t learn_ns, traffic_ns, drain_ns,
		settle_ns; /* traffic_ns = FG_ENDLESS: until fg_engine_stop() */
	uint64_t step_ns;  /* on the wire: least time between two polls of a task; 0: as suits the streams */
	uint64_t max_lag_ns; /* how long a frame may be overdue and still be sent */
	uint64_t series_ns;  /* interval of series; 0: a second */
	uint16_t first_id;   /* id of the first stream, the next has the next; 0: as suits the engine */
	uint64_t start_ns;   /* when traffic starts, in the engine's time; 0: once learning is over */
	struct fg_talk talk;
};

#ifdef __cplusplus
}
#endif
#endif
