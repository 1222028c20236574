/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Has the payload of a frame changed on the way? What stands between its headers and its signature is the same in all
 * frames of a stream of one size, as the template has it.
 */
#include <rte_mbuf.h>

#include "fg_signature.h"
#include "rx_priv.h"

void
rx_payload_count(struct rx_extra *extra, const struct rte_mbuf *m, uint64_t number)
{
	const struct fg_template *frame = tx_template(extra->sent, number);
	size_t octets = (size_t)frame->length - FG_SIGNATURE_SIZE - frame->header;
	const uint8_t *received;

	if (m->data_len < octets + FG_SIGNATURE_SIZE) {
		extra->corrupted++;
		return;
	}
	received = rte_pktmbuf_mtod_offset(m, const uint8_t *, m->data_len - FG_SIGNATURE_SIZE - octets);
	extra->compared += octets;
	extra->corrupted +=
		fg_payload_compare(frame->bytes + frame->header, received, octets, &extra->errors);
}

struct rx_payload
rx_payload_check(const struct tx_stream *sent, const struct rte_mbuf *m, uint64_t number)
{
	struct rx_extra found = {.sent = sent};

	rx_payload_count(&found, m, number);
	return (struct rx_payload){
		.missing = found.corrupted > 0 && found.errors.bits == 0,
		.bits = (uint32_t)found.errors.bits,
		.octets = (uint16_t)found.errors.octets,
		.compared = (uint16_t)found.compared,
	};
}

void
rx_payload_add(struct rx_extra *extra, const struct rx_payload *found)
{
	extra->corrupted += found->missing || found->bits > 0;
	extra->compared += found->compared;
	extra->errors.octets += found->octets;
	extra->errors.bits += found->bits;
}
