/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fg_error.h"
#include "fg_path.h"

__BEGIN_DECLS

/*
 * The relay passes frames on from one port to another, as the network between them would: with its delay, its
 * rate and its faults; or it sends them back, as the reflector at the far end of a measurement. Each way is a
 * task of its own. The clock is the processor's time stamp counter, so ports of the virtual wire have no
 * place here. All functions belong to the control thread.
 */

struct fg_oam_reflector;
struct fg_port;
struct fg_relay;

enum { FG_RELAY_WAYS = 16, FG_RELAY_LCORES = 16 };

/** What is done to the frames that come in at a port, in this order. */
struct fg_relay_way {
	/* the same: a reflector, which sends back test frames, or what matches its filter */
	struct fg_port *from, *to;
	unsigned lcore;                 /* index into fg_relay_config.lcore */
	struct fg_impair_config impair; /* its losses come first, all else last */
	uint64_t seed;
	double rate_bps; /* bits of frames with FCS; 0: no limit */
	uint64_t bucket; /* bytes that may pass at once; at least a frame's worth does */
	uint64_t queue;  /* bytes that may wait */
	double delay_ns; /* of every frame */
	/* frames that may be on the way; the port must have been opened with room for all of them */
	uint32_t room;
	/*
	 * reflector: which frames go back instead of test frames (fg_filter.h), or NULL; it must live until
	 * fg_relay_create() returns
	 */
	const char *filter;
	bool restamp; /* reflector: the signature gets the time at which the frame turns round */
	/*
	 * reflector: it answers the requests of a protocol (fg_oam.h) instead of sending test frames back, or
	 * NULL; it must live until fg_relay_free()
	 */
	struct fg_oam_reflector *oam;
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
#define FG_RELAY_COUNTERS(X)                                                                          \
	X(received, NULL)                                                                             \
	X(octets, NULL)    /* of the frames received, with FCS */                                     \
	X(forwarded, NULL) /* taken by the port `to` */                                               \
	FG_PATH_COUNTERS(X)                                                                           \
	X(too_long, "dropped (too long)")     /* for one of the two ports */                          \
	X(completed, "checksums completed")   /* checksums left to a NIC */                           \
	X(queue_full, "dropped (queue full)") /* of the rate's limit */                               \
	X(line_full, "dropped (no room)")     /* in the delay line, or the port `to` takes too few */ \
	X(not_reflected, "not reflected")                                                             \
	X(answered, "answered")        /* reflector: ARP, Neighbor Discovery, echo */                 \
	X(refused, "transmit retries") /* a due frame was not sent */

struct fg_relay_counters {
	FG_RELAY_COUNTERS(FG_PATH_COUNTER_FIELD)
};

/**
 * Counter @p i of struct fg_relay_counters, all of them uint64_t in this order.
 * @param text  what a report calls it when there is any; NULL: it is always reported
 * @return      its name, NULL behind the last
 */
const char *fg_relay_counter_name(unsigned i, const char **text);

/** Frames that a way keeps at most when @p fps come in a second: for `room`. */
uint32_t fg_relay_room(const struct fg_relay_way *way, double fps, unsigned frame_size);

/** Take over the ports and begin. @return 0, -EINVAL, -ENOMEM, -EBUSY no such worker is free */
int fg_relay_create(const struct fg_relay_config *config, struct fg_relay **out, struct fg_error *err);

/** Counts of a way, no older than a few milliseconds. */
void fg_relay_counters(const struct fg_relay *relay, unsigned way, struct fg_relay_counters *out);

/**
 * By how much a frame of a way may have left later than asked, at most, since the start, ns: it waited until
 * it was fetched, and once it was due until it was handed over. Not the time that the port `to` refused it.
 */
uint64_t fg_relay_late_ns(const struct fg_relay *relay, unsigned way);

/**
 * The present time of timestamps, ns: CLOCK_MONOTONIC_RAW, apart from drift since the start.
 */
uint64_t fg_relay_now_ns(const struct fg_relay *relay);

/** Stop, drop what is on the way, free; the ports stay open. */
void fg_relay_free(struct fg_relay *relay);

__END_DECLS
