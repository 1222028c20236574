// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tls_two_ends.h"

namespace
{

struct Kind {
	uint16_t version;
	const char *certificate;
};

class TlsHandshake : public testing::TestWithParam<Kind>
{
};

TEST_P(TlsHandshake, BothEndsGoOnFromItsSecrets)
{
	fg_tls_config config = Config(true, GetParam().version);

	config.certificate = GetParam().certificate;
	End client(Config(false, GetParam().version)), server(config);
	Shake(client, server);
	ASSERT_EQ(FG_TLS_FINISHED, client.state) << fg_tls_context_reason(client.context);
	ASSERT_EQ(FG_TLS_FINISHED, server.state) << fg_tls_context_reason(server.context);
	ASSERT_TRUE(client.took && server.took);
	EXPECT_STREQ(GetParam().version == FG_TLS_1_3 ? "TLSv1.3" : "TLSv1.2",
		     fg_tls_context_agreed(client.context)->version);
	EXPECT_LT(200u, fg_tls_context_agreed(client.context)->certificate_octets);
	ExpectData(client, server);
	ExpectData(server, client);
	ExpectData(server, client);
}

INSTANTIATE_TEST_SUITE_P(Kinds, TlsHandshake,
			 testing::Values(Kind{FG_TLS_1_3, "p256"}, Kind{FG_TLS_1_3, "ed25519"},
					 Kind{FG_TLS_1_3, "rsa2048"}, Kind{FG_TLS_1_2, "p256"},
					 Kind{FG_TLS_1_2, "rsa2048"}),
			 [](const auto &info) {
				 return std::string(info.param.version == FG_TLS_1_3 ? "1_3_" : "1_2_") +
					info.param.certificate;
			 });

class TlsResumption : public testing::TestWithParam<uint16_t>
{
};

TEST_P(TlsResumption, ATicketSavesTheCertificateOnce)
{
	fg_tls_config ours = Config(false, GetParam()), theirs = Config(true, GetParam());

	ours.resume = true;
	theirs.tickets = 2;
	End client(ours), server(theirs);
	Shake(client, server);
	// of TLS 1.3 they come behind the handshake, sealed with the keys that were taken
	TakeTickets(client, server, GetParam() == FG_TLS_1_3 ? 2 : 0);
	EXPECT_FALSE(client.taken.resumed);
	ASSERT_EQ(GetParam() == FG_TLS_1_3 ? 2u : 1u, fg_tls_context_sessions(client.context));
	ExpectData(server, client);
	Shake(client, server);
	EXPECT_TRUE(client.taken.resumed);
	EXPECT_TRUE(server.taken.resumed);
	ExpectData(client, server);
}

INSTANTIATE_TEST_SUITE_P(Versions, TlsResumption, testing::Values(FG_TLS_1_3, FG_TLS_1_2));

TEST(TlsHandshakeFails, WhereTheNameIsAnotherOne)
{
	fg_tls_config config = Config(false);
	fg_tls_failure failure;

	config.server_name = "other.test";
	End client(config), server(Config(true));
	Shake(client, server);
	EXPECT_EQ(FG_TLS_FAILED, client.state);
	fg_tls_handshake_failure(client.handshake, &failure);
	EXPECT_TRUE(failure.verify);
	EXPECT_EQ(42, failure.sent) << "bad_certificate";
	EXPECT_STREQ("certificate verify failed", fg_tls_context_reason(client.context));
}

TEST(TlsHandshakeFails, WhereNoProtocolIsCommon)
{
	fg_tls_config ours = Config(false), theirs = Config(true);
	fg_tls_failure failure;

	ours.alpn = "h2";
	theirs.alpn = "http/1.1";
	End client(ours), server(theirs);
	Shake(client, server);
	fg_tls_handshake_failure(server.handshake, &failure);
	EXPECT_EQ(FG_TLS_FAILED, server.state);
	EXPECT_EQ(120, failure.sent) << "no_application_protocol";
	fg_tls_handshake_failure(client.handshake, &failure);
	EXPECT_EQ(120, failure.received);
}

TEST(TlsHandshakeFails, WhereAClientHasNoCertificate)
{
	fg_tls_config theirs = Config(true);
	fg_tls_failure failure;

	theirs.verify = true;
	End client(Config(false)), server(theirs);
	Shake(client, server);
	fg_tls_handshake_failure(server.handshake, &failure);
	EXPECT_EQ(116, failure.sent) << "certificate_required";
}

TEST(TlsHandshakeMutual, AClientShowsItsCertificate)
{
	fg_tls_config ours = Config(false), theirs = Config(true);

	ours.certificate = "ed25519";
	ours.alpn = theirs.alpn = "h2,http/1.1";
	theirs.verify = true;
	End client(ours), server(theirs);
	Shake(client, server);
	EXPECT_EQ(FG_TLS_FINISHED, server.state) << fg_tls_context_reason(server.context);
	EXPECT_STREQ("h2", fg_tls_context_agreed(server.context)->alpn);
}

TEST(TlsHandshakeSeeded, IsTheSameToTheByte)
{
	std::vector<uint8_t> first;

	for (unsigned i = 0; i < 2; i++) {
		End client(Config(false)), server(Config(true));

		Shake(client, server);
		ASSERT_TRUE(client.took);
		std::vector<uint8_t> secret(client.taken.out_secret, client.taken.out_secret + 32);
		if (i == 0)
			first = secret;
		EXPECT_EQ(first, secret);
	}
}

TEST(TlsKeyLog, HasFiveLinesForAHandshake)
{
	End client(Config(false)), server(Config(true));
	uint64_t lost;

	Shake(client, server);
	std::string log = fg_tls_context_key_log(client.context, &lost);
	EXPECT_EQ(0u, lost);
	EXPECT_EQ(5, std::count(log.begin(), log.end(), '\n')) << log;
	EXPECT_NE(std::string::npos, log.find("CLIENT_HANDSHAKE_TRAFFIC_SECRET "));
}

TEST(TlsContext, SaysWhatLibsslDoesNotTake)
{
	fg_tls_config config = Config(true);
	fg_tls_context *context;
	fg_error err = {};

	config.groups = "no such group";
	EXPECT_GT(0, fg_tls_context_create(&config, &context, &err));
	EXPECT_STREQ("l4.tls.groups", err.where);
}

} // namespace
