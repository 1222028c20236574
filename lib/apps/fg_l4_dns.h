/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "fg_l4_app.h"

__BEGIN_DECLS

/**
 * Applications of the kinds DNS and DNS_TCP: what the client asks, and what the server answers. Both must be
 * told the same, for the client compares each answer with the one our server gives.
 */
struct fg_l4_dns {
	/*
	 * client: lines of a name and a type ("h1.fg.test AAAA"), which are asked in turn. Needed until
	 * fg_l4_create() returns
	 */
	const char *questions;
	uint16_t udp_size; /* EDNS (RFC 6891): bytes of the largest answer that is taken or sent; 0: none */
	bool dnssec;       /* client: DO is set (RFC 3225) */
	bool recursion;    /* client: RD is set */
	bool any_answer;   /* client: an answer need only be well formed, not our server's */
	/*
	 * RFC 7873, with EDNS. Client, over UDP: it sends a cookie, and keeps the server's. Server, over
	 * UDP and TCP: it answers cookies
	 */
	bool cookies;
	bool cookies_required; /* server: BADCOOKIE answers a cookie over UDP that is not its own */
	bool fallback;         /* client, over UDP: what is truncated is asked again over TCP (RFC 7766, 5) */
	uint16_t pipeline;     /* client, over TCP: queries at a time on a connection; 0: 1 */
	uint16_t answers;      /* server: records in the answer to A, AAAA and TXT */
	uint32_t ttl;          /* server: seconds */
	uint16_t text;         /* server: bytes of text in each TXT record */
	/* server: its zone's name as labels; names outside are REFUSED. Empty: it answers every name */
	uint8_t zone[255];
	uint8_t zone_bytes;
	uint32_t nxdomain_ppm; /* server: millionths of the names that do not exist; the name decides */
	bool post;             /* client, over HTTPS: queries are bodies of POST, else in the path of GET */
	uint64_t idle_ns;      /* server, over TCP: without a query for so long it closes; 0: it does not */
};

/**
 * Payload bytes of a mean query of a client, and of our server's answer; 0: the questions are bad.
 * @param stream  over TCP, each behind its length
 */
void fg_l4_dns_sizes(const struct fg_l4_app *app, bool stream, double *query, double *answer);

__END_DECLS
