/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_membership.h"
#include "fg_stream_config.h"
#include "fg_task.h"

__BEGIN_DECLS

/* What the engine is asked to do in a trial: which streams, and what other tasks work in it. */

enum { FG_MAX_PORTS = 64, FG_MAX_LCORES = 64 };

/** Tasks of other libraries in a trial (fg_task.h). */
struct fg_trial_task {
	struct fg_task *task;
	unsigned port;   /* for which port */
	bool at_receive; /* on the lcore that receives on it; else on the one that sends */
};

/** Frames that each sending port sends to its IPv4 gateway during the test (RFC 2544, 11.2 and 11.3). */
struct fg_talk {
	uint64_t query_ns;  /* interval of SNMP queries, the first at the start; 0: no queries */
	uint64_t update_ns; /* interval of RIP updates, alternating, the first at the start; 0: no updates */
	char community[33]; /* of the query */
	uint32_t interface; /* that it asks about, ifIndex */
};

/**
 * A port is a member of a multicast group for a while: it reports that it joins and that it leaves, each
 * @p reports times, and answers queries between. Times are since the start of traffic.
 */
struct fg_member {
	unsigned port;
	enum fg_membership_version version;
	struct fg_membership_group group;
	uint64_t join_ns, leave_ns; /* of the first report, and of the first leave; FG_ENDLESS: none */
	unsigned reports;           /* of each ... */
	uint64_t again_ns;          /* ... from one to the next */
};

struct fg_trial_config {
	unsigned streams;
	const struct fg_stream_config *stream;
	unsigned spares; /* streams that fg_engine_stream_add() can add while the trial runs */
	bool values;     /* those may be counted by values */
	unsigned tasks;
	const struct fg_trial_task *task;   /* the tasks themselves must live as long as the trial */
	struct fg_sink *sink[FG_MAX_PORTS]; /* of each port, or NULL; called by its receiving lcore */
	struct fg_tap *tap[FG_MAX_PORTS];   /* the same; see also fg_engine_tap() */
	/* addresses for which a port answers ARP, Neighbor Discovery and echo, from its own on; 0 is 1 */
	uint32_t addresses[FG_MAX_PORTS];
	/* traffic_ns = FG_ENDLESS: until fg_engine_stop() */
	uint64_t learn_ns, traffic_ns, drain_ns, settle_ns;
	uint64_t step_ns; /* on the wire: least time between two polls of a task; 0: as suits the streams */
	uint64_t max_lag_ns; /* how long a frame may be overdue and still be sent */
	uint64_t series_ns;  /* interval of series; 0: a second */
	uint16_t first_id;   /* id of the first stream, the next has the next; 0: as suits the engine */
	uint64_t start_ns;   /* when traffic starts, in the engine's time; 0: once learning is over */
	struct fg_talk talk;
	unsigned members;
	const struct fg_member *member; /* must live until fg_engine_prepare() returns */
	bool silent; /* no port announces its addresses: bridges know those only that streams are sent from */
};

__END_DECLS
