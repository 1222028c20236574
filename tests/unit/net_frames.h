/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NET_FRAMES_H
#define NET_FRAMES_H

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fg_net.h"

/*
 * Frames for the tests, byte by byte and with checksums of their own making: nothing here leans on what is
 * tested.
 */
namespace frames
{

using Bytes = std::vector<uint8_t>;

/*
 * A copy without a byte to spare, so that a sanitizer sees what is read behind it; at an address also if
 * it is empty
 */
inline Bytes
Exact(const Bytes &frame)
{
	Bytes exact;

	exact.reserve(frame.empty() ? 1 : frame.size());
	exact.assign(frame.begin(), frame.end());
	return exact;
}
using Mac = std::array<uint8_t, 6>;
using Ipv4 = std::array<uint8_t, 4>;
using Ipv6 = std::array<uint8_t, 16>;

const Mac peer_mac = {2, 0, 0, 0, 0, 9};
const Mac host_mac = {2, 0, 0, 0, 0, 1};
const Ipv4 peer_ipv4 = {198, 18, 1, 1};
const Ipv4 host_ipv4 = {198, 18, 1, 2};
const Ipv6 peer_ipv6 = {0x20, 0x01, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
const Ipv6 host_ipv6 = {0x20, 0x01, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0xab, 0xcd, 0xef, 2};
const Ipv6 no_ipv6 = {};
const Ipv6 all_nodes = {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

inline fg_host
host()
{
	fg_host h = {};

	memcpy(h.mac, host_mac.data(), 6);
	memcpy(h.ipv4, host_ipv4.data(), 4);
	memcpy(h.ipv6, host_ipv6.data(), 16);
	h.has_ipv4 = h.has_ipv6 = true;
	return h;
}

template <typename T>
void
append(Bytes &to, const T &what)
{
	to.insert(to.end(), what.begin(), what.end());
}

inline void
append16(Bytes &to, unsigned value)
{
	to.push_back(uint8_t(value >> 8));
	to.push_back(uint8_t(value));
}

/* RFC 1071 as it is written down: 16-bit words, high byte first, end-around carry at each step */
inline uint16_t
sum(const Bytes &bytes, size_t from, size_t to, uint32_t start = 0)
{
	uint32_t s = start;

	for (size_t i = from; i < to; i += 2) {
		s += uint32_t(bytes[i] << 8 | (i + 1 < to ? bytes[i + 1] : 0));
		s = (s & 0xffff) + (s >> 16);
	}
	return uint16_t(s);
}

inline uint16_t
pseudo_sum(const Bytes &addresses, unsigned protocol, size_t length)
{
	return sum(addresses, 0, addresses.size(), uint32_t(protocol + length));
}

inline void
put16(Bytes &b, size_t at, unsigned value)
{
	b[at] = uint8_t(value >> 8);
	b[at + 1] = uint8_t(value);
}

inline Bytes
ethernet(const Mac &dst, const Mac &src, unsigned type)
{
	Bytes b;

	append(b, dst);
	append(b, src);
	append16(b, type);
	return b;
}

inline Bytes
arp(unsigned operation, const Mac &sender, const Ipv4 &sender_ip, const Mac &target, const Ipv4 &target_ip)
{
	Bytes b = ethernet(operation == 1 ? Mac{255, 255, 255, 255, 255, 255} : target, sender, 0x0806);

	append(b, Bytes{0, 1, 8, 0, 6, 4});
	append16(b, operation);
	append(b, sender);
	append(b, sender_ip);
	append(b, operation == 1 ? Mac{} : target);
	append(b, target_ip);
	return b;
}

/* checksums of an IPv4 frame with an ICMP message of what the header says is its length */
inline void
mend_icmp(Bytes &b)
{
	size_t end = 14 + (size_t(b[16]) << 8 | b[17]);

	put16(b, 24, 0);
	put16(b, 24, uint16_t(~sum(b, 14, 34)));
	put16(b, 36, 0);
	put16(b, 36, uint16_t(~sum(b, 34, end < b.size() ? end : b.size())));
}

inline Bytes
icmp(uint8_t type, const Mac &dst, const Mac &src, const Ipv4 &dst_ip, const Ipv4 &src_ip,
     size_t payload = 57)
{
	Bytes b = ethernet(dst, src, 0x0800);

	append(b, Bytes{0x45, 0});
	append16(b, unsigned(28 + payload));
	append(b, Bytes{0x12, 0x34, 0x40, 0, 61, 1, 0, 0});
	append(b, src_ip);
	append(b, dst_ip);
	append(b, Bytes{type, 0, 0, 0, 0x77, 0x01, 0, 5});
	for (size_t i = 0; i < payload; i++)
		b.push_back(uint8_t(3 * i + 1));
	mend_icmp(b);
	return b;
}

inline void
mend_icmpv6(Bytes &b)
{
	size_t length = size_t(b[18]) << 8 | b[19];
	size_t end = 54 + length < b.size() ? 54 + length : b.size();

	put16(b, 56, 0);
	put16(b, 56,
	      uint16_t(~sum(b, 54, end, pseudo_sum(Bytes(b.begin() + 22, b.begin() + 54), 58, length))));
}

inline Bytes
icmpv6(const Mac &dst, const Mac &src, const Ipv6 &dst_ip, const Ipv6 &src_ip, const Bytes &message)
{
	Bytes b = ethernet(dst, src, 0x86dd);

	append(b, Bytes{0x60, 0, 0, 0});
	append16(b, unsigned(message.size()));
	append(b, Bytes{58, 255});
	append(b, src_ip);
	append(b, dst_ip);
	append(b, message);
	mend_icmpv6(b);
	return b;
}

inline Bytes
echo6(uint8_t type, const Mac &dst, const Mac &src, const Ipv6 &dst_ip, const Ipv6 &src_ip,
      size_t payload = 57)
{
	Bytes message = {type, 0, 0, 0, 0x77, 0x01, 0, 5};

	for (size_t i = 0; i < payload; i++)
		message.push_back(uint8_t(5 * i + 2));
	return icmpv6(dst, src, dst_ip, src_ip, message);
}

/* the group of everybody whose address ends in the same three bytes */
inline Ipv6
solicited_node(const Ipv6 &a)
{
	return {0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, a[13], a[14], a[15]};
}

inline Mac
group_mac(const Ipv6 &group)
{
	return {0x33, 0x33, group[12], group[13], group[14], group[15]};
}

/* a Neighbor Solicitation (135) or Advertisement (136) with its option */
inline Bytes
neighbour(uint8_t type, uint32_t flags, const Ipv6 &target, const Mac &option)
{
	Bytes m = {type, 0, 0, 0, uint8_t(flags >> 24), 0, 0, 0};

	append(m, target);
	append(m, Bytes{uint8_t(type == 135 ? 1 : 2), 1});
	append(m, option);
	return m;
}

inline Bytes
solicitation(const Ipv6 &target = host_ipv6, const Ipv6 &src = peer_ipv6)
{
	Ipv6 group = solicited_node(target);

	return icmpv6(group_mac(group), peer_mac, group, src, neighbour(135, 0, target, peer_mac));
}

} // namespace frames

#endif
