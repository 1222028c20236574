/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Either role of iperf3 against a peer that says anything; the first byte says which test and role. Then
 * comes a train of actions, each behind a byte that names it: bytes on a connection, the cookie, a
 * connection opened, closed or reset, a datagram, time that passes, an order of control. Control gives orders
 * as it may, at any moment. What must hold: nothing is read or written out of bounds, what the server keeps
 * stays bounded, and in the end a server serves an ordinary client.
 */
#include <stdlib.h>

#include "fuzz_input.h"
#include "fg_l4_iperf.h"
#include "l4_talker.h"

enum { PORT = 5201, MTU = 1500, CONTROL = 0, LONGEST = 255 };
enum action { OPEN, SAY, COOKIE, SEND, ORDER, CLOSE, RESET, DATAGRAM, TIME, ACTIONS };

static const char cookie[FG_L4_IPERF_COOKIE] = "abcdefghijklmnopqrstuvwxyz2345672345";
static const struct fg_l4_iperf_test tests[] = {
	{.parallel = 2, .length = 1000, .both = true, .time_s = 1},
	{.parallel = 1, .length = 500, .rate_bps = 100000, .omit_s = 1, .time_s = 1, .window = 2304},
	{.parallel = 1, .length = 700, .reverse = true, .blocks = 7, .mss = 88, .congestion = 1},
	{.udp = true, .parallel = 2, .length = 100, .rate_bps = 100000, .both = true, .time_s = 1},
	{.udp = true, .parallel = 1, .length = 16, .rate_bps = 1e9, .reverse = true, .wide_counters = true},
};
enum { TESTS = sizeof(tests) / sizeof(tests[0]) };

static uint32_t orders_given, session; /* in this session */

static size_t
octets(uint8_t to[LONGEST])
{
	size_t length = octet();

	for (size_t i = 0; i < length; i++)
		to[i] = octet();
	return length;
}

/* of the session that is there now, as control may */
static void
order(struct talker *t, uint32_t orders, const struct fg_l4_iperf_test *kind)
{
	struct fg_l4_iperf_test test = *kind;
	struct fg_l4_iperf_state state;

	fg_l4_iperf_look(t->other, 0, &state);
	if (state.session != session)
		orders_given = 0;
	session = state.session;
	orders &= ~orders_given;
	if (session == 0 || orders_given & FG_L4_IPERF_END)
		return;
	if (!((orders | orders_given) & FG_L4_IPERF_OPEN))
		orders &= ~(uint32_t)FG_L4_IPERF_RUN;
	memcpy(test.cookie, cookie, sizeof(cookie));
	orders_given |= orders & ~(uint32_t)FG_L4_IPERF_COUNT;
	fg_l4_iperf_order(t->other, 0, orders, orders & FG_L4_IPERF_OPEN ? &test : NULL);
}

static void
act(struct talker *t, enum action action, const struct fg_l4_iperf_test *test)
{
	unsigned line = octet() % TALKER_LINES;
	uint8_t data[LONGEST];

	switch (action) {
	case OPEN:
		talker_open(t, line, PORT);
		break;
	case SAY:
		talker_say(t, line, data, octets(data));
		break;
	case COOKIE:
		talker_say(t, line, cookie, sizeof(cookie));
		break;
	case SEND:
		order(t, 0, test);
		if (session > 0 && !(orders_given & FG_L4_IPERF_END))
			fg_l4_iperf_send(t->other, 0, data, (uint32_t)octets(data));
		break;
	case ORDER: /* STOP would end all service */
		order(t, octet() & (FG_L4_IPERF_STOP - 1), test);
		talker_settle(t);
		break;
	case DATAGRAM: /* to a server, or to the peer that a client is */
		if (t->app.listens)
			talker_send(t, PORT, t->datagram_from, data, octets(data));
		else
			talker_send(t, (uint16_t)(50000 + line), PORT, data, octets(data));
		break;
	case TIME:
		talker_wait(t, (uint64_t)octet() * octet() * 1000000);
		break;
	default:
		talker_close(t, line, action == RESET);
	}
}

/* whatever happened before */
static void
expect_service(struct talker *t)
{
	struct fg_l4_iperf_state state;

	for (unsigned i = 0; i < TALKER_LINES; i++)
		talker_close(t, i, true);
	for (unsigned i = 0; i < 40; i++) { /* one that waited may have a session, too */
		order(t, FG_L4_IPERF_END, &tests[0]);
		talker_wait(t, 1000000000);
	}
	talker_open(t, CONTROL, PORT);
	order(t, FG_L4_IPERF_OPEN, &tests[1]);
	talker_wait(t, 1000000);
	talker_open(t, 1, PORT);
	talker_say(t, 1, cookie, sizeof(cookie));
	order(t, FG_L4_IPERF_RUN, &tests[1]);
	talker_wait(t, 1000000);
	talker_say(t, 1, "some octets", 11);
	talker_say(t, CONTROL, "\x4", 1);
	order(t, FG_L4_IPERF_COUNT, &tests[1]);
	talker_wait(t, 1000000);
	fg_l4_iperf_look(t->other, 0, &state);
	check(state.streams == 1 && state.received == 1 && state.halted && !state.gone);
	check(fg_l4_iperf_read(t->other, 0)->stream[0].all.octets == 11);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fg_l4_app app = {.kind = "IPERF", .port = PORT};
	const struct fg_l4_iperf_test *test;
	struct talker *t;
	unsigned first;

	input = data;
	input_left = size;
	first = octet();
	test = &tests[first % TESTS];
	app.server = first / TESTS % 2;
	session = orders_given = 0;
	t = talker_create(&app, MTU);
	check(t != NULL);
	while (input_left > 0) {
		act(t, octet() % ACTIONS, test);
		check(fg_l4_open(t->other) <= TALKER_CONNECTIONS);
	}
	if (app.server)
		expect_service(t);
	talker_free(t);
	return 0;
}
