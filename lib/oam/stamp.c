/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TLVs of STAMP packets (RFC 8972, 4): flags 1, type 1, length 2, value. A sender sets the flag U of each; a
 * reflector that knows the type clears it.
 */
#include <string.h>

#include "oam_priv.h"

enum { CLASS_OCTETS = 4, DSCP_MASK = 0x3f, ECN_MASK = 3 };

/* @return bytes of the TLV with its header; 0: it is longer than what is left */
static size_t
tlv_size(const uint8_t *tlv, size_t left)
{
	size_t size;

	if (left < STAMP_TLV)
		return 0;
	size = STAMP_TLV + (size_t)fg_get16(tlv + 2);
	return size <= left ? size : 0;
}

/*
 * Class of service (RFC 8972, 4.4): DSCP1 6 bits, as the sender wants it on the way back; then as we received
 * it, DSCP2 6 and ECN 2; RP 2: 0, the DSCP was used
 */
static void
answer_class(uint8_t *value, uint8_t tos, uint8_t *dscp)
{
	*dscp = value[0] >> 2 & DSCP_MASK;
	fg_put16(value, (uint16_t)(*dscp << 10 | (tos >> 2) << 4 | (tos & ECN_MASK) << 2));
}

void
oam_stamp_answer_tlvs(uint8_t *content, size_t length, uint8_t tos, uint8_t *dscp)
{
	size_t size;

	for (size_t at = STAMP_BASE; at < length; at += size) {
		uint8_t *tlv = content + at;

		size = tlv_size(tlv, length - at);
		if (size == 0) {
			*tlv |= FG_OAM_TLV_MALFORMED;
			return;
		}
		if (tlv[1] == FG_OAM_TLV_PADDING) {
			tlv[0] = 0;
		} else if (tlv[1] == FG_OAM_TLV_CLASS && size >= STAMP_TLV + CLASS_OCTETS) {
			tlv[0] = 0;
			answer_class(tlv + STAMP_TLV, tos, dscp);
		} else {
			tlv[0] |= tlv[1] == FG_OAM_TLV_CLASS ? FG_OAM_TLV_MALFORMED : FG_OAM_TLV_UNRECOGNISED;
		}
	}
}

void
oam_stamp_pad(uint8_t *content, size_t length)
{
	if (length < STAMP_BASE + STAMP_TLV)
		return;
	content[STAMP_BASE] = FG_OAM_TLV_UNRECOGNISED;
	content[STAMP_BASE + 1] = FG_OAM_TLV_PADDING;
	fg_put16(content + STAMP_BASE + 2, (uint16_t)(length - STAMP_BASE - STAMP_TLV));
}

bool
oam_stamp_padding_is_back(const uint8_t *content, size_t length)
{
	const uint8_t *tlv = content + STAMP_BASE;

	return length < STAMP_BASE + STAMP_TLV || (tlv[0] == 0 && tlv[1] == FG_OAM_TLV_PADDING &&
						   fg_get16(tlv + 2) == length - STAMP_BASE - STAMP_TLV);
}
