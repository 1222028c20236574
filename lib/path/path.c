/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carry out decisions in a fixed order: a frame is changed first, so its copy has the same changes, and the
 * copy enters the line behind it. Without a buffer a frame continues unchanged.
 */
#include <stddef.h>

#include "fg_path.h"

int
fg_path_init(struct fg_path *p, const struct fg_impair_config *config, uint64_t hz,
	     const struct fg_path_frames *frames, void *context, const char *where, struct fg_error *err)
{
	p->frames = frames;
	p->context = context;
	p->counters = (struct fg_path_counters){0};
	return fg_impair_init(&p->impair, config, hz, where, err);
}

void
fg_path_reset(struct fg_path *p, uint64_t seed)
{
	p->counters = (struct fg_path_counters){0};
	fg_impair_reset(&p->impair, seed);
}

static void *
change(struct fg_path *p, void *frame, uint32_t actions)
{
	void *owned = p->frames->own(p->context, frame);
	uint32_t length, rest;
	uint8_t *bytes;

	if (owned == NULL)
		return frame;
	bytes = p->frames->bytes(owned, &length);
	rest = fg_impair_change(&p->impair, actions, bytes, length, &p->counters);
	if (rest < length)
		p->frames->cut(owned, rest);
	return owned;
}

static void
send_later(struct fg_delay_line *line, void *frame, uint64_t time, uint32_t places, uint64_t number)
{
	if (places > 0)
		fg_delay_line_hold(line, frame, places, time, number);
	else
		fg_delay_line_push(line, frame, time, number);
}

bool
fg_path_send(struct fg_path *p, struct fg_delay_line *line, void *frame, uint64_t time)
{
	struct fg_verdict verdict;
	void *copy = NULL;

	fg_impair_decide(&p->impair, time, &verdict);
	if (__builtin_expect(!fg_delay_line_room(line, 2), 0))
		return false;
	if (verdict.actions != 0)
		frame = change(p, frame, verdict.actions);
	if (verdict.duplicate) {
		copy = p->frames->copy(p->context, frame);
		if (copy == NULL)
			p->counters.no_buffer++;
		else
			p->counters.duplicated++;
	}
	send_later(line, frame, verdict.time, verdict.places, fg_delay_line_number(line));
	if (copy != NULL)
		send_later(line, copy, verdict.copy_time, verdict.places, FG_DELAY_UNCOUNTED);
	return true;
}

void
fg_path_read_counters(const struct fg_path *p, const struct fg_delay_line *line, struct fg_path_counters *out)
{
	*out = p->counters;
	out->reordered = line->reordered;
}
