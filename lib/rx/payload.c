/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Has the payload of a frame changed on the way? What stands between its headers and its signature is the
 * same in all frames of a stream of one size, as the template has it.
 *
 * All payloads are compared where a plan asks for it. Elsewhere one of 64 is, at numbers drawn at random, so
 * that a device that changes every n-th frame is found; from the first changed one on all are. RFC 2544,
 * section 10, wants no frame counted as received that is not the one that was sent.
 */
#include <string.h>

#include "fg_random.h"
#include "fg_signature.h"
#include "rx_stream.h"

enum { PAYLOAD_APART = 127 }; /* most frames from one comparison to the next: 64 on average */

void
rx_payload_count(struct rx_extended *extended, const struct rte_mbuf *m, uint64_t number)
{
	const struct fg_template *frame = tx_template(extended->sent, number);
	size_t octets = (size_t)frame->length - FG_SIGNATURE_SIZE - frame->header;
	const uint8_t *received;

	if (m->data_len < octets + FG_SIGNATURE_SIZE) {
		extended->corrupted++;
		return;
	}
	received = rte_pktmbuf_mtod_offset(m, const uint8_t *, m->data_len - FG_SIGNATURE_SIZE - octets);
	extended->compared += octets;
	extended->corrupted +=
		fg_payload_compare(frame->bytes + frame->header, received, octets, &extended->errors);
}

struct rx_payload
rx_payload_check(const struct tx_stream *sent, const struct rte_mbuf *m, uint64_t number)
{
	struct rx_extended found = {.sent = sent};

	rx_payload_count(&found, m, number);
	return (struct rx_payload){
		.missing = found.corrupted > 0 && found.errors.bits == 0,
		.bits = (uint32_t)found.errors.bits,
		.octets = (uint16_t)found.errors.octets,
		.compared = (uint16_t)found.compared,
	};
}

bool
rx_payload_sample(struct rx_stream *stream, const struct rte_mbuf *m, uint64_t sent, uint64_t number)
{
	const struct fg_template *frame = tx_template(stream->sent, sent);
	size_t before = (size_t)frame->header + FG_SIGNATURE_SIZE, octets;

	stream->next_payload = number + 1;
	if (!stream->payload_changed)
		stream->next_payload += fg_random_at(number, number) % PAYLOAD_APART;
	if (m == NULL || frame->length <= before)
		return true;
	octets = frame->length - before;
	stream->payload_checked++;
	if (m->data_len >= octets + FG_SIGNATURE_SIZE &&
	    memcmp(rte_pktmbuf_mtod_offset(m, const uint8_t *, m->data_len - FG_SIGNATURE_SIZE - octets),
		   frame->bytes + frame->header, octets) == 0)
		return true;
	stream->payload_changed = true;
	stream->next_payload = number + 1;
	return false;
}

void
rx_payload_add(struct rx_extended *extended, const struct rx_payload *found)
{
	extended->corrupted += found->missing || found->bits > 0;
	extended->compared += found->compared;
	extended->errors.octets += found->octets;
	extended->errors.bits += found->bits;
}
