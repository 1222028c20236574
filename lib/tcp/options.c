/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TCP options: maximum segment size (RFC 9293, 3.2), window scale and time stamps (RFC 7323), SACK (RFC
 * 2018). An unknown option is skipped by its length; a length that does not fit ends the reading.
 */
#include "fg_bytes.h"
#include "tcp_priv.h"

enum {
	OPT_END = 0,
	OPT_NOP = 1,
	OPT_MSS = 2,
	OPT_SCALE = 3,
	OPT_SACK_PERMITTED = 4,
	OPT_SACK = 5,
	OPT_TIMESTAMP = 8,
	TIMESTAMPS_ALONE = OPT_NOP << 24 | OPT_NOP << 16 | OPT_TIMESTAMP << 8 | 10,
	SYN_BEGINS = OPT_MSS << 8 | 4,
	SACK_AND_TIMESTAMPS = OPT_SACK_PERMITTED << 24 | 2 << 16 | OPT_TIMESTAMP << 8 | 10,
	SCALE_BEHIND_NOP = OPT_NOP << 16 | OPT_SCALE << 8 | 3,
	SCALE_MAX = 14, /* RFC 7323, 2.3 */
};

uint16_t
options_own_mss(const struct fg_l4 *w, const struct conn *c)
{
	uint32_t fits = w->config.mtu - (c->flow.ipv6 ? 60U : 40U), wanted = tcp_of(w, c)->mss;

	return (uint16_t)(wanted == 0 ? fits : fg_u32_min(wanted, fits));
}

static void
take(const uint8_t *o, uint8_t size, struct segment *s)
{
	switch (o[0]) {
	case OPT_MSS:
		if (size != 4)
			return;
		s->has_mss = true;
		s->mss = fg_get16(o + 2);
		return;
	case OPT_SCALE:
		if (size != 3)
			return;
		s->has_scale = true;
		s->scale = o[2] > SCALE_MAX ? SCALE_MAX : o[2];
		return;
	case OPT_SACK_PERMITTED:
		s->sack_permitted = size == 2;
		return;
	case OPT_SACK:
		for (unsigned at = 2; at + 8 <= size && s->sacks < MAX_SACKS; at += 8)
			s->sack[s->sacks++] = (struct range){fg_get32(o + at), fg_get32(o + at + 4)};
		return;
	case OPT_TIMESTAMP:
		if (size != 10)
			return;
		s->has_ts = true;
		s->tsval = fg_get32(o + 2);
		s->tsecr = fg_get32(o + 6);
		return;
	}
}

void
options_read(const uint8_t *o, size_t length, struct segment *s)
{
	/* what nearly all segments have: time stamps alone, aligned as RFC 7323, appendix A, advises */
	if (length == 12 && fg_get32(o) == TIMESTAMPS_ALONE) {
		s->has_ts = true;
		s->tsval = fg_get32(o + 4);
		s->tsecr = fg_get32(o + 8);
		return;
	}
	/* and what nearly all SYNs have: MSS, SACK permitted, time stamps, window scale */
	if (length == 20 && fg_get16(o) == SYN_BEGINS && fg_get32(o + 4) == SACK_AND_TIMESTAMPS &&
	    fg_get32(o + 16) >> 8 == SCALE_BEHIND_NOP) {
		s->has_mss = s->sack_permitted = s->has_ts = s->has_scale = true;
		s->mss = fg_get16(o + 2);
		s->tsval = fg_get32(o + 8);
		s->tsecr = fg_get32(o + 12);
		s->scale = o[19] > SCALE_MAX ? SCALE_MAX : o[19];
		return;
	}
	while (length > 0 && o[0] != OPT_END) {
		if (o[0] == OPT_NOP) {
			o++;
			length--;
			continue;
		}
		if (length < 2 || o[1] < 2 || o[1] > length)
			return;
		take(o, o[1], s);
		length -= o[1];
		o += o[1];
	}
}

static uint8_t *
put_timestamp(const struct fg_l4 *w, const struct conn *c, uint8_t *p)
{
	*p++ = OPT_TIMESTAMP;
	*p++ = 10;
	p = fg_put32(p, now_ms(w) + c->ts_offset);
	return fg_put32(p, c->ts_recent);
}

static size_t
pad(uint8_t *to, uint8_t *p)
{
	while ((p - to) % 4 != 0)
		*p++ = OPT_NOP;
	return (size_t)(p - to);
}

/*
 * A SYN offers the application's options; a SYN-ACK has the agreed options, which are in the flags.
 */
size_t
options_syn(const struct fg_l4 *w, const struct conn *c, uint8_t *to)
{
	const struct fg_l4_tcp *tcp = tcp_of(w, c);
	bool answer = c->state == SYN_RECEIVED;
	uint8_t *p = to;

	*p++ = OPT_MSS;
	*p++ = 4;
	p = fg_put16(p, options_own_mss(w, c));
	if (answer ? c->flags & USE_SACK : tcp->sack) {
		*p++ = OPT_SACK_PERMITTED;
		*p++ = 2;
	}
	if (answer ? c->flags & USE_TS : tcp->timestamps)
		p = put_timestamp(w, c, p);
	if (answer ? c->flags & USE_SCALE : tcp->window_scaling) {
		*p++ = OPT_NOP;
		*p++ = OPT_SCALE;
		*p++ = 3;
		*p++ = c->rcv_scale;
	}
	return pad(to, p);
}

static uint8_t *
put_range(uint8_t *p, struct range r)
{
	return fg_put32(fg_put32(p, r.from), r.to);
}

/*
 * The block with the latest news first (RFC 2018, 4; RFC 2883 for data that came twice), then others as there
 * is room.
 */
static uint8_t *
put_sacks(const struct fg_l4 *w, const struct conn *c, uint8_t *p, unsigned room)
{
	const struct ranges *set = held_of(w, c);
	uint8_t *length;
	unsigned n = 0;

	*p++ = OPT_NOP;
	*p++ = OPT_NOP;
	*p++ = OPT_SACK;
	length = p++;
	if (own(w)->twice.from != own(w)->twice.to) {
		p = put_range(p, own(w)->twice);
		n++;
	}
	for (uint32_t i = 0; set != NULL && i < set->count && n < room; i++)
		if (seq_le(set->at[i].from, set->latest) && seq_lt(set->latest, set->at[i].to)) {
			p = put_range(p, set->at[i]);
			n++;
		}
	for (uint32_t i = 0; set != NULL && i < set->count && n < room; i++)
		if (!(seq_le(set->at[i].from, set->latest) && seq_lt(set->latest, set->at[i].to))) {
			p = put_range(p, set->at[i]);
			n++;
		}
	*length = (uint8_t)(2 + 8 * n);
	return p;
}

size_t
options_plain(const struct fg_l4 *w, const struct conn *c, uint8_t *to, bool with_sacks)
{
	const struct ranges *held = held_of(w, c);
	bool some = (held != NULL && held->count > 0) || own(w)->twice.from != own(w)->twice.to;
	uint8_t *p = to;

	if (c->flags & USE_TS) {
		p = fg_put32(p, TIMESTAMPS_ALONE);
		p = fg_put32(p, now_ms(w) + c->ts_offset);
		p = fg_put32(p, c->ts_recent);
	}
	if (!some)
		return (size_t)(p - to);
	if (with_sacks && c->flags & USE_SACK)
		p = put_sacks(w, c, p, c->flags & USE_TS ? 3 : 4);
	return pad(to, p);
}
