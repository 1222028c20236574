// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "fg_tls.h"

namespace
{

using bytes = std::vector<uint8_t>;

bytes
hex(const std::string &text)
{
	bytes out;

	for (size_t i = 0; i + 1 < text.size(); i += 2)
		out.push_back((uint8_t)std::stoul(text.substr(i, 2), nullptr, 16));
	return out;
}

class TlsRecord : public testing::Test
{
      protected:
	TlsRecord()
	{
		EXPECT_EQ(0, fg_tls_crypto_create(&crypto, nullptr));
	}
	~TlsRecord() override
	{
		fg_tls_crypto_free(crypto);
	}

	// a record with @p text in it, as @p suite makes it
	bytes
	seal(const fg_tls_suite *suite, uint64_t number, uint8_t type, const bytes &text)
	{
		bytes record(text.size() + suite->overhead);

		std::copy(text.begin(), text.end(), record.begin() + fg_tls_plain_at(suite));
		EXPECT_EQ(record.size(), fg_tls_seal(crypto, suite, &keys, number, type, record.data(),
						     (uint32_t)text.size()));
		return record;
	}

	int
	open(const fg_tls_suite *suite, uint64_t number, const bytes &record)
	{
		return fg_tls_open(crypto, suite, &keys, number, record.data(), (uint32_t)record.size(), room,
				   &opened);
	}

	fg_tls_crypto *crypto = nullptr;
	fg_tls_keys keys = {{1, 2, 3, 4}, {5, 6, 7, 8}};
	uint8_t room[FG_TLS_MAX_RECORD];
	fg_tls_opened opened = {};
};

// RFC 8448, 3: Simple 1-RTT Handshake
const char CLIENT_SECRET[] = "9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5";
const char SERVER_SECRET[] = "a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643";

TEST_F(TlsRecord, KeysFollowFromTheSecretsOfRfc8448)
{
	const fg_tls_suite *suite = fg_tls_suite_by_id(0x1301);

	ASSERT_TRUE(fg_tls_keys_of(crypto, suite, hex(SERVER_SECRET).data(), &keys));
	EXPECT_EQ(hex("9f02283b6c9c07efc26bb9f2ac92e356"), bytes(keys.key, keys.key + 16));
	EXPECT_EQ(hex("cf782b88dd83549aadf1e984"), bytes(keys.iv, keys.iv + 12));
	ASSERT_TRUE(fg_tls_keys_of(crypto, suite, hex(CLIENT_SECRET).data(), &keys));
	EXPECT_EQ(hex("17422dda596ed5d9acd890e3c63f5051"), bytes(keys.key, keys.key + 16));
	EXPECT_EQ(hex("5b78923dee08579033e523d9"), bytes(keys.iv, keys.iv + 12));
}

TEST_F(TlsRecord, SealsAndOpensTheClientsRecordOfRfc8448)
{
	const fg_tls_suite *suite = fg_tls_suite_by_id(0x1301);
	const bytes record = hex(
		"1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd54a9a20"
		"441e2b62974e1f5a6292a2977014bd1e3deae63aeebb21694915e4");
	bytes text(50);

	std::iota(text.begin(), text.end(), (uint8_t)0);
	ASSERT_TRUE(fg_tls_keys_of(crypto, suite, hex(CLIENT_SECRET).data(), &keys));
	EXPECT_EQ(record, seal(suite, 0, FG_TLS_DATA, text));
	ASSERT_EQ(0, open(suite, 0, record));
	EXPECT_EQ(FG_TLS_DATA, opened.type);
	EXPECT_EQ(text, bytes(opened.plain, opened.plain + opened.length));
}

// Computed with the "tls13 traffic upd" label from the client's secret, by Python's hmac alone
TEST_F(TlsRecord, AKeyUpdateGivesTheNextSecret)
{
	bytes secret = hex(CLIENT_SECRET);

	ASSERT_TRUE(fg_tls_next_secret(crypto, fg_tls_suite_by_id(0x1301), secret.data()));
	EXPECT_EQ(hex("fcdfcc72725aaee48bf64e4fd8b749cdbdbab39d90da0b26e2245ca6ea167207"), secret);
}

// P_SHA256 of "key expansion", by Python's hmac alone: master 00 01 .., client 40 .., server 80 ..
TEST_F(TlsRecord, KeysOfTls12FollowFromTheMasterSecret)
{
	bytes master(48), client(32), server(32);
	fg_tls_keys theirs = {};

	std::iota(master.begin(), master.end(), (uint8_t)0);
	std::iota(client.begin(), client.end(), (uint8_t)0x40);
	std::iota(server.begin(), server.end(), (uint8_t)0x80);
	ASSERT_TRUE(fg_tls_keys_of_master(crypto, fg_tls_suite_by_id(0xc02f), master.data(), client.data(),
					  server.data(), &keys, &theirs));
	EXPECT_EQ(hex("a1c8bdbce8830007e5719b5f9764ae0c42c3a103d08d01b711b292bfd1f332473e5667ef1f21ed64"),
		  [&] {
			  bytes all(keys.key, keys.key + 16);
			  all.insert(all.end(), theirs.key, theirs.key + 16);
			  all.insert(all.end(), keys.iv, keys.iv + 4);
			  all.insert(all.end(), theirs.iv, theirs.iv + 4);
			  return all;
		  }());
}

TEST_F(TlsRecord, EverySuiteOpensWhatItSealed)
{
	const fg_tls_suite *suite;
	bytes text(1000, 'x');

	for (unsigned i = 0; (suite = fg_tls_suite_at(i)) != nullptr; i++) {
		bytes record = seal(suite, 1ULL << 40, FG_TLS_DATA, text);
		uint32_t length = 0;

		EXPECT_EQ(0, fg_tls_record_length(suite, record.data(), &length)) << suite->name;
		EXPECT_EQ(record.size(), length);
		ASSERT_EQ(0, open(suite, 1ULL << 40, record)) << suite->name;
		EXPECT_EQ(FG_TLS_DATA, opened.type);
		EXPECT_EQ(text, bytes(opened.plain, opened.plain + opened.length));
		EXPECT_EQ(FG_TLS_BAD_RECORD_MAC, open(suite, 1, record)) << "another number";
		EXPECT_EQ(suite, fg_tls_suite_by_id(suite->id));
		EXPECT_EQ(suite, fg_tls_suite_by_name(suite->name));
	}
	EXPECT_EQ(9u, [] {
		unsigned n = 0;
		while (fg_tls_suite_at(n) != nullptr)
			n++;
		return n;
	}());
}

TEST_F(TlsRecord, OneChangedBitAnywhereIsFound)
{
	for (const fg_tls_suite *suite : {fg_tls_suite_at(0), fg_tls_suite_at(3)}) {
		const bytes good = seal(suite, 7, FG_TLS_DATA, bytes(20, 'y'));

		for (size_t i = 0; i < good.size(); i++) {
			bytes bad = good;
			uint32_t length = 0;

			bad[i] ^= 1;
			EXPECT_TRUE(fg_tls_record_length(suite, bad.data(), &length) != 0 ||
				    length != bad.size() || open(suite, 7, bad) != 0)
				<< suite->name << ", byte " << i;
		}
	}
}

TEST_F(TlsRecord, TooShortOrAllZerosIsNoRecord)
{
	const fg_tls_suite *suite = fg_tls_suite_at(0);

	EXPECT_EQ(FG_TLS_BAD_RECORD_MAC, open(suite, 0, bytes(FG_TLS_HEADER + FG_TLS_TAG - 1)));
	EXPECT_EQ(FG_TLS_UNEXPECTED_MESSAGE, open(suite, 0, seal(suite, 0, 0, bytes(5))));
	EXPECT_EQ(0, open(suite, 0, seal(suite, 0, FG_TLS_DATA, bytes()))) << "empty data is legal";
	EXPECT_EQ(0u, opened.length);
}

TEST_F(TlsRecord, AHeaderIsJudgedBeforeItsBodyComes)
{
	const fg_tls_suite *new_one = fg_tls_suite_at(0), *old_one = fg_tls_suite_at(3);
	auto judge = [](const fg_tls_suite *suite, const char *header) {
		uint32_t length = 0;
		int alert = fg_tls_record_length(suite, hex(header).data(), &length);

		return alert != 0 ? -alert : (int)length;
	};

	EXPECT_EQ(5 + 16384 + 256, judge(new_one, "1703034100"));
	EXPECT_EQ(-FG_TLS_RECORD_OVERFLOW, judge(new_one, "1703034101"));
	EXPECT_EQ(5 + 16384 + 2048, judge(old_one, "1703034800"));
	EXPECT_EQ(-FG_TLS_RECORD_OVERFLOW, judge(old_one, "1703034801"));
	EXPECT_EQ(5 + 256, judge(nullptr, "1603010100")) << "a ClientHello";
	EXPECT_EQ(-FG_TLS_UNEXPECTED_MESSAGE, judge(nullptr, "474554202f")) << "GET /";
	EXPECT_EQ(-FG_TLS_UNEXPECTED_MESSAGE, judge(new_one, "1403030001")) << "after Finished";
	EXPECT_EQ(-FG_TLS_UNEXPECTED_MESSAGE, judge(new_one, "1603030001")) << "not sealed";
	EXPECT_EQ(5 + 26, judge(old_one, "150303001a")) << "an alert of TLS 1.2";
}

struct Shape {
	uint64_t message, count;
	uint32_t full;
};

class TlsRun : public testing::TestWithParam<Shape>
{
};

// walk the run record by record, and ask at each byte of the first and the last ones
TEST_P(TlsRun, FindsTheRecordOfEveryByte)
{
	const Shape shape = GetParam();
	const uint32_t overhead = 22;
	const fg_tls_run run = {1000, 500, 3, shape.message, shape.count};
	uint64_t at = run.at, plain = run.plain, number = run.number;

	for (uint64_t m = 0; m < shape.count; m++)
		for (uint64_t left = shape.message; left > 0;) {
			uint32_t length = (uint32_t)std::min<uint64_t>(left, shape.full);

			for (uint64_t byte = at; byte < at + length + overhead; byte++) {
				fg_tls_place place;

				fg_tls_run_find(&run, shape.full, overhead, byte, &place);
				ASSERT_EQ(at, place.at) << byte;
				ASSERT_EQ(plain, place.plain) << byte;
				ASSERT_EQ(number, place.number) << byte;
				ASSERT_EQ(length, place.length) << byte;
			}
			at += length + overhead;
			plain += length;
			left -= length;
			number++;
		}
	EXPECT_EQ(at - run.at, fg_tls_run_length(&run, shape.full, overhead));
}

INSTANTIATE_TEST_SUITE_P(Shapes, TlsRun,
			 testing::Values(Shape{1, 1, 64}, Shape{64, 3, 64}, Shape{65, 3, 64},
					 Shape{1000, 2, 300}, Shape{40000, 2, 16384}));

TEST(TlsRunLong, CountsBeyondAnyTransfer)
{
	const fg_tls_run run = {0, 0, 0, UINT64_MAX / 4, 1};
	fg_tls_place place;

	fg_tls_run_find(&run, 16384, 22, 16406ULL << 40, &place);
	EXPECT_EQ(1ULL << 40, place.number);
	EXPECT_EQ(16384ULL << 40, place.plain);
}

} // namespace
