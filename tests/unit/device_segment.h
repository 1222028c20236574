/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments of TCP, byte by byte, for tests of stateful devices. */
#ifndef DEVICE_SEGMENT_H
#define DEVICE_SEGMENT_H

#include <cstdint>
#include <cstring>
#include <vector>

extern "C" {
#include "fg_checksum.h"
}

namespace device
{

using Bytes = std::vector<uint8_t>;

const uint64_t us = 1000000, ms = 1000 * us, second = 1000 * ms; /* in picoseconds */

enum { SYN = 2, ACK = 16, FIN = 1 | ACK, SYN_ACK = 2 | ACK };

/* a segment of TCP from 198.18.0.1 (side 0) or 198.19.0.1 (side 1), whose client has this port */
inline Bytes
Segment(unsigned side, uint16_t port, uint8_t flags, size_t payload = 0)
{
	Bytes b(14 + 20 + 20 + payload);
	uint16_t length = uint16_t(40 + payload);
	uint8_t *ip = &b[14], *tcp = ip + 20;

	b[12] = 8;
	ip[0] = 0x45;
	ip[2] = uint8_t(length >> 8);
	ip[3] = uint8_t(length);
	ip[8] = 64;
	ip[9] = 6;
	memcpy(ip + (side ? 16 : 12), "\xc6\x12\0\1", 4);
	memcpy(ip + (side ? 12 : 16), "\xc6\x13\0\1", 4);
	uint8_t *client = tcp + (side ? 2 : 0), *server = tcp + (side ? 0 : 2);
	client[0] = uint8_t(port >> 8);
	client[1] = uint8_t(port);
	server[1] = 80;
	memcpy(tcp + 4, "\0\0\1\0\0\0\2\0", 8);
	tcp[12] = 5 << 4;
	tcp[13] = flags;
	return b;
}

/* 0: it is right */
inline uint16_t
ChecksumOfTcp(const Bytes &b)
{
	const auto *ip = reinterpret_cast<const fg_ipv4 *>(&b[14]);
	size_t octets = b.size() - 34;

	return fg_checksum_finish(
		fg_checksum_add(fg_checksum_pseudo4(ip, 6, uint16_t(octets)), &b[34], octets));
}

} // namespace device

#endif
