/* SPDX-License-Identifier: BSD-3-Clause */
/* The reference device as a router, seen from its two sides: the host is on side 0, a second one on side
 * 1. */
#include <algorithm>
#include <random>

#include "device_under_test.h"

using namespace frames;

namespace
{

const Mac router_mac[2] = {{2, 0xf6, 0, 0, 0xff, 1}, {2, 0xf6, 0, 0, 0xff, 2}};
const Mac far_mac = {2, 0, 0, 0, 0, 0x77};
const Ipv4 far_ipv4 = {198, 19, 1, 2}, far_gateway = {198, 19, 1, 1};
const Ipv6 far_ipv6 = {0x20, 0x01, 0, 2, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
const Ipv6 far_gateway6 = {0x20, 0x01, 0, 2, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

fg_device_config
router()
{
	fg_device_config config = Device(1e9);

	for (fg_device_interface &i : config.interface)
		i.has_ipv4 = i.has_ipv6 = true;
	memcpy(config.interface[0].ipv4, peer_ipv4.data(), 4);
	memcpy(config.interface[0].ipv6, peer_ipv6.data(), 16);
	memcpy(config.interface[1].ipv4, far_gateway.data(), 4);
	memcpy(config.interface[1].ipv6, far_gateway6.data(), 16);
	return config;
}

/* a UDP-like IPv4 frame: 60 bytes, right header checksum */
Bytes
ipv4(const Mac &dst, uint8_t ttl, const Ipv4 &dst_ip = far_ipv4, unsigned id = 0)
{
	Bytes b = ethernet(dst, host_mac, 0x0800);

	append(b, Bytes{0x45, 0, 0, 46, uint8_t(id >> 8), uint8_t(id), 0, 0, ttl, 17, 0, 0});
	append(b, host_ipv4);
	append(b, dst_ip);
	put16(b, 24, uint16_t(~sum(b, 14, 34)));
	b.resize(60, 0x3c);
	return b;
}

Bytes
ipv6(const Mac &dst, uint8_t hop_limit, const Ipv6 &dst_ip = far_ipv6)
{
	Bytes b = ethernet(dst, host_mac, 0x86dd);

	append(b, Bytes{0x60, 0, 0, 0, 0, 20, 17, hop_limit});
	append(b, host_ipv6);
	append(b, dst_ip);
	b.resize(74, 0x3c);
	return b;
}

/* both sides say who they are, as the tester does at the begin of a trial */
void
introduce(Wire &wire)
{
	wire.Send(0, arp(1, host_mac, host_ipv4, {}, host_ipv4));
	wire.Send(1, arp(1, far_mac, far_ipv4, {}, far_ipv4));
	EXPECT_TRUE(wire.Receive(0).empty());
	EXPECT_TRUE(wire.Receive(1).empty()) << "announcements stay on their side";
	fg_device_reset(wire.Get(), 0);
}

/* the frame that returns to side 0 */
Bytes
reply(Wire &wire, const Bytes &question)
{
	std::vector<Arrival> got;

	wire.Send(0, question, 1);
	got = wire.Receive(0);
	EXPECT_TRUE(wire.Receive(1).empty()) << "not passed on";
	return got.empty() ? Bytes{} : got[0].bytes;
}

/* the frame that leaves on side 1 */
Bytes
forwarded(Wire &wire, const Bytes &frame)
{
	std::vector<Arrival> got;

	wire.Send(0, frame, 1);
	got = wire.Receive(1);
	EXPECT_TRUE(wire.Receive(0).empty());
	return got.empty() ? Bytes{} : got[0].bytes;
}

} // namespace

TEST(Router, ReaddressesAndCountsDown)
{
	Wire wire(router());

	introduce(wire);
	for (unsigned id = 0; id < 0x10000; id += 7) /* every kind of carry in the checksum */
		for (uint8_t ttl : {2, 64}) {
			Bytes expected = ipv4(far_mac, uint8_t(ttl - 1), far_ipv4, id);
			Bytes got = forwarded(wire, ipv4(router_mac[0], ttl, far_ipv4, id));

			std::copy(router_mac[1].begin(), router_mac[1].end(), expected.begin() + 6);
			ASSERT_EQ(0xffff, sum(got, 14, 34));
			/* 0 and 0xffff are the same number; anything else must agree */
			expected[24] = got[24], expected[25] = got[25];
			ASSERT_EQ(expected, got);
		}
	for (unsigned hops = 2; hops < 256; hops++) {
		Bytes expected = ipv6(far_mac, uint8_t(hops - 1));

		std::copy(router_mac[1].begin(), router_mac[1].end(), expected.begin() + 6);
		ASSERT_EQ(expected, forwarded(wire, ipv6(router_mac[0], uint8_t(hops))));
	}
}

TEST(Router, ChecksumStaysValidAtEveryTimeToLive)
{
	Wire wire(router());

	introduce(wire);
	for (unsigned ttl = 2; ttl < 256; ttl++)
		for (unsigned id = 0; id < 0x10000; id += 4099) {
			Bytes got = forwarded(wire, ipv4(router_mac[0], uint8_t(ttl), far_ipv4, id));

			ASSERT_EQ(ttl - 1, got[22]);
			ASSERT_EQ(0xffff, sum(got, 14, 34));
		}
}

TEST(Router, DropsWhatItCannotForward)
{
	Wire wire(router());
	std::vector<Bytes> hopeless = {
		ipv4(router_mac[0], 1),
		ipv4(router_mac[0], 0),
		ipv6(router_mac[0], 1),
		ipv6(router_mac[0], 0),
		ipv4(far_mac, 64), /* for another station */
		ipv4({0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 64),
		ipv4(router_mac[0], 64, peer_ipv4), /* for the router, but no question */
		ipv6(router_mac[0], 64, peer_ipv6),
		ethernet(router_mac[0], host_mac, 0x88b5), /* not IP */
		ethernet(router_mac[0], host_mac, 0x0800), /* cut short */
	};
	uint64_t n = 0;

	introduce(wire);
	hopeless[8].resize(60);
	for (const Bytes &frame : hopeless) {
		EXPECT_EQ(Bytes{}, forwarded(wire, frame)) << "frame " << n;
		EXPECT_EQ(++n, wire.Counters(0).unroutable);
	}
	EXPECT_EQ(n, wire.Counters(0).received);
	EXPECT_EQ(0u, wire.Counters(0).forwarded);
}

TEST(Router, DropsWhatIsForNobodyItHasHeardOf)
{
	Wire wire(router());

	EXPECT_EQ(Bytes{}, forwarded(wire, ipv4(router_mac[0], 64)));
	EXPECT_EQ(1u, wire.Counters(0).unroutable);
	wire.Send(1, arp(1, far_mac, far_ipv4, {}, far_ipv4), 1);
	EXPECT_NE(Bytes{}, forwarded(wire, ipv4(router_mac[0], 64)));
}

TEST(Router, AnswersItsNeighbours)
{
	/* before it has heard anybody on the other side, and after */
	for (bool introduced : {false, true}) {
		Wire wire(router());
		Bytes pong4 = icmp(0, host_mac, router_mac[0], host_ipv4, peer_ipv4);
		Bytes pong6 = echo6(129, host_mac, router_mac[0], host_ipv6, peer_ipv6);
		Ipv6 group = solicited_node(peer_ipv6);

		if (introduced)
			introduce(wire);
		pong4[22] = 64;
		mend_icmp(pong4);
		pong6[21] = 64;
		EXPECT_EQ(arp(2, router_mac[0], peer_ipv4, host_mac, host_ipv4),
			  reply(wire, arp(1, host_mac, host_ipv4, {}, peer_ipv4)));
		EXPECT_EQ(icmpv6(host_mac, router_mac[0], host_ipv6, peer_ipv6,
				 neighbour(136, 0x60000000, peer_ipv6, router_mac[0])),
			  reply(wire, icmpv6(group_mac(group), host_mac, group, host_ipv6,
					     neighbour(135, 0, peer_ipv6, host_mac))));
		EXPECT_EQ(pong4, reply(wire, icmp(8, router_mac[0], host_mac, peer_ipv4, host_ipv4)));
		EXPECT_EQ(pong6, reply(wire, echo6(128, router_mac[0], host_mac, peer_ipv6, host_ipv6)));
		EXPECT_EQ(4u, wire.Counters(0).answered);
		EXPECT_EQ(0u, wire.Counters(0).unroutable);
	}
}

TEST(Router, ForwardsPingsBetweenItsNeighbours)
{
	Wire wire(router());
	Bytes got;

	introduce(wire);
	got = forwarded(wire, icmp(8, router_mac[0], host_mac, far_ipv4, host_ipv4));
	ASSERT_NE(Bytes{}, got);
	EXPECT_EQ(60, got[22]);
	EXPECT_NE(Bytes{}, forwarded(wire, echo6(128, router_mac[0], host_mac, far_ipv6, host_ipv6)));
	EXPECT_EQ(2u, wire.Counters(0).forwarded);
}

TEST(Router, KnowsEachSideByItself)
{
	Wire wire(router());
	std::vector<Arrival> got;

	EXPECT_EQ(Bytes{}, reply(wire, arp(1, host_mac, host_ipv4, {}, far_gateway)));
	wire.Send(1, arp(1, far_mac, far_ipv4, {}, far_gateway));
	got = wire.Receive(1);
	ASSERT_EQ(1u, got.size());
	EXPECT_EQ(arp(2, router_mac[1], far_gateway, far_mac, far_ipv4), got[0].bytes);
}

TEST(Router, AnswersDoNotOvertake)
{
	Wire wire(router());
	std::vector<Arrival> got;

	introduce(wire);
	for (int i = 0; i < 100; i++) {
		wire.Send(1, ipv4(router_mac[1], 64, host_ipv4));
		wire.Send(0, arp(1, host_mac, host_ipv4, {}, peer_ipv4));
	}
	got = wire.Receive(0);
	ASSERT_EQ(200u, got.size());
	for (size_t i = 1; i < got.size(); i++)
		EXPECT_GE(got[i].time, got[i - 1].time);
}

TEST(Router, DoesNotAnswerWhereTheBufferHasNoRoom)
{
	/* a solicitation without option: the answer is longer by eight bytes */
	rte_mempool *tight =
		rte_pktmbuf_pool_create("tight", 15, 0, 0, RTE_PKTMBUF_HEADROOM + 80, SOCKET_ID_ANY);
	Ipv6 group = solicited_node(peer_ipv6);
	Bytes message = neighbour(135, 0, peer_ipv6, host_mac);
	Bytes question;
	fg_device_config config = router();
	fg_device *wire;
	rte_mbuf *m = rte_pktmbuf_alloc(tight);

	message.resize(24);
	question = icmpv6(group_mac(group), host_mac, group, host_ipv6, message);
	ASSERT_EQ(0, fg_device_create(&config, 64, &wire, nullptr));
	memcpy(rte_pktmbuf_append(m, uint16_t(question.size())), question.data(), question.size());
	ASSERT_EQ(1, fg_device_port(wire, 0)->tx(fg_device_port(wire, 0), &m, 1, 0));
	EXPECT_EQ(UINT64_MAX, fg_device_port(wire, 0)->next_arrival(fg_device_port(wire, 0)));
	fg_device_free(wire);
	EXPECT_EQ(15u, rte_mempool_avail_count(tight));
	rte_mempool_free(tight);
}

TEST(Router, SurvivesAnything)
{
	std::mt19937_64 random(9);
	Wire wire(router());
	const std::vector<Bytes> seeds = {ipv4(router_mac[0], 64), ipv6(router_mac[0], 64),
					  arp(1, host_mac, host_ipv4, {}, peer_ipv4),
					  icmp(8, router_mac[0], host_mac, peer_ipv4, host_ipv4),
					  echo6(128, router_mac[0], host_mac, peer_ipv6, host_ipv6)};

	for (uint64_t i = 0; i < 20000; i++) {
		Bytes b = seeds[random() % seeds.size()];
		unsigned side = unsigned(random() % 2);

		b.resize(14 + random() % b.size());
		for (unsigned changes = unsigned(random() % 4); changes > 0; changes--)
			b[random() % b.size()] = uint8_t(random());
		wire.Send(side, b, i);
		wire.Receive(0);
		wire.Receive(1);
	}
	for (unsigned side : {0, 1}) {
		fg_device_counters c = wire.Counters(side);

		EXPECT_EQ(c.received, c.forwarded + c.unroutable + c.answered);
	}
}
