/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports over kernel interfaces: frames must come through a veth pair as they were, those the kernel could not
 * hand over must be counted, and the interfaces of the host must stay out of reach.
 */
#include <sys/socket.h>

#include <rte_ip.h>

#include "interfaces_under_test.h"

namespace
{

using KernelNames = Kernel;

const size_t HEADERS = 54, EACH = 400, SEGMENTS = 4;

uint16_t
Fold(uint32_t sum)
{
	sum = (sum >> 16) + (sum & 0xffff);
	return (sum >> 16) + sum;
}

/* of TCP's pseudo-header over IPv4 */
uint16_t
PseudoSum(const Frame &f)
{
	return Fold(rte_raw_cksum(&f[26], 8) + htons(6) + htons(f.size() - 34));
}

/* TCP over IPv4 with SEGMENTS times EACH bytes of payload, for the port to cut */
rte_mbuf *
ToBeCut()
{
	Frame f(HEADERS + SEGMENTS * EACH);
	const uint16_t total = htons(f.size() - 14);
	uint16_t sum;

	memcpy(f.data(), "\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x08\0\x45\0\0\0\0\0\x40\0\x40\x06", 24);
	memcpy(&f[16], &total, 2);
	memcpy(&f[26], "\xc6\x12\1\2\xc6\x12\1\1\4\0\x13\x89", 12);
	f[46] = 5 << 4;
	f[47] = 0x10;
	sum = PseudoSum(f);
	memcpy(&f[50], &sum, 2);
	sum = ~rte_raw_cksum(&f[14], 20);
	memcpy(&f[24], &sum, 2);
	rte_mbuf *m = MakeMbuf(f);
	m->l2_len = 14;
	m->l3_len = m->l4_len = 20;
	m->tso_segsz = EACH;
	m->ol_flags = RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_IPV4;
	return m;
}

} // namespace

TEST_P(Kernel, CarriesFramesOfAllSizesBothWays)
{
	Port a(std::string("kernel:fga,") + GetParam()), b(std::string("kernel:fgb,") + GetParam());

	ASSERT_TRUE(a.Opened()) << a.Message();
	ASSERT_TRUE(b.Opened()) << b.Message();
	ASSERT_TRUE(a.HasLink());
	EXPECT_TRUE(a->caps.physical);
	EXPECT_EQ(1518u, a->caps.max_frame);
	EXPECT_EQ(10000000000u, a->caps.line_rate_bps);
	EXPECT_TRUE(a->caps.made_up_rate) << "no frame takes time on a veth at that rate";
	for (size_t length : {60, 61, 124, 508, 1514}) {
		ExpectIntact(a, b, 0, 300, length);
		ExpectIntact(b, a, 1000, 300, length);
	}
	EXPECT_EQ(1500u, a.Counters().tx_frames);
	EXPECT_EQ(1500u, b.Counters().rx_frames);
	EXPECT_EQ(0u, b.Counters().rx_missed);
	EXPECT_EQ(0u, b.Counters().tx_errors);
	EXPECT_EQ(0u, b.Counters().link_changes);
}

TEST_P(Kernel, CountsWhatFoundNoRoom)
{
	Port a("kernel:fga,af_packet"), b(std::string("kernel:fgb,") + GetParam());
	const uint32_t sent = 12000; /* more than any ring */

	ASSERT_TRUE(a.Opened()) << a.Message();
	ASSERT_TRUE(b.Opened()) << b.Message();
	ASSERT_TRUE(a.HasLink() && b.HasLink());
	ASSERT_EQ(sent, a.Send(0, sent, 60));
	size_t got = b.Receive(1001).size();
	EXPECT_GT(got, 1000u);
	EXPECT_LT(got, sent);
	EXPECT_EQ(sent, got + b.Counters().rx_missed + a.Counters().tx_errors);
	EXPECT_GT(b.Counters().rx_missed, 0u);
}

/* the MTU became less while the port was open: the frame is never offered again, and no loss of the device */
TEST_P(Kernel, DropsAndCountsFramesThatAreTooLong)
{
	Port a(std::string("kernel:fga,") + GetParam()), b("kernel:fgb,af_packet");
	const size_t lengths[] = {1000, 100, 1001, 101};
	uint32_t taken = 0;

	ASSERT_TRUE(a.Opened() && b.Opened()) << a.Message() << b.Message();
	ASSERT_TRUE(a.HasLink() && b.HasLink());
	ASSERT_TRUE(Run("ip link set fga mtu 600"));
	for (uint32_t number = 0; number < 20; number++) {
		rte_mbuf *m = MakeMbuf(MakeFrame(number, lengths[number % 4]));
		uint16_t n = 0;

		for (int tries = 0; tries < 1000 && n == 0; tries++)
			n = a->tx(a.Get(), &m, 1, rte_get_tsc_cycles());
		if (n == 0)
			rte_pktmbuf_free(m);
		taken += n;
	}
	EXPECT_EQ(20u, taken);
	/* AF_XDP has no limit of the MTU on a veth */
	const uint32_t came = (uint32_t)b.Receive(10).size();
	EXPECT_EQ(strcmp(GetParam(), "af_xdp") == 0 ? 20u : 10u, came);
	EXPECT_EQ(20u - came, a.Counters().tx_errors);
}

TEST_P(Kernel, LeavesTheInterfaceAsItWas)
{
	ASSERT_FALSE(IsPromiscuous("fga"));
	for (int i = 0; i < 3; i++) {
		Port a(std::string("kernel:fga,") + GetParam());

		ASSERT_TRUE(a.Opened()) << a.Message();
		EXPECT_TRUE(IsPromiscuous("fga"));
	}
	EXPECT_FALSE(IsPromiscuous("fga"));
	EXPECT_TRUE(Run("! ip link show fga | grep -q xdp")) << "a program stays attached";
}

TEST_P(Kernel, SeesTheLinkGoAndCome)
{
	Port a(std::string("kernel:fga,") + GetParam());

	ASSERT_TRUE(a.Opened()) << a.Message();
	ASSERT_TRUE(a.HasLink());
	ASSERT_TRUE(Run("ip link set fgb down"));
	ASSERT_TRUE(a.LosesLink());
	EXPECT_NE(0, fg_port_wait_link(a.Get(), 100, &a.err));
	EXPECT_EQ(ENETDOWN, a.err.code);
	ASSERT_TRUE(Run("ip link set fgb up"));
	EXPECT_TRUE(a.HasLink());
	EXPECT_EQ(2u, a.Counters().link_changes);
}

TEST_P(Kernel, TellsThatItsInterfaceIsGone)
{
	Port a(std::string("kernel:fga,") + GetParam());

	ASSERT_TRUE(a.Opened()) << a.Message();
	ASSERT_TRUE(a.HasLink());
	EXPECT_FALSE(a.Counters().removed);
	ASSERT_TRUE(Run("ip link del fga"));
	EXPECT_TRUE(a.Counters().removed);
}

INSTANTIATE_TEST_SUITE_P(Modes, Kernel, testing::Values("af_packet", "af_xdp", "offload"),
			 [](const testing::TestParamInfo<const char *> &info) {
				 return std::string(info.param);
			 });

TEST_P(Kernel, CarriesTags)
{
	Port a(std::string("kernel:fga,") + GetParam()), b(std::string("kernel:fgb,") + GetParam());
	Frame frame = MakeFrame(1, 200);

	ASSERT_TRUE(a.Opened() && b.Opened()) << a.Message() << b.Message();
	ASSERT_TRUE(a.HasLink() && b.HasLink());
	for (const char *tag : {"\x81\0\0\x07\x88\xb5", "\x88\xa8\0\x07\x88\xb5"}) {
		/* the kernel takes it out; DPDK's driver puts back one of 802.1Q, whichever it was */
		if (tag[0] == '\x88' && strcmp(GetParam(), "af_packet") == 0)
			continue;
		memcpy(&frame[12], tag, 6);
		rte_mbuf *m = MakeMbuf(frame);
		ASSERT_EQ(1, a->tx(a.Get(), &m, 1, 0));
		std::vector<Frame> got = b.Receive(1);
		ASSERT_EQ(1u, got.size());
		EXPECT_EQ(frame, got[0]);
	}
}

/* as one where the peer joins segments, too, else as what they are on a wire, with their checksums */
TEST_F(KernelNames, OffloadCutsAndJoinsSegments)
{
	for (const char *mode : {"offload", "af_packet"}) {
		Port a("kernel:fga,offload"), b(std::string("kernel:fgb,") + mode);
		const bool joined = strcmp(mode, "offload") == 0;
		const size_t length = HEADERS + SEGMENTS * EACH;
		rte_mbuf *m = ToBeCut();

		ASSERT_TRUE(Run(joined ? "true" : "ethtool -K fga tso off gso off tx off >/dev/null"));
		ASSERT_TRUE(a.Opened() && b.Opened()) << a.Message() << b.Message();
		ASSERT_TRUE(a.HasLink() && b.HasLink());
		ASSERT_LE(length, a->caps.max_tcp_send);
		ASSERT_EQ(1, a->tx(a.Get(), &m, 1, 0));
		std::vector<Frame> got = b.Receive(joined ? 1 : SEGMENTS);
		ASSERT_EQ(joined ? 1u : SEGMENTS, got.size());
		for (const Frame &f : got) {
			EXPECT_EQ(joined ? length : HEADERS + EACH, f.size());
			if (!joined) {
				EXPECT_EQ(0xffff, Fold(PseudoSum(f) + rte_raw_cksum(&f[34], f.size() - 34)));
			}
		}
	}
}

/* by a program that was attached after the port was opened, or in place of its own */
TEST_P(Kernel, TellsThatAnotherProgramTakesFrames)
{
	Port a(std::string("kernel:fga,") + GetParam()), b("kernel:fgb,af_packet");
	const bool xdp = strcmp(GetParam(), "af_xdp") == 0;

	ASSERT_TRUE(a.Opened() && b.Opened()) << a.Message() << b.Message();
	ASSERT_TRUE(a.HasLink() && b.HasLink());
	EXPECT_FALSE(a.Counters().intercepted);
	if (xdp) {
		ASSERT_TRUE(Run("ip link set fga xdp off"));
		EXPECT_TRUE(a.Counters().intercepted);
		return;
	}
	{
		/* the first that comes attaches its program */
		Port other("kernel:fga,af_xdp");
		ASSERT_TRUE(other.Opened()) << other.Message();
		ExpectIntact(b, other, 0, 100, 60);
		EXPECT_TRUE(a.Counters().intercepted);
		EXPECT_TRUE(a.Receive().empty());
		EXPECT_EQ(0u, a.Counters().intercepts);
		EXPECT_TRUE(a.HasLink()) << "looks at the interface";
	}
	EXPECT_FALSE(a.Counters().intercepted);
	EXPECT_LT(0u, a.Counters().intercepts) << "what a look has found is not forgotten";
	ExpectIntact(b, a, 0, 100, 60);
}

TEST_F(KernelNames, JumboFramesGoThroughTheMtuTheyFit)
{
	ASSERT_TRUE(Run("ip link set fga mtu 9000 && ip link set fgb mtu 9000"));
	Port a("kernel:fga"), b("kernel:fgb");

	ASSERT_TRUE(a.Opened() && b.Opened()) << a.Message() << b.Message();
	EXPECT_EQ(9018u, a->caps.max_frame);
	EXPECT_STREQ("AF_PACKET (AF_XDP: MTU 9000 does not fit into a page)", a->caps.mode);
	ASSERT_TRUE(a.HasLink() && b.HasLink());
	ExpectIntact(a, b, 0, 1, 1514);
}

TEST_F(KernelNames, RefusesWhatTheHostNeeds)
{
	ExpectRefusal("kernel:fgc", ENODEV, "no interface fgc");
	ExpectRefusal("kernel:lo", ENOTSUP, "not an Ethernet interface");
	ASSERT_TRUE(Run("ip link set fgb down"));
	ExpectRefusal("kernel:fgb", ENETDOWN, "ip link set fgb up");
	ASSERT_TRUE(Run("ip link set fgb up && ip address add 198.18.1.2/24 dev fga"));
	ASSERT_TRUE(Run("ip route add default via 198.18.1.1"));
	ExpectRefusal("kernel:fga", EPERM, "default route");
	ExpectRefusal("vdev:net_af_packet9,qpairs=1,iface=fga", EPERM, "default route");
	ASSERT_TRUE(Run("ip route del default"));
	ASSERT_TRUE(Run("ip link add link fga name fgv type macvlan && ip link set fgv up"));
	ASSERT_TRUE(Run("ip route add default dev fgv"));
	ExpectRefusal("kernel:fga", EPERM, "default route");
	ASSERT_TRUE(Run("ip link del fgv"));
	ASSERT_TRUE(
		Run("ip link add fgbr type bridge && ip link set fga master fgbr && ip link set fgbr up"));
	ExpectRefusal("kernel:fga", EBUSY, "ip link set fga nomaster");
	ASSERT_TRUE(Run("ip route add default dev fgbr"));
	ExpectRefusal("kernel:fga", EPERM, "default route");
	ASSERT_TRUE(Run("ip link del fgbr"));
	Port a("kernel:fga");
	EXPECT_TRUE(a.Opened()) << a.Message();
}

/* a bridge has the rates of its ports; a macvlan has the rate of the interface below it */
TEST_F(KernelNames, TellsWhoseRateIsMadeUp)
{
	ASSERT_TRUE(Run("ip link add link fga name fgv type macvlan && ip link set fgv up"));
	{
		Port over("kernel:fgv,af_packet");
		ASSERT_TRUE(over.Opened()) << over.Message();
		EXPECT_TRUE(over->caps.made_up_rate);
	}
	ASSERT_TRUE(Run("ip link del fgv"));
	ASSERT_TRUE(Run("ip link add fgbr type bridge && ip link set fgbr up"));
	{
		Port bridge("kernel:fgbr,af_packet");
		ASSERT_TRUE(bridge.Opened()) << bridge.Message();
		EXPECT_FALSE(bridge->caps.made_up_rate);
	}
	EXPECT_TRUE(Run("ip link del fgbr"));
}

TEST_F(KernelNames, RefusesTheDefaultRouteOfIpv6)
{
	ASSERT_TRUE(Run("sysctl -qw net.ipv6.conf.fga.disable_ipv6=0 && ip route add default dev fga"));
	ASSERT_TRUE(Run("ip route del default && ip -6 route add default dev fga"));
	ExpectRefusal("kernel:fga", EPERM, "default route");
}
