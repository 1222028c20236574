/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every protocol over paths that lose, reorder and duplicate as a seed says: each byte that arrives is
 * compared by its application, all of them arrive, and each connection closes in good order. 1,000 paths for
 * each protocol where FRAMEGAUGE_LONG is set, a few otherwise.
 */
#include "draws.h"
#include "l4_dns.h"
#include "l4_quic.h"
#include "l4_tls.h"

namespace
{
using l4::ms;
using l4::second;

enum below { CLEAR, TLS_1_3, TLS_1_2, QUIC };
const char *const LINES = "h1.fg.test A\nh22.fg.test AAAA\nh333.fg.test TXT\nh4.fg.test A";

struct Protocol {
	const char *name, *kind;
	below under;
	uint64_t transactions; /* of all clients; 0: a stream */
	uint64_t octets;       /* of a stream */
	void (*set)(fg_l4_app &client, fg_l4_dns &zone);
};

void
Stream(fg_l4_app &client, fg_l4_dns &)
{
	client.octets = 60000;
}

void
Exchange(fg_l4_app &client, fg_l4_dns &)
{
	client.request = 5000;
	client.response = 20000;
	client.requests = 3;
}

void
Get(fg_l4_app &client, fg_l4_dns &)
{
	client.path = "/octets/20000";
	client.host = "fg.test";
	client.request = 0;
	client.response = 20000;
	client.requests = 6;
	client.streams = 3;
}

/* some answers are of several segments */
void
Ask(fg_l4_app &client, fg_l4_dns &zone)
{
	zone.questions = LINES;
	zone.recursion = true;
	zone.udp_size = 1232;
	zone.answers = 1;
	zone.ttl = 300;
	zone.pipeline = 4;
	zone.text = 3000;
	client.dns = &zone;
	client.path = "/dns-query";
	client.host = "fg.test";
	client.request = client.response = 0;
	client.requests = 12;
	client.streams = 4;
}

void
Load(fg_l4_app &client, fg_l4_dns &zone)
{
	Ask(client, zone);
	zone.post = true;
}

void
Fetch(fg_l4_app &client, fg_l4_dns &)
{
	client.port = 21;
	client.path = "octets/20000";
	client.user = "anonymous";
	client.password = "framegauge@";
	client.ftp_mode = FG_L4_FTP_EXTENDED_PASSIVE;
	client.request = 0;
	client.response = 20000;
	client.requests = 3;
}

void
Store(fg_l4_app &client, fg_l4_dns &zone)
{
	Fetch(client, zone);
	client.ftp_mode = FG_L4_FTP_EXTENDED_ACTIVE;
	client.request = 20000;
	client.response = 0;
}

const Protocol protocols[] = {
	{"TCP", "TCP_STREAM", CLEAR, 0, 60000, Stream},
	{"HTTP", "HTTP", CLEAR, 6, 0, Get},
	{"HTTP2", "HTTP2", CLEAR, 6, 0, Get},
	{"FTP", "FTP", CLEAR, 3, 0, Fetch},
	{"FTP_STOR", "FTP", CLEAR, 3, 0, Store},
	{"DNS_TCP", "DNS_TCP", CLEAR, 12, 0, Ask},
	{"TLS", "TCP_STREAM", TLS_1_3, 0, 60000, Stream},
	{"TLS_1_2", "TCP_STREAM", TLS_1_2, 0, 60000, Stream},
	{"TLS_RR", "TCP_RR", TLS_1_3, 3, 0, Exchange},
	{"HTTPS", "HTTP", TLS_1_3, 6, 0, Get},
	{"HTTPS2", "HTTP2", TLS_1_3, 6, 0, Get},
	{"DNS_TLS", "DNS_TCP", TLS_1_3, 12, 0, Ask},
	{"DNS_HTTPS", "DOH", TLS_1_3, 12, 0, Ask},
	{"DNS_HTTPS_POST", "DOH", TLS_1_3, 12, 0, Load},
	{"QUIC", "TCP_STREAM", QUIC, 0, 60000, Stream},
	{"QUIC_RR", "TCP_RR", QUIC, 3, 0, Exchange},
	{"HTTP3", "HTTP3", QUIC, 6, 0, Get},
};

class Path : public l4::Line
{
      public:
	Path(const Protocol &p, uint64_t seed) : Line(seed)
	{
		fg_l4_dns zone = {};
		fg_l4_app client = l4::Client(p.kind);

		loss = reorder = 0.01 * double(1 + seed % 5);
		duplicate = loss / 4;
		client.cycles = 1;
		client.timeout_ns = 100 * second;
		client.tcp.retries = 30;
		client.tcp.syn_retries = 12;
		client.tcp.time_wait_ms = 60000; /* longer than the peer takes to send its FIN again */
		p.set(client, zone);
		fg_l4_app apps[2] = {client, l4::ServerOf(client)};
		for (unsigned i : {0, 1}) {
			uint16_t version = p.under == TLS_1_2 ? FG_TLS_1_2 : FG_TLS_1_3;
			fg_secure_config tls = l4::Tls(i == 1, version);
			fg_quic_config quic = l4::Quic(i == 1);

			tls.record = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 1000 : 16384;
			tls.timeout_ns = quic.handshake_ns = 100 * second;
			quic.tls.alpn = strcmp(p.kind, "HTTP3") == 0 ? "h3" : quic.tls.alpn;
			apps[i].tls = p.under == TLS_1_3 || p.under == TLS_1_2 ? &tls : nullptr;
			apps[i].quic = p.under == QUIC ? &quic : nullptr;
			Create(i, apps[i], 64, 300 * second);
		}
		Run(900 * second);
	}
	void
	ExpectAll(const Protocol &p)
	{
		fg_l4_result client, server;

		for (unsigned i : {0, 1}) {
			fg_l4_counters n;
			fg_l4_result r;

			fg_l4_read_counters(l4[i], &n);
			fg_l4_read(l4[i], 0, &r);
			EXPECT_EQ(0u, n.wrong_octets) << i;
			EXPECT_EQ(0u, n.held_refused + n.no_spans + n.no_secrets + n.table_full) << i;
			EXPECT_EQ(0u, r.tls.tally.failed + r.tls.tally.bad_records) << i;
			EXPECT_EQ(0u, r.quic.tally.failed) << i;
			EXPECT_EQ(0u, fg_l4_open(l4[i])) << i;
			(i == 0 ? client : server) = r;
		}
		EXPECT_EQ(p.transactions, client.total.transactions);
		if (p.octets != 0) {
			EXPECT_EQ(p.octets, server.total.octets_in);
		}
		EXPECT_EQ(0u, client.total.refused + client.total.expired);
		EXPECT_LT(0u, client.total.opened);
		/* either end of FTP resets a data connection that takes more than five seconds to close */
		if (strcmp(p.kind, "FTP") != 0)
			client.total.opened -= client.total.ended[FG_L4_END_CLOSED];
		else
			for (unsigned end : {FG_L4_END_CLOSED, FG_L4_END_RESET, FG_L4_END_ABORTED})
				client.total.opened -= client.total.ended[end];
		EXPECT_EQ(0u, client.total.opened);
	}
};

class L4Lossy : public ::testing::TestWithParam<Protocol>
{
};
} /* namespace */

TEST_P(L4Lossy, EveryByteArrivesWhateverThePathDoes)
{
	const unsigned paths = draws_if_long(10, 1000);

	for (unsigned seed = 1; seed <= paths && !HasFailure(); seed++) {
		SCOPED_TRACE("seed " + std::to_string(seed));
		Path path(GetParam(), seed);
		path.ExpectAll(GetParam());
	}
}

INSTANTIATE_TEST_SUITE_P(Protocols, L4Lossy, ::testing::ValuesIn(protocols),
			 [](const ::testing::TestParamInfo<Protocol> &p) { return p.param.name; });
