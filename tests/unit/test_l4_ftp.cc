/* SPDX-License-Identifier: BSD-3-Clause */
/* Files by FTP, client and server of ours, over a line of 10 Mbit/s and 1 ms each way. */
#include "l4_wire.h"

using namespace l4;

namespace
{
const double ns_per_octet = 800;
const double full = 1448, frame = 1538; /* bytes of a full segment, and what it takes of the line */

fg_l4_app
Files(uint8_t mode, uint32_t octets, bool upload = false, bool ipv6 = false)
{
	static std::string path;
	fg_l4_app a = Client("FTP");

	path = "octets/" + std::to_string(octets);
	if (ipv6) {
		a.ipv6 = true;
		memcpy(a.local, "\x20\x01\0\2\0\0\0\0\0\0\0\0\0\0\0\1", 16);
		memcpy(a.remote, "\x20\x01\0\2\0\0\0\0\0\0\0\0\0\0\0\2", 16);
	}
	a.port = 21;
	a.path = path.c_str();
	a.user = "anonymous";
	a.password = "framegauge@";
	a.ftp_mode = mode;
	a.request = upload ? octets : 0;
	a.response = upload ? 0 : octets;
	a.requests = 3;
	a.timeout_ns = 10 * second;
	return a;
}

uint64_t
Faults(const fg_l4_result &r)
{
	uint64_t sum = r.total.refused;

	for (unsigned i = 1; i < FG_L4_OWN_SUMS; i++) /* the first are bytes */
		sum += r.total.own[i];
	for (unsigned i = FG_L4_END_CLOSED + 1; i < FG_L4_ENDS; i++)
		sum += r.total.ended[i];
	return sum;
}
} /* namespace */

TEST(L4Ftp, EveryModeCarriesEveryByte)
{
	for (bool ipv6 : {false, true})
		for (uint8_t mode : {FG_L4_FTP_EXTENDED_PASSIVE, FG_L4_FTP_PASSIVE, FG_L4_FTP_EXTENDED_ACTIVE,
				     FG_L4_FTP_ACTIVE})
			for (bool upload : {false, true}) {
				fg_l4_app a = Files(mode, 100000, upload, ipv6);

				if (ipv6 && (mode == FG_L4_FTP_PASSIVE || mode == FG_L4_FTP_ACTIVE))
					continue;
				a.cycles = 2;
				a.connections = 3;
				Wire w(a, 20 * second);
				fg_l4_result c = w.Client(), s = w.Server();

				SCOPED_TRACE(std::to_string(mode) + (upload ? " up" : "") +
					     (ipv6 ? " v6" : ""));
				EXPECT_EQ(18u, c.total.transactions);
				EXPECT_EQ(18u, s.total.transactions);
				EXPECT_EQ(1800000u, c.total.own[0]);
				EXPECT_EQ(1800000u, s.total.own[0]);
				EXPECT_EQ(24u, c.total.opened) << "6 sessions, 18 files";
				EXPECT_EQ(24u, c.total.ended[FG_L4_END_CLOSED]);
				EXPECT_EQ(0u, Faults(c) + Faults(s));
				EXPECT_EQ(18u, c.transaction.count);
				w.ExpectNoFaults();
			}
}

TEST(L4Ftp, AFileIsResumedInEveryMode)
{
	for (uint8_t mode :
	     {FG_L4_FTP_EXTENDED_PASSIVE, FG_L4_FTP_PASSIVE, FG_L4_FTP_EXTENDED_ACTIVE, FG_L4_FTP_ACTIVE})
		for (bool upload : {false, true}) {
			fg_l4_app a = Files(mode, 100000, upload);

			a.ftp_rest = 77777;
			a.request = upload ? 100000 - 77777 : 0;
			a.response = upload ? 0 : 100000 - 77777;
			a.cycles = 1;
			Wire w(a, 20 * second);
			fg_l4_result c = w.Client(), s = w.Server();

			SCOPED_TRACE(std::to_string(mode) + (upload ? " up" : ""));
			EXPECT_EQ(3u, c.total.transactions);
			EXPECT_EQ(3u * (100000 - 77777), c.total.own[0]);
			EXPECT_EQ(c.total.own[0], s.total.own[0]);
			EXPECT_EQ(0u, Faults(c) + Faults(s));
			w.ExpectNoFaults();
		}
}

/*
 * A file takes four round trips, one each for PASV, the data connection, RETR and the last acknowledgement,
 * of 2 ms and what the frames of text take of the line, and the file's own frames.
 */
TEST(L4Ftp, AFileTakesFourRoundTripsAndItsBytes)
{
	const uint32_t octets = 10 * 1448; /* the initial window: no wait for acknowledgements */
	fg_l4_app a = Files(FG_L4_FTP_PASSIVE, octets);

	a.cycles = 1;
	Wire w(a);
	fg_l4_result c = w.Client();
	const double least = 8e6 + 10 * frame * ns_per_octet;
	const double most = least + 12 * 200 * ns_per_octet; /* frames of text and acknowledgements */

	ASSERT_EQ(3u, c.total.transactions);
	EXPECT_LT(least, c.transaction.min);
	EXPECT_GT(most, c.transaction.max);
	/* the handshake, greeting, USER, PASS, TYPE, PASV, the data connection and RETR */
	EXPECT_EQ(1u, c.first_octet.count);
	EXPECT_LT(16e6 + frame * ns_per_octet, c.first_octet.min);
	EXPECT_GT(16e6 + frame * ns_per_octet + 16 * 200 * ns_per_octet, c.first_octet.max);
	EXPECT_EQ(1u, c.last_octet.count);
	EXPECT_NEAR(double(c.first_octet.mean) + 9 * frame * ns_per_octet + 2e6, c.last_octet.mean, 1e6);
}

TEST(L4Ftp, LargeFilesFillTheLineAndAreCutOffByTheStop)
{
	for (bool upload : {false, true}) {
		fg_l4_app a = Files(FG_L4_FTP_EXTENDED_PASSIVE, 1 << 30, upload);

		a.requests = 0;
		Wire w(a, 4 * second, second);
		fg_l4_result c = w.Client();

		EXPECT_NEAR(3e9 / ns_per_octet * full / frame, double(c.measured.own[0]), 20000);
		EXPECT_EQ(0u, c.total.transactions);
		EXPECT_EQ(0u, Faults(c));
		EXPECT_EQ(2u, c.total.ended[FG_L4_END_CLOSED]);
		EXPECT_GT(second, w.last_frame - 4 * second) << "it does not last much longer";
		w.ExpectNoFaults();
	}
}

TEST(L4Ftp, SessionsThatAreHeldEndAtTheStop)
{
	fg_l4_app a = Files(FG_L4_FTP_PASSIVE, 1000);

	a.hold = true;
	a.connections = 5;
	Wire w(a);
	fg_l4_result c = w.Client();

	EXPECT_EQ(15u, c.total.transactions);
	EXPECT_EQ(20u, c.total.ended[FG_L4_END_CLOSED]);
	EXPECT_EQ(0u, Faults(c));
	EXPECT_LE(2 * second, w.last_frame);
	w.ExpectNoFaults();
}

TEST(L4Ftp, SessionsFollowTheRampWithoutTheirDataConnections)
{
	fg_l4_app a = Files(FG_L4_FTP_ACTIVE, 1000);

	a.connections = 50;
	a.opens_per_s = 10;
	a.requests = 5;
	Wire w(a, 3 * second);
	fg_l4_result c = w.Client();

	EXPECT_NEAR(150, double(c.total.transactions), 5);
	EXPECT_EQ(0u, Faults(c));
	w.ExpectNoFaults();
}

/* a session's data connection takes no room of another session */
TEST(L4Ftp, AsManySessionsAsMayBeAreOpenBesideTheirDataConnections)
{
	fg_l4_app a = Files(FG_L4_FTP_PASSIVE, 1 << 30);

	a.connections = 10;
	a.connections_start = 1;
	a.connections_per_s = 20;
	Wire w(a);
	fg_l4_result c = w.Client();

	EXPECT_EQ(20u, c.total.opened);
	EXPECT_EQ(20u, c.concurrent_max);
	EXPECT_EQ(0u, Faults(c));
	w.ExpectNoFaults();
}

TEST(L4Ftp, WhatCannotWorkIsRefused)
{
	for (unsigned i = 0; i < 3; i++) {
		fg_l4_app a = Files(FG_L4_FTP_PASSIVE, 1000, false, i == 0);
		fg_l4_config config = {};
		fg_error err = {};
		fg_l4 *l4 = nullptr;

		if (i == 1)
			a.user = nullptr;
		if (i == 2)
			a.timeout_ns = 0;
		config.connections = 64;
		config.mtu = 1500;
		EXPECT_EQ(-EINVAL, fg_l4_create(&config, 1, &a, &l4, &err));
		EXPECT_STREQ(i == 0   ? "PASV and PORT are for IPv4"
			     : i == 1 ? "FTP needs a path, a user and a password"
				      : "FTP needs a time-out",
			     err.message);
	}
}
