/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remove and insert VLAN tags by moving the MAC addresses: the start of the frame shifts, the payload stays.
 */
#include <string.h>

#include "fg_bytes.h"
#include "fg_net.h"

enum { MACS = 12 };

static bool
is_tagged(const uint8_t *frame, size_t length)
{
	return length >= FG_ETHER_HEADER + FG_NET_TAG && fg_net_is_tag(fg_get16(frame + MACS));
}

bool
fg_net_has_tag(const uint8_t *frame, size_t length, uint32_t tag)
{
	const uint32_t priority = 0xf000;

	return length >= FG_ETHER_HEADER + FG_NET_TAG && (fg_get32(frame + MACS) & ~priority) == tag;
}

int
fg_net_own_tag(const uint8_t *frame, size_t length, uint32_t tag)
{
	if (fg_net_has_tag(frame, length, tag == 0 ? FG_NET_PRIORITY_TAG : tag))
		return FG_NET_TAG;
	return tag == 0 && !is_tagged(frame, length) ? 0 : -1;
}

uint32_t
fg_net_untag(uint8_t *frame, size_t length)
{
	uint32_t tag;

	if (length < FG_ETHER_HEADER + FG_NET_TAG)
		return 0;
	tag = fg_get32(frame + MACS);
	if (tag >> 16 != FG_ETHER_VLAN)
		return 0;
	memmove(frame + FG_NET_TAG, frame, MACS);
	return tag;
}

void
fg_net_tag(uint8_t *frame, uint32_t tag)
{
	memmove(frame, frame + FG_NET_TAG, MACS);
	fg_put32(frame + MACS, tag);
}
