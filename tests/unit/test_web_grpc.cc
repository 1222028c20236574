/* SPDX-License-Identifier: BSD-3-Clause */
#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fg_grpc.h"
#include "grpc_client.h"

namespace
{
const GrpcFields CALL = {{":method", "POST"},
			 {":scheme", "http"},
			 {":path", "/a.B/C"},
			 {":authority", "tester"},
			 {"content-type", "application/grpc"}};

/* A server and its clients in one thread. */
class Grpc : public testing::Test
{
      protected:
	fg_grpc *grpc = nullptr;
	fg_grpc_about about = {};

	void
	open(uint32_t max_connections = 16, uint32_t patience_ms = 30000, uint64_t max_body = 1000000,
	     uint32_t idle_ms = 30000)
	{
		fg_grpc_config config = {};
		fg_error err = {};

		config.address = "127.0.0.1:0";
		config.max_connections = max_connections;
		config.begin_ms = config.body_ms = patience_ms;
		config.max_body = max_body;
		config.idle_ms = idle_ms;
		ASSERT_EQ(0, fg_grpc_open(&config, &grpc, &err)) << err.message;
	}

	void
	TearDown() override
	{
		fg_grpc_close(grpc);
	}

	fg_grpc_call *
	next(GrpcClient &client)
	{
		for (int i = 0; i < 2000; i++) {
			client.turn();
			fg_grpc_poll(grpc);
			if (fg_grpc_call *call = fg_grpc_next(grpc, &about))
				return call;
			usleep(1000);
		}
		return nullptr;
	}

	/* @return whether the connection goes on when the call is over */
	bool
	finish(GrpcClient &client, int32_t id)
	{
		for (int i = 0; i < 5000 && !client.replies[id].closed; i++) {
			fg_grpc_poll(grpc);
			if (!client.turn())
				return false;
			usleep(1000);
		}
		return true;
	}

	/* @return whether the server ends the connection */
	bool
	is_ended(GrpcClient &client)
	{
		for (int i = 0; i < 5000; i++) {
			fg_grpc_poll(grpc);
			if (!client.turn())
				return true;
			usleep(1000);
		}
		return false;
	}
};
} // namespace

TEST_F(Grpc, AnswersLaterWithABodyAndAStatusBehindIt)
{
	open();
	GrpcClient client(fg_grpc_port(grpc));
	const std::string request(300000, 'q'), answer(700000, 'a');

	for (int i = 0; i < 3; i++) {
		int32_t id = client.call(CALL, request);
		fg_grpc_call *call = next(client);
		ASSERT_NE(nullptr, call);
		EXPECT_STREQ("/a.B/C", about.path);
		EXPECT_EQ(request, std::string(about.body, about.size));
		EXPECT_TRUE(fg_grpc_is_awaited(call));
		EXPECT_EQ(0, fg_grpc_answer(call, 0, "", answer.data(), answer.size()));
		EXPECT_EQ(-EALREADY, fg_grpc_answer(call, 0, "", "", 0));
		fg_grpc_release(call);
		ASSERT_TRUE(finish(client, id));
		const GrpcReply &reply = client.replies[id];
		EXPECT_EQ(answer, reply.body);
		EXPECT_EQ("200", reply.field(":status"));
		EXPECT_EQ("application/grpc", reply.field("content-type"));
		EXPECT_EQ((std::pair<std::string, std::string>("grpc-status", "0")), reply.fields.back());
	}
}

TEST_F(Grpc, AnswersCallsOfAConnectionInAnyOrderAndErrorsWithoutABody)
{
	open();
	GrpcClient client(fg_grpc_port(grpc));
	int32_t first = client.call(CALL, "1"), second = client.call(CALL, "2");
	fg_grpc_call *one = next(client), *other = next(client);

	ASSERT_NE(nullptr, other);
	EXPECT_EQ(0, fg_grpc_answer(other, 3, "why%0A", nullptr, 0));
	fg_grpc_release(other);
	ASSERT_TRUE(finish(client, second));
	EXPECT_EQ("3", client.replies[second].field("grpc-status"));
	EXPECT_EQ("why%0A", client.replies[second].field("grpc-message"));
	EXPECT_EQ("", client.replies[second].body);
	EXPECT_FALSE(client.replies[first].closed);
	fg_grpc_release(one); /* without an answer */
	ASSERT_TRUE(finish(client, first));
	EXPECT_EQ("13", client.replies[first].field("grpc-status"));
}

TEST_F(Grpc, RefusesWhatIsTooLargeAndGoesOn)
{
	open(16, 30000, 100000);
	GrpcClient client(fg_grpc_port(grpc));
	int32_t id = client.call(CALL, std::string(100001, 'x'), false);

	ASSERT_TRUE(finish(client, id));
	EXPECT_EQ("8", client.replies[id].field("grpc-status"));
	EXPECT_EQ(nullptr, fg_grpc_next(grpc, &about));
	id = client.call(CALL, std::string(100000, 'x'));
	fg_grpc_call *call = next(client);
	ASSERT_NE(nullptr, call);
	EXPECT_EQ(100000u, about.size);
	fg_grpc_release(call);
	EXPECT_TRUE(finish(client, id));
}

TEST_F(Grpc, HoldsBodiesUpToALimitOfAll)
{
	open(16, 30000, 100000);
	GrpcClient client(fg_grpc_port(grpc));
	std::vector<int32_t> ids;

	for (int i = 0; i < 6; i++)
		ids.push_back(client.call(CALL, std::string(99000, 'x'), false));
	for (int i = 0; i < 300; i++) {
		fg_grpc_poll(grpc);
		client.turn();
		usleep(1000);
	}
	int refused = 0;
	for (int32_t id : ids)
		refused += client.replies[id].field("grpc-status") == "8";
	EXPECT_GE(refused, 2);
	EXPECT_LT(refused, 6);
}

TEST_F(Grpc, KnowsACallThatNobodyAwaits)
{
	open();
	GrpcClient client(fg_grpc_port(grpc));
	GrpcFields hurried = CALL;

	hurried.emplace_back("grpc-timeout", "20m");
	client.call(hurried, "1");
	fg_grpc_call *late = next(client);
	ASSERT_NE(nullptr, late);
	usleep(25000);
	EXPECT_FALSE(fg_grpc_is_awaited(late));
	fg_grpc_release(late);

	int32_t id = client.call(CALL, "2");
	fg_grpc_call *call = next(client);
	ASSERT_NE(nullptr, call);
	EXPECT_TRUE(fg_grpc_is_awaited(call));
	client.cancel(id);
	for (int i = 0; i < 2000 && fg_grpc_is_awaited(call); i++) {
		client.turn();
		fg_grpc_poll(grpc);
		usleep(1000);
	}
	EXPECT_FALSE(fg_grpc_is_awaited(call));
	EXPECT_EQ(-EPIPE, fg_grpc_answer(call, 0, "", "x", 1));
	fg_grpc_release(call);
}

TEST_F(Grpc, OutlivesClientsThatGoAndCallsThatStay)
{
	open();
	auto *client = new GrpcClient(fg_grpc_port(grpc));
	client->call(CALL, "1");
	fg_grpc_call *call = next(*client);
	ASSERT_NE(nullptr, call);
	client->call(CALL, "in the queue");
	client->turn();
	fg_grpc_poll(grpc);
	delete client;
	for (int i = 0; i < 2000 && fg_grpc_is_awaited(call); i++) {
		fg_grpc_poll(grpc);
		usleep(1000);
	}
	EXPECT_EQ(nullptr, fg_grpc_next(grpc, &about));
	EXPECT_EQ(-EPIPE, fg_grpc_answer(call, 0, "", "x", 1));

	GrpcClient other(fg_grpc_port(grpc));
	other.call(CALL, "2");
	fg_grpc_call *stays = next(other);
	ASSERT_NE(nullptr, stays);
	fg_grpc_close(grpc);
	grpc = nullptr;
	EXPECT_EQ(-EPIPE, fg_grpc_answer(stays, 0, "", "x", 1));
	fg_grpc_release(stays);
	fg_grpc_release(call);
}

TEST_F(Grpc, ClosesConnectionsThatDoNotReadAloneAndServesOthers)
{
	open(16, 300);
	GrpcClient slow(fg_grpc_port(grpc)), quick(fg_grpc_port(grpc));
	const std::string answer(30000000, 'a');

	slow.call(CALL, "1");
	fg_grpc_call *call = next(slow);
	ASSERT_NE(nullptr, call);
	EXPECT_EQ(0, fg_grpc_answer(call, 0, "", answer.data(), answer.size()));
	fg_grpc_release(call);
	int32_t id = quick.call(CALL, "2");
	call = next(quick);
	ASSERT_NE(nullptr, call);
	EXPECT_EQ(0, fg_grpc_answer(call, 0, "", "b", 1));
	fg_grpc_release(call);
	ASSERT_TRUE(finish(quick, id));
	EXPECT_EQ("b", quick.replies[id].body);
	for (int i = 0; i < 2500; i++) { /* the slow one reads nothing */
		fg_grpc_poll(grpc);
		usleep(1000);
	}
	EXPECT_TRUE(is_ended(slow));
	EXPECT_LT(slow.replies[1].body.size(), answer.size());
}

TEST_F(Grpc, ClosesWhatDoesNotBeginOrNeverEndsARequest)
{
	open(16, 300);
	GrpcClient silent(fg_grpc_port(grpc)), endless(fg_grpc_port(grpc)), idle(fg_grpc_port(grpc));

	endless.call(CALL, "1", false);
	endless.turn();
	idle.turn();
	char bytes[256];
	bool was_ended = false;
	for (int i = 0; i < 5000 && !was_ended; i++) {
		fg_grpc_poll(grpc);
		idle.turn();
		usleep(1000);
		was_ended = recv(silent.fd, bytes, sizeof(bytes), MSG_DONTWAIT) == 0;
	}
	EXPECT_TRUE(was_ended);
	EXPECT_TRUE(is_ended(endless));
	int32_t id = idle.call(CALL, "2"); /* has begun, so it may wait */
	fg_grpc_call *call = next(idle);
	ASSERT_NE(nullptr, call);
	fg_grpc_release(call);
	EXPECT_TRUE(finish(idle, id));
}

TEST_F(Grpc, AsksSilentClientsWhetherTheyAreThereAndGivesThePlacesOfOthersAway)
{
	open(2, 300, 1000, 100);
	GrpcClient gone(fg_grpc_port(grpc)), idle(fg_grpc_port(grpc)), next_one(fg_grpc_port(grpc));

	gone.turn(); /* and never again, as if its host were off */
	int32_t id = next_one.call(CALL, "1");
	fg_grpc_call *call = nullptr;
	for (int i = 0; i < 2000 && call == nullptr; i++) {
		fg_grpc_poll(grpc);
		idle.turn(); /* reads the question */
		idle.turn(); /* and answers it */
		next_one.turn();
		call = fg_grpc_next(grpc, &about);
		usleep(5000);
	}
	ASSERT_NE(nullptr, call);
	fg_grpc_release(call);
	EXPECT_TRUE(finish(next_one, id));
	id = idle.call(CALL, "2");
	call = next(idle);
	ASSERT_NE(nullptr, call);
	fg_grpc_release(call);
	EXPECT_TRUE(finish(idle, id));
}

TEST_F(Grpc, LetsFurtherConnectionsWaitForAPlace)
{
	open(2);
	auto *first = new GrpcClient(fg_grpc_port(grpc));
	GrpcClient second(fg_grpc_port(grpc)), third(fg_grpc_port(grpc));

	first->turn();
	second.turn();
	fg_grpc_poll(grpc);
	int32_t id = third.call(CALL, "3");
	for (int i = 0; i < 50; i++) {
		third.turn();
		fg_grpc_poll(grpc);
		usleep(1000);
	}
	EXPECT_EQ(nullptr, fg_grpc_next(grpc, &about));
	delete first;
	fg_grpc_call *call = nullptr;
	for (int i = 0; i < 5 && call == nullptr; i++)
		call = next(third);
	ASSERT_NE(nullptr, call);
	fg_grpc_release(call);
	EXPECT_TRUE(finish(third, id));
}

TEST_F(Grpc, SaysWhatIsNoGrpcAndClosesWhatIsNoHttp2)
{
	open();
	GrpcClient client(fg_grpc_port(grpc)), noise(fg_grpc_port(grpc));
	int32_t id = client.call(
		{{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "tester"}}, "");

	ASSERT_TRUE(finish(client, id));
	EXPECT_EQ("415", client.replies[id].field(":status"));
	EXPECT_EQ(nullptr, fg_grpc_next(grpc, &about));
	const char http1[] = "GET / HTTP/1.1\r\nHost: tester\r\n\r\n";
	EXPECT_GT(send(noise.fd, http1, sizeof(http1) - 1, MSG_NOSIGNAL), 0);
	EXPECT_TRUE(is_ended(noise));
}
