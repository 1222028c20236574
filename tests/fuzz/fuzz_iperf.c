/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Either role of iperf3 against a peer that controls it by anything; the first octet says which role. Then
 * comes a train of actions, each behind an octet that says what it is: octets on a connection, the words of
 * an ordinary test, a connection opened, closed or reset, a datagram, time that passes. What must hold:
 * nothing is read or written out of bounds, what the server keeps stays bounded, and in the end a server
 * serves an ordinary client.
 */
#include <stdlib.h>

#include "fuzz_input.h"
#include "fg_l4_iperf.h"
#include "l4_talker.h"

enum { PORT = 5201, MTU = 1500, CONTROL = 0, LONGEST = 255 };
enum action { OPEN, SAY, COOKIE, TEXT, STATE, CLOSE, RESET, DATAGRAM, TIME, ACTIONS };

static const char cookie[37] = "abcdefghijklmnopqrstuvwxyz2345672345";
static const char *const clients[] = {
	"{\"tcp\":true,\"parallel\":2,\"time\":1,\"len\":1000,\"bidirectional\":true}",
	"{\"tcp\":true,\"parallel\":1,\"time\":1,\"omit\":1,\"len\":500,\"bandwidth\":100000}",
	"{\"udp\":true,\"parallel\":2,\"time\":1,\"len\":100,\"bandwidth\":100000,\"bidirectional\":true}",
	NULL, /* the server */
};
enum { CLIENTS = sizeof(clients) / sizeof(clients[0]) - 1 };

static size_t
octets(uint8_t to[LONGEST])
{
	size_t length = octet();

	for (size_t i = 0; i < length; i++)
		to[i] = octet();
	return length;
}

static void
say_text(struct talker *t, unsigned line, const void *text, size_t length)
{
	uint8_t words[LONGEST + 4] = {0, 0, (uint8_t)(length >> 8), (uint8_t)length};

	memcpy(words + 4, text, length);
	talker_say(t, line, words, length + 4);
}

static void
act(struct talker *t, enum action action)
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
	case TEXT:
		say_text(t, line, data, octets(data));
		break;
	case STATE:
		data[0] = octet() % 18;
		talker_say(t, line, data, 1);
		break;
	case DATAGRAM: /* to a server, or to whoever a client is */
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
	static const char params[] = "{\"tcp\":true,\"parallel\":1,\"time\":1}",
			  results[] = "{\"streams\":[]}";
	struct fg_l4_iperf_report report = {.kind = FG_L4_IPERF_TEST};

	for (unsigned i = 0; i < TALKER_LINES; i++)
		talker_close(t, i, true);
	for (unsigned i = 0; i < 40; i++)
		talker_wait(t, 1000000000);
	while (fg_l4_iperf_next(t->other, 0, &report))
		check(report.kind <= FG_L4_IPERF_END && report.end < FG_L4_IPERF_ENDINGS);
	talker_open(t, CONTROL, PORT);
	talker_say(t, CONTROL, cookie, sizeof(cookie));
	say_text(t, CONTROL, params, sizeof(params) - 1);
	talker_open(t, 1, PORT);
	talker_say(t, 1, cookie, sizeof(cookie));
	talker_say(t, CONTROL, "\x4", 1);
	say_text(t, CONTROL, results, sizeof(results) - 1);
	talker_say(t, CONTROL, "\x10", 1);
	while (fg_l4_iperf_next(t->other, 0, &report))
		continue;
	check(report.kind == FG_L4_IPERF_END && report.end == FG_L4_IPERF_DONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fg_l4_app app = {.kind = "IPERF", .port = PORT, .host = cookie};
	struct talker *t;
	unsigned role;

	input = data;
	input_left = size;
	role = octet() % (CLIENTS + 1);
	app.server = role == CLIENTS;
	app.params = clients[role];
	t = talker_create(&app, MTU);
	check(t != NULL);
	while (input_left > 0) {
		act(t, octet() % ACTIONS);
		check(fg_l4_open(t->other) <= TALKER_CONNECTIONS);
	}
	if (app.server)
		expect_service(t);
	talker_free(t);
	return 0;
}
