/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DNS over TCP with a peer that says anything, cut anyhow: the server, and the client, by the first byte.
 * What must hold: no access out of bounds, and nothing is kept when the connection is over.
 */
#include <stdlib.h>

#include "dns/dns_priv.h"
#include "l4_talker.h"

enum { PORT = 53, MOST = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
expect_nothing_kept(const struct talker *t)
{
	const struct dns *d = (const struct dns *)(void *)t->other->app[0];

	if (talker_taken(&d->conns) + talker_taken(&d->entries) + talker_taken(&d->blocks) > 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fg_l4_dns zone = {.questions = "h1.fg.test A\nh2.fg.test TXT",
					.udp_size = 1232,
					.answers = 1,
					.text = 3000,
					.pipeline = 4};
	struct fg_l4_app app = {.kind = "DNS_TCP", .port = PORT, .dns = &zone, .cycles = 1, .requests = 9};
	uint32_t piece;
	struct talker *t;

	if (size < 2 || size > MOST)
		return 0;
	app.timeout_ns = 1000000000;
	app.server = data[0] & 1;
	zone.any_answer = data[0] & 2;
	piece = 1U + data[1];
	t = talker_create(&app, 1500);
	if (t == NULL)
		abort();
	if (app.server)
		talker_open(t, 0, PORT);
	for (size_t at = 2; at < size; at += piece)
		talker_say(t, 0, data + at, size - at < piece ? size - at : piece);
	talker_wait(t, 2000000000);
	talker_close(t, 0, data[0] & 4);
	talker_wait(t, 2000000000);
	if (t->line[0].conn == NULL)
		expect_nothing_kept(t);
	talker_free(t);
	return 0;
}
