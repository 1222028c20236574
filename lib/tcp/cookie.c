/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SYN cookies (RFC 4987, 3.6): when half-open connections have filled their share, a SYN is answered without
 * state. Our initial sequence number, which the peer's ACK returns, has the state: an index of the MSS, and
 * 29 bits of a keyed hash of the two ends, the peer's number, and the minute. Window scale, SACK and ECN are
 * in the low bits of our timestamp, which the ACK also returns; without timestamps they are not agreed. The
 * timestamp is at most 63 ms early because of that.
 *
 * An ACK without a cookie of this minute or the last, or when no cookie was sent, belongs to no connection
 * and is rejected.
 */
#include "fg_siphash.h"
#include "tcp_priv.h"

enum { MINUTE_SHIFT = 36 /* 69 s */, MSS_BITS = 3, MSS_MASK = (1 << MSS_BITS) - 1 };
enum { SCALE = 0x0f, NO_SCALE = 0x0f, SACK = 0x10, ECN = 0x20, OPTIONS = 0x3f }; /* in a time stamp */

static const uint16_t mss_of[1 << MSS_BITS] = {MIN_MSS, 536, 1024, 1220, 1300, 1440, 1460, 8940};

/* our initial sequence number to a SYN with this number */
static uint32_t
cookie_of(const struct fg_l4 *w, const struct fg_flow *f, uint32_t seq, uint64_t minute, unsigned mss)
{
	uint64_t word[7];

	memcpy(word, f->local, 16);
	memcpy(word + 2, f->remote, 16);
	word[4] = (uint64_t)f->local_port << 48 | (uint64_t)f->remote_port << 32 | seq;
	word[5] = minute;
	word[6] = mss;
	return ((uint32_t)fg_siphash(own(w)->secret, word, sizeof(word)) & ~(uint32_t)MSS_MASK) | mss;
}

static uint32_t
options_of(const struct segment *s)
{
	uint32_t bits = s->has_scale && s->scale < NO_SCALE ? s->scale : NO_SCALE;

	bits |= s->sack_permitted ? SACK : 0;
	return bits | ((s->flags & (TCP_ECE | TCP_CWR)) == (TCP_ECE | TCP_CWR) ? ECN : 0);
}

/* the SYN's options that the cookie keeps */
static void
keep_what_fits(struct segment *syn, uint32_t bits, unsigned mss)
{
	bool stamped = syn->has_ts;

	syn->has_mss = true;
	syn->mss = mss_of[mss];
	syn->scale = bits & SCALE;
	syn->has_scale = stamped && syn->scale != NO_SCALE;
	syn->sack_permitted = stamped && bits & SACK;
	syn->flags = TCP_SYN | (stamped && bits & ECN ? TCP_ECE | TCP_CWR : 0);
}

void
cookie_send(struct fg_l4 *w, unsigned app, const struct segment *s)
{
	struct conn c = {.flow = s->flow, .stream.app = (uint8_t)app};
	struct segment syn = *s;
	uint32_t bits = options_of(s), offset = ts_offset_of(w, s->hash);
	uint32_t offered = s->has_mss ? s->mss : 536;
	unsigned mss = MSS_MASK;

	while (mss > 0 && mss_of[mss] > offered)
		mss--;
	keep_what_fits(&syn, bits, mss);
	tcp_agree(w, &c, &syn);
	/* the latest time stamp that has these bits */
	c.ts_offset = offset - ((now_ms(w) + offset - bits) & OPTIONS);
	if (tcp_send_control(w, &c, TCP_SYN | TCP_ACK,
			     cookie_of(w, &s->flow, s->seq, w->now >> MINUTE_SHIFT, mss))) {
		w->counters.cookies_sent++;
		own(w)->cookie_minute = w->now >> MINUTE_SHIFT;
	}
}

struct conn *
cookie_take(struct fg_l4 *w, unsigned app, const struct segment *s)
{
	uint64_t minute = w->now >> MINUTE_SHIFT;
	uint32_t cookie = s->ack - 1, seq = s->seq - 1;
	unsigned mss = cookie & MSS_MASK;
	struct segment syn = *s;

	if (w->counters.cookies_sent == 0 || minute - own(w)->cookie_minute > 1 ||
	    (cookie != cookie_of(w, &s->flow, seq, minute, mss) &&
	     cookie != cookie_of(w, &s->flow, seq, minute - 1, mss)))
		return NULL;
	syn.seq = seq;
	keep_what_fits(&syn, s->has_ts ? s->tsecr & OPTIONS : NO_SCALE, mss);
	w->counters.cookies_taken++;
	return tcp_accept_confirmed(w, app, &syn, cookie);
}
