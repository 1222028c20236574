/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_clock.h"
#include "fg_error.h"
#include "fg_port.h"
#include "fg_results.h"
#include "fg_usage.h"
#include "fg_task.h"
#include "fg_trial.h"

__BEGIN_DECLS

/*
 * The engine runs trials. A trial is compiled into a job per lcore: a list of tasks (transmit a stream,
 * receive on a port, answer neighbours) with all they need, immutable but for the state each task owns.
 * Control sets an lcore's `want` pointer, the lcore acknowledges with `have`; nothing else passes between
 * them while frames fly, except published copies of counters. All lcores work on one timeline:
 *
 *    begin            start                    stop             end
 *      |--- learn ------|------- traffic --------|---- drain -----|      (settle: before the next begin)
 *
 * Two clocks exist. On real ports time is the TSC, whose nanoseconds run with CLOCK_MONOTONIC_RAW. On the
 * virtual wire it is the wire's own, which the one lcore that runs the wire moves forward: in step with real
 * time, or as fast as it can (free), and then what happens depends on nothing but the plan and the seed.
 *
 * All functions belong to the control thread.
 */

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
	uint32_t max_frame;            /* bytes with FCS of the largest frame to be sent */
};

/**
 * Take over the ports and start the worker lcores, which then answer neighbours (on the virtual wire: as long
 * as its time moves).
 * @return 0, -EINVAL, -ENOMEM
 */
int fg_engine_create(const struct fg_engine_config *config, struct fg_engine **out, struct fg_error *err);

/** Stop the lcores and free all; the ports stay open. */
void fg_engine_free(struct fg_engine *engine);

/**
 * Ticks per second of the time that tasks are polled with; what else a tick means in the trial that was
 * prepared last.
 */
uint64_t fg_engine_hz(const struct fg_engine *engine);
void fg_engine_clock(const struct fg_engine *engine, struct fg_clock *out);

/**
 * The time now that arrivals are stamped with: CLOCK_MONOTONIC_RAW, ns; on the wire: its own as of the end of
 * the last trial.
 */
uint64_t fg_engine_now_ns(const struct fg_engine *engine);

/**
 * Compile a trial. A trial without streams only lets time pass and talks to neighbours: that is how gateways
 * are resolved.
 *
 * @param start_ns  when traffic will start, in the engine's time, or NULL; what else is to happen in the
 * trial
 *                  can be arranged relative to it. On real ports it assumes fg_engine_start() at once.
 * @return 0, -EBUSY a trial is running, -EINVAL, -ENOMEM, -ETIME start_ns is too near or past
 */
int fg_engine_prepare(struct fg_engine *engine, const struct fg_trial_config *trial, uint64_t *start_ns,
		      struct fg_error *err);

/** Start the trial that was prepared. */
void fg_engine_start(struct fg_engine *engine);

enum fg_engine_state {
	FG_ENGINE_READY,   /* no trial runs; the last one can be read */
	FG_ENGINE_RUNNING, /* a trial runs */
};

/**
 * Look after the running trial: call this all the time. On real ports it looks at their links and clocks; and
 * it collects the trial when all lcores have come to its end.
 */
enum fg_engine_state fg_engine_poll(struct fg_engine *engine);

/*
 * A stream may go from one tester to another. Both have it, with the same id (first_id) and start (start_ns):
 * the one that sends it from a port to itself, the other as an idle one.
 */

/**
 * The clock of the tester that sends a stream is so far ahead: added to its delays from now on, where more
 * than plain counts is measured of a stream, or one has other_clock.
 */
void fg_engine_peer_clock(struct fg_engine *engine, unsigned stream, int64_t ns);

/** The number of frames of a stream that the other tester has sent: the loss follows. After the trial. */
void fg_engine_peer_sent(struct fg_engine *engine, unsigned stream, uint64_t frames);

/**
 * Frames that the peer will have sent of a stream when all went as planned, from the stream's loads.
 *
 * @return 0 for a load without an end
 */
uint64_t fg_engine_peer_planned(const struct fg_engine *engine, unsigned stream);

/** End the running trial now. It still has a result. */
void fg_engine_stop(struct fg_engine *engine);

/** Published totals; may be a few milliseconds old. */
void fg_engine_live(const struct fg_engine *engine, struct fg_live *out);

/**
 * Counts of a stream of the running or the last trial, as of now; the receiver's counts are copies, and with
 * thousands of streams some may be half a second old.
 */
void fg_engine_stream_live(const struct fg_engine *engine, unsigned stream, struct fg_stream_live *out);

/**
 * What a port received in the running or the last trial, as of now; copies, like streams' counts. The link is
 * the present one.
 */
void fg_engine_port_live(const struct fg_engine *engine, unsigned port, struct fg_port_live *out);

/**
 * Percentiles of the delays of a stream of the running or the last trial, as of now; of one in parts, the
 * largest of the parts', which percentiles of all its frames cannot exceed. They are summed up at every call
 * from what the receiver counts, some ten microseconds of the caller's time: ask for those streams that are
 * looked at.
 */
void fg_engine_stream_delays(const struct fg_engine *engine, unsigned stream, struct fg_stream_delays *out);

/** Add to @p counts how many of these delays do not exceed each of @p n bounds, ns; counts[n]: all. */
void fg_engine_stream_delay_counts(const struct fg_engine *engine, unsigned stream, const uint64_t *bounds,
				   unsigned n, uint64_t *counts);

/*
 * Control over the streams of a trial that is prepared or runs. An order is obeyed at the next poll of the
 * port's task: within microseconds on real ports, a millisecond of the wire's time where that keeps step with
 * real time, and before the first frame if it was given before the trial was started. Orders to a stream are
 * obeyed in the order given. All return 0, -ENOENT (no such stream) or -ENOMEM.
 *
 * What was sent stays counted, and what a stop or a new load has cancelled was not intended.
 */

/**
 * Begin, or go on where the stream was stopped: all that is still to be sent comes later by the time between.
 */
int fg_engine_stream_start(struct fg_engine *engine, unsigned stream, struct fg_error *err);
/** Send no more until fg_engine_stream_start(). */
int fg_engine_stream_stop(struct fg_engine *engine, unsigned stream, struct fg_error *err);
/**
 * Give up the loads that the stream has and follow another one, from now on, or from the next start if it is
 * stopped.
 * @return also -ERANGE, -EINVAL: no load
 */
int fg_engine_stream_load(struct fg_engine *engine, unsigned stream, const struct fg_load *load,
			  struct fg_error *err);

/*
 * Streams that come and go while a trial runs, in the room of fg_trial_config.spares. To start a stream anew,
 * with counts of 0, is to remove it and to add it again: then nothing of the old one is taken for the new
 * one's. The order:
 *
 *    fg_engine_stream_retire()   it sends no more, not even what waited for the port
 *    fg_engine_stream_retired()  ... and what it has sent is final; what is on its way still counts
 *    fg_engine_stream_forget()   nothing of it counts any more; its room may be used again, what is
 *                                given back last the last
 *
 * A stream that the trial had from its start may go, too; if several queues sent it, no other one comes into
 * its room. An added stream goes over one queue, and is measured
 * by its plain counts, without errors on purpose.
 */

/**
 * @param stream  becomes its number
 * @return also -EINVAL, -EMSGSIZE, -EAGAIN: there is room when all lcores have taken note of a
 *         fg_engine_stream_forget(); -ENOSPC: no room
 */
int fg_engine_stream_add(struct fg_engine *engine, const struct fg_stream_config *config, unsigned *stream,
			 struct fg_error *err);
int fg_engine_stream_retire(struct fg_engine *engine, unsigned stream, struct fg_error *err);
bool fg_engine_stream_retired(const struct fg_engine *engine, unsigned stream);
/** @return also -EBUSY: it is not retired */
int fg_engine_stream_forget(struct fg_engine *engine, unsigned stream, struct fg_error *err);
/** How many streams can be added. */
unsigned fg_engine_stream_room(const struct fg_engine *engine);

/**
 * A stream over time, from the start of traffic on, interval by interval.
 *
 * Both counts go by the time of departure (as the signature has it): tx - rx is the loss of the interval,
 * whatever the delay. While the trial runs, intervals are given that no frame will depart in any more, except
 * the last of them; what arrives late still enters.
 *
 * @param first  interval to begin with
 * @param max    room in @p out
 * @return       how many were written; 0 at the end, and without FG_MEASURE_SERIES
 */
unsigned fg_engine_series(const struct fg_engine *engine, unsigned stream, unsigned first,
			  struct fg_interval *out, unsigned max);

/**
 * With which marks frames of a stream arrived.
 * @return how many combinations; the first @p max are in @p out
 */
unsigned fg_engine_codepoints(const struct fg_engine *engine, unsigned stream, struct fg_codepoints *out,
			      unsigned max);

/**
 * With which values (fg_stream_config.values) frames of a stream arrived, of the running or the last trial,
 * as of now.
 * @param max    room in @p out
 * @param other  set to what the frames whose values were too many have together; its value says nothing
 * @return       how many values are in @p out
 */
unsigned fg_engine_values(const struct fg_engine *engine, unsigned stream, struct fg_value *out, unsigned max,
			  struct fg_value *other);

/** Result of membership @p member of the trial. After the trial. */
void fg_engine_member_result(const struct fg_engine *engine, unsigned member, struct fg_member_result *out);

/** Misdirected frames of @p stream that arrived on @p port. After the trial. */
uint64_t fg_engine_misdirected(const struct fg_engine *engine, unsigned stream, unsigned port);

/**
 * Let @p tap see all that a port receives from now on, in this trial, between trials (where time passes then)
 * and in those to come, besides the tap of the trial. May be called at any time.
 * @return 0, or -EBUSY: there is one already
 */
int fg_engine_tap(struct fg_engine *engine, unsigned port, struct fg_tap *tap, struct fg_error *err);
/** Remove the tap of a port, if any: when this returns, no lcore is in it. */
void fg_engine_untap(struct fg_engine *engine, unsigned port);

/** Results of the last trial, which must have ended. Indexes are the configuration's. */
void fg_engine_stream_result(const struct fg_engine *engine, unsigned stream, struct fg_stream_result *out);
/**
 * All delays of the stream as fg_histogram_pack() writes them.
 * @return bytes written; more than @p room: nothing was written; this number may be needed
 */
size_t fg_engine_delays(const struct fg_engine *engine, unsigned stream, uint8_t *out, size_t room);
/**
 * Delays of the stream's tagged frames, ns, in the order of their numbers, part by part; lost
 * ones are left out. @return how many
 */
unsigned fg_engine_tags(const struct fg_engine *engine, unsigned stream, int64_t *out, unsigned max);
void fg_engine_port_result(const struct fg_engine *engine, unsigned port, struct fg_port_result *out);
void fg_engine_queue_result(const struct fg_engine *engine, unsigned port, unsigned queue,
			    struct fg_queue_result *out);
void fg_engine_lcore_result(const struct fg_engine *engine, unsigned lcore, struct fg_lcore_result *out);

/** MAC of the gateway of @p port for IP version 4 or 6. @return false while it has not answered */
bool fg_engine_gateway(const struct fg_engine *engine, unsigned port, int version, uint8_t mac[6]);

__END_DECLS
