/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Has the payload of a frame changed on the way? What stands between its headers and its signature is the
 * same in all frames of a stream of one size, as the template has it.
 */
#include "fg_signature.h"
#include "rx_stream.h"

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

void
rx_payload_add(struct rx_extended *extended, const struct rx_payload *found)
{
	extended->corrupted += found->missing || found->bits > 0;
	extended->compared += found->compared;
	extended->errors.octets += found->octets;
	extended->errors.bits += found->bits;
}
