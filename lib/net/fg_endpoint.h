/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

__BEGIN_DECLS

/*
 * An endpoint: a host stack behind a port, with frames in and frames out, in the time of its caller. The
 * engine runs endpoints (fg_engine.h), such as the worker of lib/tcp, without a dependency between the two.
 * An endpoint is tested without DPDK, because a frame is only bytes here.
 *
 * All times are nanoseconds of the engine's clock. An endpoint belongs to the lcore that polls it.
 */

enum { FG_BURST_ROOMS = 32 };

/** Room for frames that leave together. The caller owns the memory. Frames are whole, without FCS. */
struct fg_burst {
	unsigned rooms;    /* rooms that may be written, at most FG_BURST_ROOMS */
	unsigned frames;   /* written: the number of rooms used, from the first */
	uint32_t capacity; /* bytes of each room */
	bool cuts;         /* the port cuts TCP payload into segments: segment[] may be set */
	uint8_t *room[FG_BURST_ROOMS];
	uint16_t length[FG_BURST_ROOMS]; /* bytes written to each room */
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
	bool checked; /* the port verified the checksum of TCP or UDP, which may be absent from the frame */
	uint64_t passed; /* earlier frames of the VLAN that were for no endpoint */
};

struct fg_endpoint {
	bool echo_requests, echo_replies; /* the endpoint also takes ICMP and ICMPv6 */
	bool y1731;                       /* the endpoint also takes Y.1731 and FG_ETHER_LOCAL */
	/** Process received frames, in order of time, readable during the call. Replies go to @p out. */
	void (*input)(struct fg_endpoint *endpoint, const struct fg_arrival *in, unsigned n,
		      struct fg_burst *out);
	/**
	 * Carry out what is due and write frames to send.
	 * @return time of the next poll: at most @p now if @p out is full; UINT64_MAX: after input
	 */
	uint64_t (*poll)(struct fg_endpoint *endpoint, uint64_t now, struct fg_burst *out);
};

__END_DECLS
