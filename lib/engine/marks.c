/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With which PCP, DEI and DSCP frames arrive. There are no more than 17 tags and 65 DSCPs, none included, so each pair
 * has a counter, and the receiver adds 1 to one of them.
 */
#include <errno.h>
#include <stdlib.h>

#include "fg_class.h"
#include "rx_priv.h"

enum { UNTAGGED = 16, NOT_IP = 64, TAGS = UNTAGGED + 1, DSCPS = NOT_IP + 1 };

uint64_t *
marks_create(struct fg_error *err)
{
	uint64_t *marks = calloc((size_t)TAGS * DSCPS, sizeof(*marks));

	if (marks == NULL)
		fg_error_set(err, ENOMEM, "streams", "no memory");
	return marks;
}

uint16_t
marks_of(const struct rte_mbuf *frame)
{
	struct fg_class_fields f = fg_class_read(rte_pktmbuf_mtod(frame, const uint8_t *), frame->data_len);
	unsigned tag = f.tagged ? (unsigned)f.pcp << 1 | f.dei : UNTAGGED;

	return (uint16_t)(tag * DSCPS + (f.ip ? f.dscp : NOT_IP));
}

/* of all parts of a stream */
static uint64_t
frames_of(const struct rx_stream *parts, unsigned n, unsigned mark)
{
	uint64_t frames = 0;

	for (unsigned k = 0; k < n; k++)
		frames += parts[k].extra->marks[mark];
	return frames;
}

static struct fg_marked
marked(unsigned mark, uint64_t frames)
{
	unsigned tag = mark / DSCPS, dscp = mark % DSCPS;

	return (struct fg_marked){
		.tagged = tag != UNTAGGED,
		.ip = dscp != NOT_IP,
		.pcp = tag == UNTAGGED ? 0 : (uint8_t)(tag >> 1),
		.dei = tag != UNTAGGED && (tag & 1),
		.dscp = dscp == NOT_IP ? 0 : (uint8_t)dscp,
		.frames = frames,
	};
}

unsigned
fg_engine_marks(const struct fg_engine *e, unsigned stream, struct fg_marked *out, unsigned max)
{
	const struct trial *t = e->trial;
	const struct rx_stream *parts = t == NULL ? NULL : &t->rx_stream[t->first[stream]];
	unsigned n = 0;

	if (parts == NULL || parts->extra == NULL || parts->extra->marks == NULL)
		return 0;
	for (unsigned i = 0; i < TAGS * DSCPS; i++) {
		uint64_t frames = frames_of(parts, parts_of(t, stream), i);

		if (frames == 0)
			continue;
		if (n < max)
			out[n] = marked(i, frames);
		n++;
	}
	return n;
}
