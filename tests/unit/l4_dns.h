/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer of DNS over TCP that says what a test wants; the server or the client that hears it is ours. */
#ifndef L4_DNS_H
#define L4_DNS_H

#include <string>

#include "l4_wire.h"

extern "C" {
#include "dns/dns_priv.h"
#include "l4_talker.h"
}

namespace l4
{
const uint16_t PORT = 53;

inline fg_l4_dns
Zone()
{
	fg_l4_dns zone = {};

	zone.questions = "h1.fg.test A\nh22.fg.test AAAA\nH333.fg.test. TXT\nh4.fg.test A";
	zone.udp_size = 1232;
	zone.answers = 1;
	zone.ttl = 300;
	zone.text = 64;
	zone.pipeline = 4;
	return zone;
}

inline std::string
Number16(size_t value)
{
	return {char(value >> 8), char(value)};
}

/* with its length before it */
inline std::string
Framed(const std::string &message)
{
	return Number16(message.size()) + message;
}

inline std::string
Query(uint16_t id, const std::string &label = "h1", uint16_t type = 1)
{
	return Number16(id) + std::string("\1\0\0\1\0\0\0\0\0\0", 10) + char(label.size()) + label +
	       std::string("\2fg\4test\0", 9) + Number16(type) + Number16(1);
}

/* the answer of our server */
inline std::string
Answer(const std::string &query, const fg_l4_dns &zone = Zone())
{
	std::string to(DNS_MESSAGE_MAX, '\0');
	dns_query q;
	int rcode = dns_read_query((const uint8_t *)query.data(), uint32_t(query.size()), &q);

	to.resize(dns_answer(&zone, &q, rcode, (uint8_t *)&to[0], uint32_t(to.size())));
	return to;
}

/* The peer of a server or of a client of ours. */
class DnsPeer
{
      public:
	explicit DnsPeer(bool of_server, const fg_l4_dns &of = Zone(), const char *kind = "DNS_TCP",
			 uint32_t requests = 0)
	    : zone(of)
	{
		fg_l4_app app = {};

		app.kind = kind;
		app.server = of_server;
		app.port = PORT;
		app.dns = &zone;
		app.timeout_ns = second;
		app.requests = requests;
		app.cycles = 1;
		t = talker_create(&app, 1500);
		if (of_server)
			talker_open(t, 0, PORT);
	}
	~DnsPeer()
	{
		talker_free(t);
	}
	DnsPeer(const DnsPeer &) = delete;
	DnsPeer &operator=(const DnsPeer &) = delete;

	void
	Say(const std::string &octets)
	{
		talker_say(t, 0, octets.data(), octets.size());
	}
	/* whole messages that came since the last time */
	std::vector<std::string>
	Hear()
	{
		std::vector<std::string> out;
		const talker_line &line = t->line[0];

		while (line.heard - read >= 2 && line.heard - read - 2 >= fg_get16(line.in + read)) {
			out.emplace_back((const char *)line.in + read + 2, fg_get16(line.in + read));
			read += 2 + uint32_t(out.back().size());
		}
		return out;
	}
	const fg_l4_tally &
	Tally() const
	{
		return t->other->app[0]->tally;
	}
	uint64_t
	Sum(dns_sum which) const
	{
		return Tally().own[which];
	}
	/* nothing but these was counted */
	void
	ExpectSums(std::map<dns_sum, uint64_t> expected) const
	{
		for (unsigned i = 0; i < FG_L4_OWN_SUMS; i++)
			EXPECT_EQ(expected[dns_sum(i)], Tally().own[i]) << "sum " << i;
	}
	void
	ExpectNothingKept() const
	{
		const dns *d = reinterpret_cast<const dns *>(t->other->app[0]);

		EXPECT_EQ(nullptr, t->line[0].conn);
		EXPECT_EQ(0u, talker_taken(&d->conns));
		EXPECT_EQ(0u, talker_taken(&d->entries));
		EXPECT_EQ(0u, talker_taken(&d->blocks));
		EXPECT_EQ(0u, d->entries_taken + d->blocks_taken);
	}

	talker *t;

      private:
	fg_l4_dns zone;
	uint32_t read = 0;
};
} /* namespace l4 */

#endif
