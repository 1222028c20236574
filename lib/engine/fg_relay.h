/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FG_RELAY_H
#define FG_RELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"
#include "fg_impair.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The relay passes frames on from one port to another, as the network between them would: with its delay, its rate and
 * its faults; or it sends them back where they came from, as a far end does whose only task is to be measured against.
 * Each way is a task of its own. The clock is the processor's time stamp counter, so ports of the virtual wire have no
 * place here. All functions belong to the control thread.
 */

struct fg_port;
struct fg_relay;

enum { FG_RELAY_WAYS = 16, FG_RELAY_LCORES = 16 };

/** What is done to the frames that come in at a port, in this order. */
struct fg_relay_way {
	struct fg_port *from,
		*to;    /* the same: a reflector, which sends back test frames, or what matches its filter */
	unsigned lcore; /* index into fg_relay_config.lcore */
	struct fg_impair_config impair; /* its losses come first, all else last */
	uint64_t seed;
	double rate_bps; /* bits of frames with FCS; 0: no limit */
	uint64_t bucket; /* octets that may pass at once; at least a frame's worth does */
	uint64_t queue;  /* octets that may wait */
	double delay_ns; /* of every frame */
	uint32_t
		room; /* frames that may be on the way; the port must have been opened to let so many be kept */
	const char *
		filter; /* reflector: what goes back in place of test frames (fg_filter.h), or NULL; it must live
	                     * until fg_relay_create() returns */
	bool restamp;   /* reflector: the signature gets the time at which the frame turns round */
	uint8_t mac[6]; /* reflector: what it answers for (ARP, Neighbor Discovery, echo) */
	bool has_ipv4, has_ipv6;
	uint8_t ipv4[4], ipv6[16];
};

struct fg_relay_config {
	unsigned ways, lcores;
	struct fg_relay_way way[FG_RELAY_WAYS];
	unsigned lcore[FG_RELAY_LCORES]; /* EAL ids of the workers */
};

/**
 * Frames of one way since the start. What was received, or copied, was forwarded, or lost, or is on the way.
 */
struct fg_relay_counters {
	uint64_t received;
	uint64_t octets;     /* of them, with FCS */
	uint64_t forwarded;  /* taken by the port `to` */
	uint64_t lossy;      /* lost on purpose */
	uint64_t queue_full; /* lost: the limit of the rate's queue */
	uint64_t line_full; /* lost: more on the way than there is room for, or the port `to` takes too few */
	uint64_t foreign;   /* reflector, lost: not wanted, or not to be reflected */
	uint64_t answered;  /* reflector: ARP, Neighbor Discovery, echo */
	uint64_t duplicated, corrupted;
	uint64_t reordered; /* came out behind a later one (RFC 4737, 3) */
	uint64_t no_buffer; /* were to be duplicated, but there was no buffer */
	uint64_t refused;   /* times the port `to` did not take a frame that was due; it stayed due */
};

/** Frames that a way keeps at most when @p fps come in a second: for `room`. */
uint32_t fg_relay_room(const struct fg_relay_way *way, double fps, unsigned frame_size);

/** Take over the ports and begin. @return 0, -EINVAL, -ENOMEM, -EBUSY no such worker is free */
int fg_relay_create(const struct fg_relay_config *config, struct fg_relay **out, struct fg_error *err);

/** Counts of a way, no older than a few milliseconds. */
void fg_relay_counters(const struct fg_relay *relay, unsigned way, struct fg_relay_counters *out);

/** Stop, drop what is on the way, free; the ports stay open. NULL is legal. */
void fg_relay_free(struct fg_relay *relay);

#ifdef __cplusplus
}
#endif
#endif
