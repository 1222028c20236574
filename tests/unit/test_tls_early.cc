// SPDX-License-Identifier: BSD-3-Clause
/* Early data that a server cannot or must not take, and the set that replays are found in. */
#include "tls_two_ends.h"

namespace
{

fg_tls_config
Early(bool server, uint64_t seed = 7)
{
	fg_tls_config c = Config(server);

	c.resume = !server;
	c.tickets = server ? 2 : 0;
	c.early_data = 16384;
	c.seed = seed; // and the seed of its tickets' keys
	return c;
}

// a client that has tickets of a server, which let it send early data
void
Meet(End &client, End &server)
{
	Shake(client, server);
	TakeTickets(client, server, 2);
	ASSERT_EQ(2u, fg_tls_context_sessions(client.context));
	client.early = "what cannot wait";
}

TEST(TlsEarlyData, AServerThatKnowsNotTheTicketSkipsIt)
{
	End client(Early(false)), server(Early(true)), other(Early(true, 8));

	Meet(client, server);
	client.early = std::string(16384, 'x');
	Shake(client, other);
	ASSERT_TRUE(client.took && other.took) << fg_tls_context_reason(other.context);
	EXPECT_EQ("", other.came_early);
	EXPECT_FALSE(client.taken.resumed) << "a full handshake, and no failure";
	EXPECT_EQ(FG_TLS_EARLY_REFUSED, fg_tls_handshake_early(client.handshake));
	EXPECT_EQ(FG_TLS_EARLY_REFUSED, fg_tls_handshake_early(other.handshake));
	ExpectData(client, other);
}

TEST(TlsEarlyData, AServerWithoutItSkipsIt)
{
	fg_tls_config without = Early(true);

	without.early_data = 0;
	End client(Early(false)), server(Early(true)), other(without);
	Meet(client, server);
	Shake(client, other);
	ASSERT_TRUE(client.took && other.took) << fg_tls_context_reason(other.context);
	EXPECT_TRUE(client.taken.resumed);
	EXPECT_EQ(FG_TLS_EARLY_REFUSED, fg_tls_handshake_early(client.handshake));
	ExpectData(client, other);
}

TEST(TlsEarlyData, NoMoreIsSkippedThanWasToBeTakenAnd16384Bytes)
{
	fg_tls_config little = Early(true, 8);

	little.early_data = 1;
	little.refuse_every = 1;
	for (unsigned records : {1, 2}) {
		End client(Early(false)), server(Early(true)), other(little);
		std::vector<uint8_t> twice;

		Meet(client, server);
		client.early = std::string(10000, 'x');
		for (End *end : {&client, &other}) {
			fg_tls_handshake_free(end->handshake);
			end->handshake = fg_tls_handshake_create(end->context);
			end->out.clear();
		}
		client.state = FG_TLS_GOES_ON;
		client.Begin();
		size_t last = client.out.size() - 10000 - 22;
		twice.assign(client.out.begin() + (long)last, client.out.end());
		for (unsigned i = 1; i < records; i++)
			client.out.insert(client.out.end(), twice.begin(), twice.end());
		while (Carry(client, other)) {
		}
		EXPECT_EQ(records == 1 ? FG_TLS_GOES_ON : FG_TLS_FAILED, other.state);
	}
}

TEST(TlsEarlyData, AServerTakesIt)
{
	End client(Early(false)), server(Early(true));

	Meet(client, server);
	Shake(client, server);
	ASSERT_TRUE(client.took && server.took);
	EXPECT_EQ("what cannot wait", server.came_early);
	EXPECT_EQ(FG_TLS_EARLY_ACCEPTED, fg_tls_handshake_early(client.handshake));
	EXPECT_EQ(0u, fg_tls_context_replays(server.context));
}

TEST(TlsReplays, TheLastOnesAreKnown)
{
	fg_tls_replays *r = fg_tls_replays_create();
	uint64_t id = 1;
	unsigned known = 0;

	for (unsigned i = 0; i < 100000; i++) {
		id = id * 6364136223846793005 + 1442695040888963407;
		EXPECT_FALSE(fg_tls_replays_seen(r, id >> 1 ^ id));
	}
	id = 1;
	for (unsigned i = 0; i < 100000; i++) {
		id = id * 6364136223846793005 + 1442695040888963407;
		if (i >= 70000)
			known += fg_tls_replays_seen(r, id >> 1 ^ id);
	}
	EXPECT_NEAR(30000, known, 1500);
	fg_tls_replays_free(r);
}

} // namespace
