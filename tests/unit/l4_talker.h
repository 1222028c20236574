/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer that says what a test wants, byte by byte, over a few TCP connections and by datagrams, and an
 * application of lib/apps that receives it: a server, which it connects to, or a client, whose connections it
 * takes. Frames go from one to the other at once. For C and C++: tests and fuzzing use it.
 */
#ifndef L4_TALKER_H
#define L4_TALKER_H

#include <stdlib.h>

#include "app_priv.h"
#include "fg_pool.h"
#include "tcp_priv.h"

enum {
	TALKER_LINES = 8,
	TALKER_MOST = 1 << 19,
	TALKER_FRAME = 2048,
	TALKER_ROUNDS = 32,
	TALKER_CONNECTIONS = 64
};

/** A connection of the peer. */
struct talker_line {
	struct fg_stream *conn; /* NULL: closed */
	bool ended;
	uint32_t said, heard; /* bytes */
	uint8_t out[TALKER_MOST], in[TALKER_MOST];
};

struct talker {
	struct fg_app app; /* first */
	struct fg_app *apps[1];
	struct fg_l4 *own, *other;
	uint64_t now;
	struct talker_line line[TALKER_LINES];
	uint8_t datagram[TALKER_FRAME]; /* the last that came */
	uint32_t datagram_octets;
	uint16_t datagram_from; /* port */
	uint8_t memory[FG_BURST_ROOMS][TALKER_FRAME];
	struct fg_burst burst;
};

static inline struct talker *
talker_of(struct fg_l4 *w)
{
	return (struct talker *)w->app[0];
}

static inline struct talker_line *
talker_line_of(struct fg_l4 *w, const struct fg_stream *c)
{
	return &talker_of(w)->line[c->area[0]];
}

/* a client connects: the next line that is free */
static inline void
talker_take(struct fg_l4 *w, struct fg_stream *c)
{
	struct talker *t = talker_of(w);
	unsigned i = 0;

	while (i < TALKER_LINES - 1 && t->line[i].conn != NULL)
		i++;
	if (t->line[i].conn != NULL)
		fg_stream_abort(w, t->line[i].conn);
	memset(&t->line[i], 0, offsetof(struct talker_line, out));
	t->line[i].conn = c;
	c->area[0] = (uint8_t)i;
}

static void
talker_established(struct fg_l4 *w, struct fg_stream *c)
{
	if (conn_of(c)->flags & PASSIVE)
		talker_take(w, c);
}

static bool
talker_receive(struct fg_l4 *w, struct fg_stream *c, uint64_t offset, const uint8_t *data, uint32_t length,
	       bool early)
{
	struct talker_line *line = talker_line_of(w, c);

	for (uint32_t i = 0; i < length && offset + i < TALKER_MOST; i++)
		line->in[offset + i] = data[i];
	line->heard = fg_u32_max(line->heard, (uint32_t)offset + length);
	return true;
}

static void
talker_eof(struct fg_l4 *w, struct fg_stream *c)
{
	talker_line_of(w, c)->ended = true;
	fg_stream_close(w, c);
}

static void
talker_fill(struct fg_l4 *w, struct fg_stream *c, uint64_t offset, uint8_t *to, uint32_t length)
{
	memcpy(to, talker_line_of(w, c)->out + offset, length);
}

static void
talker_closed(struct fg_l4 *w, struct fg_stream *c, enum fg_l4_end end)
{
	if (talker_line_of(w, c)->conn != c)
		return;
	talker_line_of(w, c)->ended = true;
	talker_line_of(w, c)->conn = NULL;
}

static void
talker_timer(struct fg_l4 *w, struct fg_stream *c)
{
}

static bool
talker_datagram(struct fg_l4 *w, struct fg_app *app, const struct fg_flow *flow, const uint8_t *data,
		uint32_t length)
{
	struct talker *t = (struct talker *)app;

	t->datagram_octets = fg_u32_min(length, TALKER_FRAME);
	t->datagram_from = flow->remote_port;
	memcpy(t->datagram, data, t->datagram_octets);
	return true;
}

static const struct fg_app_ops talker_ops = {
	talker_established,
	talker_receive,
	NULL,
	NULL,
	talker_eof,
	NULL,
	NULL,
	talker_fill,
	NULL,
	talker_closed,
	talker_timer,
	NULL,
	talker_datagram,
};

/** How many things of a pool are in use. */
static inline uint32_t
talker_taken(const struct fg_pool *pool)
{
	uint32_t n = pool->fresh - 1;

	for (uint32_t i = pool->free; i != 0; memcpy(&i, pool->at + i * pool->size, sizeof(i)))
		n--;
	return n;
}

static inline struct fg_burst *
talker_rooms(struct talker *t)
{
	t->burst.rooms = FG_BURST_ROOMS;
	t->burst.frames = 0;
	t->burst.capacity = TALKER_FRAME;
	for (unsigned i = 0; i < FG_BURST_ROOMS; i++)
		t->burst.room[i] = t->memory[i];
	return &t->burst;
}

/* what stands in the burst goes to the other one; what that answers goes back in its turn */
static inline void
talker_carry(struct talker *t, struct fg_l4 *to)
{
	static uint8_t copy[FG_BURST_ROOMS][TALKER_FRAME];
	unsigned frames = t->burst.frames;
	uint16_t length[FG_BURST_ROOMS];

	for (unsigned i = 0; i < frames; i++) {
		length[i] = t->burst.length[i];
		memcpy(copy[i], t->memory[i], length[i]);
	}
	for (unsigned i = 0; i < frames; i++) {
		const struct fg_arrival in = {copy[i], length[i], t->now};

		to->endpoint.input(&to->endpoint, &in, 1, talker_rooms(t));
		if (t->burst.frames > 0)
			talker_carry(t, to == t->own ? t->other : t->own);
	}
	t->burst.frames = 0;
}

/** Both do what they have to do now. A server that sends without end is stopped after these rounds. */
static inline void
talker_settle(struct talker *t)
{
	for (unsigned i = 0, quiet = 0; i < TALKER_ROUNDS && quiet < 2; i++) {
		struct fg_l4 *from = i % 2 == 0 ? t->own : t->other;

		from->endpoint.poll(&from->endpoint, t->now, talker_rooms(t));
		quiet = t->burst.frames == 0 ? quiet + 1 : 0;
		talker_carry(t, i % 2 == 0 ? t->other : t->own);
	}
}

static inline void
talker_wait(struct talker *t, uint64_t ns)
{
	t->now += ns;
	talker_settle(t);
}

/* something is done that may send at once */
static inline void
talker_begin(struct talker *t)
{
	t->own->now = t->now;
	t->own->out = talker_rooms(t);
}

static inline struct fg_flow
talker_flow(uint16_t from, uint16_t to)
{
	static const uint8_t ours[4] = {198, 18, 0, 1}, theirs[4] = {198, 19, 0, 1};
	struct fg_flow f;

	memset(&f, 0, sizeof(f));
	f.local_port = from;
	f.remote_port = to;
	fg_address_of_ipv4(ours, f.local);
	fg_address_of_ipv4(theirs, f.remote);
	return f;
}

static inline void
talker_open(struct talker *t, unsigned i, uint16_t port)
{
	struct talker_line *line = &t->line[i];
	struct fg_flow f = talker_flow((uint16_t)(40000 + i), port);

	if (line->conn != NULL)
		return;
	talker_begin(t);
	memset(line, 0, offsetof(struct talker_line, out));
	line->conn = fg_stream_open(t->own, 0, &f);
	if (line->conn != NULL)
		line->conn->area[0] = (uint8_t)i;
	talker_settle(t);
}

static inline void
talker_say(struct talker *t, unsigned i, const void *data, size_t octets)
{
	struct talker_line *line = &t->line[i];

	if (line->conn == NULL || line->said + octets > TALKER_MOST || line->conn->ended)
		return;
	talker_begin(t);
	memcpy(line->out + line->said, data, octets);
	line->said += (uint32_t)octets;
	fg_stream_write(t->own, line->conn, octets);
	talker_settle(t);
}

static inline void
talker_close(struct talker *t, unsigned i, bool reset)
{
	struct fg_stream *c = t->line[i].conn;

	if (c == NULL)
		return;
	talker_begin(t);
	if (reset)
		fg_stream_abort(t->own, c);
	else
		fg_stream_close(t->own, c);
	talker_carry(t, t->other);
	talker_settle(t);
}

static inline void
talker_send(struct talker *t, uint16_t from, uint16_t port, const void *data, size_t octets)
{
	struct fg_flow f = talker_flow(from, port);

	talker_begin(t);
	memcpy(fg_datagram_room(t->own, false), data, octets);
	fg_datagram_send(t->own, &f, (uint32_t)octets);
	talker_carry(t, t->other);
	talker_settle(t);
}

/** @param app  what is to hear it, at 198.19.0.1; its addresses are written here. @return NULL: no memory */
static inline struct talker *
talker_create(struct fg_l4_app *app, uint16_t mtu)
{
	struct talker *t = (struct talker *)calloc(1, sizeof(*t));
	struct fg_l4_config config;

	if (t == NULL)
		return NULL;
	memset(&config, 0, sizeof(config));
	config.connections = TALKER_CONNECTIONS;
	config.seed = 1;
	config.mtu = mtu;
	config.max_lag_ns = 1000000;
	app->locals = app->remotes = app->connections = 1;
	app->port_first = 10000;
	app->port_last = 60000;
	memcpy(app->local, "\xc6\x13\0\1", 4);
	memcpy(app->remote, "\xc6\x12\0\1", 4);
	fg_l4_tcp_defaults(&app->tcp);
	app->tcp.nodelay = true;
	if (fg_l4_worker_create(&config, &t->own, NULL) != 0 ||
	    fg_l4_create(&config, 1, app, &t->other, NULL) != 0 ||
	    fg_l4_schedule(t->other, 1, UINT64_MAX / 2, 0, 0, NULL) != 0)
		abort();
	t->app.ops = &talker_ops;
	t->app.tcp = app->tcp;
	t->app.locals = 1;
	t->app.port = app->port;
	t->app.listens = !app->server;
	t->app.udp = true;
	fg_address_of_ipv4((const uint8_t *)"\xc6\x12\0\1", t->app.local);
	t->apps[0] = &t->app;
	t->own->app = t->apps;
	t->own->apps = 1;
	t->now = 1000000000;
	talker_settle(t);
	return t;
}

static inline void
talker_free(struct talker *t)
{
	t->own->app = NULL;
	fg_l4_worker_free(t->own);
	fg_l4_free(t->other);
	free(t);
}

#endif
