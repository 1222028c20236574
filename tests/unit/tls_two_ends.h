/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ends of a handshake, without a connection between them. */
#ifndef TLS_TWO_ENDS_H
#define TLS_TWO_ENDS_H

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fg_bytes.h"
#include "tls_end.h"

const char *const ALL =
	"TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";

inline fg_tls_config
Config(bool server, uint16_t version = FG_TLS_1_3)
{
	fg_tls_config c = TlsEnd(server, version, ALL);

	c.key_log = 100;
	return c;
}

// One end: a context, a handshake and what goes on from it
struct End {
	explicit End(const fg_tls_config &config)
	{
		fg_error err = {};

		EXPECT_EQ(0, fg_tls_context_create(&config, &context, &err))
			<< err.where << ": " << err.message;
		EXPECT_EQ(0, fg_tls_crypto_create(&crypto, nullptr));
	}
	~End()
	{
		fg_tls_handshake_free(handshake);
		fg_tls_context_free(context);
		fg_tls_crypto_free(crypto);
	}
	End(const End &) = delete;
	End &operator=(const End &) = delete;

	// with what is to be sent early, if the session allows it
	void
	Begin()
	{
		bool may = !early.empty() && early.size() <= fg_tls_handshake_early_room(handshake);

		Note(may ? fg_tls_handshake_begin_early(handshake, (const uint8_t *)early.data(),
							(uint32_t)early.size())
			 : fg_tls_handshake_step(handshake, nullptr, 0));
	}
	void
	Step(const uint8_t *record, uint32_t length)
	{
		Note(fg_tls_handshake_step(handshake, record, length));
	}
	void
	Note(fg_tls_step now)
	{
		const uint8_t *data;

		state = now;
		uint32_t came = fg_tls_handshake_early_data(handshake, &data);
		came_early.append((const char *)data, came);
		if (state == FG_TLS_FINISHED)
			took = fg_tls_handshake_take(handshake, crypto, &taken);
		size_t n = fg_tls_handshake_output(handshake, &data);
		out.insert(out.end(), data, data + n);
	}

	fg_tls_context *context = nullptr;
	fg_tls_crypto *crypto = nullptr;
	fg_tls_handshake *handshake = nullptr;
	fg_tls_step state = FG_TLS_GOES_ON;
	fg_tls_taken taken = {};
	bool took = false;
	std::string early, came_early;
	std::vector<uint8_t> out;
};

// What one end has written goes to the other, record by record, until its handshake is over
inline bool
Carry(End &from, End &to)
{
	bool any = false;

	while (from.out.size() >= FG_TLS_HEADER && to.state == FG_TLS_GOES_ON) {
		uint32_t length = FG_TLS_HEADER + fg_get16(from.out.data() + 3);
		std::vector<uint8_t> record(from.out.begin(), from.out.begin() + length);

		from.out.erase(from.out.begin(), from.out.begin() + length);
		to.Step(record.data(), length);
		any = true;
	}
	return any;
}

inline void
Shake(End &client, End &server)
{
	for (End *end : {&client, &server}) {
		fg_tls_handshake_free(end->handshake);
		end->handshake = fg_tls_handshake_create(end->context);
		end->state = FG_TLS_GOES_ON;
		end->out.clear();
	}
	client.Begin();
	while (Carry(client, server) || Carry(server, client)) {
	}
}

inline void
ExpectData(End &from, End &to)
{
	static uint8_t room[FG_TLS_MAX_RECORD];
	const std::string text = "what is under way";
	std::vector<uint8_t> record(text.size() + from.taken.suite->overhead);
	fg_tls_opened opened;

	std::copy(text.begin(), text.end(), record.begin() + fg_tls_plain_at(from.taken.suite));
	ASSERT_NE(0u, fg_tls_seal(from.crypto, from.taken.suite, &from.taken.out, from.taken.out_next++,
				  FG_TLS_DATA, record.data(), (uint32_t)text.size()));
	ASSERT_EQ(0, fg_tls_open(to.crypto, to.taken.suite, &to.taken.in, to.taken.in_next++, record.data(),
				 (uint32_t)record.size(), room, &opened));
	EXPECT_EQ(text, std::string((char *)opened.plain, opened.length));
}

/* the client takes the first @p count records behind the handshake, which hold tickets */
inline void
TakeTickets(End &client, End &server, unsigned count)
{
	static uint8_t room[FG_TLS_MAX_RECORD];

	for (unsigned i = 0; client.took && i < count; i++) {
		uint32_t length = FG_TLS_HEADER + fg_get16(server.out.data() + 3);
		fg_tls_opened opened;

		ASSERT_EQ(0, fg_tls_open(client.crypto, client.taken.suite, &client.taken.in,
					 client.taken.in_next++, server.out.data(), length, room, &opened));
		EXPECT_EQ(FG_TLS_HANDSHAKE, opened.type);
		fg_tls_handshake_ticket(client.handshake, client.crypto, client.taken.suite, &client.taken.in,
					opened.plain, opened.length);
		server.out.erase(server.out.begin(), server.out.begin() + length);
	}
}

#endif
