/* SPDX-License-Identifier: BSD-3-Clause */
/* What gets no answer is given up after l4.timeout and counted once; what is slow is not. */
#include "l4_wire.h"

using namespace l4;

namespace
{
const unsigned connections = 20;

fg_l4_app
Patient(const char *kind)
{
	fg_l4_app a = Client(kind);

	a.path = "/octets/1";
	a.host = "198.19.0.1";
	a.request = std::string(kind).find("HTTP") == std::string::npos;
	a.connections = connections;
	a.streams = 1;
	a.patience_ns = second;
	return a;
}

/* 100 Mbit/s; the client speaks for a second, and frames that leave it @p deaf ns after the start are lost */
class Deaf : public Line
{
      public:
	Deaf(const fg_l4_app &client, const fg_l4_app &server, uint64_t deaf, uint64_t until)
	{
		const fg_l4_app apps[2] = {client, server};

		ns_per_octet = 80;
		sees = [this, deaf](unsigned from, uint64_t now, std::vector<uint8_t> &frame) {
			resets += from == 0 && frame[14 + 20 + 13] == 0x14; /* RST and ACK */
			return from != 0 || now < second + deaf;
		};
		for (unsigned i : {0, 1}) {
			fg_l4_config config = {};

			config.connections = 8192;
			config.seed = 1 + i;
			config.mtu = 1500;
			EXPECT_EQ(0, fg_l4_create(&config, 1, &apps[i], &l4[i], nullptr));
			EXPECT_EQ(0, fg_l4_schedule(l4[i], second, 2 * second, 0, 0, nullptr));
		}
		Run(second + until);
		fg_l4_finish(l4[0], second + until);
	}
	Deaf(const fg_l4_app &client, uint64_t deaf, uint64_t until)
	    : Deaf(client, ServerOf(client), deaf, until)
	{
	}
	fg_l4_result
	Result() const
	{
		fg_l4_result r;

		fg_l4_read(l4[0], 0, &r);
		return r;
	}
	unsigned resets = 0;
};

uint64_t
Accounted(const fg_l4_result &r)
{
	uint64_t n = r.open;

	for (uint64_t ended : r.total.ended)
		n += ended;
	return n;
}

bool
HasNoTransactions(const std::string &kind)
{
	return kind == "TCP_STREAM" || kind == "TCP_MAERTS";
}

class L4Patience : public ::testing::TestWithParam<const char *>
{
};
} /* namespace */

TEST_P(L4Patience, GivesUpWhatIsNotAnswered)
{
	fg_l4_result r = Deaf(Patient(GetParam()), second / 2, 3 * second).Result();

	EXPECT_EQ(connections, r.total.expired + r.total.ended[FG_L4_END_NO_ANSWER]);
	EXPECT_EQ(r.total.expired, r.total.ended[FG_L4_END_EXPIRED]);
	EXPECT_EQ(0u, r.total.ended[FG_L4_END_ABORTED] + r.outstanding + r.open);
	EXPECT_EQ(r.total.opened, Accounted(r));
	if (HasNoTransactions(GetParam()))
		EXPECT_EQ(0u, r.at_least);
	else if (GetParam()[4] == 'C') /* the connection itself is what is timed */
		EXPECT_EQ(connections, r.at_least);
	else
		EXPECT_EQ(r.total.expired, r.at_least);
	EXPECT_LE(HasNoTransactions(GetParam()) ? 0 : second, r.transaction.max);
	EXPECT_GE(second * 5 / 4 + 20 * ms, r.transaction.max);
}

TEST_P(L4Patience, CountsWhatWaitsAtTheEnd)
{
	fg_l4_result soon = Deaf(Patient(GetParam()), second / 2, second).Result();

	EXPECT_EQ(connections, soon.outstanding);
	EXPECT_EQ(connections, soon.open);
	EXPECT_EQ(0u, soon.total.expired + soon.total.ended[FG_L4_END_NO_ANSWER]);
}

/* as on a port whose lcore was held up: the engine's time goes on, and nobody polls */
TEST_P(L4Patience, CountsWhatShouldHaveBeenGivenUp)
{
	Deaf line(Patient(GetParam()), second / 2, second);
	fg_l4_app never = Patient(GetParam());
	fg_l4_result r;

	never.patience_ns = 0;
	EXPECT_EQ(0u, Deaf(never, second / 2, 3 * second).Result().outstanding);
	fg_l4_finish(line.l4[0], second * 7 / 2);
	r = line.Result();
	EXPECT_EQ(connections, r.total.expired + r.total.ended[FG_L4_END_NO_ANSWER]);
	EXPECT_EQ(0u, r.open);
	EXPECT_EQ(r.total.opened, Accounted(r));
}

INSTANTIATE_TEST_SUITE_P(Kinds, L4Patience,
			 ::testing::Values("TCP_RR", "TCP_CRR", "TCP_CC", "HTTP", "HTTP2", "TCP_STREAM",
					   "TCP_MAERTS"));

/* a burst has room for fewer */
TEST(L4PatienceLimits, ResetsAllThatItGivesUp)
{
	Deaf line(Patient("TCP_RR"), second / 2, 3 * second);

	EXPECT_EQ(connections, line.Result().total.expired);
	EXPECT_EQ(connections, line.resets);
}

TEST(L4PatienceLimits, GivesUpHalfAnAnswer)
{
	for (const char *kind : {"TCP_RR", "HTTP"}) {
		fg_l4_app client = Patient(kind), server;

		client.response = 200;
		client.path = "/octets/200";
		server = ServerOf(client);
		server.response = 100;
		if (std::string(kind) == "HTTP")
			server.kind = "TCP_STREAM"; /* accepts, and never answers */
		Deaf line(client, server, 10 * second, 3 * second);
		EXPECT_LE(connections, line.Result().total.expired + line.Result().total.refused) << kind;
		EXPECT_EQ(0u, line.Result().total.transactions) << kind;
	}
}

TEST(L4PatienceLimits, IsPatientWithWhatMoves)
{
	fg_l4_app slow = Patient("HTTP");

	slow.connections = 4;
	slow.response = 10000000; /* four at a time, 3.2 s */
	slow.path = "/octets/10000000";
	slow.patience_ns = 200 * ms;
	fg_l4_result r = Deaf(slow, 10 * second, 5 * second).Result();
	EXPECT_EQ(4u, r.total.transactions);
	EXPECT_EQ(0u, r.total.expired + r.outstanding);
}

/* one that has all of its bytes acknowledged, or whose server is slow, is no failure */
TEST(L4PatienceLimits, LetsStreamsGoOn)
{
	for (const char *kind : {"TCP_STREAM", "TCP_MAERTS"}) {
		fg_l4_app stream = Patient(kind);

		stream.patience_ns = 100 * ms;
		stream.tcp.receive_buffer = 20000; /* of all streams 32 ms of the line */
		fg_l4_result r = Deaf(stream, 10 * second, 3 * second).Result();
		EXPECT_EQ(connections, r.total.ended[FG_L4_END_CLOSED]) << kind;
		EXPECT_EQ(0u, r.total.expired + r.outstanding) << kind;
	}
}

TEST(L4PatienceLimits, LetsConnectionsBeIdle)
{
	for (const char *kind : {"TCP_RR", "HTTP", "HTTP2"}) {
		fg_l4_app idle = Patient(kind);

		idle.patience_ns = 100 * ms;
		idle.requests = 1;
		idle.hold = true;
		fg_l4_result r = Deaf(idle, 10 * second, 3 * second).Result();
		EXPECT_EQ(connections, r.total.ended[FG_L4_END_CLOSED]) << kind;
		EXPECT_EQ(0u, r.total.expired) << kind;
		idle.hold = false;
		idle.requests = 0;
		idle.think_ns = 400 * ms;
		r = Deaf(idle, 10 * second, 3 * second).Result();
		EXPECT_EQ(connections, r.total.ended[FG_L4_END_CLOSED]) << kind;
		EXPECT_EQ(0u, r.total.expired) << kind;
	}
}
