/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of the peer of a host, byte by byte, written without the library's own header code. */
#ifndef L4_PACKET_H
#define L4_PACKET_H

#include "fg_checksum.h"
#include "l4_host.h"

namespace l4
{

inline void
put(Frame *f, uint64_t value, unsigned octets)
{
	while (octets-- > 0)
		f->push_back(octets < sizeof(value) ? uint8_t(value >> 8 * octets) : 0);
}

/* from the peer to @p host; the upper protocol's checksum is filled in */
inline Frame
packet(const Host &host, uint8_t protocol, uint8_t ecn, const Frame &upper)
{
	Frame f = {2, 0, 0, 0, 0, uint8_t(host.client ? 1 : 2), 2, 0, 0, 0, 0, uint8_t(host.client ? 2 : 1)};
	const uint8_t *src = host.Address(!host.client), *dst = host.Address(host.client);
	size_t ip = 14;

	put(&f, host.ipv6 ? 0x86dd : 0x0800, 2);
	if (host.ipv6) {
		put(&f, 6U << 28 | uint32_t(ecn) << 20, 4);
		put(&f, upper.size(), 2);
		put(&f, uint64_t(protocol) << 8 | 64, 2);
		f.insert(f.end(), src, src + 16);
		f.insert(f.end(), dst, dst + 16);
	} else {
		put(&f, 0x4500 | ecn, 2);
		put(&f, 20 + upper.size(), 2);
		put(&f, 0x4000, 4);
		put(&f, 64U << 24 | uint32_t(protocol) << 16, 4);
		f.insert(f.end(), src + 12, src + 16);
		f.insert(f.end(), dst + 12, dst + 16);
		uint16_t sum = fg_checksum_finish(fg_checksum_add(0, &f[ip], 20));
		memcpy(&f[ip + 10], &sum, 2);
	}
	size_t at = f.size();
	f.insert(f.end(), upper.begin(), upper.end());
	uint64_t pseudo =
		protocol == 1 ? 0
		: host.ipv6   ? fg_checksum_pseudo6((const fg_ipv6 *)&f[ip], protocol, uint32_t(upper.size()))
			    : fg_checksum_pseudo4((const fg_ipv4 *)&f[ip], protocol, uint16_t(upper.size()));
	uint16_t sum = fg_checksum_finish(fg_checksum_add(pseudo, &f[at], upper.size()));
	memcpy(&f[at + (protocol == 6 ? 16 : 2)], &sum, 2);
	return f;
}

} /* namespace l4 */

#endif
