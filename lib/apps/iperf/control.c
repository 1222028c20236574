/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is sent on the control connection. All of it is kept, so that it can be retransmitted.
 */
#include <stdarg.h>
#include <stdio.h>

#include "iperf_priv.h"

static const uint64_t LINGER_NS = 10000000000;

void
iperf_release(struct fg_l4 *w, struct fg_stream *s)
{
	struct iperf *p = iperf_of(w, s);

	if (p->control == s) {
		p->control = NULL;
	} else if (iperf_conn_of(s)->phase == PHASE_STREAM) {
		iperf_stream_of(p, s)->conn = NULL;
		fg_stream_truncate(w, s);
	}
	iperf_conn_of(s)->phase = PHASE_OTHER;
	fg_stream_timer(w, s, LINGER_NS);
	fg_stream_close(w, s);
}

void
iperf_send(struct fg_l4 *w, struct iperf *p, const void *data, size_t octets)
{
	if (p->control == NULL)
		return;
	if (p->queued + octets > IPERF_MAX_OUT) {
		fg_stream_abort(w, p->control);
		return;
	}
	memcpy(p->out + p->queued, data, octets);
	p->queued += (uint32_t)octets;
	fg_stream_write(w, p->control, octets);
}

void
iperf_send_state(struct fg_l4 *w, struct iperf *p, uint8_t state)
{
	iperf_send(w, p, &state, 1);
}

void
iperf_text_begin(struct iperf *p)
{
	p->text_begin = p->queued;
	p->too_long = IPERF_MAX_OUT - p->queued < IPERF_LENGTH_OCTETS;
	p->queued += p->too_long ? 0 : IPERF_LENGTH_OCTETS;
}

void
iperf_text_add(struct iperf *p, const char *format, ...)
{
	size_t room = IPERF_MAX_OUT - p->queued;
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
	uint32_t length = htonl(p->queued - p->text_begin - IPERF_LENGTH_OCTETS);

	if (p->control == NULL)
		return;
	if (p->too_long) {
		fg_stream_abort(w, p->control);
		return;
	}
	memcpy(p->out + p->text_begin, &length, sizeof(length));
	fg_stream_write(w, p->control, p->queued - p->text_begin);
}

void
iperf_reset(struct iperf *p)
{
	p->queued = p->text = p->wanted = 0;
	p->length_octets = 0;
	p->expected = A_STATE;
	p->streams = p->streams_wanted = p->turn = p->latest = 0;
	p->running_at = p->omit_at = p->end_at = 0;
	p->have_results = p->omitting = p->told = false;
	p->params = (struct iperf_params){.udp = false};
}
