/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer of HTTP over TLS that has the right keys and says what a test wants, record by record; the server
 * or the client that hears it is ours. What that answers, counts and keeps can be looked at.
 */
#ifndef L4_TLS_PEER_H
#define L4_TLS_PEER_H

#include <string>

#include <gtest/gtest.h>

extern "C" {
#include "fg_pool.h"
#include "fg_secure_layer.h"
#include "l4_talker.h"
}
#include "l4_time.h"
#include "tls_end.h"
namespace layer // TCP has states of the same names
{
extern "C" {
#include "secure_priv.h"
}
} // namespace layer

namespace l4
{
const int NO_ALERT = -1;

inline const char SUITES[] = "TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256";
const char GET[] = "GET /100 HTTP/1.1\r\nHost: fg.test\r\n\r\n";
const char PAGE[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";

// bytes of numbers
inline std::string
B(std::initializer_list<int> list)
{
	return std::string(list.begin(), list.end());
}

enum Role { CLIENT, SERVER };

// What is tested is in the role, the peer in the other one.
class Peer
{
      public:
	explicit Peer(Role tested, uint16_t version = FG_TLS_1_3) : is_client(tested == SERVER)
	{
		fg_secure_config secure = {};
		fg_tls_config mine = TlsEnd(!is_client, version, SUITES);
		fg_l4_app app = {};

		secure.tls = TlsEnd(is_client, version, SUITES);
		secure.record = 16384;
		secure.hold = 1 << 20;
		secure.handshakes_at_once = 256;
		secure.timeout_ns = 10 * second;
		app.kind = "HTTP";
		app.server = tested == SERVER;
		app.port = 443;
		app.path = "/100";
		app.host = "fg.test";
		app.response = 100;
		app.requests = app.cycles = 1;
		app.any_body = true;
		app.tls = &secure;
		EXPECT_EQ(0, fg_tls_context_create(&mine, &context, nullptr));
		EXPECT_EQ(0, fg_tls_crypto_create(&crypto, nullptr));
		handshake = fg_tls_handshake_create(context);
		t = talker_create(&app, 1500);
		if (is_client)
			talker_open(t, 0, 443);
	}
	~Peer()
	{
		talker_free(t);
		fg_tls_handshake_free(handshake);
		fg_tls_context_free(context);
		fg_tls_crypto_free(crypto);
	}
	Peer(const Peer &) = delete;
	Peer &operator=(const Peer &) = delete;

	void
	Shake()
	{
		std::string record;

		if (is_client)
			Step(nullptr, 0);
		while (state == FG_TLS_GOES_ON && NextRecord(&record))
			Step((const uint8_t *)record.data(), (uint32_t)record.size());
		ASSERT_EQ(FG_TLS_FINISHED, state) << fg_tls_context_reason(context);
		ASSERT_NE(nullptr, taken.suite);
	}
	void
	SayRaw(const std::string &text)
	{
		talker_say(t, 0, text.data(), text.size());
	}
	void
	Say(uint8_t type, const std::string &text)
	{
		std::string record(text.size() + taken.suite->overhead, '\0');

		record.replace(fg_tls_plain_at(taken.suite), text.size(), text);
		ASSERT_EQ(record.size(), fg_tls_seal(crypto, taken.suite, &taken.out, taken.out_next++, type,
						     (uint8_t *)&record[0], (uint32_t)text.size()));
		SayRaw(record);
	}
	// a client's ClientHello, and the begin of a record that never becomes whole
	void
	BeginToShake()
	{
		Step(nullptr, 0);
		SayRaw(B({FG_TLS_HANDSHAKE, 3, 1, 2, 0, 1, 0, 1, 0xfc}));
		ASSERT_EQ(1u, All()->under_way);
		ASSERT_EQ(1u, InPart());
	}
	// What the other one has said since, each alert by level and number
	void
	Hear()
	{
		static uint8_t room[FG_TLS_MAX_RECORD];
		std::string record;
		fg_tls_opened r;

		while (NextRecord(&record)) {
			ASSERT_EQ(0, fg_tls_open(crypto, taken.suite, &taken.in, taken.in_next++,
						 (const uint8_t *)record.data(), (uint32_t)record.size(),
						 room, &r));
			if (r.type == FG_TLS_DATA)
				data.append((const char *)r.plain, r.length);
			else if (r.type == FG_TLS_ALERT && r.plain[1] != FG_TLS_CLOSE_NOTIFY)
				alert = r.plain[1];
		}
	}
	struct fg_secure_tally
	Tally() const
	{
		return *fg_secure_tally(t->other, t->other->app[0]);
	}
	// The other one has sent this alert and FIN, or only FIN, and keeps nothing.
	void
	ExpectEnd(int number)
	{
		Hear();
		EXPECT_EQ(number, alert);
		for (int i = 0; i < FG_SECURE_ALERTS; i++)
			EXPECT_EQ(i == number ? 1u : 0u, Tally().alerts_out[i]) << i;
		EXPECT_EQ(1u, t->app.tally.ended[FG_L4_END_CLOSED]) << "by FIN";
		ExpectNothingKept();
	}
	void
	ExpectNothingKept() const
	{
		const layer::secure *all = All();

		EXPECT_EQ(nullptr, t->line[0].conn);
		EXPECT_EQ(0u, all->under_way) << "handshakes";
		EXPECT_EQ(0u, talker_taken(&all->blocks)) << "blocks";
		EXPECT_EQ(0u, talker_taken(&all->spans)) << "spans";
	}
	// It goes on: a server answers a request, a client takes the answer to its own.
	void
	ExpectGoesOn()
	{
		if (is_client)
			data.clear();
		Say(FG_TLS_DATA, is_client ? GET : PAGE);
		Hear();
		EXPECT_EQ(0u, data.find(is_client ? "HTTP/1.1 200" : "GET /100")) << data;
		EXPECT_EQ(0u, Tally().alerts_out[FG_TLS_UNEXPECTED_MESSAGE]);
		EXPECT_EQ(++transactions, t->other->app[0]->tally.transactions);
	}
	uint32_t
	UnderWay() const
	{
		return All()->under_way;
	}
	// blocks of what has arrived
	uint32_t
	InPart() const
	{
		uint32_t n = 0;

		for (uint32_t i = 1; i <= All()->highest; i++)
			n += All()->stream[i].first_block != 0;
		return n;
	}
	// The peer's FIN or RST arrives, and none of the answers to it.
	void
	EndUnheard(bool reset)
	{
		talker_begin(t);
		if (reset)
			fg_stream_abort(t->own, t->line[0].conn);
		else
			fg_stream_close(t->own, t->line[0].conn);
		if (t->burst.frames == 0)
			t->own->endpoint.poll(&t->own->endpoint, t->now, talker_rooms(t));
		ASSERT_EQ(1u, t->burst.frames);
		const std::string frame((const char *)t->memory[0], t->burst.length[0]);
		const fg_arrival in = {(const uint8_t *)frame.data(), frame.size(), t->now};
		t->other->endpoint.input(&t->other->endpoint, &in, 1, talker_rooms(t));
		t->burst.frames = 0;
	}

	talker *t;
	int alert = NO_ALERT;
	std::string data;

      private:
	const layer::secure *
	All() const
	{
		const fg_l4 *w = t->other;

		return reinterpret_cast<const layer::carrier *>(w->app[w->app[0]->below])->all;
	}
	bool
	NextRecord(std::string *out)
	{
		const talker_line &line = t->line[0];
		uint32_t left = line.heard - read, length;

		if (left < FG_TLS_HEADER)
			return false;
		length = FG_TLS_HEADER + fg_get16(line.in + read + 3);
		if (left < length)
			return false;
		out->assign((const char *)line.in + read, length);
		read += length;
		return true;
	}
	void
	Step(const uint8_t *record, uint32_t length)
	{
		const uint8_t *out;

		state = fg_tls_handshake_step(handshake, record, length);
		if (state == FG_TLS_FINISHED) {
			EXPECT_TRUE(fg_tls_handshake_take(handshake, crypto, &taken));
		}
		size_t n = fg_tls_handshake_output(handshake, &out);
		talker_say(t, 0, out, n);
	}

	bool is_client;
	fg_tls_context *context = nullptr;
	fg_tls_crypto *crypto = nullptr;
	fg_tls_handshake *handshake = nullptr;
	fg_tls_step state = FG_TLS_GOES_ON;
	fg_tls_taken taken = {};
	uint32_t read = 0;
	uint64_t transactions = 0;
};

} // namespace l4

#endif
