/* SPDX-License-Identifier: BSD-3-Clause */
/* DNS cookies (RFC 7873): the vectors of RFC 9018, what server and client make of good and bad ones. */
#include <string>

#include "l4_wire.h"

extern "C" {
#include "dns_message_priv.h"
}

using namespace l4;

namespace
{
std::string
Octets(const std::string &hex)
{
	std::string out;

	for (size_t i = 0; i < hex.size(); i += 2)
		out += char(std::stoi(hex.substr(i, 2), nullptr, 16));
	return out;
}

std::string
Hex(const uint8_t *octets, size_t n)
{
	std::string out;

	for (size_t i = 0; i < n; i++) {
		char two[3];
		snprintf(two, sizeof(two), "%02x", octets[i]);
		out += two;
	}
	return out;
}

std::string
Number16(size_t value)
{
	return {char(value >> 8), char(value)};
}

/* an OPT record with these options */
std::string
Opt(const std::string &options)
{
	return std::string("\0\0\x29\x04\xd0\0\0\0\0", 9) + Number16(options.size()) + options;
}

std::string
Cookie(const std::string &hex)
{
	return Number16(DNS_OPTION_COOKIE) + Number16(hex.size() / 2) + Octets(hex);
}

std::string
Query(const std::string &opt, bool question = true)
{
	return std::string("\x12\x34\x01\0\0", 5) + char(question) + std::string("\0\0\0\0\0\1", 6) +
	       (question ? std::string("\2h1\2fg\4test\0\0\1\0\1", 16) : "") + opt;
}

fg_flow
From(const std::string &address)
{
	fg_flow f = {};
	std::string octets = Octets(address);

	f.ipv6 = octets.size() == 16;
	f.remote[10] = f.remote[11] = f.ipv6 ? 0 : 0xff;
	memcpy(f.remote + 16 - octets.size(), octets.data(), octets.size());
	return f;
}

struct Served {
	int rcode;
	std::string cookie; /* empty: none */
};

/* what becomes of a cookie that comes from an address to a server with this key at this time */
Served
Serve(const std::string &key, uint32_t now, const std::string &address, const std::string &query)
{
	std::string octets = Octets(key);
	fg_flow f = From(address);
	uint64_t words[2];
	dns_query q;
	int rcode;

	memcpy(words, octets.data(), sizeof(words));
	rcode = dns_read_query((const uint8_t *)query.data(), uint32_t(query.size()), &q);
	rcode = dns_cookie_answer(words, now, &f, rcode, &q);
	return {rcode, q.answers_cookie ? Hex(q.answer_cookie, DNS_COOKIE) : ""};
}

const std::string key = "e5e973e5a6b2a43f48e7dc849e37bfcf", host = "c6336464", own = "2464c4abcf10c957";
const std::string fresh = own + "010000005cf79f111f8130c3eee29480";
const uint32_t made = 0x5cf79f11;
} /* namespace */

/* RFC 9018, appendix A */
TEST(L4DnsCookie, HasTheVectorsOfTheRfc)
{
	Served s = Serve(key, made, host, Query(Opt(Cookie(own))));

	EXPECT_EQ(DNS_BADCOOKIE, s.rcode);
	EXPECT_EQ(fresh, s.cookie);
	s = Serve(key, 0x5cf7a871, host, Query(Opt(Cookie(fresh)))); /* 40 minutes later: a new one */
	EXPECT_EQ(DNS_NOERROR, s.rcode);
	EXPECT_EQ(own + "010000005cf7a871d4a564a1442aca77", s.cookie);
	/* bytes that are reserved are hashed as they came */
	s = Serve(key, 0x5cf7a9ac, "cb0071cb",
		  Query(Opt(Cookie("fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5"))));
	EXPECT_EQ("fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e", s.cookie);
	s = Serve("445536bcd2513298075a5d379663c962", 0x5cf7c609, "20010db80220000159ded0f4876982b8",
		  Query(Opt(Cookie("22681ab97d52c298"))));
	EXPECT_EQ("22681ab97d52c298010000005cf7c609a6bb79d16625507a", s.cookie);
}

TEST(L4DnsCookie, OnlyItsOwnAreRight)
{
	const std::string query = Query(Opt(Cookie(fresh)));

	EXPECT_EQ(DNS_NOERROR, Serve(key, made + 1799, host, query).rcode);
	EXPECT_EQ(fresh, Serve(key, made + 1799, host, query).cookie); /* none is made anew */
	EXPECT_EQ(DNS_NOERROR, Serve(key, made + 3600, host, query).rcode);
	EXPECT_EQ(DNS_BADCOOKIE, Serve(key, made + 3601, host, query).rcode);
	EXPECT_EQ(DNS_NOERROR, Serve(key, made - 300, host, query).rcode);
	EXPECT_EQ(DNS_BADCOOKIE, Serve(key, made - 301, host, query).rcode);
	EXPECT_EQ(DNS_BADCOOKIE, Serve(key, made, "c6336465", query).rcode); /* another address */
	EXPECT_EQ(DNS_BADCOOKIE, Serve("f" + key.substr(1), made, host, query).rcode);
	for (size_t digit : {0, 17, 18, 25, 47}) {
		std::string other = fresh;

		other[digit] = other[digit] == '0' ? '1' : '0';
		EXPECT_EQ(DNS_BADCOOKIE, Serve(key, made, host, Query(Opt(Cookie(other)))).rcode) << digit;
	}
}

TEST(L4DnsCookie, RefusesOptionsThatCannotBe)
{
	for (size_t bytes : {0, 7, 9, 15, 41}) {
		Served s = Serve(key, made, host, Query(Opt(Cookie(std::string(2 * bytes, '0')))));

		EXPECT_EQ(DNS_FORMERR, s.rcode) << bytes;
		EXPECT_EQ("", s.cookie);
	}
	for (size_t bytes : {16, 40})
		EXPECT_EQ(DNS_BADCOOKIE,
			  Serve(key, made, host, Query(Opt(Cookie(std::string(2 * bytes, '0'))))).rcode);
	for (const std::string &cut : {std::string("\0", 1), std::string("\0\x0a\0", 3),
				       std::string("\0\x0a\0\x08\1\2\3\4\5\6\7", 11), Cookie(own) + "\1"})
		EXPECT_EQ(DNS_FORMERR, Serve(key, made, host, Query(Opt(cut))).rcode) << cut.size();
	/* others are ignored, before and behind */
	EXPECT_EQ(fresh, Serve(key, made, host,
			       Query(Opt(Number16(3) + Number16(2) + "ab" + Cookie(own) + Number16(12) +
					 Number16(0))))
				 .cookie);
}

/* RFC 7873, 5.4 */
TEST(L4DnsCookie, IsGivenWithoutAQuestion)
{
	std::string lone = Query(Opt(Cookie(own)), false);
	fg_l4_dns zone = {};
	uint8_t answer[DNS_PLAIN_MAX];
	dns_query q;

	EXPECT_EQ(DNS_NOERROR, Serve(key, made, host, lone).rcode);
	EXPECT_EQ(fresh, Serve(key, made, host, lone).cookie);
	EXPECT_EQ(DNS_NOERROR, Serve(key, made, host, Query(Opt(Cookie(fresh)), false)).rcode);
	EXPECT_EQ(DNS_BADCOOKIE, Serve(key, made + 9999, host, Query(Opt(Cookie(fresh)), false)).rcode);
	EXPECT_EQ(DNS_FORMERR, Serve(key, made, host, Query(Opt(""), false)).rcode);
	/* and where no cookies are, there is no such query */
	EXPECT_EQ(DNS_FORMERR, dns_read_query((const uint8_t *)lone.data(), uint32_t(lone.size()), &q));
	zone.udp_size = 1232;
	zone.nxdomain_ppm = 1000000;
	zone.zone_bytes = 1;
	q.answers_cookie = true;
	EXPECT_EQ(uint32_t(DNS_HEADER + DNS_OPT + DNS_OPTION + DNS_COOKIE),
		  dns_answer(&zone, &q, DNS_NOERROR, answer, sizeof(answer)));
	EXPECT_TRUE(dns_is_well_formed(answer, DNS_HEADER + DNS_OPT + DNS_OPTION + DNS_COOKIE));
	EXPECT_EQ(0, answer[3] & 0xf);
}

TEST(L4DnsCookie, AClientKeepsWhatIsForIt)
{
	uint8_t cookie[DNS_COOKIE_MAX];
	uint32_t bytes = DNS_COOKIE_CLIENT;
	auto take = [&](const std::string &opt) {
		std::string m = Query(opt);
		dns_query answer;
		dns_read_options((const uint8_t *)m.data(), uint32_t(m.size()), &answer);
		return dns_cookie_take(&answer, cookie, &bytes);
	};

	memcpy(cookie, Octets(own).data(), DNS_COOKIE_CLIENT);
	EXPECT_TRUE(take(Opt(""))); /* a server without cookies */
	EXPECT_FALSE(take(Opt(Cookie(own))));
	EXPECT_FALSE(take(Opt(Cookie("3464c4abcf10c957" + fresh.substr(16)))));
	EXPECT_EQ(uint32_t(DNS_COOKIE_CLIENT), bytes);
	EXPECT_TRUE(take(Opt(Cookie(fresh))));
	EXPECT_EQ(fresh, Hex(cookie, bytes));
	EXPECT_FALSE(take(Opt("")));                                   /* no more */
	EXPECT_FALSE(take(Opt(Cookie(fresh + std::string(34, '0'))))); /* 41 bytes */
	EXPECT_TRUE(take(Opt(Cookie(own + std::string(64, '7')))));
	EXPECT_EQ(uint32_t(DNS_COOKIE_MAX), bytes);
}

/* each query is answered, those without our server's cookie at the second time */
TEST(L4DnsCookie, AClientAsksOnceMore)
{
	for (bool required : {false, true}) {
		fg_l4_dns zone = {};
		fg_l4_app a = Client("DNS");

		zone.questions = "h1.fg.test A\nh2.fg.test TXT";
		zone.udp_size = 1232;
		zone.answers = 1;
		zone.text = 64;
		zone.cookies = true;
		zone.cookies_required = required;
		a.dns = &zone;
		a.connections = 5;
		Wire w(a);
		fg_l4_result c = w.Client(), s = w.Server();

		EXPECT_GT(c.total.transactions, 100u);
		EXPECT_EQ(c.total.datagrams_out, c.total.transactions + c.total.own[DNS_SUM_BAD_COOKIE]);
		EXPECT_EQ(c.total.datagrams_out, s.total.datagrams_in);
		EXPECT_EQ(required ? 5u : 0u, c.total.own[DNS_SUM_BAD_COOKIE]);
		EXPECT_EQ(required ? 5u : 0u, s.total.own[DNS_SUM_BAD_COOKIE]);
		EXPECT_EQ(c.total.transactions, c.total.own[DNS_SUM_NOERROR]);
		EXPECT_EQ(c.total.transactions + c.total.own[DNS_SUM_BAD_COOKIE],
			  c.total.own[DNS_SUM_COOKIES]);
		EXPECT_EQ(c.total.own[DNS_SUM_COOKIES], s.total.own[DNS_SUM_COOKIES]);
		EXPECT_EQ(0u, c.total.own[DNS_SUM_WRONG_COOKIE]);
		w.ExpectNoFaults();
	}
}

/* a client without cookies is served as ever */
TEST(L4DnsCookie, NobodyNeedsOne)
{
	Served s = Serve(key, made, host, Query(Opt("")));

	EXPECT_EQ(DNS_NOERROR, s.rcode);
	EXPECT_EQ("", s.cookie);
}
