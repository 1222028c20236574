/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FG_ENGINE_H
#define FG_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "fg_availability.h"
#include "fg_counts.h"
#include "fg_error.h"
#include "fg_fault.h"
#include "fg_net.h"
#include "fg_port.h"
#include "fg_spoil.h"
#include "fg_served.h"
#include "fg_task.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The engine runs trials. A trial is compiled into an image per lcore: a list of tasks (transmit a stream, receive
 * on a port, answer neighbours) with all they need, immutable but for the state each task owns. Control sets an
 * lcore's `want` pointer, the lcore acknowledges with `have`; nothing else passes between them while frames fly,
 * except published copies of counters. All lcores work on one timeline:
 *
 *    begin            start                    stop             end
 *      |--- learn ------|------- traffic --------|---- drain -----|      (settle: before the next begin)
 *
 * Two clocks exist. On real ports time is the TSC, whose nanoseconds are those of CLOCK_MONOTONIC_RAW. On the virtual wire it is the wire's own, which the one lcore
 * that runs the wire moves forward: in step with real time, or as fast as it can (free), and then what happens
 * depends on nothing but the plan and the seed.
 *
 * All functions belong to the control thread.
 */

enum { FG_MAX_PORTS = 16, FG_MAX_LCORES = 64, FG_MAX_STREAMS = 16384 };

enum fg_time {
	FG_TIME_TSC,       /* real ports: the processor's time stamp counter */
	FG_TIME_WIRE_REAL, /* virtual wire, in step with real time */
	FG_TIME_WIRE_FREE, /* virtual wire, as fast as possible */
};

struct fg_sizes;
struct fg_template;
struct fg_engine;

/** A port as the engine uses it. */
struct fg_engine_port {
	struct fg_port *port;
	uint8_t mac[6]; /* ours on this port */
	uint16_t vlan;  /* in which we talk to neighbours; 0: untagged */
	bool has_ipv4, has_ipv6, has_gateway4, has_gateway6;
	uint8_t ipv4[4], gateway4[4];
	uint8_t ipv6[16], gateway6[16];
	unsigned queues; /* of the port that are used, each by lcores of its own; 0 is 1 */
	unsigned tx_lcore[FG_MAX_QUEUES], rx_lcore[FG_MAX_QUEUES]; /* indexes into fg_engine_config.lcore */
};

struct fg_engine_config {
	enum fg_time time;
	unsigned ports, lcores;
	struct fg_engine_port port[FG_MAX_PORTS];
	unsigned lcore[FG_MAX_LCORES]; /* EAL ids of the workers */
	uint32_t buffers;              /* frame buffers of the streams of a queue with the same payload */
	uint32_t max_frame;            /* octets with FCS of the largest frame to be sent */
};

/** Without end: so many frames, or so long. */
#define FG_ENDLESS UINT64_MAX

/** How the departures of a load lie in time (fg_pace.h). */
enum fg_load_shape { FG_LOAD_CONSTANT, FG_LOAD_BURSTS, FG_LOAD_RAMP, FG_LOAD_POISSON };

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
	double end_fps;   /* ramp: at its end */
	uint64_t burst;   /* bursts: frames in each ... */
	double burst_fps; /* ... and how many a second within one; `fps` is that of the whole */
	uint64_t seed;    /* Poisson */
	/*
	 * Frames of several sizes: a frame leaves when all octets before it have had their time at a constant bit rate,
	 * and not evenly spaced. `overhead` is what counts of each frame besides its octets with FCS: 20 for a bit rate
	 * at layer 1, 0 at layer 2, less than 0 at layer 3. Not for a Poisson process.
	 */
	bool by_octets;
	int overhead;
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

/** One way delays of a stream, ns. All 0 when none was measured. */
struct fg_latency {
	uint64_t count, min_ns, max_ns;
	uint64_t p50_ns, p99_ns, p999_ns;
	double mean_ns;
	double relative_error; /* of the percentiles, by the histogram's bins */
	uint64_t negative;     /* taken as 0 */
};

/** Loss of a stream beside its amount. A burst is a run of consecutive missing numbers, a loss period of RFC 3357. */
struct fg_loss_result {
	uint64_t lengths
		[FG_LOSS_CLASSES]; /* [i]: bursts of 2^i frames and more, below 2^(i+1); the last: any more */
	uint64_t distances
		[FG_LOSS_CLASSES]; /* the same of the numbers from the end of a burst to the next one */
	/*
	 * The longest time without an arrival: between two, less the mean interval of departures; or before the first
	 * or after the last one, if frames were lost there.
	 */
	uint64_t longest_outage_ns;
	uint64_t outage_begin_ns; /* last arrival before it, since the start */
};

/** One interval of a series: the frames that departed in it, whenever they arrived. */
struct fg_interval {
	uint64_t tx, rx; /* sent; different ones of them received: the rest is lost */
	uint64_t octets; /* of those received, FCS included */
	uint64_t duplicates, reordered;
	int64_t delay_min_ns, delay_max_ns; /* 0 while rx is 0; so all delays */
	int64_t delay_p999_ns; /* of those that arrived before the interval after the next began */
	double delay_mean_ns;
};

/** Frames in which a stream was wrong on purpose; of those left out, numbers. */
struct fg_fault_counts {
	uint64_t sent, received; /* different ones received */
};

/** Frames of a stream that arrived with the same marks; further copies do not count. */
struct fg_marked {
	bool tagged, dei, ip;
	uint8_t pcp, dscp; /* of the outermost tag, if it is tagged; of the IP header, if it is IP */
	uint64_t frames;
};

/**
 * What became of a stream, by sequence number, after the drain. What it did wrong on purpose is no loss, no duplicate
 * and no reordering, and the frames that were made wrong enter nothing but `tx`, `octets` and their own counts.
 */
struct fg_stream_result {
	uint64_t intended;       /* frames the schedule held */
	uint64_t tx;             /* sent */
	uint64_t octets;         /* sent, with FCS */
	uint64_t late;           /* not sent: overdue by more than max_lag */
	uint64_t unsent;         /* not sent: the trial ended first */
	uint64_t refused;        /* times the port did not take a frame that was due; it stayed due */
	uint64_t no_mbuf;        /* times there was no buffer for a frame that was due; it stayed due */
	uint64_t worst_lag_ns;   /* of a frame that was sent */
	uint64_t tx_duration_ns; /* first to last departure */
	uint64_t rx;             /* different frames received */
	int64_t lost;            /* tx - wrong.sent - rx; below 0: the device invented frames */
	uint64_t duplicates;
	uint64_t stale;      /* too far out of order to say whether first or duplicate */
	uint64_t reordered;  /* RFC 4737 */
	uint64_t max_extent; /* RFC 4737, 4.2 */
	uint64_t loss_bursts, max_loss_burst;
	uint64_t expired;        /* frames that came later than `latest_ns`: lost, or further copies */
	uint64_t excess;         /* highest sequence number received beyond the last one sent */
	uint64_t last_lost_ns;   /* when the last lost frame was due, since the start; if lost > 0 */
	uint64_t longest_gap_ns; /* between two arrivals */
	uint64_t gap_begin_ns;   /* arrival before that gap, since the start */
	struct fg_latency latency;

	uint64_t rx_octets;  /* of the different frames received, FCS included */
	uint64_t duplicated; /* frames of which more than one copy came (RFC 5560) */
	struct fg_loss_result loss;
	struct fg_order_counts order;         /* RFC 4737; times in ns */
	struct fg_variation_counts variation; /* if asked for; ns */
	uint64_t corrupted; /* different frames whose payload had changed; if asked for, as what follows */
	uint64_t payload_octets;           /* compared */
	uint64_t octet_errors, bit_errors; /* of these */
	/*
	 * So many queues of the port shared in sending it; 1: one sent it whole. Each part has numbers of its own, so
	 * runs of loss, order and variation are those within each part: of frames so many numbers apart.
	 */
	unsigned parts;
	bool unordered; /* its frames came over several queues of a port: their order is not known, and is 0 here */
	uint64_t series_intervals; /* of fg_engine_series() */
	struct fg_availability_counts
		available;            /* if there is a series that seconds can be made of; times in ns */
	struct fg_fault_counts wrong; /* frames that were made wrong */
	struct fg_fault_counts faults[FG_FAULTS]; /* by enum fg_fault */
};

struct fg_port_result {
	uint64_t rx_missed, rx_no_mbuf, rx_errors, tx_errors, link_changes; /* during the trial */
	/* of a port whose card stamps what it receives: bound of the stamps' error, times its clock was set, and frames that
	 * were stamped by the tester instead; all 0 of any other */
	uint64_t rx_stamp_error_ns, rx_stamp_jumps, rx_unstamped;
	uint64_t
		rx_overflow; /* test frames that came over another queue than that which measures their stream, and of
	                       * which nothing could be told there: tester drops */
	uint64_t misdirected;                /* test frames that belong to another port */
	uint64_t foreign;                    /* frames that are no test frames of this trial */
	uint64_t foreign_kind[FG_NET_KINDS]; /* of those that no sink took, by enum fg_net_kind */
	uint64_t queries, replies,
		updates; /* management queries, verified replies to them, routing updates */
};

/** Counts of a stream while it runs: whole, if not of the very same moment. */
struct fg_stream_live {
	uint64_t tx_frames;
	uint64_t tx_wrong;  /* of those: wrong on purpose, and not looked for */
	uint64_t tx_octets; /* with FCS */
	uint64_t rx_frames; /* different ones */
	uint64_t rx_octets; /* of those; with FCS */
	uint64_t missing;   /* below the highest number received: lost, or still to come late */
	uint64_t
		delay_sum_ns; /* of all rx_frames: the mean since the last look is the quotient of two differences */
	uint64_t delay_min_ns, delay_max_ns;
};

/** Delays of a stream while it runs, of all its frames so far; ns. All 0 before the first. */
struct fg_stream_delays {
	uint64_t p50_ns, p99_ns, p999_ns;
	double jitter_ns; /* RFC 3550, after the last frame; below 0: variation is not measured */
};

/** Totals of the running trial, for the screen. */
struct fg_live {
	uint64_t elapsed_ns; /* since the start of traffic */
	uint64_t tx, rx;     /* without frames that are wrong on purpose */
};

/**
 * Take over the ports and start the worker lcores, which then answer neighbours (on the virtual wire: as long as
 * its time moves).
 * @return 0, -EINVAL, -ENOMEM
 */
int fg_engine_create(const struct fg_engine_config *config, struct fg_engine **out, struct fg_error *err);

/** Stop the lcores and free all; the ports stay open. NULL is legal. */
void fg_engine_free(struct fg_engine *engine);

/** Ticks per second of the time that tasks are polled with; what else a tick means in the trial that was prepared last. */
uint64_t fg_engine_hz(const struct fg_engine *engine);
void fg_engine_clock(const struct fg_engine *engine, struct fg_task_clock *out);

/** The time now that arrivals are stamped with: CLOCK_MONOTONIC_RAW, ns; on the wire: its own as of the end of the last trial. */
uint64_t fg_engine_now_ns(const struct fg_engine *engine);

/**
 * Compile a trial. A trial without streams only lets time pass and talks to neighbours: that is how gateways are
 * resolved.
 *
 * @param start_ns  when traffic will start, in the engine's time; what else is to happen in the trial can be arranged
 *                  relative to it before fg_engine_start(). May be NULL. On real ports it assumes a start at once.
 * @return 0, -EBUSY a trial is running, -EINVAL, -ENOMEM, -ETIME start_ns is too near or past
 */
int fg_engine_prepare(struct fg_engine *engine, const struct fg_trial_config *trial, uint64_t *start_ns,
		      struct fg_error *err);

/** Start the trial that was prepared. */
void fg_engine_start(struct fg_engine *engine);

/** Is the trial still running? Ask all the time: on real ports it is also when their links are looked at. */
bool fg_engine_running(struct fg_engine *engine);

/*
 * A stream may go from one tester to another. Both have it, with the same id (first_id) and start (start_ns): the one that
 * sends it from a port to itself, the other as an idle one.
 */

/** The other tester's clock is so far ahead: added to delays from now on, where more than plain counts is measured. */
void fg_engine_other_clock(struct fg_engine *engine, int64_t ns);

/** So many frames of a stream the other tester has sent: what is lost follows. After the trial. */
void fg_engine_other_sent(struct fg_engine *engine, unsigned stream, uint64_t frames);

/** End the running trial now. It still has a result. */
void fg_engine_stop(struct fg_engine *engine);

/** Published totals; may be a few milliseconds old. */
void fg_engine_live(const struct fg_engine *engine, struct fg_live *out);

/**
 * Counts of a stream of the running or the last trial, as of now; those of the receiver are copies, and with thousands
 * of streams some may be half a second old.
 */
void fg_engine_stream_live(const struct fg_engine *engine, unsigned stream, struct fg_stream_live *out);

/**
 * Percentiles of the delays of a stream of the running or the last trial, as of now; of one in parts, the largest of
 * theirs, which those of all its frames cannot exceed. They are summed up at every call
 * from what the receiver counts, some ten microseconds of the caller's time: ask for those streams that are looked at.
 */
void fg_engine_stream_delays(const struct fg_engine *engine, unsigned stream, struct fg_stream_delays *out);

/*
 * Control over the streams of a trial that is prepared or runs. An order is obeyed at the next poll of the port's task:
 * within microseconds on real ports, a millisecond of the wire's time where that keeps step with real time, and before
 * the first frame if it was given before the trial was started. Orders to a stream are obeyed in the order given. All
 * return 0, -ENOENT (no such stream) or -ENOMEM.
 *
 * What was sent stays counted, and what a stop or a new load has cancelled was not intended.
 */

/** Begin, or go on where the stream was stopped: all that is still to be sent comes later by the time between. */
int fg_engine_stream_start(struct fg_engine *engine, unsigned stream, struct fg_error *err);
/** Send no more until fg_engine_stream_start(). */
int fg_engine_stream_stop(struct fg_engine *engine, unsigned stream, struct fg_error *err);
/**
 * Give up the loads that the stream has and follow another one, from now on, or from the next start if it is stopped.
 * @return also -ERANGE, -EINVAL: no load
 */
int fg_engine_stream_load(struct fg_engine *engine, unsigned stream, const struct fg_load *load,
			  struct fg_error *err);

/**
 * A stream over time, from the start of traffic on, interval by interval.
 *
 * Both counts go by the time of departure (as the signature has it): tx - rx is the loss of the interval, whatever the
 * delay. While the trial runs, intervals are given that no frame will depart in any more, except the last of them;
 * what arrives late still enters.
 *
 * @param first  interval to begin with
 * @param max    room in @p out
 * @return       how many were written; 0 at the end, and without FG_MEASURE_SERIES
 */
unsigned fg_engine_series(const struct fg_engine *engine, unsigned stream, unsigned first,
			  struct fg_interval *out, unsigned max);

/** With which marks frames of a stream arrived. @return how many combinations; the first @p max are in @p out */
unsigned fg_engine_marks(const struct fg_engine *engine, unsigned stream, struct fg_marked *out,
			 unsigned max);

/** Frames of @p stream that arrived on @p port, where they do not belong. After the trial. */
uint64_t fg_engine_misdirected(const struct fg_engine *engine, unsigned stream, unsigned port);

/**
 * Let @p tap see all that a port receives from now on, in this trial, between trials (where time passes then) and in
 * those to come, besides the tap of the trial. May be called at any time.
 * @return 0, or -EBUSY: there is one already
 */
int fg_engine_tap(struct fg_engine *engine, unsigned port, struct fg_tap *tap, struct fg_error *err);
/** No more for the tap of a port, if there is one: when this returns, no lcore is in it. */
void fg_engine_untap(struct fg_engine *engine, unsigned port);

/** Results of the last trial, which must have ended. Indexes are those of the configuration. */
void fg_engine_stream_result(const struct fg_engine *engine, unsigned stream, struct fg_stream_result *out);
/**
 * Delays of the stream's tagged frames, ns, in the order of their numbers, those of each part together; lost ones are
 * left out. @return how many
 */
unsigned fg_engine_tags(const struct fg_engine *engine, unsigned stream, int64_t *out, unsigned max);
void fg_engine_port_result(const struct fg_engine *engine, unsigned port, struct fg_port_result *out);
void fg_engine_queue_result(const struct fg_engine *engine, unsigned port, unsigned queue,
			    struct fg_queue_result *out);
void fg_engine_lcore_result(const struct fg_engine *engine, unsigned lcore, struct fg_lcore_result *out);

/** MAC of the gateway of @p port for IP version 4 or 6. @return false while it has not answered */
bool fg_engine_gateway(const struct fg_engine *engine, unsigned port, int version, uint8_t mac[6]);

#ifdef __cplusplus
}
#endif
#endif
