/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts of received frames by PCP, DEI and DSCP. There are no more than 17 tags and 65 DSCPs, none included,
 * so each pair has a counter, and the receiver adds 1 to one of them.
 */
#include <errno.h>
#include <stdlib.h>

#include "fg_class.h"
#include "rx.h"

enum { UNTAGGED = 16, NOT_IP = 64, TAGS = UNTAGGED + 1, DSCPS = NOT_IP + 1 };

uint64_t *
rx_codepoints_create(struct fg_error *err)
{
	uint64_t *counters = calloc((size_t)TAGS * DSCPS, sizeof(*counters));

	if (counters == NULL)
		fg_error_set(err, ENOMEM, "streams", "no memory");
	return counters;
}

uint16_t
rx_codepoints_of(const struct rte_mbuf *frame)
{
	struct fg_class_fields f = fg_class_read(rte_pktmbuf_mtod(frame, const uint8_t *), frame->data_len);
	unsigned tag = f.tagged ? (unsigned)f.pcp << 1 | f.dei : UNTAGGED;

	return (uint16_t)(tag * DSCPS + (f.ip ? f.dscp : NOT_IP));
}

/* of all parts of a stream */
static uint64_t
codepoints_frames(const struct rx_stream *parts, unsigned n, unsigned which)
{
	uint64_t frames = 0;

	for (unsigned k = 0; k < n; k++)
		frames += parts[k].extended->codepoints[which];
	return frames;
}

static struct fg_codepoints
codepoints(unsigned which, uint64_t frames)
{
	unsigned tag = which / DSCPS, dscp = which % DSCPS;

	return (struct fg_codepoints){
		.tagged = tag != UNTAGGED,
		.ip = dscp != NOT_IP,
		.pcp = tag == UNTAGGED ? 0 : (uint8_t)(tag >> 1),
		.dei = tag != UNTAGGED && (tag & 1),
		.dscp = dscp == NOT_IP ? 0 : (uint8_t)dscp,
		.frames = frames,
	};
}

unsigned
rx_codepoints(const struct rx_stream *parts, unsigned parts_n, struct fg_codepoints *out, unsigned max)
{
	unsigned n = 0;

	if (parts->extended == NULL || parts->extended->codepoints == NULL)
		return 0;
	for (unsigned i = 0; i < TAGS * DSCPS; i++) {
		uint64_t frames = codepoints_frames(parts, parts_n, i);

		if (frames == 0)
			continue;
		if (n < max)
			out[n] = codepoints(i, frames);
		n++;
	}
	return n;
}
