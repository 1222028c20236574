/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the applications share. Each kind is a `struct app_kind` in a file of its own, found by the list in
 * meson.build (kinds.c.in); nothing else knows how many there are. An application is opened for (client) or
 * listens (server); what its streams and datagrams do is up to its kind.
 *
 *   registry.c  kinds by name; applications made and freed
 *   schedule.c  start and stop, the counts at those moments, results
 *   patience.c  what gets no answer
 *   client.c    what clients have in common: flows, ramps, rates, pauses
 *   requests.c  requests in datagrams and their answers: a slot for each
 *   fields.c    fields of HTTP/2 and HTTP/3, and what is wrong with a response
 *   page.c      pages: which object may be asked for, and what has come
 *   payload.c   what is sent
 */
#pragma once

#include <math.h>

#include "fg_bytes.h"
#include "fg_l4_app.h"
#include "fg_metric.h"
#include "fg_quic_layer.h"
#include "fg_random.h"
#include "fg_secure_layer.h"
#include "fg_stream.h"

/* of the bytes that each side sends; see payload.c */
enum { CLIENT_STREAM = 11, SERVER_STREAM = 7919 };
/* lateness at which a datagram is still on schedule: see note_departure() */
enum { ON_TIME_GAPS = 32, ON_TIME_NS = 100000 };

struct application;
struct page;
struct silence;

/** A kind of application. What is NULL or 0 is not needed. */
struct app_kind {
	const char *name;
	bool streams, datagrams; /* what its server takes */
	bool echo;               /* and its ends: echo requests and replies */
	bool secures;            /* its streams may go through TLS, and those with place() through QUIC */
	bool pages;              /* its client may load a page */
	bool gathers;            /* as of struct fg_app */
	bool resets_at_once;     /* as of struct fg_app */
	size_t size;             /* of its own struct, which begins with struct application */
	const struct fg_app_ops *client, *server;
	const char *own[FG_L4_OWN_SUMS]; /* names of tally.own */
	/**
	 * Of a client: answers that a stream waits for now. With @p note, which may be NULL, call it for each
	 * with the time since which it waits. NULL: its streams are not given up (patience.c).
	 */
	uint32_t (*waits)(struct fg_l4 *w, const struct fg_stream *s,
			  void (*note)(struct fg_l4 *w, struct application *a, uint64_t since));
	/** A stream's data waits for windows no longer than until now. NULL: it never does. */
	void (*note_unblocked)(struct fg_l4 *w, struct fg_stream *s);
	int (*check)(const struct fg_l4_app *config, uint32_t mtu, struct fg_error *err);
	/** Of a client: bytes of a request and of its response, heads and bodies. */
	void (*octets)(const struct fg_l4_app *config, uint32_t *request, uint32_t *response);
	int (*create)(struct application *a, struct fg_error *err);
	/** Another application of the kind was made before. */
	void (*join)(struct application *a, struct application *other);
	void (*free)(struct application *a);
	void (*read)(const struct application *a, struct fg_l4_result *out);
};

/** All files of kinds, each with a list that ends with NULL. */
extern const struct app_kind *const *const app_kinds[];

/** What is known at the boundary of two intervals. */
struct snapshot {
	struct fg_l4_tally tally;
	uint64_t retransmitted, line_octets;
	uint32_t open;
	struct fg_stream_sample sample;
};

struct application {
	struct fg_app base; /* first */
	struct fg_l4_app config;
	const struct app_kind *kind;
	struct fg_histogram *setup, *transaction, *first_octet, *last_octet;
	struct page *page;         /* that a client loads; NULL: none */
	uint32_t room;             /* connections that the worker has room for */
	uint64_t random;           /* state of fg_random_next() */
	struct snapshot *snapshot; /* at start + omit, then at each interval's end */
	/* connections of its clients' own in addition to the ramp's: opened so far, and now */
	uint64_t beside_opened;
	uint32_t beside_open;
	bool stopped;
	uint32_t to_close, closed; /* of the ramp down */
	uint64_t next_flow;
	uint64_t first_at, last_at; /* payload in order, ns */
	/* patience.c: by the number of a stream; when to look again, and at which */
	struct silence *silence;
	size_t silences;
	uint64_t look_at, handshake_ns;
	uint32_t look_from;
	bool look_again;                /* there was no room to reset all */
	bool gives_up;                  /* a stream is being reset, and what it waited for is counted */
	uint64_t outstanding, at_least; /* answers that are waited for at the end; times that are no less */
	/* datagrams that left late, or were left out: see note_departure() */
	uint64_t off_schedule, lag_max_ns;
	uint64_t flow_blocked_ns[FG_L4_WINDOWS], hol_ns;
};

static inline struct application *
application_of(const struct fg_l4 *w, const struct fg_stream *s)
{
	return (struct application *)w->app[s->app];
}

/** The state of a client's stream; each kind's own struct begins with it. */
struct client_stream {
	uint64_t since; /* when what is being measured began */
};

static inline struct client_stream *
client_of(const struct fg_stream *s)
{
	return (struct client_stream *)(uintptr_t)s->area;
}

/** Record the time since @p since, if it is within the measured time. */
static inline void
note_time(const struct fg_l4 *w, struct fg_histogram *h, uint64_t since)
{
	if (fg_l4_is_measured(w))
		fg_histogram_record(h, (int64_t)(w->now - since));
}

/** The connection is there; through a layer, that below. */
static inline void
note_connected(struct fg_l4 *w, struct fg_stream *s)
{
	note_time(w, application_of(w, s)->setup, client_of(s)->since);
}

/** The handshake is over. Through a layer, the connection's own has been noted before. */
static inline void
note_setup(struct fg_l4 *w, struct fg_stream *s)
{
	if (application_of(w, s)->base.layer == NULL)
		note_connected(w, s);
}

static inline void
note_transaction(struct fg_l4 *w, struct fg_stream *s)
{
	application_of(w, s)->base.tally.transactions++;
	note_time(w, application_of(w, s)->transaction, client_of(s)->since);
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

/** Jitter by RFC 3550, 6.4.1; ns. */
struct jitter {
	uint64_t transit; /* of the datagram before */
	double mean;
	bool seen;
};

/** A datagram arrived with this delay, by clocks that need not agree. */
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
 * Datagrams due by now, @p gap ns apart; 0: as fast as possible. Those late by more than max_lag are left
 * out. @return their number
 */
static inline uint64_t
pace_catch_up(const struct fg_l4 *w, double *next_at, uint64_t begin, double gap)
{
	double oldest = (double)w->now - (double)w->config.max_lag_ns, left_out;

	if (*next_at < (double)begin)
		*next_at = (double)begin;
	if (*next_at >= oldest)
		return 0;
	left_out = gap == 0 ? 0 : ceil((oldest - *next_at) / gap);
	*next_at = gap == 0 ? (double)w->now : *next_at + left_out * gap;
	return (uint64_t)left_out;
}

/** A datagram was sent; @p gap ns to the next, 0: as fast as possible. */
static inline void
pace_next(const struct fg_l4 *w, double *next_at, double gap)
{
	*next_at = gap == 0 ? (double)w->now : *next_at + gap;
}

/**
 * A datagram that was due at @p due leaves, @p gap ns after the one before. Together with those that came
 * due meanwhile a late one is a burst that nobody ordered: counted as of streams of frames (fg_pace.h), where
 * what a fraction of a millisecond or less than a gap puts together is on schedule.
 */
static inline void
note_departure(const struct fg_l4 *w, struct application *a, double due, double gap)
{
	const double lag = (double)w->now - due, on_time = fmax(gap, fmin(ON_TIME_GAPS * gap, ON_TIME_NS));

	if (gap == 0 || lag <= 0)
		return;
	if (lag > (double)a->lag_max_ns)
		a->lag_max_ns = (uint64_t)lag;
	a->off_schedule += lag > on_time;
}

/** A window of the peer is closed and blocks data since *since; 0: not blocked. */
static inline void
note_blocked(const struct fg_l4 *w, uint64_t *since)
{
	if (*since == 0)
		*since = w->now;
}

/** The part of a time that is within the measured time. */
static inline uint64_t
measured_part(const struct fg_l4 *w, uint64_t from, uint64_t to)
{
	from = from > w->measure_from ? from : w->measure_from;
	to = to < w->stop_at ? to : w->stop_at;
	return to > from ? to - from : 0;
}

/** The window no longer blocks data. */
static inline void
note_unblocked(const struct fg_l4 *w, struct application *a, enum fg_l4_window which, uint64_t *since)
{
	if (*since != 0)
		a->flow_blocked_ns[which] += measured_part(w, *since, w->now);
	*since = 0;
}

/* patience.c */
/** @return false: there is no memory */
bool patience_create(struct application *a);
void patience_free(struct application *a);
/** A request without a response since then: record this time as a lower bound of its transaction. */
void note_unanswered(struct fg_l4 *w, struct application *a, uint64_t since);
/** @return when to look again */
uint64_t patience_poll(struct fg_l4 *w, struct application *a);

/* client.c */
/** The next flow of a client, in turn through addresses and ports; the flow with a number. */
void next_flow(struct application *a, struct fg_flow *f);
void flow_at(const struct application *a, uint64_t number, struct fg_flow *f);
/** Address number @p i of a range. */
static inline void
address_at(const struct fg_l4_app *config, const uint8_t first[16], uint32_t i, uint8_t out[16])
{
	uint32_t last;

	if (config->ipv6)
		memcpy(out, first, 16);
	else
		fg_address_of_ipv4(first, out);
	memcpy(&last, out + 12, 4);
	last = htonl(ntohl(last) + i);
	memcpy(out + 12, &last, 4);
}
/** Open a connection that was due at @p at. @return NULL: no port or no room */
struct fg_stream *client_open(struct fg_l4 *w, struct application *a, uint64_t at);
/** Open as many connections as the ramp allows. @return time of the next poll */
uint64_t client_poll(struct fg_l4 *w, struct fg_app *app);
/**
 * The same, and what each connection sends at fg_l4_app.flood_per_s besides: @p visit() sends one and counts
 * it in @p sent, or leaves it out where there is no room. @p at: when the next is due, ns
 */
uint64_t client_flood(struct fg_l4 *w, struct fg_app *app, double *at, const uint64_t *sent,
		      void (*visit)(struct fg_l4 *w, struct fg_stream *s));
/**
 * The first byte of the first response has come; the last byte. For pages see page_first() and page_over().
 */
void note_first_octet(const struct fg_l4 *w, const struct fg_stream *s);
void note_last_octet(const struct fg_l4 *w, const struct fg_stream *s);
/** Close the connection, and wait for its end. */
void client_close(struct fg_l4 *w, struct fg_stream *s);
/** A response is whole and @p requests of the connection were sent: is there to be another, and when? */
void next_request(struct fg_l4 *w, struct fg_stream *s, uint64_t requests, bool last,
		  void (*send)(struct fg_l4 *w, struct fg_stream *s));

/** Write the last request, and with it the FIN of a half-closed connection. */
void write_last(struct fg_l4 *w, struct fg_stream *s, uint64_t octets);

/* schedule.c */
void take_snapshots(struct fg_l4 *w);

/* HTTP */
/** The status of a response whose body is known. */
static inline uint32_t
usual_status(const struct fg_l4_app *config)
{
	return config->range != NULL ? 206 : 200;
}

static inline bool
status_is_good(const struct fg_l4_app *config, uint32_t status)
{
	if (config->statuses[0] == 0)
		return status == usual_status(config);
	for (unsigned i = 0; i < FG_L4_STATUSES; i++)
		if (config->statuses[i] == status)
			return status != 0;
	return false;
}

/* payload.c */
void payload_init(void);
/** Bytes from @p offset of the stream @p seed. At most 65535. */
void payload_fill(uint32_t seed, uint64_t offset, uint8_t *to, uint32_t length);
/** The payload of a message: first bytes of @p head, then the stream's. */
void payload_fill_behind(const char *head, uint32_t head_length, uint32_t seed, uint64_t position,
			 uint8_t *to, uint32_t length);
/** @return number of bytes that differ from the expected ones */
uint32_t payload_wrong(uint32_t seed, uint64_t offset, const uint8_t *data, uint32_t length);
/**
 * fill() and receive() where all that a side sends is such bytes; of the server also the time of the first.
 */
void fill_by_client(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t *to, uint32_t length);
void fill_by_server(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint8_t *to, uint32_t length);
const uint8_t *place_of_client(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint32_t length,
			       uint32_t *together);
const uint8_t *place_of_server(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, uint32_t length,
			       uint32_t *together);
bool receive_of_client(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data,
		       uint32_t length, bool early);
bool receive_of_server(struct fg_l4 *w, struct fg_stream *s, uint64_t offset, const uint8_t *data,
		       uint32_t length, bool early);

/*
 * Of struct fg_app_ops, what clients and servers do that send such bytes alone, and close when the peer
 * does.
 */
#define PLAIN_CLIENT                                                                    \
	.receive = receive_of_server, .fill = fill_by_client, .place = place_of_client, \
	.eof = fg_stream_close, .poll = client_poll, .connected = note_connected
#define PLAIN_SERVER .receive = receive_of_client, .fill = fill_by_server, .place = place_of_server
