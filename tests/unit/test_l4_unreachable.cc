/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ICMP reports of datagrams: a request ends by a message that quotes it, and by no other. The messages
 * are written here byte by byte.
 */
#include "l4_dns.h"
#include "l4_quic.h"

extern "C" {
#include "requests_priv.h"
}

namespace
{
using Bytes = std::vector<uint8_t>;
using l4::second;

const size_t ETHERNET = 14, CHECKSUM_AT = 2;

/* A client of ours without a server: what it sends is kept. */
class Alone
{
      public:
	Alone(const char *kind, bool ipv6, bool cookies = false) : six(ipv6), zone(l4::Zone())
	{
		fg_l4_config config = {};
		fg_l4_app a = l4::Client(kind);
		fg_error err = {};

		fg_quic_config quic = l4::Quic(false);

		if (strcmp(kind, "QUIC") == 0) {
			a.kind = "TCP_STREAM";
			a.quic = &quic;
			a.cycles = 1;
		}
		a.ipv6 = six;
		a.request = a.response = 40;
		zone.cookies = cookies;
		a.dns = &zone;
		if (six) {
			memcpy(a.local, "\x20\1\0\2\0\0\0\0\0\0\0\0\0\0\0\1", 16);
			memcpy(a.remote, "\x20\1\0\2\0\0\0\0\0\0\0\0\0\0\0\2", 16);
		}
		config.connections = 16;
		config.seed = 1;
		config.mtu = 1500;
		EXPECT_EQ(0, fg_l4_create(&config, 1, &a, &l4, &err)) << err.message;
		EXPECT_EQ(0, fg_l4_schedule(l4, now, now + 100 * second, 0, 0, &err));
		Poll();
	}
	~Alone()
	{
		fg_l4_free(l4);
	}
	Alone(const Alone &) = delete;
	Alone &operator=(const Alone &) = delete;

	void
	Poll()
	{
		fg_endpoint *e = fg_l4_endpoint(l4);

		e->poll(e, now, Rooms());
		Keep();
	}
	void
	Input(const Bytes &frame)
	{
		Bytes copy = frame; /* of its own size, so that a sanitizer sees what is read beyond */
		fg_endpoint *e = fg_l4_endpoint(l4);
		const fg_arrival in = {copy.data(), copy.size(), now};

		e->input(e, &in, 1, Rooms());
		Keep();
	}
	/* the packet comes back in a message of a router, @p quoted bytes of it */
	Bytes
	Quoting(const Bytes &frame, uint8_t type, uint8_t code, size_t quoted = 1000) const
	{
		Bytes message = {type, code, 0, 0, 0, 0, 0, 0};

		message.insert(message.end(), frame.begin() + ETHERNET,
			       frame.begin() + ptrdiff_t(std::min(frame.size(), ETHERNET + quoted)));
		return Packet(six ? 58 : 1, message);
	}
	Bytes
	Unreachable(const Bytes &frame, size_t quoted = 1000) const
	{
		return Quoting(frame, six ? 1 : 3, six ? 4 : 3, quoted);
	}
	fg_l4_tally
	Tally() const
	{
		return l4->app[0]->tally;
	}
	void
	Expect(uint64_t refused, uint64_t requests)
	{
		Poll();
		EXPECT_EQ(refused, Tally().ended[FG_L4_END_REFUSED]);
		EXPECT_EQ(refused, l4->counters.unreachable);
		EXPECT_EQ(requests, Tally().datagrams_out);
		EXPECT_EQ(requests, sent.size());
		EXPECT_EQ(0u, l4->counters.rx_bad_checksum);
	}
	/* of DNS: what the server says to the first query */
	Bytes
	AnswerToTheFirst() const
	{
		const auto upper = sent[0].begin() + ETHERNET + (six ? 40 : 20);
		const std::string answer = l4::Answer(std::string(upper + 8, sent[0].end()));
		Bytes datagram(upper, upper + 8);

		std::swap_ranges(datagram.begin(), datagram.begin() + 2, datagram.begin() + 2);
		fg_put16(&datagram[4], uint16_t(8 + answer.size()));
		datagram[6] = datagram[7] = 0;
		datagram.insert(datagram.end(), answer.begin(), answer.end());
		return datagram;
	}
	/* an Initial of the server, with keys that are not its own */
	Bytes
	Answered() const
	{
		const Bytes &first = sent[0];
		Bytes datagram(first.begin() + ETHERNET + 20, first.begin() + ETHERNET + 28), packet(1200);

		std::swap_ranges(datagram.begin(), datagram.begin() + 2, datagram.begin() + 2);
		datagram[6] = datagram[7] = 0;
		fg_put16(&datagram[4], uint16_t(8 + packet.size()));
		memcpy(&packet[0], "\xc0\0\0\0\1\x8", 6);
		memcpy(&packet[6], &first[ETHERNET + 28 + 6 + 18 + 1], 8);
		packet[14] = 0;
		packet[15] = 0;
		fg_put16(&packet[16], uint16_t(0x4000 + packet.size() - 18));
		datagram.insert(datagram.end(), packet.begin(), packet.end());
		return Packet(17, datagram);
	}
	/* from a router, or by IPv4 from the server's own address, to the client */
	Bytes
	Packet(uint8_t protocol, Bytes upper) const
	{
		Bytes f(ETHERNET + (six ? 40 : 20));
		uint8_t *ip = &f[ETHERNET];
		const uint8_t *own = sent[0].data() + ETHERNET + (six ? 8 : 12);

		fg_put16(&f[12], six ? 0x86dd : 0x0800);
		if (six) {
			ip[0] = 0x60;
			fg_put16(ip + 4, uint16_t(upper.size()));
			ip[6] = protocol;
			ip[7] = 64;
			memcpy(ip + 8, "\x20\1\0\2\0\0\0\0\0\0\0\0\0\0\0\x99", 16);
			memcpy(ip + 24, own, 16);
		} else {
			ip[0] = 0x45;
			fg_put16(ip + 2, uint16_t(20 + upper.size()));
			ip[8] = 64;
			ip[9] = protocol;
			memcpy(ip + 12, "\xc6\x12\0\x63", 4);
			memcpy(ip + 16, own, 4);
			uint16_t sum = fg_checksum_finish(fg_checksum_add(0, ip, 20));
			memcpy(ip + 10, &sum, 2);
		}
		uint64_t pseudo = six             ? fg_checksum_pseudo6((const fg_ipv6 *)(void *)ip, protocol,
									uint32_t(upper.size()))
				  : protocol == 1 ? 0
						  : fg_checksum_pseudo4((const fg_ipv4 *)(void *)ip, protocol,
									uint16_t(upper.size()));
		uint16_t sum = fg_checksum_finish(fg_checksum_add(pseudo, upper.data(), upper.size()));
		memcpy(&upper[protocol == 17 ? 6 : CHECKSUM_AT], &sum, 2);
		f.insert(f.end(), upper.begin(), upper.end());
		return f;
	}

	bool six;
	uint64_t now = second;
	fg_l4 *l4 = nullptr;
	std::vector<Bytes> sent;

      private:
	fg_burst *
	Rooms()
	{
		burst.frames = 0;
		burst.rooms = FG_BURST_ROOMS;
		burst.capacity = sizeof(memory[0]);
		for (unsigned i = 0; i < FG_BURST_ROOMS; i++)
			burst.room[i] = memory[i];
		return &burst;
	}
	void
	Keep()
	{
		for (unsigned i = 0; i < burst.frames; i++)
			sent.emplace_back(memory[i], memory[i] + burst.length[i]);
	}

	fg_l4_dns zone;
	fg_burst burst = {};
	uint8_t memory[FG_BURST_ROOMS][2048];
};

struct Case {
	const char *kind;
	bool ipv6;
};

class L4Unreachable : public testing::TestWithParam<Case>
{
};
} /* namespace */

TEST_P(L4Unreachable, EndsTheRequestThatIsQuoted)
{
	Alone a(GetParam().kind, GetParam().ipv6);

	a.Expect(0, 1);
	a.Input(a.Unreachable(a.sent[0]));
	a.Expect(1, 2);                                              /* the slot is free: the next has left */
	a.Input(a.Unreachable(a.sent.at(1), (a.six ? 40 : 20) + 8)); /* as little as RFC 792 asks for */
	a.Expect(2, 3);
	Bytes padded = a.sent.at(2); /* RFC 4884 */
	padded.resize(ETHERNET + (a.six ? 40 : 20) + 128);
	a.Input(a.Unreachable(padded));
	a.Expect(3, 4);
	a.Input(a.Quoting(a.sent.at(3), a.six ? 1 : 3,
			  1)); /* the host, or what a firewall does not let through */
	a.Expect(4, 5);
	EXPECT_EQ(0u, a.Tally().expired);
}

TEST_P(L4Unreachable, EndsNoOtherRequest)
{
	Alone a(GetParam().kind, GetParam().ipv6);
	const size_t upper = ETHERNET + (a.six ? 40 : 20);
	const bool echo = strcmp(GetParam().kind, "PING") == 0;
	Bytes other;

	a.now += second; /* it expires, and another leaves by the same port */
	a.Expect(0, 2);
	EXPECT_EQ(1u, a.Tally().expired);
	a.Input(a.Unreachable(a.sent[0]));
	/* addresses, ports or identifier, payload */
	for (size_t at : {upper - 1, upper - (a.six ? 17 : 5), upper + (echo ? 5 : 1), upper + 9}) {
		other = a.sent.at(1);
		other[at] ^= 0x40;
		a.Input(a.Unreachable(other));
	}
	for (size_t quoted : {upper - ETHERNET + 7, upper - ETHERNET, size_t(3), size_t(0)})
		a.Input(a.Unreachable(a.sent.at(1), quoted));
	a.Input(a.Quoting(a.sent.at(1), a.six ? 2 : 3, a.six ? 0 : 4)); /* too big */
	a.Input(a.Quoting(a.sent.at(1), a.six ? 3 : 11, 0));            /* time exceeded */
	a.Expect(0, 2);
	a.Input(a.Unreachable(a.sent.at(1)));
	a.Expect(1, 3);
	a.Input(a.Unreachable(a.sent.at(1))); /* a second time */
	a.Expect(1, 3);
}

INSTANTIATE_TEST_SUITE_P(Kinds, L4Unreachable,
			 testing::Values(Case{"DNS", false}, Case{"DNS", true}, Case{"UDP_RR", false},
					 Case{"UDP_RR", true}, Case{"PING", false}, Case{"PING", true}),
			 [](const testing::TestParamInfo<Case> &info) {
				 return std::string(info.param.kind) + (info.param.ipv6 ? "6" : "4");
			 });

TEST(L4Unreachable, IsCountedOfDatagramsThatNothingAnswers)
{
	Alone a("UDP_STREAM", false);
	const uint64_t sent = a.sent.size();
	Bytes other = a.sent[0];

	a.Input(a.Unreachable(other));
	EXPECT_EQ(1u, a.l4->counters.unreachable);
	other[ETHERNET + 28 + 2] = 1; /* number 2^40 */
	a.Input(a.Unreachable(other));
	EXPECT_EQ(1u, a.l4->counters.unreachable);
	EXPECT_EQ(0u, a.Tally().ended[FG_L4_END_REFUSED]);
	EXPECT_GE(a.Tally().datagrams_out, sent);
}

/* RFC 5452, 9.1: the slot waits on */
TEST(L4Unreachable, AnAnswerFromAnotherAddressIsNone)
{
	for (bool six : {false, true}) {
		Alone a("DNS", six);

		a.Input(a.Packet(17, a.AnswerToTheFirst()));
		EXPECT_EQ(1u, a.Tally().own[DNS_SUM_UNEXPECTED]);
		EXPECT_EQ(0u, a.Tally().transactions);
		a.now += second;
		a.Poll();
		EXPECT_EQ(1u, a.Tally().expired);
	}
}

/* an IPv4 packet comes from the server's own address, and its UDP has no checksum */
void
FromServer(const Alone &a, Bytes &packet)
{
	uint8_t *ip = &packet[ETHERNET];

	memcpy(ip + 12, &a.sent[0][ETHERNET + 16], 4);
	memset(ip + 10, 0, 2);
	uint16_t sum = fg_checksum_finish(fg_checksum_add(0, ip, 20));
	memcpy(ip + 10, &sum, 2);
	memset(ip + 20 + 6, 0, 2);
}

/* an answer to another question has brought the cookie that the next query will have */
TEST(L4Unreachable, EndsAQueryWhoseCookieWasRenewed)
{
	Alone a("DNS", false, true);
	const auto upper = a.sent[0].begin() + ETHERNET + 20;
	Bytes other(upper, a.sent[0].end());
	const size_t dns = 8, opt = other.size() - DNS_OPTION - DNS_COOKIE_CLIENT - DNS_OPT;

	std::swap_ranges(other.begin(), other.begin() + 2, other.begin() + 2);
	other[dns + 2] |= 0x80; /* QR */
	other[dns + 13] ^= 1;
	other[opt + 10] = DNS_OPTION + DNS_COOKIE;
	other[opt + 14] = DNS_COOKIE;
	other.resize(other.size() + DNS_COOKIE - DNS_COOKIE_CLIENT, 's');
	fg_put16(&other[4], uint16_t(other.size()));
	Bytes answer = a.Packet(17, other);
	FromServer(a, answer);
	a.Input(answer);
	EXPECT_EQ(1u, a.Tally().own[DNS_SUM_COOKIES]);
	EXPECT_EQ(0u, a.Tally().transactions);
	a.Input(a.Unreachable(a.sent[0]));
	EXPECT_EQ(1u, a.Tally().ended[FG_L4_END_REFUSED]);
}

/* both of IPv4, and from the server's own address */
TEST(L4Unreachable, AnAnswerAfterItIsLate)
{
	Alone a("DNS", false);
	fg_l4_app &config = ((application *)a.l4->app[0])->config;
	Bytes answer = a.Packet(17, a.AnswerToTheFirst());

	FromServer(a, answer);
	config.requests_per_s = 0.01;
	((requests *)a.l4->app[0])->next_at = 1e18; /* no further request takes the slot */
	a.Input(a.Unreachable(a.sent[0]));
	a.Input(answer);
	EXPECT_EQ(1u, a.Tally().ended[FG_L4_END_REFUSED]);
	EXPECT_EQ(1u, a.Tally().own[DNS_SUM_LATE]);
	EXPECT_EQ(0u, a.Tally().own[DNS_SUM_TWICE]);
	EXPECT_EQ(0u, a.l4->counters.rx_bad_checksum);
}

/* as little as RFC 792 asks for says nothing of the payload, but the checksum does */
TEST(L4Unreachable, AShortQuoteOfTheRequestBeforeIsNone)
{
	for (const char *kind : {"DNS", "UDP_RR", "PING"}) {
		for (bool six : {false, true}) {
			Alone a(kind, six);
			const size_t quoted = (six ? 40 : 20) + 8;

			SCOPED_TRACE(std::string(kind) + (six ? "6" : "4"));
			a.now += second;
			a.Expect(0, 2);
			a.Input(a.Unreachable(a.sent[0], quoted));
			a.Expect(0, 2);
			a.Input(a.Unreachable(a.sent.at(1), quoted));
			a.Expect(1, 3);
		}
	}
}

/* an attacker may know addresses and ports, but not the connection IDs (RFC 5927) */
TEST(L4Unreachable, EndsAHandshakeOfQuicWithAClosedPort)
{
	enum { RIGHT, OTHER_SERVER_ID, OTHER_CLIENT_ID, CUT, ANSWERED };
	const size_t payload = ETHERNET + 28, server_id = payload + 6, client_id = server_id + 18 + 1;

	for (int how : {RIGHT, OTHER_SERVER_ID, OTHER_CLIENT_ID, CUT, ANSWERED}) {
		Alone a("QUIC", false);
		Bytes quoted = a.sent[0];

		ASSERT_EQ(18, quoted[server_id - 1]);
		ASSERT_EQ(8, quoted[client_id - 1]);
		if (how == OTHER_SERVER_ID || how == OTHER_CLIENT_ID)
			quoted[how == OTHER_SERVER_ID ? server_id : client_id + 4] ^= 1;
		if (how == ANSWERED)
			a.Input(a.Answered());
		a.Input(a.Unreachable(quoted, how == CUT ? client_id + 7 - ETHERNET : 1000));
		EXPECT_EQ(how == RIGHT ? 1u : 0u, a.Tally().ended[FG_L4_END_REFUSED]) << how;
		EXPECT_EQ(how == RIGHT ? 0u : 1u, fg_l4_open(a.l4)) << how;
	}
}
