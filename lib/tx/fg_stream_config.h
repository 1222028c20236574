/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_inject.h"
#include "fg_inject_frame.h"

__BEGIN_DECLS

/*
 * What a stream is to send, and what is to be measured of it. Control writes it for a trial; sender and
 * receiver copy what they need of it before the trial begins.
 */

enum { FG_MAX_STREAMS = 16384 };

struct fg_sizes;
struct fg_template;

/** A frame count or a duration without end. */
#define FG_ENDLESS UINT64_MAX

/** How the departures of a load lie in time (fg_pace.h). */
enum fg_load_shape { FG_LOAD_CONSTANT, FG_LOAD_BURSTS, FG_LOAD_RAMP, FG_LOAD_POISSON, FG_LOAD_SCATTER };

/**
 * What a stream sends for a while. A constant load of a number of frames lasts frames / fps; any with a
 * duration sends what falls into that time, and the next load begins when it is over.
 */
struct fg_load {
	/* frames per second: the mean of a cycle of sizes; at the beginning of a ramp; 0: none leaves */
	double fps;
	/* to send; FG_ENDLESS: until told to stop; 0 with `ns`: as many as the time is for */
	uint64_t frames;
	uint64_t ns; /* how long it lasts; 0: as its frames take. A ramp needs it. */
	enum fg_load_shape shape;
	double end_fps; /* ramp: at its end */
	uint64_t burst; /* bursts: frames in each ... */
	/*
	 * ... and how many a second within one; `fps` is the rate of the whole. Scatter: no two frames are
	 * closer than at this rate; 0: as close as it happens
	 */
	double burst_fps;
	uint64_t seed; /* Poisson, scatter */
	/*
	 * Frames of several sizes: a frame leaves when all bytes before it have had their time at a constant
	 * bit rate, and not evenly spaced. `overhead` is what counts of each frame besides its bytes with
	 * FCS: 20 for a bit rate at layer 1, 0 at layer 2, less than 0 at layer 3. Not for a Poisson process.
	 */
	bool by_octets;
	int overhead;
	/*
	 * longest time that a frame may be overdue and still be sent; 0, or more than the trial's: the
	 * trial's
	 */
	uint64_t max_lag_ns;
};

/**
 * Streams of one port can share a load and take turns: of every `every` frames of it this stream sends
 * `take`, from number `first` on. So the frames of the port stay evenly spaced, whichever stream they are of;
 * and a stream whose free turns no other fills sends bursts.
 */
struct fg_turn {
	uint64_t first, take, every; /* every = 0: all frames of the load are this stream's */
};

/**
 * Optional measurements of a stream, in addition to loss, order and delay. Each costs receiver time per frame
 * and memory per stream, so it is configured per stream.
 */
enum fg_measure {
	FG_MEASURE_VARIATION = 1, /* IPDV (RFC 3393) and jitter (RFC 3550) */
	FG_MEASURE_SERIES = 2,    /* everything over time, see fg_engine_series(); availability */
	FG_MEASURE_PAYLOAD = 4,   /* payload integrity: the bytes between headers and signature */
	FG_MEASURE_CODEPOINTS =
		8, /* PCP, DEI and DSCP with which frames arrive, see fg_engine_codepoints() */
};

enum { FG_VALUE_FIELDS = 8, FG_VALUE_BITS = 64, FG_MAX_VALUES = 1024 };

/** Bits of a frame on arrival, for fg_engine_values(). */
struct fg_value_field {
	uint16_t offset; /* bits from its first one */
	uint8_t bits;    /* 1 to 32 */
};

/** By which bits frames of a stream are counted: all of them, one behind the other, are its value. */
struct fg_value_fields {
	unsigned n, most; /* fields; different values that are counted, at most FG_MAX_VALUES */
	struct fg_value_field field[FG_VALUE_FIELDS]; /* together at most FG_VALUE_BITS */
};

/**
 * Errors that a stream makes on purpose: which frames are wrong (fg_inject.h), and how (fg_inject_frame.h).
 */
struct fg_stream_faults {
	struct fg_inject_config program;
	struct fg_inject_fields fields;
	const struct fg_template *oversize; /* or NULL; must live until fg_engine_prepare() returns */
};

/**
 * Traffic of one direction of one flow. Frames without signature are counted as sent, and by the port that
 * they arrive at; nothing else is measured of them, and they are not made wrong.
 */
struct fg_stream_config {
	unsigned tx_port, rx_port; /* indexes into fg_engine_config.port */
	/*
	 * Sends nothing, but measures at rx_port what the stream before it of this number, less 1, sends to
	 * several ports, such as multicast; 0: sends frames of its own. It has the other's frame and load
	 */
	unsigned copies_of;
	bool unmeasured;            /* modifier frames (RFC 2544, 11): sent during the test, not looked for */
	struct fg_turn turn;        /* with the other streams of tx_port; the same in each load */
	unsigned loads;             /* one follows the other without a gap */
	const struct fg_load *load; /* must live until fg_engine_prepare() returns */
	uint64_t limit;             /* frames after which it is done, of all its loads together; 0: none */
	/*
	 * how far its first departure is put off, in times between two frames of its fastest load; spreads
	 * equal streams
	 */
	double phase;
	bool idle;      /* sends nothing until fg_engine_stream_start() */
	uint64_t first; /* number of its first frame: another stream has sent those before it */
	/*
	 * Frame n has the header of frame fields_first + n * fields_every of a flow that several streams
	 * send, one over each port; fields_every = 0 (and not 1): the value of frame n
	 */
	uint64_t fields_first, fields_every;
	bool other_clock; /* another tester sends it, by a clock of its own: fg_engine_peer_clock() */
	bool elsewhere; /* another tester receives it: what arrives here, at whichever port, is misdirected */
	bool unknown;   /* with elsewhere: another tester sends it, too, and its frame is not its own */
	/* if all are of one size; must live until fg_engine_prepare() returns */
	const struct fg_template *frame;
	const struct fg_sizes *sizes;            /* or NULL; the same */
	const struct fg_template *const *frames; /* one of each kind of `sizes`; the same */
	uint64_t tag_first; /* number of the first tagged frame, whose delay is kept by itself */
	uint64_t tag_every; /* and of the next, and so on; 0: only the first */
	unsigned tags;      /* how many; 0: none */
	unsigned measure;   /* enum fg_measure, or-ed */
	const struct fg_value_fields *values; /* NULL: not counted by values; lives as the load does */
	/* compare the payload of each frame from the first on, not of one of 64 until one differs */
	bool check_payload;
	/* frames later than this count as lost (RFC 7680); 0: no limit */
	uint64_t latest_ns;
	const struct fg_stream_faults *faults; /* or NULL; must live until fg_engine_prepare() returns */
};

/** Frames per second that a stream sends at most: within a burst, if it sends bursts. */
double fg_stream_peak_fps(const struct fg_stream_config *stream);

__END_DECLS
