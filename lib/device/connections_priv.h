/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A table of connections, as stateful devices keep one: each is found by the tuple that its frames have on
 * either side, and forgotten after an idle time. The firewall and the NAT of the reference device keep theirs
 * here. Bytes and times only, no DPDK. Written by the lcore that polls the ports.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fg_error.h"

/** Sender and receiver. All bytes count: an IPv4 address has twelve zeros behind it. */
struct tuple {
	uint8_t from[16], to[16];
	uint16_t from_port, to_port; /* network byte order */
	uint16_t protocol;
	uint16_t version; /* 4 or 6 */
};

/** Offsets in a frame. */
struct segment {
	struct tuple tuple;
	size_t header, content,
		payload; /* bytes before the IP header, the transport header and the payload */
	uint32_t payload_octets;
	uint8_t tcp_flags;
};

enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_ACK = 16 };

/** @return false: neither TCP nor UDP, or a fragment, or cut off */
bool segment_find(const uint8_t *frame, size_t length, struct segment *out);

/** The tuple of the reverse direction. */
struct tuple tuple_back(const struct tuple *tuple);

struct connection {
	struct tuple tuple[2];   /* [i]: of frames that come in on side i */
	uint64_t heard;          /* ps */
	uint64_t out[2];         /* when the last frame from side i left: frames keep their order */
	uint32_t next[2];        /* of the same hash */
	uint32_t before, behind; /* in the order of `heard` */
	uint8_t fin;             /* bit mask of the sides that have sent a FIN */
	bool closing;            /* it waits to be forgotten */
	bool touched;            /* by payload */
	bool doomed;             /* to be reset */
};

/**
 * Note what a segment of TCP ends. @return whether the connection is over: by RST, or with the ACK of both
 * FINs
 */
bool connection_ends(struct connection *c, unsigned side, const struct segment *s);

struct connections;

/**
 * @param size        most connections
 * @param timeout_ps  idle time of an open connection; closing_ps: of a closing one
 */
int connections_create(uint32_t size, uint64_t timeout_ps, uint64_t closing_ps, const char *where,
		       struct connections **out, struct fg_error *err);
void connections_free(struct connections *table);
/** Forget all. */
void connections_clear(struct connections *table);

/** Forget connections that timed out by @p now. @return the number of open ones among them */
uint32_t connections_expire(struct connections *table, uint64_t now);
/** NULL: no such connection. */
struct connection *connections_find(const struct connections *table, unsigned side,
				    const struct tuple *tuple);
/** A new connection, its other members zero; NULL: the table is full. Neither tuple may be there yet. */
struct connection *connections_add(struct connections *table, const struct tuple *first,
				   const struct tuple *second, uint64_t now);
void connections_heard(struct connections *table, struct connection *c, uint64_t now);
/** The connection is closing from @p now on. */
void connections_close(struct connections *table, struct connection *c, uint64_t now);
void connections_remove(struct connections *table, struct connection *c);
/** The longest idle connection; NULL: no connection. */
struct connection *connections_oldest(const struct connections *table);
uint32_t connections_count(const struct connections *table);
