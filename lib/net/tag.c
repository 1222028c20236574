/* SPDX-License-Identifier: BSD-3-Clause */
/* VLAN tags, taken out and put in by moving the MAC addresses: the start of the frame shifts, the payload stays. */
#include <arpa/inet.h>
#include <string.h>

#include "fg_net.h"

enum { MACS = 12 };

uint32_t
fg_net_untag(uint8_t *frame, size_t length)
{
	uint32_t tag;

	if (length < FG_ETHER_HEADER + FG_NET_TAG)
		return 0;
	memcpy(&tag, frame + MACS, sizeof(tag));
	tag = ntohl(tag);
	if (tag >> 16 != FG_ETHER_VLAN)
		return 0;
	memmove(frame + FG_NET_TAG, frame, MACS);
	return tag;
}

void
fg_net_tag(uint8_t *frame, uint32_t tag)
{
	memmove(frame, frame + FG_NET_TAG, MACS);
	tag = htonl(tag);
	memcpy(frame + MACS, &tag, sizeof(tag));
}
