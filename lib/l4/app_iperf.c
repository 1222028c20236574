/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * iperf3, so that the far end can be an ordinary host: our client for its `iperf3 -s`, our server for its `iperf3 -c`.
 *
 * Beside the streams of a test there is a connection that controls it: both sides tell each other by single octets how
 * far they are, and exchange parameters and results as JSON with its length in front. Each connection begins with the
 * same cookie, which the client has drawn. Here is what both roles do alike with the connections; the roles themselves
 * are in app_iperf_client.c and app_iperf_server.c.
 *
 * All that the control connection ever sends is kept, so that it can be sent again. What streams send is a function of
 * the position, as everywhere, and of what they receive only the amount counts, since the peer sends anything.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "iperf_priv.h"

enum { LENGTH_OCTETS = 4, KEEPALIVE_MS = 5000 /* a client that is gone without a word */ };
static const uint64_t LINGER_NS = 10000000000;

void
iperf_let_go(struct fg_l4 *w, struct conn *c)
{
	struct iperf *p = application_of(w, c)->iperf;

	if (p->control == c) {
		p->control = NULL;
	} else if (c->app_phase == PHASE_STREAM) {
		iperf_stream_of(p, c)->conn = NULL;
		tcp_truncate(w, c);
	}
	c->app_phase = PHASE_OTHER;
	c->app_at = tick_after(w, LINGER_NS);
	timer_update(w, c);
	tcp_close(w, c);
}

void
iperf_say(struct fg_l4 *w, struct iperf *p, const void *data, size_t octets)
{
	if (p->control == NULL)
		return;
	if (p->queued + octets > IPERF_OUT_MOST) {
		tcp_abort(w, p->control);
		return;
	}
	memcpy(p->out + p->queued, data, octets);
	p->queued += (uint32_t)octets;
	tcp_write(w, p->control, octets);
}

void
iperf_say_state(struct fg_l4 *w, struct iperf *p, uint8_t state)
{
	iperf_say(w, p, &state, 1);
}

void
iperf_text_begin(struct iperf *p)
{
	p->text_begin = p->queued;
	p->too_long = IPERF_OUT_MOST - p->queued < LENGTH_OCTETS;
	p->queued += p->too_long ? 0 : LENGTH_OCTETS;
}

void
iperf_text_add(struct iperf *p, const char *format, ...)
{
	size_t room = IPERF_OUT_MOST - p->queued;
	va_list arguments;
	int n;

	if (p->too_long)
		return;
	va_start(arguments, format);
	n = vsnprintf(p->out + p->queued, room, format, arguments);
	va_end(arguments);
	p->too_long = n < 0 || (size_t)n >= room;
	p->queued += p->too_long ? 0 : (uint32_t)n;
}

void
iperf_text_end(struct fg_l4 *w, struct iperf *p)
{
	uint32_t length = htonl(p->queued - p->text_begin - LENGTH_OCTETS);

	if (p->control == NULL)
		return;
	if (p->too_long) {
		tcp_abort(w, p->control);
		return;
	}
	memcpy(p->out + p->text_begin, &length, sizeof(length));
	tcp_write(w, p->control, p->queued - p->text_begin);
}

void
iperf_forget(struct iperf *p)
{
	p->queued = p->text = p->wanted = 0;
	p->length_octets = 0;
	p->expected = A_STATE;
	p->streams = p->streams_wanted = p->turn = p->latest = 0;
	p->running_at = p->omit_at = p->end_at = 0;
	p->have_results = p->omitting = p->told = false;
	p->params = (struct iperf_params){.udp = false};
}

static void
text_is_whole(struct fg_l4 *w, struct iperf *p)
{
	p->in[p->text] = '\0';
	p->expected = A_STATE;
	(p->server ? iperf_server_text : iperf_client_text)(w, p);
}

/* four octets: the length of a text, or the number of a fault */
static void
take_number(struct fg_l4 *w, struct iperf *p, uint8_t octet)
{
	p->length[p->length_octets++] = octet;
	if (p->length_octets < LENGTH_OCTETS)
		return;
	p->length_octets = 0;
	p->text = 0;
	p->wanted = (uint32_t)get_number(p->length, LENGTH_OCTETS);
	if (p->expected == A_FAULT) {
		iperf_client_fault(w, p, p->wanted);
		return;
	}
	p->expected = A_TEXT;
	if (p->wanted > 0 && p->wanted <= IPERF_IN_MOST)
		return;
	text_is_whole(w, p); /* more than anybody has to say: as if it were nothing */
}

void
iperf_take(struct fg_l4 *w, struct iperf *p, uint8_t octet)
{
	if (p->expected == A_STATE) {
		(p->server ? iperf_server_state : iperf_client_state)(w, p, octet);
	} else if (p->expected != A_TEXT) {
		take_number(w, p, octet);
	} else {
		p->in[p->text++] = (char)octet;
		if (p->text == p->wanted)
			text_is_whole(w, p);
	}
}

int
iperf_create(struct application *a, struct fg_error *err)
{
	const struct fg_l4_app *config = &a->config;

	if (!config->server &&
	    (config->params == NULL || config->host == NULL || strlen(config->host) != IPERF_COOKIE - 1))
		return fg_error_set(err, EINVAL, "l4", "iperf3 needs parameters, and a cookie of %d octets",
				    IPERF_COOKIE - 1);
	a->iperf = calloc(1, sizeof(*a->iperf));
	if (a->iperf == NULL)
		return fg_error_set(err, ENOMEM, "l4", "no memory");
	a->iperf->owner = a;
	a->iperf->server = config->server;
	/* what is said is said at once; streams do not depend on it */
	a->config.tcp.nodelay = true;
	if (config->server && config->tcp.keepalive_ms == 0)
		a->config.tcp.keepalive_ms = KEEPALIVE_MS;
	a->base.tcp = a->config.tcp;
	if (config->server)
		return 0;
	memcpy(a->iperf->cookie, config->host, IPERF_COOKIE);
	if (iperf_read_params(&a->iperf->params, config->params, strlen(config->params), UINT16_MAX) != 0)
		return fg_error_set(err, EINVAL, "l4", "iperf3 has no such parameters: %s", config->params);
	a->iperf->deadline = UINT64_MAX;
	return 0;
}

void
iperf_join(struct application *a, struct application *other)
{
	if (a->config.kind != FG_L4_IPERF || !a->config.server || other->iperf == NULL ||
	    !other->config.server || a->config.port != other->config.port)
		return;
	iperf_free(a);
	a->iperf = other->iperf;
	a->joined = true;
}

void
iperf_free(struct application *a)
{
	if (!a->joined)
		free(a->iperf);
}

const char *
fg_l4_peer_results(const struct fg_l4 *w, unsigned app)
{
	const struct application *a = (const struct application *)w->app[app];

	return a->iperf == NULL || a->iperf->server ? "" : a->iperf->in;
}
