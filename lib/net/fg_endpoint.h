/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__BEGIN_DECLS

/*
 * What stands behind a port and talks by itself: frames in, frames out, in a time that is handed down. The
 * engine runs an endpoint (fg_engine.h) and the worker of lib/tcp is one; neither knows the other, and an
 * endpoint is tested without DPDK, for a frame is nothing but bytes here.
 *
 * All times are nanoseconds of the engine's clock. An endpoint belongs to the lcore that polls it.
 */

enum { FG_BURST_ROOMS = 32 };

/** Room for frames that leave together. The caller owns the memory; what is written are whole frames without
 * FCS. */
struct fg_burst {
	unsigned rooms;    /* that may be written, at most FG_BURST_ROOMS */
	unsigned frames;   /* written: the number of rooms used, from the first */
	uint32_t capacity; /* bytes of each room */
	bool cuts;         /* the port cuts TCP payload into segments: segment[] may be set */
	uint8_t *room[FG_BURST_ROOMS];
	uint16_t length[FG_BURST_ROOMS]; /* bytes written to each */
	/*
	 * 0: the frame leaves as it is. Else it is TCP and leaves as several frames, each with this number of
	 * bytes of the payload; the checksum of TCP is then the sum of the pseudo-header, not inverted.
	 */
	uint16_t segment[FG_BURST_ROOMS];
};

/** A frame that came in: bytes without FCS, and when. */
struct fg_arrival {
	const uint8_t *frame;
	size_t length;
	uint64_t now;
	bool checked; /* the port vouches for the checksum of TCP or UDP, which may not stand in the frame */
	uint64_t passed; /* frames of the VLAN that came before it and were for no endpoint */
};

struct fg_endpoint {
	bool echo_requests, echo_replies; /* of ICMP and ICMPv6: it takes these, too */
	bool y1731;                       /* and frames of Y.1731 and FG_ETHER_LOCAL */
	/** Frames came in, ours to read during the call, in order of time. What they cause may go to @p
	 * out. */
	void (*input)(struct fg_endpoint *endpoint, const struct fg_arrival *in, unsigned n,
		      struct fg_burst *out);
	/**
	 * Do what is due and write what there is to send.
	 * @return when to poll it next, at most @p now when @p out could not hold everything;
	 *         UINT64_MAX: not before a frame comes in
	 */
	uint64_t (*poll)(struct fg_endpoint *endpoint, uint64_t now, struct fg_burst *out);
};

__END_DECLS
