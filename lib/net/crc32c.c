/* SPDX-License-Identifier: BSD-3-Clause */
/* The CRC of SCTP and iSCSI: a register of 32 bits, inverted before the first byte and behind the last. */
#include <string.h>

#include "fg_crc32c.h"

/* of every four bits; reflected polynomial 0x1edc6f41 (RFC 9260, appendix A) */
static const uint32_t of_nibble[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
	0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

static uint32_t
add_by_table(uint32_t crc, const uint8_t *data, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		crc ^= data[i];
		crc = crc >> 4 ^ of_nibble[crc & 15];
		crc = crc >> 4 ^ of_nibble[crc & 15];
	}
	return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t
add_by_instruction(uint32_t crc, const uint8_t *data, size_t length)
{
	uint64_t wide = crc, octets;

	for (; length >= 8; length -= 8, data += 8) {
		memcpy(&octets, data, 8);
		wide = __builtin_ia32_crc32di(wide, octets);
	}
	crc = (uint32_t)wide;
	for (; length > 0; length--, data++)
		crc = __builtin_ia32_crc32qi(crc, *data);
	return crc;
}
#endif

uint32_t
fg_crc32c(uint32_t crc, const uint8_t *data, size_t length)
{
#if defined(__x86_64__)
	if (__builtin_expect(__builtin_cpu_supports("sse4.2"), 1))
		return ~add_by_instruction(~crc, data, length);
#endif
	return ~add_by_table(~crc, data, length);
}

uint32_t
fg_crc32c_by_table(uint32_t crc, const uint8_t *data, size_t length)
{
	return ~add_by_table(~crc, data, length);
}
