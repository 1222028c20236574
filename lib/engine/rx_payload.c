/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Has the payload of a frame changed on the way? What stands between its headers and its signature is the same in all
 * frames of a stream of one size, as the template has it.
 */
#include <rte_mbuf.h>

#include "fg_signature.h"
#include "rx_priv.h"

struct rx_payload
rx_payload_check(const struct tx_stream *sent, const struct rte_mbuf *m, uint64_t number)
{
	const struct fg_template *frame =
		sent->sizes == NULL ? sent->frame : sent->frames[fg_sizes_kind(sent->sizes, number)];
	size_t octets = (size_t)frame->length - FG_SIGNATURE_SIZE - frame->header;
	struct fg_payload_errors errors = {0};
	const uint8_t *received;

	if (m->data_len < octets + FG_SIGNATURE_SIZE)
		return (struct rx_payload){.missing = true};
	received = rte_pktmbuf_mtod_offset(m, const uint8_t *, m->data_len - FG_SIGNATURE_SIZE - octets);
	fg_payload_compare(frame->bytes + frame->header, received, octets, &errors);
	return (struct rx_payload){
		.bits = (uint32_t)errors.bits,
		.octets = (uint16_t)errors.octets,
		.compared = (uint16_t)octets,
	};
}
