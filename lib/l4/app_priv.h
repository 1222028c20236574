/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the applications share. An application is opened for (client) or listens (server); what its connections do is
 * up to its kind, in app_tcp.c and app_udp.c.
 */
#ifndef APP_PRIV_H
#define APP_PRIV_H

#include <math.h>

#include "fg_l4_app.h"
#include "fg_metric.h"
#include "http_priv.h"
#include "tcp_priv.h"

/* of the octets that each side sends; see payload.c */
enum { CLIENT_STREAM = 11, SERVER_STREAM = 7919 };

/** What is known at the boundary of two intervals. */
struct mark {
	struct fg_l4_tally tally;
	uint64_t retransmitted;
	uint32_t open;
	uint32_t sampled, cwnd, window, flight, rtt_us; /* as in struct fg_l4_interval */
};

/** Jitter by RFC 3550, 6.4.1; ns. */
struct jitter {
	uint64_t transit; /* of the datagram before */
	double mean;
	bool seen;
};

struct udp_stream {
	struct fg_sequence *sequence;
	struct jitter jitter;
};

/** A request over UDP that waits for its answer; idle or waiting, in a list in order of time. */
struct udp_slot {
	uint32_t next, previous;
	uint64_t number;
	uint64_t sent_at;
};

struct iperf;

struct application {
	struct app base; /* first */
	struct fg_l4_app config;
	struct fg_histogram *setup, *transaction, *first_octet, *last_octet;
	const uint8_t *file; /* SENDFILE: mapped */
	size_t file_octets;
	uint64_t random;   /* state of draw() */
	struct mark *mark; /* at start + omit, then at each interval's end */
	bool stopped;
	uint64_t next_flow;
	double next_at;             /* ns: when the next datagram is due */
	uint64_t first_at, last_at; /* payload in order, ns */
	char *request;              /* HTTP: head of each */
	uint32_t request_head;
	struct http_seen seen; /* what the peers send */
	struct iperf *iperf;
	bool joined; /* that is another's */
	struct udp_stream *stream;
	struct udp_slot *slot;
	uint64_t sent; /* datagrams of all streams */
};

static inline struct application *
application_of(const struct fg_l4 *w, const struct conn *c)
{
	return (struct application *)w->app[c->app];
}

/** Record how long it took since @p since, if it is part of the figures. */
static inline void
note_time(const struct fg_l4 *w, struct fg_histogram *h, uint64_t since)
{
	if (is_measured(w))
		fg_histogram_record(h, (int64_t)(w->now - since));
}

/** Numbers in network order. */
static inline uint64_t
get_number(const uint8_t *p, unsigned octets)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < octets; i++)
		v = v << 8 | p[i];
	return v;
}

static inline void
put_number(uint8_t *p, uint64_t v, unsigned octets)
{
	while (octets-- > 0) {
		p[octets] = (uint8_t)v;
		v >>= 8;
	}
}

/** A datagram came that was under way so long; by clocks that need not agree. */
static inline void
note_jitter(struct jitter *j, uint64_t transit)
{
	int64_t d = (int64_t)(transit - j->transit);

	if (j->seen)
		j->mean += ((double)(d < 0 ? -d : d) - j->mean) / 16;
	j->transit = transit;
	j->seen = true;
}

/**
 * Datagrams that are due at times of their own, @p gap ns from one to the next; 0: as fast as it goes. Those that are
 * late by more than max_lag are left out.
 */
static inline void
pace_catch_up(const struct fg_l4 *w, double *next_at, uint64_t begin, double gap)
{
	double oldest = (double)w->now - (double)w->config.max_lag_ns;

	if (*next_at < (double)begin)
		*next_at = (double)begin;
	if (*next_at < oldest)
		*next_at = gap == 0 ? (double)w->now : *next_at + ceil((oldest - *next_at) / gap) * gap;
}

/** One was sent; @p gap ns to the next, 0: as fast as it goes. */
static inline void
pace_next(const struct fg_l4 *w, double *next_at, double gap)
{
	*next_at = gap == 0 ? (double)w->now : *next_at + gap;
}

extern const struct app_ops stream_client, stream_server, maerts_client, maerts_server, sendfile_client,
	sendfile_server, iperf_client, iperf_server, rr_client, rr_server, crr_client, cc_client, cc_server,
	http_client, http_server, udp_stream_client, udp_stream_server, udp_rr_client, udp_rr_server;

/** The next flow of a client that is free, by turns through addresses and ports. */
void next_flow(const struct fg_l4 *w, struct application *a, struct flow *f);
/** Open as many as the ramp allows. @return when there will be more to do */
uint64_t client_poll(struct fg_l4 *w, struct app *app);
/** When a connection of a client was opened, or should have been; to a microsecond, for up to an hour. */
uint64_t opened_at(const struct fg_l4 *w, const struct conn *c);
/** The first octet of the first response is here; the last is. */
void note_first_octet(const struct fg_l4 *w, const struct conn *c);
void note_last_octet(const struct fg_l4 *w, const struct conn *c);
/** A response is whole and @p requests of the connection were sent: is there to be another, and when? */
void next_request(struct fg_l4 *w, struct conn *c, uint64_t requests, bool last,
		  void (*send)(struct fg_l4 *w, struct conn *c));
int file_map(struct application *a, struct fg_error *err);
void file_unmap(struct application *a);
/** Octets of the file from @p offset on; it begins again behind its end. */
void file_fill(const struct application *a, uint64_t offset, uint8_t *to, uint32_t length);
/** @return how many octets differ from the file's */
uint32_t file_wrong(const struct application *a, uint64_t offset, const uint8_t *data, uint32_t length);
/** What is known of a message that is being read, from the connection and two @p words, and back. */
void http_load(const struct conn *c, uint64_t words, struct http_head *h);
uint64_t http_store(struct conn *c, const struct http_head *h);
/** Part of a message of a head and a body of the stream's octets. */
void http_fill(const char *head, uint32_t head_length, uint32_t stream, uint64_t position, uint8_t *to,
	       uint32_t length);
void http_nothing(struct fg_l4 *w, struct conn *c);
void http_closed(struct fg_l4 *w, struct conn *c, enum fg_l4_end end);
/** Octets of our server's response with such a body. */
uint32_t http_response_octets(uint32_t body);
int http_create(struct application *a, struct fg_error *err);
int iperf_create(struct application *a, struct fg_error *err);
/** A server at the same port as another one's, for the other IP version, is one with it: there is one test at a time. */
void iperf_join(struct application *a, struct application *other);
void iperf_free(struct application *a);
int udp_create(struct application *a, struct fg_error *err);
void udp_free(struct application *a);
void udp_read(const struct application *a, struct fg_l4_result *out);

/* schedule.c */
void schedule_pass(struct fg_l4 *w);

#endif
