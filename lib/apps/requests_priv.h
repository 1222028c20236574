/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients that send requests in datagrams and wait for their answers, a fixed number at a time. A request
 * has a slot, and a slot has a port of ours, or an identifier of echo. It waits for its answer in a list in
 * order of time, so the first of the list is the first to expire. A kind says what a request is and what
 * answers it; the rest is here.
 *
 * In a closed loop the next request of a slot follows its answer. With a rate (fg_l4_app.requests_per_s)
 * requests are due at times that do not depend on answers, and count from these; each takes the slot that
 * has been idle longest. What is due while none is idle waits, and is left out after max_lag.
 */
#pragma once

#include "app_priv.h"

/** A request that waits for its answer, or an idle place for one. */
struct slot {
	uint32_t next, previous;
	uint64_t number;  /* how many requests were sent from here; 0: none */
	uint64_t sent_at; /* or when it was due; 0: it has been answered, or has expired */
	uint64_t idle_since;
	bool expired;
};

/** The client of a kind of requests. */
struct requests {
	struct application app; /* first */
	struct slot *slot;
	double next_at; /* with a rate, ns: when the next is due */
};

int requests_create(struct application *a, struct fg_error *err);
void requests_free(struct application *a);

/** What one kind of requests does differently from another. */
struct request_ops {
	/** Write request @p number, from 1, of slot @p slot, from 0. @return its bytes */
	uint32_t (*write)(const struct application *a, uint32_t slot, uint64_t number, uint8_t *to);
	/** Bytes at its beginning that stay the same until it is answered. NULL: all */
	uint32_t (*fixed)(const struct application *a, uint32_t slot, uint64_t number);
	/** Send it. NULL: over UDP */
	void (*send)(struct fg_l4 *w, struct application *a, const struct fg_flow *flow, uint32_t slot,
		     uint64_t number, uint32_t length);
	/** Is this the answer to request @p number, and not to one before it? */
	bool (*is_answer)(struct fg_l4 *w, struct application *a, uint32_t slot, uint64_t number,
			  const uint8_t *data, uint32_t length);
	/** This came while the slot waited for nothing. NULL: of no interest */
	void (*stray)(struct application *a, uint32_t slot, uint64_t number, bool expired,
		      const uint8_t *data, uint32_t length);
	/** Is the header that ICMP quotes, as an answer has it, of request @p number? NULL: no header */
	bool (*quotes)(uint64_t number, const uint8_t *quoted);
	uint32_t header;     /* bytes at the beginning of an answer that are no payload */
	uint32_t unexpected; /* in tally.own: from another address; 0: of no interest */
};

/** poll() and datagram() of such a client. */
uint64_t requests_poll(struct fg_l4 *w, struct fg_app *app, const struct request_ops *ops);
bool requests_datagram(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *data,
		       uint32_t length, const struct request_ops *ops);

/**
 * unreachable() of such a client: the request has failed, and its slot is free at once. What is quoted
 * must be the request that the slot waits for, and not one before it: where its payload is cut off, by the
 * checksum.
 */
bool requests_unreachable(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow,
			  const uint8_t *quoted, uint32_t length, const struct request_ops *ops);

/** The answer of a slot asks for the request once more, with other bytes. @return false: there is no room */
bool requests_send_again(struct fg_l4 *w, struct application *a, uint32_t slot, uint64_t number,
			 const struct request_ops *ops);

/** Does slot @p slot wait for the answer to its request @p number? */
bool requests_waits(struct application *a, uint32_t slot, uint64_t number);
/** That answer came another way. @return false: the slot does not wait for it */
bool requests_answered(struct fg_l4 *w, struct application *a, uint32_t slot, uint64_t number,
		       const struct request_ops *ops);

/** A server has written @p out bytes that answer a datagram of @p in bytes; send and count them. */
static inline void
requests_answer(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, uint32_t in, uint32_t out)
{
	fg_datagram_send(w, flow, out);
	app->tally.datagrams_in++;
	app->tally.datagram_octets_in += in;
	app->tally.datagrams_out++;
	app->tally.transactions++;
}

/** Payload of the largest datagram, behind the headers of IP and UDP. */
static inline uint32_t
datagram_most(uint32_t mtu, bool ipv6)
{
	return mtu - (ipv6 ? 48U : 28U);
}

/** check() of datagrams of this many bytes. */
int datagrams_check(const struct fg_l4_app *config, uint32_t octets, uint32_t mtu, struct fg_error *err);
