/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

__BEGIN_DECLS

struct rte_mbuf;

/*
 * Work for an lcore, and frames for that work. A library that stands on the engine (the L4 engine, replay,
 * capture) gives its own to a trial. All of it is called by one lcore, the lcore of the port it was given to
 * in fg_trial_config, and only while the trial runs. It must not block, log, or take memory from the heap. On
 * the wire the polls of a task are at least step_ns of fg_trial_config apart, so that is how exact its times
 * can be.
 */

/**
 * Work that an lcore does again and again. The first member of every kind of it, the engine's own included.
 */
struct fg_task {
	/**
	 * Do what is due at @p now, the time of the trial in ticks (fg_engine_hz()).
	 * @return when there will be something to do, ticks; UINT64_MAX: not known. A task that has sent
	 *         returns no more than @p now, since on the wire that makes work for others.
	 */
	uint64_t (*poll)(struct fg_task *task, uint64_t now);
	/**
	 * Copy counters, as they are at @p now, to where control reads them; called now and then, and at the
	 * end. NULL: no counters.
	 */
	void (*publish)(struct fg_task *task, uint64_t now);
	/*
	 * written by the loop on real ports, ticks: when the task was polled last; the longest it waited for
	 * a poll; the longest a poll took, in which what it sends has its time stamp already
	 */
	uint64_t polled, longest_wait, longest_poll;
};

/**
 * Takes frames that a port has received and that are no test frames of the trial, before the responder does.
 */
struct fg_sink {
	/** @return true: the frame is the sink's now, to be freed by it; false: it is not for the sink */
	bool (*take)(struct fg_sink *sink, struct rte_mbuf *frame, uint64_t arrival_ns);
};

/**
 * Looks at every frame that a port receives, and leaves it as it is. Where several lcores receive for a port,
 * the one of its first queue looks for all.
 */
struct fg_tap {
	void (*see)(struct fg_tap *tap, struct rte_mbuf *const *frames, const uint64_t *arrival_ns,
		    unsigned n);
	/*
	 * ids of the streams of the trial (fg_signature.h) in which the frames arrive: first_id and the ids -
	 * 1 behind it, modulo 2^16; no two trials in a row begin with the same. 0 of them: no trial runs. Set
	 * before each look
	 */
	uint16_t first_id, ids;
	/* frames that another lcore received and that found no room on the way here. Writers: those lcores */
	uint64_t missed;
};

__END_DECLS
