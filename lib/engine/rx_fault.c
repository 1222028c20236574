/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors on purpose, at the receiver. The signature says which number a frame has; how many of those by which the device
 * is measured departed before it, its rank, only who has run the same program of faults can tell. So the receiver
 * follows it as numbers arrive, and hands ranks to everything that measures: what was left out, repeated or put off on
 * purpose is in order there, and frames that were made wrong, which a device may well lose, are counted by themselves.
 *
 * A number that is not known yet departs soon, for how long a frame can wait is known, or was never sent. After a long
 * silence the program has to be followed all the way, some nanoseconds for each frame in between.
 */
#include <errno.h>
#include <stdlib.h>

#include "fg_signature.h"
#include "rx_fault.h"

struct rx_faults *
rx_faults_create(const struct tx_faults *sent, unsigned window, struct fg_error *err)
{
	struct rx_faults *f = calloc(1, sizeof(*f));

	if (f == NULL) {
		fg_error_set(err, ENOMEM, "stream.errors", "no memory");
		return NULL;
	}
	if (fg_faults_create(&sent->how.program, "stream.errors", &f->program, err) != 0) {
		rx_faults_free(f);
		return NULL;
	}
	f->sent = sent;
	f->patience = fg_faults_patience(f->program);
	/* numbers that are left out take room, too: of any window half may be */
	f->mask = rte_align64pow2(2 * (window + f->patience)) - 1;
	f->frame = calloc(f->mask + 1, sizeof(*f->frame));
	if (f->frame == NULL) {
		fg_error_set(err, ENOMEM, "stream.errors", "no memory");
		rx_faults_free(f);
		return NULL;
	}
	return f;
}

void
rx_faults_free(struct rx_faults *f)
{
	if (f == NULL)
		return;
	fg_faults_free(f->program);
	free(f->frame);
	free(f);
}

/* follow the sender by one departure. @return false: it has not come further */
static bool
follow(struct rx_faults *f)
{
	struct rx_fault_frame *frame;
	struct fg_departure d;

	if (f->made >= atomic_load_explicit(&f->sent->made, memory_order_acquire))
		return false;
	fg_faults_next(f->program, &d);
	f->made++;
	frame = &f->frame[d.number & f->mask];
	if (d.kinds & 1U << FG_FAULT_DUPLICATE)
		frame->copied = true;
	else
		*frame = (struct rx_fault_frame){
			.number = d.number, .rank = d.rank, .kinds = d.kinds, .departed = true};
	return true;
}

static bool
is_known(const struct rx_fault_frame *frame, uint64_t number, bool copy)
{
	return frame->departed && frame->number == number && (!copy || frame->copied);
}

static struct rx_fault_frame *
look_up(struct rx_faults *f, uint64_t number, bool copy)
{
	struct rx_fault_frame *frame = &f->frame[number & f->mask];
	uint64_t patience = f->patience;

	/* gone by: another number has its place */
	if (frame->departed && frame->number > number)
		return NULL;
	while (!is_known(frame, number, copy)) {
		if (fg_faults_reach(f->program) > number && patience-- == 0)
			return NULL;
		if (!follow(f))
			return NULL;
	}
	return frame;
}

static void
count(struct rx_faults *f, uint32_t kinds)
{
	f->wrong += (kinds & FG_FAULTS_WRONG) != 0;
	for (uint32_t left = kinds; left != 0; left &= left - 1)
		f->kinds[__builtin_ctz(left)]++;
}

enum rx_fault
rx_faults_find(struct rx_faults *f, uint64_t *number)
{
	bool copy = (*number & FG_SIGNATURE_COPY) != 0;
	struct rx_fault_frame *frame = look_up(f, *number & ~FG_SIGNATURE_COPY, copy);
	uint32_t kinds;

	if (frame == NULL)
		return RX_UNKNOWN;
	kinds = copy ? (frame->kinds & FG_FAULTS_WRONG) | 1U << FG_FAULT_DUPLICATE : frame->kinds;
	if (!frame->seen[copy])
		count(f, kinds);
	frame->seen[copy] = true;
	if (kinds & FG_FAULTS_WRONG)
		return RX_WRONG;
	*number = frame->rank + copy;
	return RX_RIGHT;
}
