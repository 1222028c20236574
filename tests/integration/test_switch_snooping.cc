/* SPDX-License-Identifier: BSD-3-Clause */
/* The reference switch with IGMP and MLD snooping: where frames of a group leave from, and since when. */
#include <string>

#include "fg_membership.h"
#include "switch_under_test.h"

using namespace frames;

namespace
{

const uint64_t ms = 1000 * us, s = 1000 * ms;
/* a message of the least size at 1 Gbit/s: from its first bit to its last */
const uint64_t stored = 512 * ns;

fg_switch_config
SnoopingSwitch(unsigned ports, uint32_t groups = 16)
{
	fg_switch_config config = SwitchOf(ports);

	config.snooping.groups = groups;
	config.snooping.fast_leave = true;
	config.snooping.drops_unregistered = true;
	return config;
}

fg_membership_group
Group(const std::string &text)
{
	fg_membership_group g = {};

	(text.find(':') == std::string::npos ? fg_ipv4_parse : fg_ipv6_parse)(text.c_str(), g.group, nullptr);
	return g;
}

class Snooping : public Switch
{
      public:
	using Switch::Switch;

	void
	Tell(unsigned port, fg_membership_change change, const std::string &group, uint64_t at,
	     fg_membership_version version = FG_IGMPV2)
	{
		fg_membership_group g = Group(group);
		fg_host h = host();
		Bytes out(FG_MEMBERSHIP_ROOM);

		out.resize(fg_membership_report(&h, version, change, &g, 1, out.data()));
		LaunchWhole(port, out, at);
	}
	void
	Join(unsigned port, const std::string &group, uint64_t at, fg_membership_version version = FG_IGMPV2)
	{
		Tell(port, FG_MEMBERSHIP_JOIN, group, at, version);
	}
	void
	Leave(unsigned port, const std::string &group, uint64_t at, fg_membership_version version = FG_IGMPV2)
	{
		Tell(port, FG_MEMBERSHIP_LEAVE, group, at, version);
	}
	void
	SendTo(const std::string &group, uint64_t at, unsigned from = 0)
	{
		fg_membership_group g = Group(group);
		bool six = group.find(':') != std::string::npos;
		Mac to;

		fg_membership_mac(six ? FG_MLDV1 : FG_IGMPV2, g.group, to.data());
		Bytes b = ethernet(to, Station(from), six ? 0x86dd : 0x0800);
		b.resize(80);
		b[14] = six ? 0x60 : 0x45;
		memcpy(&b[14 + (six ? 24 : 16)], g.group, six ? 16 : 4);
		Launch(from, 1, b, at);
	}
	/* The ports at which frames sent by then come out, each with how many: "1:2 3:1" */
	std::string
	Where(uint64_t until)
	{
		std::string out;

		for (unsigned i = 0; i < ports; i++) {
			size_t n = 0;

			for (const Arrival &a : Receive(i, until))
				n += a.bytes.size() == 80;
			if (n > 0)
				out += (out.empty() ? "" : " ") + std::to_string(i) + ":" + std::to_string(n);
		}
		return out;
	}
	/* Where a frame goes that is sent now */
	std::string
	Goes(const std::string &group, uint64_t at)
	{
		SendTo(group, at);
		return Where(at + 100 * us);
	}

      private:
	/* with its last bytes as they are */
	void
	LaunchWhole(unsigned port, const Bytes &bytes, uint64_t at)
	{
		uint32_t last;

		memcpy(&last, &bytes[bytes.size() - 4], 4);
		Launch(port, last, bytes, at);
	}
};

} // namespace

TEST(Snooping, SendsAGroupToItsMembers)
{
	for (auto version : {FG_IGMPV2, FG_IGMPV3, FG_MLDV1, FG_MLDV2}) {
		std::string group = fg_membership_is_ipv6(version) ? "ff1e::1:1" : "239.1.1.1";
		std::string other = fg_membership_is_ipv6(version) ? "ff1e::1:2" : "239.1.1.2";
		Snooping sw(SnoopingSwitch(4));

		EXPECT_EQ("", sw.Goes(group, us));
		sw.Join(1, group, 10 * us, version);
		sw.Join(3, group, 10 * us, version);
		EXPECT_EQ("1:1 3:1", sw.Goes(group, ms));
		EXPECT_EQ("", sw.Goes(other, 2 * ms));
		sw.Leave(1, group, 3 * ms, version);
		EXPECT_EQ("3:1", sw.Goes(group, 4 * ms));
		EXPECT_EQ(1u, sw.Counters(1).reports);
		EXPECT_EQ(1u, sw.Counters(1).leaves);
		EXPECT_EQ(1u, sw.Counters(1).group_copies);
		EXPECT_EQ(1u, fg_switch_groups(sw.Get()));
		sw.Leave(3, group, 5 * ms, version);
		EXPECT_EQ("", sw.Goes(group, 6 * ms));
	}
}

TEST(Snooping, FloodsWhatItDoesNotRegisterOrDropsIt)
{
	fg_switch_config config = SnoopingSwitch(4, 1);

	config.snooping.drops_unregistered = false;
	Snooping sw(config);
	EXPECT_EQ("1:1 2:1 3:1", sw.Goes("239.1.1.1", us));
	sw.Join(1, "239.1.1.1", ms);
	sw.Join(2, "239.1.1.2", 2 * ms); /* there is no room for it */
	EXPECT_EQ("1:1", sw.Goes("239.1.1.1", 3 * ms));
	EXPECT_EQ("1:1 2:1 3:1", sw.Goes("239.1.1.2", 4 * ms));
	EXPECT_EQ(1u, sw.Counters(2).not_registered);
	EXPECT_EQ("1:1 2:1 3:1", sw.Goes("224.0.0.5", 5 * ms)) << "of the local network";
	EXPECT_EQ("1:1 2:1 3:1", sw.Goes("ff02::5", 6 * ms));
	sw.Leave(1, "239.1.1.1", 7 * ms);
	sw.Join(2, "239.1.1.2", 8 * ms);
	EXPECT_EQ("2:1", sw.Goes("239.1.1.2", 9 * ms)) << "the room is free again";
}

/* the table changes so long after the last bit of the message, and frames that are in later see it */
TEST(Snooping, TakesItsTime)
{
	fg_switch_config config = SnoopingSwitch(3);

	config.snooping.join_delay_ns = 100e3;
	config.snooping.new_group_delay_ns = 1e6;
	config.snooping.leave_delay_ns = 200e3;
	Snooping sw(config);
	const uint64_t shift = 84 * 8 * ns - stored; /* our frames have 84 bytes */

	sw.Join(1, "239.1.1.1", 0);
	EXPECT_EQ("", sw.Goes("239.1.1.1", 1100 * us - shift - ns));
	EXPECT_EQ("1:1", sw.Goes("239.1.1.1", 1101 * us - shift));
	sw.Join(2, "239.1.1.1", 2 * ms);
	EXPECT_EQ("1:1", sw.Goes("239.1.1.1", 2100 * us - shift - ns)) << "the group has an entry";
	EXPECT_EQ("1:1 2:1", sw.Goes("239.1.1.1", 2101 * us - shift));
	sw.Leave(1, "239.1.1.1", 3 * ms);
	EXPECT_EQ("1:1 2:1", sw.Goes("239.1.1.1", 3200 * us - shift - ns));
	EXPECT_EQ("2:1", sw.Goes("239.1.1.1", 3201 * us - shift));
}

TEST(Snooping, AsksBeforeItForgetsAMemberThatLeft)
{
	fg_switch_config config = SnoopingSwitch(3);
	unsigned queries = 0;

	config.snooping.fast_leave = false;
	config.snooping.last_member_count = 2;
	config.snooping.last_member_interval_ns = 1e9;
	config.snooping.leave_delay_ns = 100e3;
	Snooping sw(config);
	sw.Join(1, "239.1.1.1", 0);
	sw.Join(2, "239.1.1.1", 0);
	sw.Leave(1, "239.1.1.1", ms);
	EXPECT_EQ("1:1 2:1", sw.Goes("239.1.1.1", 2 * s));
	EXPECT_EQ("2:1", sw.Goes("239.1.1.1", 2 * s + 2 * ms));
	EXPECT_EQ(2u, sw.Counters(1).queries_sent);
	EXPECT_EQ(0u, sw.Counters(2).queries_sent);

	/* another host behind the port answers */
	sw.Leave(2, "239.1.1.1", 3 * s);
	for (const Arrival &a : sw.Receive(2, 3 * s + 900 * ms)) {
		fg_membership_message message;

		queries += fg_membership_open(a.bytes.data(), a.bytes.size(), &message) && message.query &&
			   message.group[3] == 1 && message.response_ns == 1000000000;
	}
	EXPECT_EQ(1u, queries);
	sw.Tell(2, FG_MEMBERSHIP_ANSWER, "239.1.1.1", 4 * s - ms);
	EXPECT_EQ("2:1", sw.Goes("239.1.1.1", 9 * s));
	EXPECT_EQ(1u, sw.Counters(2).queries_sent) << "it knows already";
}

TEST(Snooping, ReadsNoMoreMessagesThanItCan)
{
	fg_switch_config config = SnoopingSwitch(2, 100);

	config.snooping.control_rate = 1000;
	config.snooping.control_queue = 4;
	Snooping sw(config);
	for (unsigned i = 0; i < 10; i++)
		sw.Join(1, "239.1.1." + std::to_string(i), i * 10 * us);
	EXPECT_EQ("", sw.Where(990 * us));
	EXPECT_EQ("", sw.Goes("239.1.1.0", 990 * us));
	EXPECT_EQ("1:1", sw.Goes("239.1.1.0", 1010 * us));
	EXPECT_EQ("", sw.Goes("239.1.1.4", 4900 * us));
	EXPECT_EQ("1:1", sw.Goes("239.1.1.4", 5010 * us));
	EXPECT_EQ(5u, sw.Counters(1).control_drops);
	EXPECT_EQ(5u, fg_switch_groups(sw.Get()));
}

/* 10 messages a second: the leave is read at 100 ms, the report at 200 ms */
TEST(Snooping, ForgetsWhoLeftUntilItHasReadTheNextReport)
{
	fg_switch_config config = SnoopingSwitch(2);

	config.snooping.control_rate = 10;
	config.snooping.control_queue = 16;
	Snooping sw(config);
	sw.Join(1, "239.1.1.1", us);
	EXPECT_EQ("1:1", sw.Goes("239.1.1.1", 500 * ms));
	sw.Leave(1, "239.1.1.1", s);
	sw.Join(1, "239.1.1.1", s + 10 * us);
	EXPECT_EQ("1:1", sw.Goes("239.1.1.1", s + 90 * ms));
	EXPECT_EQ("", sw.Goes("239.1.1.1", s + 150 * ms));
	EXPECT_EQ("1:1", sw.Goes("239.1.1.1", s + 250 * ms));
}

/* reports take effect later than leaves: several gaps lie ahead, and a leave may fall into one of them */
TEST(Snooping, KeepsAllGapsOfAMembership)
{
	fg_switch_config config = SnoopingSwitch(2, 2);

	config.snooping.leave_delay_ns = 30e6;
	config.snooping.join_delay_ns = 35e6;
	Snooping sw(config);
	sw.Join(1, "239.1.1.1", us);
	for (uint64_t at : {100 * ms, 110 * ms}) { /* gaps from 130 to 136, from 140 to 146 ms */
		sw.Leave(1, "239.1.1.1", at);
		sw.Join(1, "239.1.1.1", at + ms);
	}
	const std::vector<std::pair<uint64_t, bool>> expected = {
		{129, true}, {131, false}, {135, false}, {137, true}, {139, true}, {141, false}, {147, true}};
	for (const auto &[at, member] : expected)
		EXPECT_EQ(member ? "1:1" : "", sw.Goes("239.1.1.1", at * ms)) << at;

	/* a leave at 203 ms ends it at 233 ms, in the gap from 230 to 236 ms; a report begins it at 240 ms */
	sw.Leave(1, "239.1.1.1", 200 * ms);
	sw.Join(1, "239.1.1.1", 201 * ms);
	sw.Leave(1, "239.1.1.1", 203 * ms);
	sw.Join(1, "239.1.1.1", 205 * ms);
	for (uint64_t at : {231, 232, 234, 237, 239})
		EXPECT_EQ("", sw.Goes("239.1.1.1", at * ms)) << at;
	EXPECT_EQ("1:1", sw.Goes("239.1.1.1", 241 * ms));
	EXPECT_EQ(0u, sw.Counters(1).not_registered);

	/* there is room for 4 gaps of 2 groups and 2 ports; the fifth report is not registered */
	for (uint64_t at = 300; at <= 328; at += 7) {
		sw.Leave(1, "239.1.1.1", at * ms);
		sw.Join(1, "239.1.1.1", (at + 1) * ms);
	}
	EXPECT_EQ("1:1", sw.Goes("239.1.1.1", 357500 * us));
	EXPECT_EQ("", sw.Goes("239.1.1.1", s));
	EXPECT_EQ(1u, sw.Counters(1).not_registered);
}

TEST(Snooping, ForgetsWhoDoesNotReport)
{
	fg_switch_config config = SnoopingSwitch(3);

	config.snooping.membership_ns = 10e9;
	Snooping sw(config);
	sw.Join(1, "239.1.1.1", 0);
	sw.Join(2, "239.1.1.1", 0);
	sw.Join(1, "239.1.1.1", 5 * s);
	EXPECT_EQ("1:1 2:1", sw.Goes("239.1.1.1", 9 * s));
	EXPECT_EQ("1:1", sw.Goes("239.1.1.1", 11 * s));
	EXPECT_EQ("", sw.Goes("239.1.1.1", 16 * s));
}

TEST(Snooping, SharesEntriesOfOneMacAddressIfItKeepsThose)
{
	fg_switch_config config = SnoopingSwitch(3);

	config.snooping.by_mac = true;
	Snooping sw(config);
	sw.Join(1, "224.1.1.1", 0);
	sw.Join(2, "224.129.1.1", 0);
	EXPECT_EQ("1:1 2:1", sw.Goes("224.1.1.1", ms));
	EXPECT_EQ("1:1 2:1", sw.Goes("239.1.1.1", 2 * ms));
	EXPECT_EQ("", sw.Goes("239.1.1.2", 3 * ms));
	EXPECT_EQ(1u, fg_switch_groups(sw.Get()));
}

TEST(Snooping, TellsRoutersWhatIsReportedAndSendsThemWhatNobodyJoined)
{
	fg_switch_config config = SnoopingSwitch(4);

	config.snooping.router_ports = 1 << 3;
	config.snooping.querier = true;
	config.snooping.query_interval_ns = 1e9;
	Snooping sw(config);
	EXPECT_EQ("3:1", sw.Goes("239.1.1.1", us));
	sw.Join(1, "239.1.1.1", ms);
	EXPECT_EQ(1u, sw.Receive(3, 2 * ms).size()) << "the report";
	EXPECT_EQ("1:1 3:1", sw.Goes("239.1.1.1", 3 * ms));
	EXPECT_EQ(2u, sw.Receive(2, 1500 * ms).size()) << "general queries of IGMP and MLD";
	sw.Receive(2, 3500 * ms);
	EXPECT_EQ(6u, sw.Counters(2).queries_sent);
}

/* two ports have frames wait for a third until after its query is due, which takes its turn among them */
TEST(Snooping, AsksInTimeBehindInputQueues)
{
	fg_switch_config config = SnoopingSwitch(3);
	unsigned before = 0, after = 0, queries = 0;

	config.queues = FG_SWITCH_INPUT;
	config.snooping.fast_leave = false;
	config.snooping.last_member_count = 2;
	config.snooping.last_member_interval_ns = 100e6;
	Snooping sw(config);
	sw.Learn();
	sw.Join(1, "239.1.1.1", 100 * us);
	sw.Leave(1, "239.1.1.1", ms); /* the second query is due 100 ms after the first */
	for (unsigned k = 0; k < 100; k++) {
		sw.Cross(0, 1, k, 101 * ms - 100 * us + k * 672 * ns);
		sw.Cross(2, 1, k, 101 * ms - 100 * us + k * 672 * ns);
	}
	for (const Arrival &a : sw.Receive(1, 110 * ms)) {
		fg_membership_message message;
		bool query = fg_membership_open(a.bytes.data(), a.bytes.size(), &message) && message.query;

		queries += query;
		before += !query && queries < 2;
		after += !query && queries == 2;
	}
	EXPECT_EQ(2u, queries);
	EXPECT_EQ(200u, before + after);
	EXPECT_NEAR(150, before, 2) << "frames have left by 101 ms";
}

TEST(Snooping, MakesCopiesOneAfterTheOther)
{
	fg_switch_config config = SnoopingSwitch(5);

	config.capacity_fps = 1e6;
	config.snooping.group_cost_ns = 100;
	Snooping sw(config);
	for (unsigned i = 1; i < 5; i++)
		sw.Join(i, "239.1.1.1", 0);
	sw.Where(ms);
	sw.SendTo("239.1.1.1", ms);
	sw.SendTo("239.1.1.1", ms);
	for (unsigned i = 1; i < 5; i++) {
		std::vector<Arrival> got = sw.Receive(i, 2 * ms);

		ASSERT_EQ(2u, got.size());
		EXPECT_EQ(ms + 84 * 8 * ns + (i - 1) * us, got[0].time);
		EXPECT_EQ(4100 * ns, got[1].time - got[0].time) << "four copies and one entry";
	}
}
