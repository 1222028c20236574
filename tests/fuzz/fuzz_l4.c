/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The TCP and UDP engine against a peer that says anything. The worker has a listening application and a
 * client that opens connections; the input is a train of actions, each behind a byte that names it:
 * a raw frame, a segment whose checksums and distance from the expected numbers make it plausible, time that
 * passes, or something that an application does. What must hold: no read or write out of bounds, no more
 * connections than allowed, sets of ranges that stay sorted, and no acknowledged byte that nobody has.
 */
#include <stdlib.h>

#include "fuzz_input.h"
#include "app_priv.h"
#include "tcp_priv.h"

enum { CONNECTIONS = 16, PORTS = 4, MTU = 600, LONGEST = 700 };
enum action { RAW, SEGMENT, TIME, OPEN, WRITE, CLOSE, ABORT, ACTIONS };

static struct fg_l4 *w;
static struct fg_app app;
static struct fg_app *apps[] = {&app};
static uint8_t memory[FG_BURST_ROOMS][MTU + FG_ETHER_HEADER];
static struct fg_burst burst;
static uint64_t now;
static uint64_t taken[CONNECTIONS + 1]; /* by connection: bytes that the application has used, early or not */

static void
established(struct fg_l4 *worker, struct fg_stream *c)
{
	taken[fg_stream_number(worker, c)] = 0;
}

static void
ignore(struct fg_l4 *worker, struct fg_stream *c)
{
}

static bool
receive(struct fg_l4 *worker, struct fg_stream *c, uint64_t offset, const uint8_t *data, uint32_t length,
	bool early)
{
	/* every byte is looked at, so that the sanitizer sees those that are not there */
	worker->counters.wrong_octets += payload_wrong(0, offset, data, length);
	/* refused: some of what is early, and in each fourth quarter of a second all but the first byte */
	if (early ? length % 7 == 0 : offset != 0 && worker->now / 250000000 % 4 == 0)
		return false;
	taken[fg_stream_number(worker, c)] += length;
	return true;
}

static void
fill(struct fg_l4 *worker, struct fg_stream *c, uint64_t offset, uint8_t *to, uint32_t length)
{
	payload_fill(0, offset, to, length);
}

static void
closed(struct fg_l4 *worker, struct fg_stream *c, enum fg_l4_end end)
{
}

static bool
datagram(struct fg_l4 *worker, struct fg_app *a, const struct fg_flow *flow, const uint8_t *data,
	 uint32_t length)
{
	return flow->local_port == 7 && payload_wrong(0, 0, data, length) == 0;
}

static const struct fg_app_ops ops = {
	.established = established,
	.receive = receive,
	.eof = ignore,
	.fill = fill,
	.closed = closed,
	.timer = ignore,
	.datagram = datagram,
};

static struct fg_burst *
rooms(void)
{
	burst.frames = 0;
	return &burst;
}

static void
verify(const struct ranges *set)
{
	for (uint32_t i = 0; set != NULL && i < set->count; i++) {
		check(seq_lt(set->at[i].from, set->at[i].to));
		check(i == 0 || seq_lt(set->at[i - 1].to, set->at[i].from));
	}
}

/* the application has used what is acknowledged, or the blocks, which are in order, have it */
static void
verify_kept(uint32_t number, const struct conn *c)
{
	const struct ranges *held = held_of(w, c);
	uint32_t from = c->rcv_nxt - unread(w, c), at = from, kept = 0, has = unread(w, c);

	for (uint32_t i = held == NULL ? 0 : held->kept; i != 0; i = kept_at(w, i)->next) {
		uint32_t begin = kept_at(w, i)->seq, end = begin + kept_at(w, i)->length;

		if (seq_le(end, from))
			continue;
		begin = seq_lt(begin, from) ? from : begin;
		check(seq_le(at, begin));
		check(seq_le(end, c->rcv_nxt) || seq_le(c->rcv_nxt, begin));
		check(seq_lt(begin, c->rcv_nxt) || ranges_missing(held, begin, end) == 0);
		kept += end - begin;
		at = end;
	}
	for (uint32_t i = 0; held != NULL && i < held->count; i++)
		has += held->at[i].to - held->at[i].from;
	check(taken[number] + kept >= c->stream.received + has);
}

static void
verify_all(void)
{
	check(own(w)->open <= CONNECTIONS);
	for (uint32_t i = 1; i < own(w)->fresh; i++) {
		const struct conn *c = &own(w)->conn[i];

		if (c->state == CLOSED)
			continue;
		check(seq_le(c->snd_una, c->snd_nxt) && seq_le(c->rcv_nxt, c->rcv_edge));
		check(!(c->flags & UNREAD) ||
		      (c->holding != 0 && unread(w, c) > 0 && held_of(w, c)->kept != 0));
		if (c->loss != 0)
			verify(&loss_of(w, c)->has);
		verify(held_of(w, c));
		if (c->state >= ESTABLISHED && c->state != TIME_WAIT)
			verify_kept(i, c);
	}
}

static void
raw(void)
{
	size_t length = (size_t)octet() * 3;
	uint8_t *copy;

	length = length > input_left ? input_left : length;
	copy = malloc(length + 1);
	check(copy != NULL);
	memcpy(copy, input, length);
	input += length;
	input_left -= length;
	w->endpoint.input(&w->endpoint, &(struct fg_arrival){copy, length, now}, 1, rooms());
	free(copy);
}

static struct fg_flow
flow_of(uint8_t which)
{
	struct fg_flow f = {.local_port = which & 1 ? 80 : 5000, .remote_port = which & 1 ? 5000 : 80};
	static const uint8_t ours[4] = {198, 18, 0, 1}, theirs[4] = {198, 19, 0, 1};

	f.local_port = (uint16_t)(f.local_port + (which & 1 ? 0 : which / 2 % PORTS));
	f.remote_port = (uint16_t)(f.remote_port + (which & 1 ? which / 2 % PORTS : 0));
	fg_address_of_ipv4(ours, f.local);
	fg_address_of_ipv4(theirs, f.remote);
	return f;
}

/* near a number that the connection cares about */
static uint32_t
near(uint32_t number)
{
	uint8_t far = octet();

	return number + (uint32_t)(int8_t)octet() * (far < 128 ? 1U : far < 250 ? 100U : 1U << 24);
}

/* segments come in as they would from read: the reading itself is what raw frames are for */
static void
segment(void)
{
	struct segment s = {.protocol = 6, .flow = flow_of(octet())};
	const struct conn *c = table_find(w, &s.flow, s.hash = table_hash(w, &s.flow));
	uint8_t *payload;

	s.flags = octet();
	s.ecn = octet() & 3;
	s.seq = near(c == NULL ? 1000 : c->rcv_nxt);
	s.ack = near(c == NULL ? 0 : octet() & 1 ? c->snd_nxt : c->snd_una);
	s.window = (uint16_t)(octet() * 257);
	s.length = octet() * 2U;
	s.has_ts = octet() & 1;
	s.tsval = near(c == NULL ? 0 : c->ts_recent);
	s.tsecr = now_ms(w) + ts_offset_of(w, s.hash) - octet();
	s.has_mss = s.has_scale = s.sack_permitted = s.flags & TCP_SYN;
	s.mss = (uint16_t)(octet() * 8);
	s.scale = octet() % 15;
	for (s.sacks = octet() % 8; s.sacks > MAX_SACKS; s.sacks--)
		continue;
	for (unsigned i = 0; i < s.sacks; i++) {
		s.sack[i].from = near(c == NULL ? 0 : c->snd_una);
		s.sack[i].to = near(s.sack[i].from);
	}
	payload = malloc(s.length + 1);
	check(payload != NULL);
	memset(payload, 0, s.length + 1);
	s.payload = payload;
	w->now = now;
	w->out = rooms();
	tcp_input(w, &s);
	free(payload);
}

static void
act(enum action action)
{
	struct fg_flow f = flow_of(octet());
	struct conn *c = table_find(w, &f, table_hash(w, &f));

	w->now = now;
	w->out = rooms();
	if (action == OPEN)
		fg_stream_open(w, 0, &f);
	else if (c == NULL || c->state == TIME_WAIT || c->stream.ended)
		return;
	else if (action == WRITE)
		fg_stream_write(w, &c->stream, octet() * 16U);
	else if (action == CLOSE)
		fg_stream_close(w, &c->stream);
	else
		fg_stream_abort(w, &c->stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fg_l4_config config = {
		.connections = CONNECTIONS, .seed = 1, .mtu = MTU, .max_lag_ns = 1000000};

	input = data;
	input_left = size;
	now = 1000000000;
	app = (struct fg_app){.ops = &ops, .listens = true, .locals = 1, .port = 80};
	fg_l4_tcp_defaults(&app.tcp);
	app.tcp.ecn = octet() & 1;
	app.tcp.keepalive_ms = octet() & 1 ? 100 : 0;
	app.tcp.congestion = octet() & 1;
	app.local[10] = app.local[11] = 0xff;
	memcpy(app.local + 12, "\xc6\x12\0\x01", 4);
	check(fg_l4_worker_create(&config, &w, NULL) == 0);
	payload_init();
	w->app = apps;
	w->apps = 1;
	burst.rooms = FG_BURST_ROOMS;
	burst.capacity = sizeof(memory[0]);
	for (unsigned i = 0; i < FG_BURST_ROOMS; i++)
		burst.room[i] = memory[i];
	w->endpoint.poll(&w->endpoint, now, rooms());
	while (input_left > 0) {
		enum action action = octet() % ACTIONS;

		if (action == RAW)
			raw();
		else if (action == SEGMENT)
			segment();
		else if (action == TIME)
			now += (uint64_t)octet() * octet() * octet() * 1000;
		else
			act(action);
		w->endpoint.poll(&w->endpoint, now, rooms());
		verify_all();
	}
	w->app = NULL;
	fg_l4_worker_free(w);
	return 0;
}
