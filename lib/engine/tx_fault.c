/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors on purpose, at the sender. Which number departs, and what is wrong with it, a program of faults says
 * (lib/impair); here the frame is made so. The fields that change follow its number, so that what a device sees of a
 * frame that comes late or twice is what it would have seen.
 *
 * Ports whose streams have faults send by a loop of their own (tx_many.c); all others know nothing of this.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "tx_fault.h"
#include "tx_fill.h"

#define HAS(kinds, kind) (((kinds) >> (kind)&1) != 0)

static bool
wants(const struct fg_stream_faults *f, enum fg_fault kind)
{
	const struct fg_chance *chance = &f->program.fault[kind].chance;

	return chance->every > 0 || chance->random > 0;
}

static int
check(const struct tx_stream *s, const struct fg_stream_faults *f, const struct fg_port *port,
      struct fg_error *err)
{
	if (wants(f, FG_FAULT_FCS) && port->caps.bad_fcs_flag == 0)
		return fg_error_set(err, EINVAL, port->name,
				    "the port writes the FCS itself and cannot send a wrong one");
	if (wants(f, FG_FAULT_RUNT) && !port->caps.runts)
		return fg_error_set(err, EINVAL, port->name,
				    "the port fills up frames of less than 64 octets and sends no runts");
	if (wants(f, FG_FAULT_OVERSIZE) && f->oversize == NULL)
		return fg_error_set(err, EINVAL, "stream.errors.oversize", "there is no such frame");
	for (unsigned k = 0; k < s->templates; k++) {
		int rc = fg_spoil_check(&f->spoil, &f->program, s->frames[k], "stream.errors", err);

		if (rc != 0)
			return rc;
	}
	return 0;
}

int
tx_faults_init(struct tx_stream *s, const struct fg_stream_config *config, const struct fg_port *port,
	       struct fg_error *err)
{
	const struct fg_stream_faults *how = config->faults;
	int rc = how == NULL ? 0 : check(s, how, port, err);

	if (rc != 0 || how == NULL)
		return rc;
	s->faults = calloc(1, sizeof(*s->faults));
	if (s->faults == NULL)
		return fg_error_set(err, ENOMEM, "stream.errors", "no memory");
	s->faults->how = *how;
	if (how->oversize != NULL) {
		s->faults->oversize = fg_template_copy(how->oversize);
		if (s->faults->oversize == NULL)
			return fg_error_set(err, ENOMEM, "stream.errors", "no memory");
	}
	s->faults->how.oversize = s->faults->oversize;
	return fg_faults_create(&how->program, "stream.errors", &s->faults->program, err);
}

bool
tx_faults_resize(const struct tx_faults *f)
{
	return f != NULL && (wants(&f->how, FG_FAULT_RUNT) || wants(&f->how, FG_FAULT_OVERSIZE));
}

void
tx_faults_free(struct tx_faults *f)
{
	if (f == NULL)
		return;
	fg_faults_free(f->program);
	fg_template_free(f->oversize);
	free(f);
}

const struct fg_departure *
tx_faults_at(struct tx_faults *f, uint64_t n)
{
	uint64_t made = atomic_load_explicit(&f->made, memory_order_relaxed);

	while (made <= n)
		fg_faults_next(f->program, &f->ahead[made++ % TX_FAULT_AHEAD]);
	/* the receiver reads it when it has the frame */
	atomic_store_explicit(&f->made, made, memory_order_release);
	return &f->ahead[n % TX_FAULT_AHEAD];
}

void
tx_faults_make(const struct tx_task *t, struct tx_stream *s, struct rte_mbuf *m, uint64_t departure,
	       bool launch)
{
	const struct fg_departure *d = tx_faults_at(s->faults, s->sequence);
	const struct fg_template *frame =
		HAS(d->kinds, FG_FAULT_OVERSIZE) ? s->faults->oversize : tx_template(s, d->number);
	const struct tx_common common = tx_have_in_common(t, s, frame);
	uint64_t copy = HAS(d->kinds, FG_FAULT_DUPLICATE) ? FG_SIGNATURE_COPY : 0;
	uint8_t *data = (uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM;

	memcpy(data + frame->header, frame->bytes + frame->header, frame->length - frame->header);
	tx_fill(&common, m, d->number | copy, departure, launch);
	if (frame->varies > 0)
		fg_vary_burst(frame, d->number, &data, 1);
	if (frame->seal.packet != 0)
		fg_template_seal(frame, data);
	if (d->kinds & FG_FAULTS_WRONG) {
		m->data_len = fg_spoil_frame(&s->faults->how.spoil, frame, d->kinds, d->number, data);
		m->pkt_len = m->data_len;
		m->ol_flags |= (HAS(d->kinds, FG_FAULT_FCS) ? t->port->caps.bad_fcs_flag : 0) |
			       (HAS(d->kinds, FG_FAULT_RUNT) ? t->port->caps.runt_flag : 0);
	}
	s->sequence++;
}

void
tx_faults_sent(struct tx_faults *f)
{
	const struct fg_departure *d = &f->ahead[f->sent++ % TX_FAULT_AHEAD];

	f->skipped += d->skipped;
	if (d->kinds & FG_FAULTS_WRONG)
		__atomic_store_n(&f->wrong, f->wrong + 1, __ATOMIC_RELAXED);
	for (uint32_t left = d->kinds; left != 0; left &= left - 1)
		f->kinds[__builtin_ctz(left)]++;
}
