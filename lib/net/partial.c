/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel leaves the checksum of TCP and UDP to a NIC with checksum offload: the field then has the sum of
 * the pseudo-header, not inverted. A veth pair has no NIC, so the frame arrives like this at the other end.
 * AF_XDP has no flag for it and DPDK's AF_PACKET driver drops the flag, so only the field shows it. One frame
 * of 65,536 has this value by chance, and gets the checksum that it already has.
 *
 * SCTP has a CRC without a pseudo-header: a CRC left to the NIC is 0. Peers that agreed on 0 (RFC 9653) also
 * accept the right CRC.
 */
#include <endian.h>

#include "fg_checksum.h"
#include "fg_crc32c.h"
#include "net_priv.h"

/* @return bytes behind the IP headers by the IP length; less than 0: inconsistent */
static long
content_length(const uint8_t *frame, const struct fg_net_packet *p)
{
	const uint8_t *ip = frame + p->header;

	if (p->version == 4)
		return ntohs(((const struct fg_ipv4 *)ip)->length) - (long)(p->content - p->header);
	return ntohs(((const struct fg_ipv6 *)ip)->payload_length) + (long)sizeof(struct fg_ipv6) -
	       (long)(p->content - p->header);
}

static uint64_t
pseudo_sum(const uint8_t *frame, const struct fg_net_packet *p, size_t length)
{
	const void *ip = frame + p->header;

	return p->version == 4 ? fg_checksum_pseudo4(ip, p->protocol, (uint16_t)length)
			       : fg_checksum_pseudo6(ip, p->protocol, (uint32_t)length);
}

static bool
complete_sum(uint8_t *frame, size_t length, const struct fg_net_packet *p, size_t field)
{
	uint8_t *content = frame + p->content;
	const uint16_t inverted = fg_checksum_finish(pseudo_sum(frame, p, length));
	uint16_t sum;

	memcpy(&sum, content + field, sizeof(sum));
	if (sum == 0 || (sum ^ inverted) != UINT16_MAX)
		return false;
	sum = fg_checksum_finish(fg_checksum_add(0, content, length));
	if (sum == 0 && p->protocol == FG_IP_UDP)
		sum = UINT16_MAX; /* 0 says that there is no checksum (RFC 768) */
	memcpy(content + field, &sum, sizeof(sum));
	return true;
}

static bool
complete_crc(uint8_t *frame, size_t length, const struct fg_net_packet *p, size_t field)
{
	uint8_t *content = frame + p->content;
	uint32_t crc;

	memcpy(&crc, content + field, sizeof(crc));
	if (crc != 0)
		return false;
	crc = htole32(fg_crc32c(0, content, length));
	memcpy(content + field, &crc, sizeof(crc));
	return true;
}

static const struct {
	uint8_t protocol, header, field; /* bytes: shortest header; offset of the checksum */
	bool (*complete)(uint8_t *frame, size_t length, const struct fg_net_packet *p, size_t field);
} leave_checksums[] = {
	{FG_IP_TCP, 20, 16, complete_sum},
	{FG_IP_UDP, 8, 6, complete_sum},
	{FG_IP_SCTP, 12, 8, complete_crc},
};

bool
fg_net_complete_checksum(uint8_t *frame, size_t length)
{
	struct fg_net_packet p;
	long content;

	fg_net_find_packet(frame, length, &p);
	if (p.version == 0 || p.fragment)
		return false;
	content = content_length(frame, &p);
	if (content < 0 || (size_t)content > length - p.content)
		return false;
	for (size_t i = 0; i < sizeof(leave_checksums) / sizeof(*leave_checksums); i++)
		if (p.protocol == leave_checksums[i].protocol && content >= leave_checksums[i].header)
			return leave_checksums[i].complete(frame, (size_t)content, &p,
							   leave_checksums[i].field);
	return false;
}
