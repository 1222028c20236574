/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a stream has to send, from the first byte that is not acknowledged to the last that is laid out: a
 * list of spans, each of literal bytes (handshakes, alerts, KeyUpdate) or a run of records, which follow from
 * the plaintext and their numbers. Whatever part TCP asks for, once or again, is made from it. A record that
 * is cut into several segments is sealed once and copied, as long as its place in the cache is not another's.
 *
 * A long write is laid out only as far as the keys last; the rest follows when all before it has left.
 */
#include <string.h>

#include "secure_priv.h"

/* AES-GCM may seal 2^24.5 full records under one key (RFC 8446, 5.5) */
enum { KEYS_LAST = 1 << 23 };

static uint64_t
span_end(const struct secured *t, const struct span *s)
{
	return s->run.at +
	       (s->block != 0 ? s->length : fg_tls_run_length(&s->run, t->full, t->suite->overhead));
}

static struct span *
append(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp)
{
	struct secure *all = carrier_of(w, tcp)->all;
	uint32_t i = fg_pool_take(&all->spans);
	struct span *s = span_at(all, i);

	if (i == 0) {
		w->counters.no_spans++;
		fg_stream_abort(w, tcp);
		return NULL;
	}
	*s = (struct span){.run = {.at = tcp->written, .plain = t->laid_out, .number = t->out_next}};
	if (t->last_span == 0)
		t->first_span = i;
	else
		span_at(all, t->last_span)->next = i;
	t->last_span = i;
	return s;
}

static struct span *
append_literal(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, const uint8_t *data,
	       uint32_t length)
{
	struct secure *all = carrier_of(w, tcp)->all;
	struct span *s = append(w, t, tcp);

	if (s == NULL)
		return NULL;
	s->block = fg_pool_take(&all->blocks);
	if (s->block == 0) {
		w->counters.held_refused++;
		fg_stream_abort(w, tcp);
		return NULL;
	}
	memcpy(block_at(all, s->block)->data, data, length);
	s->length = length;
	fg_stream_write(w, tcp, length);
	return s;
}

bool
outbox_literal(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, const uint8_t *data, size_t length)
{
	for (uint32_t n; length > 0; data += n, length -= n) {
		n = length < BLOCK ? (uint32_t)length : BLOCK;
		if (append_literal(w, t, tcp, data, n) == NULL)
			return false;
	}
	return true;
}

/* @return bytes of the record */
static uint32_t
make_record(const struct secure *all, const struct secured *t, uint8_t type, const uint8_t *message,
	    uint32_t length, uint8_t *to)
{
	if (t->suite == NULL) {
		memcpy(to, (const uint8_t[]){type, FG_TLS_1_2 >> 8, FG_TLS_1_2 & 0xff, 0, (uint8_t)length},
		       FG_TLS_HEADER);
		memcpy(to + FG_TLS_HEADER, message, length);
		return FG_TLS_HEADER + length;
	}
	memcpy(to + fg_tls_plain_at(t->suite), message, length);
	return fg_tls_seal(all->crypto, t->suite, &t->out, t->out_next, type, to, length);
}

static struct span *
append_record(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, uint8_t type, const uint8_t *message,
	      uint32_t length)
{
	uint8_t record[128];
	uint32_t n = make_record(carrier_of(w, tcp)->all, t, type, message, length, record);
	struct span *s;

	t->out_next++;
	s = append_literal(w, t, tcp, record, n);
	return s;
}

bool
outbox_record(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, uint8_t type, const uint8_t *message,
	      uint32_t length)
{
	return append_record(w, t, tcp, type, message, length) != NULL;
}

bool
outbox_key_update(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp)
{
	static const uint8_t not_requested[] = {24, 0, 0, 1, 0};
	struct carrier *c = carrier_of(w, tcp);
	struct span *s = append_record(w, t, tcp, FG_TLS_HANDSHAKE, not_requested, sizeof(not_requested));

	if (s == NULL)
		return false;
	s->ends_keys = true;
	memcpy(block_at(c->all, s->block)->data + OLD_KEYS, &t->out, sizeof(t->out));
	if (!fg_tls_next_secret(c->all->crypto, t->suite, t->out_secret) ||
	    !fg_tls_keys_of(c->all->crypto, t->suite, t->out_secret, &t->out)) {
		fg_stream_abort(w, tcp);
		return false;
	}
	t->out_next = s->run.number = 0;
	c->tally.key_updates_out++;
	return true;
}

/* records that the keys may still seal; with TLS 1.2, and in a handshake, there are no others */
static uint64_t
records_left(const struct carrier *c, const struct secured *t)
{
	uint64_t last = c->config.key_update_every > 0 ? c->config.key_update_every : KEYS_LAST;

	if (t->suite->version == FG_TLS_1_2 || !(t->flags & ESTABLISHED))
		return UINT32_MAX;
	return t->out_next < last ? last - t->out_next : 0;
}

/* does the message follow others of its length? */
static bool
joins(const struct secured *t, const struct span *s, uint64_t message)
{
	return s->block == 0 && s->run.message == message && message <= t->full;
}

void
outbox_lay_out(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp)
{
	struct carrier *c = carrier_of(w, tcp);
	uint64_t left = t->plain.written - t->laid_out, records, before = t->out_next;
	struct span *s;

	if (left == 0 || !(t->flags & CAN_WRITE) || t->flags & FAILED)
		return;
	records = records_left(c, t);
	if (records == 0) {
		if (!outbox_key_update(w, t, tcp))
			return;
		before = 0;
		records = records_left(c, t);
	}
	if (left > records * t->full)
		left = records * t->full;
	s = t->last_span == 0 ? NULL : span_at(c->all, t->last_span);
	if (s == NULL || !joins(t, s, left)) {
		s = append(w, t, tcp);
		if (s == NULL)
			return;
		s->run.message = left;
	}
	s->run.count++;
	t->laid_out += left;
	t->out_next += (left + t->full - 1) / t->full;
	c->tally.records_out += t->out_next - before;
	fg_stream_write(w, tcp, fg_tls_message_length(left, t->full, t->suite->overhead));
}

static void
give_span(struct secure *all, uint32_t i)
{
	fg_pool_give(&all->blocks, &span_at(all, i)->block);
	fg_pool_give(&all->spans, &i);
}

/* everything behind span @p i */
static void
give_behind(struct secure *all, struct secured *t, uint32_t i)
{
	uint32_t gone = i == 0 ? t->first_span : span_at(all, i)->next, next;

	for (; gone != 0; gone = next) {
		next = span_at(all, gone)->next;
		give_span(all, gone);
	}
	if (i == 0)
		t->first_span = 0;
	else
		span_at(all, i)->next = 0;
	t->last_span = i;
}

void
outbox_free(struct secure *all, struct secured *t)
{
	give_behind(all, t, 0);
}

/* the end of the last literal bytes, or of what has left, whichever is later */
static uint64_t
cut_at(const struct secure *all, const struct secured *t, const struct fg_stream *tcp)
{
	uint64_t at = fg_stream_sent(tcp);

	for (uint32_t i = t->first_span; i != 0; i = span_at(all, i)->next)
		if (span_at(all, i)->block != 0 && span_end(t, span_at(all, i)) > at)
			at = span_end(t, span_at(all, i));
	return at;
}

/* of a run, the records before @p at; one may have begun. @return where they end */
static uint64_t
shorten(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp, struct span *s, uint64_t at)
{
	const struct fg_tls_run run = s->run;
	uint64_t length = fg_tls_message_length(run.message, t->full, t->suite->overhead), part;
	struct fg_tls_place place = {.at = run.at, .plain = run.plain, .number = run.number};

	if (at > run.at) { /* the record in which the last byte lies is the last one */
		fg_tls_run_find(&run, t->full, t->suite->overhead, at - 1, &place);
		place.at += place.length + t->suite->overhead;
		place.plain += place.length;
		place.number++;
	}
	t->laid_out = place.plain;
	t->out_next = place.number;
	s->run.count = (place.at - run.at) / length;
	part = place.plain - run.plain - s->run.count * run.message;
	if (part > 0 && s->run.count > 0) { /* the begin of a message behind whole ones */
		uint64_t number = run.number + s->run.count * ((run.message + t->full - 1) / t->full);
		uint64_t plain = place.plain - part;

		s = append(w, t, tcp);
		if (s == NULL)
			return 0;
		s->run = (struct fg_tls_run){.at = place.at -
						   fg_tls_message_length(part, t->full, t->suite->overhead),
					     .plain = plain,
					     .number = number};
	}
	if (part > 0) {
		s->run.message = part;
		s->run.count = 1;
	}
	return place.at;
}

void
outbox_cut(struct fg_l4 *w, struct secured *t, struct fg_stream *tcp)
{
	struct carrier *c = carrier_of(w, tcp);
	uint64_t at = cut_at(c->all, t, tcp), end = at, before = t->out_next;
	uint32_t i = t->first_span, last = 0;

	if (at >= tcp->written || t->suite == NULL)
		return;
	while (span_end(t, span_at(c->all, i)) <= at) {
		last = i;
		i = span_at(c->all, i)->next;
	}
	give_behind(c->all, t, i);
	end = shorten(w, t, tcp, span_at(c->all, i), at);
	if (end == 0)
		return;
	if (span_at(c->all, i)->run.count == 0)
		give_behind(c->all, t, last);
	c->tally.records_out -= before - t->out_next;
	fg_stream_truncate(w, tcp);
	fg_stream_write(w, tcp, end - tcp->written);
}

/*
 * Bytes of plaintext before position @p at, which lies in the span, in whole records: one that has arrived in
 * part is of no use to the peer, and may have to be sealed again from its begin.
 */
static uint64_t
plain_before(const struct secured *t, const struct span *s, uint64_t at)
{
	struct fg_tls_place place;

	if (s->block != 0 || at <= s->run.at)
		return s->run.plain;
	fg_tls_run_find(&s->run, t->full, t->suite->overhead, at, &place);
	return place.plain;
}

uint64_t
outbox_acked(const struct fg_l4 *w, struct secured *t, const struct fg_stream *tcp)
{
	struct secure *all = carrier_of(w, tcp)->all;

	while (t->first_span != 0 && span_end(t, span_at(all, t->first_span)) <= tcp->acked) {
		uint32_t gone = t->first_span;

		t->first_span = span_at(all, gone)->next;
		give_span(all, gone);
	}
	if (t->first_span != 0)
		return plain_before(t, span_at(all, t->first_span), tcp->acked);
	t->last_span = 0;
	/* the end counts as one byte, as TCP's own does */
	return t->laid_out + (t->flags & CLOSE_SENT && tcp->acked > tcp->written);
}

/* the keys of a span: those that the next KeyUpdate behind it ended, or the latest */
static const struct fg_tls_keys *
keys_of(const struct secure *all, const struct secured *t, const struct span *s)
{
	for (uint32_t i = s->next; i != 0; i = span_at(all, i)->next)
		if (span_at(all, i)->ends_keys)
			return (const void *)(block_at(all, span_at(all, i)->block)->data + OLD_KEYS);
	return &t->out;
}

static void
seal(struct fg_l4 *w, struct secured *t, const struct span *s, const struct fg_tls_place *place, uint8_t *to)
{
	struct secure *all = carrier_below(w, &t->plain)->all;

	ops_above(w, t)->fill(w, &t->plain, place->plain, to + fg_tls_plain_at(t->suite), place->length);
	fg_tls_seal(all->crypto, t->suite, keys_of(all, t, s), place->number, FG_TLS_DATA, to, place->length);
}

/* a part of a record, by way of the cache */
static void
copy_part(struct fg_l4 *w, struct secured *t, const struct span *s, const struct fg_tls_place *place,
	  uint64_t offset, uint8_t *to, uint32_t length)
{
	struct secure *all = carrier_below(w, &t->plain)->all;
	struct sealed *one = &all->cache[(uint64_t)(t - all->stream) % CACHE];

	if (one->id != t->id || one->at != place->at || one->length != place->length) {
		seal(w, t, s, place, one->data);
		one->id = t->id;
		one->at = place->at;
		one->length = place->length;
	}
	memcpy(to, one->data + (offset - place->at), length);
}

/* @return bytes of one record, or of a part of it */
static uint32_t
fill_record(struct fg_l4 *w, struct secured *t, const struct span *s, uint64_t offset, uint8_t *to,
	    uint32_t length)
{
	struct fg_tls_place place;
	uint32_t whole, n;

	fg_tls_run_find(&s->run, t->full, t->suite->overhead, offset, &place);
	whole = place.length + t->suite->overhead;
	n = fg_u32_min(length, (uint32_t)(place.at + whole - offset));
	if (n == whole)
		seal(w, t, s, &place, to);
	else
		copy_part(w, t, s, &place, offset, to, n);
	return n;
}

void
outbox_fill(struct fg_l4 *w, struct fg_stream *tcp, uint64_t offset, uint8_t *to, uint32_t length)
{
	struct secured *t = secured_of(w, tcp);
	const struct secure *all = carrier_of(w, tcp)->all;
	const struct span *s = span_at(all, t->first_span);
	uint32_t n;

	for (; length > 0; offset += n, to += n, length -= n) {
		while (span_end(t, s) <= offset)
			s = span_at(all, s->next);
		if (s->block != 0) {
			n = fg_u32_min(length, (uint32_t)(span_end(t, s) - offset));
			memcpy(to, block_at(all, s->block)->data + (offset - s->run.at), n);
		} else {
			n = fill_record(w, t, s, offset, to, length);
		}
	}
}
