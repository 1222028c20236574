/* SPDX-License-Identifier: BSD-3-Clause */
/* The reference switch with tunnels: what leaves wrapped, byte by byte, and what it unwraps. */
#include <string>

#include "fg_membership.h"
#include "switch_under_test.h"

using namespace frames;

namespace
{

const Mac switch_mac = {2, 0, 0, 0xff, 0, 1};
const uint8_t group[4] = {239, 1, 1, 1};

fg_switch_config
TunnelSwitch(fg_switch_wrap in, fg_switch_wrap out)
{
	fg_switch_config config = SwitchOf(3);

	config.tunnels.on = true;
	config.tunnels.in = in;
	config.tunnels.out = out;
	config.tunnels.key = 0x01020304;
	for (uint8_t i = 0; i < 3; i++) {
		fg_switch_tunnel &t = config.tunnels.port[i];

		memcpy(t.near.mac, switch_mac.data(), 6);
		t.near.has_ipv4 = true;
		memcpy(t.near.ipv4, Bytes{198, 18, i, 1}.data(), 4);
		memcpy(t.far_ipv4, Bytes{198, 18, i, 2}.data(), 4);
	}
	return config;
}

Bytes
FromHex(const std::string &text)
{
	Bytes out;

	for (size_t i = 0; i + 1 < text.size(); i += 2)
		out.push_back(uint8_t(std::stoul(text.substr(i, 2), nullptr, 16)));
	return out;
}

/* a UDP packet of 46 bytes to the group */
Bytes
Packet()
{
	Bytes b = FromHex("4500002e00004000401184a8c6120002ef010101c0200007001a0000");

	b.resize(46, 0x5a);
	return b;
}

Bytes
operator+(Bytes a, const Bytes &b)
{
	a.insert(a.end(), b.begin(), b.end());
	return a;
}

class Tunnels : public Switch
{
      public:
	Tunnels(fg_switch_wrap in, fg_switch_wrap out) : Switch(TunnelSwitch(in, out))
	{
		Learn();
	}
	/* Frames that come out at port 1; as many at port 2 */
	std::vector<Bytes>
	Pass(const Bytes &frame)
	{
		std::vector<Bytes> out;

		Send(0, frame);
		for (const Arrival &a : Receive(1))
			out.push_back(a.bytes);
		EXPECT_EQ(out.size(), Receive(2).size());
		return out;
	}
};

Bytes
ToGroup(const Mac &source)
{
	Mac to;

	fg_membership_mac(FG_IGMPV2, group, to.data());
	return ethernet(to, source, 0x0800) + Packet();
}

} // namespace

TEST(Tunnels, WrapWhatLeavesForAGroup)
{
	/* outer IPv4: total length, DF, TTL 64, the protocol, checksum, 198.18.1.1 to 198.18.1.2 */
	const struct {
		fg_switch_wrap wrap;
		std::string outside;
	} all[] = {
		{FG_SWITCH_IP_IN_IP, "45000042000040004004ac90c6120101c6120102"},
		{FG_SWITCH_GRE, "4500004600004000402fac61c6120101c6120102"
				"00000800"},
		{FG_SWITCH_GRE_WITH_KEY, "4500004a00004000402fac5dc6120101c6120102"
					 "20000800"
					 "01020304"},
	};

	for (const auto &one : all) {
		Tunnels sw(FG_SWITCH_NOT_WRAPPED, one.wrap);

		EXPECT_EQ(std::vector<Bytes>{ethernet(Station(1), switch_mac, 0x0800) + FromHex(one.outside) +
					     Packet()},
			  sw.Pass(ToGroup(Station(0))));
	}
}

TEST(Tunnels, UnwrapWhatIsForTheirEndAndOfTheirKind)
{
	const std::string to_end = "4500004a00004000402fae5dc6120002c6120001", gre = "20000800";
	const Bytes link = ethernet(switch_mac, Station(0), 0x0800);
	Tunnels sw(FG_SWITCH_GRE_WITH_KEY, FG_SWITCH_NOT_WRAPPED);

	EXPECT_EQ(std::vector<Bytes>{ToGroup(switch_mac)},
		  sw.Pass(link + FromHex(to_end + gre + "01020304") + Packet()));
	EXPECT_EQ(0u, sw.Counters(0).consumed);
	/* another key; no key; for another address */
	EXPECT_EQ(0u, sw.Pass(link + FromHex(to_end + gre + "01020305") + Packet()).size());
	EXPECT_EQ(0u, sw.Pass(link + FromHex(to_end + "0000080001020304") + Packet()).size());
	EXPECT_EQ(0u, sw.Pass(link + FromHex("4500004a00004000402fae5cc6120002c6120002" + gre + "01020304") +
			      Packet())
			      .size());
	EXPECT_EQ(3u, sw.Counters(0).consumed);
}

TEST(Tunnels, LeaveAloneWhatIsForOnePortAndLoseWhatBecomesTooLong)
{
	Tunnels sw(FG_SWITCH_NOT_WRAPPED, FG_SWITCH_GRE);

	sw.Cross(0, 1, 7, us);
	EXPECT_EQ(60u, sw.Receive(1).at(0).bytes.size());
	Bytes longest = ToGroup(Station(0));
	longest[16] = uint8_t(1477 >> 8); /* 1477 bytes and 24 of the tunnel are more than 1500 */
	longest[17] = uint8_t(1477);
	longest.resize(14 + 1477);
	EXPECT_EQ(0u, sw.Pass(longest).size());
	EXPECT_EQ(1u, sw.Counters(0).oversized);
}

TEST(Tunnels, AnswerForTheAddressOfTheirEnd)
{
	Tunnels sw(FG_SWITCH_GRE, FG_SWITCH_GRE);
	const uint8_t end[4] = {198, 18, 0, 1};
	fg_host asker = {};
	Bytes question(FG_ANSWER_ROOM);
	Mac learned = {};

	memcpy(asker.mac, Station(0).data(), 6);
	asker.has_ipv4 = true;
	memcpy(asker.ipv4, Bytes{198, 18, 0, 2}.data(), 4);
	question.resize(fg_net_ask_ipv4(&asker, end, question.data()));
	sw.Send(0, question);
	EXPECT_EQ(0u, sw.Receive(1).size());
	const Bytes answer = sw.Receive(0).at(0).bytes;
	EXPECT_TRUE(fg_net_learn_ipv4(answer.data(), answer.size(), end, learned.data()));
	EXPECT_EQ(switch_mac, learned);
}
