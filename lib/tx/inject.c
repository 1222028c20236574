/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors on purpose, at the sender. A program of faults (lib/inject) determines the next number and its
 * faults; this file makes the frame. The fields that change follow its number, so that what a device sees of
 * a frame that comes late or twice is what it would have seen.
 *
 * Queues whose streams make errors send by the slow path (scheduled.c); all others know nothing of this.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "fg_net.h"
#include "tx_inject.h"
#include "tx_fill.h"

#define HAS(kinds, kind) (((kinds) >> (kind)&1) != 0)

static bool
tx_injects(const struct fg_stream_faults *f, enum fg_inject kind)
{
	return fg_trigger_is_set(&f->program.rule[kind].trigger);
}

static int
check_inject(const struct tx_stream *s, const struct fg_stream_faults *f, const struct fg_port *port,
	     struct fg_error *err)
{
	if (tx_injects(f, FG_INJECT_FCS) && port->caps.bad_fcs_flag == 0)
		return fg_error_set(err, EINVAL, port->name,
				    "the port writes the FCS itself and cannot send a wrong one");
	if (tx_injects(f, FG_INJECT_RUNT) && !port->caps.runts)
		return fg_error_set(err, EINVAL, port->name,
				    "the port fills up frames of less than 64 bytes and sends no runts");
	if (tx_injects(f, FG_INJECT_OVERSIZE) && f->oversize == NULL)
		return fg_error_set(err, EINVAL, "stream.errors.oversize", "there is no such frame");
	for (unsigned k = 0; k < s->templates; k++) {
		int rc = fg_inject_check(&f->fields, &f->program, s->frames[k], "stream.errors", err);

		if (rc != 0)
			return rc;
	}
	return 0;
}

int
tx_inject_init(struct tx_stream *s, const struct fg_stream_config *config, const struct fg_port *port,
	       struct fg_error *err)
{
	const struct fg_stream_faults *how = config->faults;
	int rc = how == NULL ? 0 : check_inject(s, how, port, err);

	if (rc != 0 || how == NULL)
		return rc;
	s->inject = calloc(1, sizeof(*s->inject));
	if (s->inject == NULL)
		return fg_error_set(err, ENOMEM, "stream.errors", "no memory");
	s->inject->how = *how;
	if (how->oversize != NULL) {
		s->inject->oversize = fg_template_copy(how->oversize);
		if (s->inject->oversize == NULL)
			return fg_error_set(err, ENOMEM, "stream.errors", "no memory");
	}
	s->inject->how.oversize = s->inject->oversize;
	return fg_injector_create(&how->program, "stream.errors", &s->inject->program, err);
}

bool
tx_inject_resize(const struct tx_inject *f)
{
	return f != NULL && (tx_injects(&f->how, FG_INJECT_RUNT) || tx_injects(&f->how, FG_INJECT_OVERSIZE));
}

bool
tx_inject_makes_length(const struct tx_inject *f, uint32_t octets)
{
	if (f == NULL)
		return false;
	return (tx_injects(&f->how, FG_INJECT_RUNT) && octets + FG_ETHER_FCS == f->how.fields.runt_size) ||
	       (f->oversize != NULL && octets == f->oversize->length);
}

void
tx_inject_free(struct tx_inject *f)
{
	if (f == NULL)
		return;
	fg_injector_free(f->program);
	fg_template_free(f->oversize);
	free(f);
}

const struct fg_departure *
tx_inject_at(struct tx_inject *f, uint64_t n)
{
	uint64_t made = f->made;

	while (made <= n)
		fg_injector_next(f->program, &f->ahead[made++ % TX_INJECT_AHEAD]);
	/* the receiver reads it when it has the frame */
	__atomic_store_n(&f->made, made, __ATOMIC_RELEASE);
	return &f->ahead[n % TX_INJECT_AHEAD];
}

void
tx_inject_make(const struct tx_task *t, struct tx_stream *s, struct rte_mbuf *m, uint64_t departure,
	       bool launch)
{
	const struct fg_departure *d = tx_inject_at(s->inject, s->sequence);
	const struct fg_template *frame =
		HAS(d->kinds, FG_INJECT_OVERSIZE) ? s->inject->oversize : tx_template(s, d->number);
	const struct tx_common common = tx_have_in_common(t, s, frame);
	uint64_t copy = HAS(d->kinds, FG_INJECT_DUPLICATE) ? FG_SIGNATURE_COPY : 0;
	uint8_t *data = (uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM;

	memcpy(data + frame->header, frame->bytes + frame->header, frame->length - frame->header);
	tx_fill(&common, m, d->number | copy, departure, launch);
	if (frame->varies > 0)
		fg_vary_burst(frame, d->number, &data, 1);
	if (frame->seal.packet != 0)
		fg_template_seal(frame, data);
	m->hash.usr = s->id; /* its signature may be wrong */
	if (d->kinds & FG_INJECT_MALFORMED) {
		m->data_len = fg_inject_apply(&s->inject->how.fields, frame, d->kinds, d->number, data);
		m->pkt_len = m->data_len;
		m->ol_flags |= (HAS(d->kinds, FG_INJECT_FCS) ? t->port->caps.bad_fcs_flag : 0) |
			       (HAS(d->kinds, FG_INJECT_RUNT) ? t->port->caps.runt_flag : 0);
	}
	s->sequence++;
}

static void
count_departure(struct tx_inject *f, const struct fg_departure *d)
{
	f->sent++;
	f->skipped += d->skipped;
	if (d->kinds & FG_INJECT_MALFORMED)
		__atomic_store_n(&f->wrong, f->wrong + 1, __ATOMIC_RELAXED);
	for (uint32_t left = d->kinds; left != 0; left &= left - 1)
		f->kinds[__builtin_ctz(left)]++;
}

void
tx_inject_sent(struct tx_inject *f)
{
	count_departure(f, &f->ahead[f->sent % TX_INJECT_AHEAD]);
}

int
tx_inject_recount(struct tx_inject *f, uint64_t sent, struct fg_error *err)
{
	struct fg_injector *again;
	int rc = fg_injector_create(&f->how.program, "stream.errors", &again, err);

	if (rc != 0)
		return rc;
	f->sent = f->skipped = f->wrong = 0;
	memset(f->kinds, 0, sizeof(f->kinds));
	while (f->sent < sent) {
		struct fg_departure d;

		fg_injector_next(again, &d);
		count_departure(f, &d);
	}
	fg_injector_free(again);
	return 0;
}
