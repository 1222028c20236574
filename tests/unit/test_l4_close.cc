/* SPDX-License-Identifier: BSD-3-Clause */
/* How a client ends its connections: by FIN, by RST, or by a FIN with its last request; see l4.close. */
#include "l4_wire.h"

using namespace l4;

namespace
{
const uint8_t fin = 0x01, rst = 0x04;

/* a client and a server with 100 Mbit/s between them for 200 ms; what the client's frames say is counted */
class Ending : public Line
{
      public:
	Ending(const fg_l4_app &client, const fg_l4_app &server)
	{
		const fg_l4_app apps[2] = {client, server};

		ns_per_octet = 80;
		delay = ms / 10;
		sees = [this](unsigned from, uint64_t, std::vector<uint8_t> &frame) {
			uint8_t flags = frame[14 + 20 + 13];
			bool payload = frame.size() > 14 + 20 + size_t(frame[14 + 20 + 12] >> 4) * 4;

			fins[from] += !!(flags & fin);
			fins_with_payload += from == 0 && flags & fin && payload;
			resets += from == 0 && flags & rst;
			return true;
		};
		for (unsigned i : {0, 1}) {
			fg_l4_config config = {};
			fg_error err = {};

			config.connections = 8192;
			config.seed = 1 + i;
			config.mtu = 1500;
			EXPECT_EQ(0, fg_l4_create(&config, 1, &apps[i], &l4[i], &err)) << err.message;
			EXPECT_EQ(0, fg_l4_schedule(l4[i], second, second + 200 * ms, 0, 0, nullptr));
		}
		Run(2 * second); /* that is before TIME_WAIT is over */
		fg_l4_finish(l4[0], 2 * second);
	}
	explicit Ending(const fg_l4_app &client) : Ending(client, ServerOf(client))
	{
	}
	fg_l4_result
	Result(unsigned i) const
	{
		fg_l4_result r;

		fg_l4_read(l4[i], 0, &r);
		return r;
	}
	unsigned fins[2] = {}, fins_with_payload = 0, resets = 0;
};

fg_l4_app
Asking(const char *kind)
{
	fg_l4_app a = Client(kind);

	a.connections = 5;
	a.requests = 3;
	a.cycles = 4;
	a.streams = 1;
	a.path = "/octets/3000";
	a.host = "198.19.0.1";
	a.response = 3000;
	a.request = std::string(kind).find("HTTP") == std::string::npos;
	a.patience_ns = second / 2;
	return a;
}

void
ExpectAllGood(const Ending &line, unsigned each)
{
	for (unsigned i : {0, 1}) {
		fg_l4_counters c;

		fg_l4_read_counters(line.l4[i], &c);
		EXPECT_EQ(0u, c.wrong_octets + c.no_connection + c.resets_ignored + c.table_full);
	}
	fg_l4_result r = line.Result(0);
	EXPECT_EQ(20u, r.total.opened);
	EXPECT_EQ(20u, r.total.ended[FG_L4_END_CLOSED]);
	EXPECT_EQ(20u * each, r.total.transactions);
	EXPECT_EQ(0u, r.open + r.outstanding + r.total.refused + r.total.expired);
}

class L4Reset : public ::testing::TestWithParam<const char *>
{
};

class L4HalfClose : public ::testing::TestWithParam<const char *>
{
};
} /* namespace */

TEST_P(L4Reset, LeavesNothingAtEitherEnd)
{
	std::string kind = GetParam();
	fg_l4_app client = Asking(GetParam());

	client.tcp.reset = true;
	Ending line(client);
	ExpectAllGood(line, kind == "TCP_CRR" || kind == "TCP_CC" ? 1 : 3);
	EXPECT_EQ(0u, line.fins[0]);
	EXPECT_EQ(20u, line.resets);
	EXPECT_EQ(0u, fg_l4_open(line.l4[0]) + fg_l4_open(line.l4[1])); /* those in TIME_WAIT, too */
	/* a server that has sent its FIN already may take the RST for the end of both */
	fg_l4_result server = line.Result(1);
	EXPECT_EQ(20u, server.total.ended[FG_L4_END_RESET] + server.total.ended[FG_L4_END_CLOSED]);
}

INSTANTIATE_TEST_SUITE_P(Kinds, L4Reset, ::testing::Values("TCP_RR", "TCP_CRR", "TCP_CC", "HTTP", "HTTP2"));

/* all that was sent comes before it */
TEST(L4ResetStream, ComesBehindWhatIsInFlight)
{
	for (const char *kind : {"TCP_STREAM", "TCP_MAERTS"}) {
		fg_l4_app client = Client(kind);

		client.connections = 3;
		client.tcp.reset = true;
		Ending line(client);
		fg_l4_result r = line.Result(0), server = line.Result(1);
		EXPECT_EQ(3u, r.total.ended[FG_L4_END_CLOSED]) << kind;
		EXPECT_LE(3u, line.resets) << kind; /* one more for each segment that comes after it */
		EXPECT_EQ(r.total.octets_out, server.total.octets_in) << kind;
		EXPECT_EQ(0u, line.fins[0]) << kind;
		EXPECT_EQ(0u, fg_l4_open(line.l4[1])) << kind;
	}
}

TEST_P(L4HalfClose, GetsItsWholeAnswer)
{
	fg_l4_app client = Asking(GetParam());

	client.half_close = true;
	Ending line(client);
	ExpectAllGood(line, std::string(GetParam()) == "TCP_CRR" ? 1 : 3);
	EXPECT_EQ(20u, line.fins_with_payload);
	EXPECT_EQ(20u, line.fins[0]);
	EXPECT_EQ(0u, line.resets);
	EXPECT_EQ(20u, line.Result(1).total.ended[FG_L4_END_CLOSED]);
}

INSTANTIATE_TEST_SUITE_P(Kinds, L4HalfClose, ::testing::Values("TCP_RR", "TCP_CRR", "HTTP"));

/* a server that ends in good order before its answer is whole */
TEST(L4HalfCloseCut, CountsWhatIsMissing)
{
	for (const char *kind : {"TCP_CRR", "HTTP"}) {
		fg_l4_app client = Asking(kind), server = ServerOf(client);

		client.requests = 1;
		client.half_close = true;
		server.response = 1000;
		if (std::string(kind) == "HTTP")
			server.kind = "TCP_STREAM"; /* takes it, and answers nothing */
		fg_l4_result r = Ending(client, server).Result(0);
		EXPECT_EQ(0u, r.total.transactions) << kind;
		EXPECT_EQ(20u, r.total.refused) << kind;
	}
}
