/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Either role of HTTP/2 against a peer that says anything; the first byte says which role. Each piece begins
 * with an octet: how the bytes behind it go out, raw, as a frame with a right length, or behind a right
 * preface. What must hold: nothing is read or written out of bounds, what is laid out is what frames are made
 * of, and in the end nothing is kept.
 */
#include <stdlib.h>

#include "fg_l4_dns.h"
#include "fuzz_input.h"
#include "http2/http2_priv.h"
#include "l4_talker.h"

enum { PORT = 80, MTU = 1500, LONGEST = 255 };
enum action { RAW, FRAME, BEGIN, END, RESET, TIME, ACTIONS };

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0";

/* a header of nine bytes, whose first three are the length of what follows */
static void
say_frame(struct talker *t)
{
	uint8_t frame[H2_HEADER + LONGEST];
	uint32_t length = octet();
	uint8_t type = octet(), flags = octet(), id = octet();

	h2_put_header(frame, length, type, flags, id);
	for (uint32_t i = 0; i < length; i++)
		frame[H2_HEADER + i] = octet();
	talker_say(t, 0, frame, H2_HEADER + length);
}

static void
say_raw(struct talker *t)
{
	uint8_t data[LONGEST];
	uint32_t length = octet();

	for (uint32_t i = 0; i < length; i++)
		data[i] = octet();
	talker_say(t, 0, data, length);
}

static void
act(struct talker *t, enum action action)
{
	switch (action) {
	case RAW:
		say_raw(t);
		break;
	case FRAME:
		say_frame(t);
		break;
	case BEGIN:
		if (!t->app.listens)
			talker_open(t, 0, PORT);
		talker_say(t, 0, preface + (t->app.listens ? 24 : 0),
			   sizeof(preface) - (t->app.listens ? 24 : 0));
		break;
	case TIME:
		talker_wait(t, (uint64_t)octet() * 10000000);
		break;
	default:
		talker_close(t, 0, action == RESET);
	}
}

/* frames of ours follow each other without a gap, and none is too long */
static void
expect_frames(const struct talker *t, bool of_client)
{
	const struct talker_line *line = &t->line[0];
	uint32_t at = of_client ? 24 : 0;

	if (!of_client && line->heard >= 4 && memcmp(line->in, "HTTP", 4) == 0)
		return;
	while (at + H2_HEADER <= line->heard && at + H2_HEADER < TALKER_MOST) {
		uint32_t length = (uint32_t)get_number(line->in + at, 3);

		check(length <= H2_FRAME_MAX && line->in[at + 3] < H2_TYPES);
		at += H2_HEADER + length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fg_l4_app app = {
		.kind = "HTTP2", .port = PORT, .host = "h", .path = "/100", .response = 100, .streams = 3};
	const struct fg_l4_dns zone = {.questions = "h1 A\nh2 TXT", .answers = 1, .text = 300};
	const struct http2 *a;
	struct talker *t;
	uint8_t role;

	input = data;
	input_left = size;
	role = octet();
	app.server = role & 1;
	app.request = role & 2 ? 70000 : 0;
	app.requests = role & 4 ? 2 : 0;
	app.window = role & 8 ? 1000 : 0;
	app.cycles = 1;
	if (role & 16) { /* DNS over HTTPS */
		app.kind = "DOH";
		app.dns = &zone;
		app.path = "/d";
		app.request = 0;
	}
	t = talker_create(&app, MTU);
	check(t != NULL);
	a = (const struct http2 *)t->other->app[0];
	while (input_left > 0)
		act(t, octet() % ACTIONS);
	expect_frames(t, !app.server);
	talker_close(t, 0, true);
	for (unsigned i = 0; i < 10; i++)
		talker_wait(t, 1000000000);
	check(talker_taken(&a->conns) + talker_taken(&a->exchanges) + talker_taken(&a->spans) == 0);
	talker_free(t);
	return 0;
}
