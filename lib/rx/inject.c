/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deliberate errors, at the receiver. The signature has the frame's number. Its rank, the number of measured
 * frames that departed before it, depends on the program of errors, which the receiver runs again as numbers
 * arrive. All measurements use ranks: frames dropped, duplicated or delayed on purpose are in order there.
 * Malformed frames, which a device may drop, are counted separately.
 *
 * A number that is not known yet departs soon, for how long a frame can wait is known, or was never sent.
 * After a long silence the program has to be followed all the way, some nanoseconds for each frame in
 * between.
 */
#include <errno.h>
#include <stdlib.h>

#include "fg_signature.h"
#include "rx_inject.h"

int
rx_inject_create(const struct tx_inject *sent, unsigned window, struct rx_inject **out, struct fg_error *err)
{
	struct rx_inject *f = calloc(1, sizeof(*f));
	int rc;

	if (f == NULL)
		return fg_error_set(err, ENOMEM, "stream.errors", "no memory");
	*out = f;
	rc = fg_injector_create(&sent->how.program, "stream.errors", &f->program, err);
	if (rc != 0)
		return rc;
	f->sent = sent;
	f->patience = fg_injector_patience(f->program);
	/* numbers that are left out take room, too: of any window half may be */
	f->mask = rte_align64pow2(2 * (window + f->patience)) - 1;
	f->frame = calloc(f->mask + 1, sizeof(*f->frame));
	return f->frame == NULL ? fg_error_set(err, ENOMEM, "stream.errors", "no memory") : 0;
}

void
rx_inject_free(struct rx_inject *f)
{
	if (f == NULL)
		return;
	fg_injector_free(f->program);
	free(f->frame);
	free(f);
}

/* follow the sender by one departure. @return false: it has not come further */
static bool
follow_sender(struct rx_inject *f)
{
	struct rx_inject_frame *frame;
	struct fg_departure d;

	if (f->made >= __atomic_load_n(&f->sent->made, __ATOMIC_ACQUIRE))
		return false;
	fg_injector_next(f->program, &d);
	f->made++;
	frame = &f->frame[d.number & f->mask];
	if (d.kinds & 1U << FG_INJECT_DUPLICATE)
		frame->copied = true;
	else
		*frame = (struct rx_inject_frame){
			.number = d.number, .rank = d.rank, .kinds = d.kinds, .departed = true};
	return true;
}

static bool
is_known(const struct rx_inject_frame *frame, uint64_t number, bool copy)
{
	return frame->departed && frame->number == number && (!copy || frame->copied);
}

static struct rx_inject_frame *
look_up(struct rx_inject *f, uint64_t number, bool copy)
{
	struct rx_inject_frame *frame = &f->frame[number & f->mask];
	uint64_t patience = f->patience;

	/* gone by: another number has its place */
	if (frame->departed && frame->number > number)
		return NULL;
	while (!is_known(frame, number, copy)) {
		if (fg_injector_reach(f->program) > number && patience-- == 0)
			return NULL;
		if (!follow_sender(f))
			return NULL;
	}
	return frame;
}

static void
count_kinds(struct rx_inject *f, uint32_t kinds)
{
	f->wrong += (kinds & FG_INJECT_MALFORMED) != 0;
	for (uint32_t left = kinds; left != 0; left &= left - 1)
		f->kinds[__builtin_ctz(left)]++;
}

enum rx_found
rx_inject_find(struct rx_inject *f, uint64_t *number)
{
	bool copy = (*number & FG_SIGNATURE_COPY) != 0;
	struct rx_inject_frame *frame = look_up(f, *number & ~FG_SIGNATURE_COPY, copy);
	uint32_t kinds;

	if (frame == NULL)
		return RX_UNKNOWN;
	kinds = copy ? (frame->kinds & FG_INJECT_MALFORMED) | 1U << FG_INJECT_DUPLICATE : frame->kinds;
	if (!frame->seen[copy])
		count_kinds(f, kinds);
	frame->seen[copy] = true;
	if (kinds & FG_INJECT_MALFORMED)
		return RX_WRONG;
	*number = frame->rank + copy;
	return RX_RIGHT;
}
