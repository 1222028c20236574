/* SPDX-License-Identifier: BSD-3-Clause */
/* DNS: what is read of messages, good and bad, what our server answers, and how a client matches answers. */
#include <string>

#include "l4_wire.h"

extern "C" {
#include "dns_message_priv.h"
}

using namespace l4;

namespace
{
const std::string opt("\0\0\x29\x04\xd0\0\0\0\0\0\0", 11);

fg_l4_dns
Zone()
{
	fg_l4_dns zone = {};

	zone.questions = "h1.fg.test A\nh2.fg.test AAAA\nH3.fg.test. TXT";
	zone.udp_size = 1232;
	zone.answers = 1;
	zone.ttl = 300;
	zone.text = 64;
	return zone;
}

/* a query with an id of 0x1234 */
std::string
Query(const std::string &name, uint16_t type = 1, const std::string &more = "", uint16_t flags = 0x0100)
{
	std::string m("\x12\x34", 2);

	for (uint16_t v : {flags, uint16_t(1), uint16_t(0), uint16_t(0), uint16_t(more.size() / 11)})
		m += {char(v >> 8), char(v)};
	m += name;
	m += {char(type >> 8), char(type), 0, 1};
	return m + more;
}

const std::string name("\2h1\2fg\4test", 11), rooted = name + '\0';

int
Read(const std::string &m, dns_query *q)
{
	/* of its own size, so that a sanitizer sees what is read beyond its end */
	std::vector<uint8_t> copy(m.begin(), m.end());
	int rcode = dns_read_query(copy.data(), uint32_t(copy.size()), q);

	if (q->question != NULL)
		q->question = reinterpret_cast<const uint8_t *>(m.data()) + (q->question - copy.data());
	return rcode;
}

std::string
Answer(const std::string &m, const fg_l4_dns &zone = Zone(), uint32_t room = 4096)
{
	dns_query q;
	int rcode = Read(m, &q);
	std::string to(room, '\xee');

	if (rcode == DNS_DROP)
		return "";
	to.resize(dns_answer(&zone, &q, rcode, reinterpret_cast<uint8_t *>(&to[0]),
			     dns_datagram_room(&zone, &q, room)));
	EXPECT_TRUE(dns_is_well_formed(reinterpret_cast<const uint8_t *>(to.data()), uint32_t(to.size())));
	return to;
}

unsigned
Flags(const std::string &m)
{
	return unsigned(uint8_t(m[2])) << 8 | uint8_t(m[3]);
}

unsigned
Answers(const std::string &m)
{
	return unsigned(uint8_t(m[6])) << 8 | uint8_t(m[7]);
}
} /* namespace */

TEST(L4Dns, AnswersTheQuestion)
{
	std::string a = Answer(Query(rooted));

	ASSERT_EQ(12 + rooted.size() + 4 + 16, a.size());
	EXPECT_EQ("\x12\x34", a.substr(0, 2));
	EXPECT_EQ(0x8500u, Flags(a)); /* an authoritative answer; recursion desired, as asked */
	EXPECT_EQ(Query(rooted).substr(12), a.substr(12, rooted.size() + 4));
	EXPECT_EQ(std::string("\xc0\x0c\0\1\0\1\0\0\1\x2c\0\4", 12), a.substr(12 + rooted.size() + 4, 12));
	EXPECT_EQ('\xc6', a[a.size() - 4]); /* 198.18.0.0/15 */
	EXPECT_EQ(18, a[a.size() - 3] & ~1);
	EXPECT_EQ(a, Answer(Query(rooted))); /* by the name alone */
	EXPECT_EQ(a.substr(a.size() - 4), [] {
		std::string upper = Answer(Query(std::string("\2H1\2Fg\4TEST", 11) + '\0'));
		return upper.substr(upper.size() - 4);
	}());
}

TEST(L4Dns, AnswersOtherTypes)
{
	std::string six = Answer(Query(rooted, 28)), text = Answer(Query(rooted, 16)),
		    mx = Answer(Query(rooted, 15));
	std::string all = Answer(Query(rooted, 255));
	fg_l4_dns zone = Zone();

	EXPECT_EQ(std::string("\x20\1\0\2\0\0\0\0", 8), six.substr(six.size() - 16, 8));
	EXPECT_EQ(64, text[text.size() - 65]);
	EXPECT_EQ(0x8500u, Flags(mx));
	EXPECT_EQ(0u, Answers(mx));
	EXPECT_EQ(std::string("\7RFC8482\0", 9), all.substr(all.size() - 9)); /* RFC 8482 */
	zone.text = 600;
	text = Answer(Query(rooted, 16, opt), zone);
	EXPECT_EQ(12 + rooted.size() + 4 + 12 + 603 + 11, text.size()); /* strings of 255, 255 and 90 */
}

TEST(L4Dns, TruncatesWhatDoesNotFit)
{
	fg_l4_dns zone = Zone();
	std::string a;

	zone.answers = 40;
	a = Answer(Query(rooted), zone); /* 40 records of 16 bytes */
	EXPECT_EQ(0x8700u, Flags(a));
	EXPECT_EQ(12 + rooted.size() + 4, a.size());
	a = Answer(Query(rooted, 1, opt), zone);
	EXPECT_EQ(0x8500u, Flags(a));
	EXPECT_EQ(40u, Answers(a));
	zone.udp_size = 600; /* the smaller of both holds */
	EXPECT_EQ(0x8700u, Flags(Answer(Query(rooted, 1, opt), zone)));
	zone.udp_size = 1232;
	EXPECT_EQ(0x8700u, Flags(Answer(Query(rooted, 1, opt), zone, 600))); /* and the MTU */
}

TEST(L4Dns, KnowsNamesThatDoNotExist)
{
	fg_l4_dns zone = Zone();
	unsigned missing = 0;

	zone.nxdomain_ppm = 100000;
	for (unsigned i = 0; i < 10000; i++) {
		std::string label = "h" + std::to_string(i);
		std::string a = Answer(Query(char(label.size()) + label + '\0'), zone);

		missing += Flags(a) == 0x8503;
		EXPECT_EQ(Flags(a) == 0x8503 ? 0u : 1u, Answers(a));
	}
	EXPECT_NEAR(1000, missing, 100); /* three standard deviations are 90 */
}

TEST(L4Dns, RefusesNamesOutsideItsZone)
{
	const std::string served("\2fg\4Test\0", 9);
	fg_l4_dns zone = Zone();

	memcpy(zone.zone, served.data(), served.size());
	zone.zone_bytes = uint8_t(served.size());
	zone.nxdomain_ppm = 500000; /* the zone comes first */
	for (const char *outside :
	     {"\1a\4best", "\4test", "\2hg\4test", "\3xfg\4test", "\1g\4test", "\2fg\4test\1a", ""}) {
		std::string a = Answer(Query(std::string(outside) + '\0', 1, opt), zone);

		EXPECT_EQ(0x8105u, Flags(a)) << outside; /* and no authority (AA) */
		EXPECT_EQ(0u, Answers(a)) << outside;
	}
	zone.nxdomain_ppm = 0;
	for (const char *inside : {"\2fg\4test", "\2FG\4TEST", "\1a\1b\2fg\4test", "\2fg\2fg\4test"}) {
		std::string a = Answer(Query(std::string(inside) + '\0'), zone);

		EXPECT_EQ(0x8500u, Flags(a)) << inside;
		EXPECT_EQ(1u, Answers(a)) << inside;
	}
	EXPECT_EQ(0x8104u, Flags(Answer(Query(std::string("\4test\0", 6), 252), zone))); /* AXFR: NOTIMP */
}

TEST(L4Dns, RefusesWhatIsNoQuery)
{
	dns_query q;

	EXPECT_EQ("", Answer("short"));
	EXPECT_EQ("", Answer(Query(rooted, 1, "", 0x8000)));                 /* an answer */
	EXPECT_EQ(DNS_NOTIMP, Read(Query(rooted, 1, "", 0x2800), &q));       /* an update */
	EXPECT_EQ(DNS_FORMERR, Read(Query(name), &q));                       /* a name that goes on */
	EXPECT_EQ(DNS_FORMERR, Read(Query(std::string("\xc0\x0c", 2)), &q)); /* a pointer */
	EXPECT_EQ(DNS_FORMERR, Read(Query(std::string("\x41z\0", 3)), &q));
	EXPECT_EQ(DNS_FORMERR, Read(Query(rooted).substr(0, 20), &q));
	EXPECT_EQ(DNS_NOTIMP, Read(Query(rooted, 252), &q)); /* AXFR */
	EXPECT_EQ(12u, Answer(Query(name)).size());
	EXPECT_EQ(0x8101u, Flags(Answer(Query(name))));
	EXPECT_EQ(DNS_FORMERR, Read(Query(rooted, 1, opt + opt), &q));
	EXPECT_EQ(DNS_FORMERR, Read(Query(rooted, 1, opt).substr(0, 35), &q));
}

TEST(L4Dns, AnswersAnOtherVersionOfEdns)
{
	std::string two = opt;
	std::string a;

	two[6] = 2;
	a = Answer(Query(rooted, 1, two));
	EXPECT_EQ(0x8100u, Flags(a));
	EXPECT_EQ(1, a[a.size() - 6]); /* BADVERS is 16: the upper bits stand in OPT */
	EXPECT_EQ(0u, Answers(a));
}

/* RFC 1035, 4.1.4, and what peers make of it */
TEST(L4Dns, FollowsPointersBackwardsOnly)
{
	const std::string head("\0\0\x80\0\0\1\0\1\0\0\0\0", 12), fixed("\0\1\0\1\0\0\0\0\0\4abcd", 14);
	auto good = [](const std::string &m) {
		std::vector<uint8_t> copy(m.begin(), m.end());
		return dns_is_well_formed(copy.data(), uint32_t(copy.size()));
	};
	const std::string question = head + rooted + std::string("\0\1\0\1", 4);

	EXPECT_TRUE(good(question + std::string("\xc0\x0c", 2) + fixed));
	EXPECT_TRUE(good(question + std::string("\3www\xc0\x0f", 6) + fixed));
	EXPECT_FALSE(good(question + std::string("\xc0\x1c", 2) + fixed)); /* to itself */
	EXPECT_FALSE(good(question + std::string("\xc0\xff", 2) + fixed)); /* beyond the end */
	EXPECT_FALSE(good(question + std::string("\xc0", 1)));
	EXPECT_FALSE(good(question + std::string("\xc0\x0c", 2) + fixed.substr(0, 13)));
	EXPECT_FALSE(good(question + std::string("\xc0\x0c", 2) + fixed + "x"));
}

TEST(L4Dns, EveryAnswerIsMatchedAndCompared)
{
	fg_l4_dns zone = Zone();
	fg_l4_app a = Client("DNS");

	a.dns = &zone;
	a.connections = 20;
	Wire w(a);
	fg_l4_result c = w.Client();

	EXPECT_LT(1000u, c.total.transactions);
	EXPECT_EQ(c.total.datagrams_out, c.total.transactions);
	EXPECT_EQ(c.total.transactions, c.total.own[0]);
	EXPECT_EQ(w.Server().total.transactions, c.total.transactions);
	for (unsigned i = 1; i < FG_L4_OWN_SUMS; i++)
		EXPECT_EQ(0u, c.total.own[i]);
	w.ExpectNoFaults();
}

TEST(L4Dns, QueriesAreDueWhateverIsAnswered)
{
	fg_l4_dns zone = Zone();
	fg_l4_app a = Client("DNS");

	a.dns = &zone;
	a.connections = 50;
	a.requests_per_s = 1000;
	Wire w(a);
	fg_l4_result c = w.Client();

	EXPECT_EQ(2000u, c.total.transactions);
	EXPECT_NEAR(2.2e6, c.transaction.mean, 0.1e6);
}

TEST(L4Dns, QuestionsAreCheckedAtSetUp)
{
	fg_l4_config config = {};

	config.connections = 16;
	config.mtu = 1500;
	for (const char *bad : {"", "h1.fg.test", "h1.fg.test X", "h1..test A", ".h1 A",
				"0123456789012345678901234567890123456789012345678901234567890123.test A"}) {
		fg_l4_dns zone = Zone();
		fg_l4_app a = Client("DNS");
		fg_error err = {};
		fg_l4 *l4;

		zone.questions = bad;
		a.dns = &zone;
		EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &a, &l4, &err)) << bad;
	}
}
