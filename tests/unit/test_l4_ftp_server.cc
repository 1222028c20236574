/* SPDX-License-Identifier: BSD-3-Clause */
/* Our server of FTP, and clients that ask for what they should not. */
#include <random>

#include "l4_ftp_peer.h"

using namespace l4;

namespace
{
const std::string begins = "150 Here it comes, in binary mode.\r\n", done = "226 Transfer complete.\r\n";

std::string
Code(const std::string &reply)
{
	return reply.substr(0, 3);
}
} /* namespace */

TEST(L4FtpServer, SaysWhatClientsWantToHear)
{
	FtpPeer p(true);

	EXPECT_EQ("220 framegauge\r\n", p.Hear());
	EXPECT_EQ("331", Code(p.Say("user anonymous\r\n")));
	EXPECT_EQ("230", Code(p.Say("PASS\r\n")));
	EXPECT_EQ("257", Code(p.Say("PWD\n")));
	EXPECT_EQ("250", Code(p.Say("CWD octets\r\n")));
	EXPECT_EQ("213 4294967295\r\n", p.Say("SIZE a/4294967295\r\n"));
	for (const char *name : {"SIZE a\r\n", "SIZE 4294967296\r\n", "SIZE\r\n", "RETR 5x\r\n"})
		EXPECT_EQ("550", Code(p.Say(name))) << name;
	for (const char *name : {"FEAT\r\n", "\r\n", "PASVX\r\n", "PAS\r\n", "\xff\xf4\r\n"})
		EXPECT_EQ("502", Code(p.Say(name))) << name;
	EXPECT_EQ("226", Code(p.Say("\xff\xf4\xff\xf2"
				    "ABOR\r\n")));
	EXPECT_EQ("425", Code(p.Say("RETR 5\r\n")));
	EXPECT_EQ("221", Code(p.Say("QUIT\r\n")));
	EXPECT_TRUE(p.t->line[0].ended);
	p.ExpectNothingKept();
}

TEST(L4FtpServer, SendsSoManyBytesInTheOrderOfItsCommands)
{
	for (bool first : {true, false}) {
		FtpPeer p(true);
		std::string reply;

		p.Hear();
		for (unsigned octets : {1000, 0, 5000}) {
			reply = p.Say("PASV\r\n");
			if (first)
				p.OpenData(reply);
			reply += p.Say("RETR octets/" + std::to_string(octets) + "\r\n");
			if (!first)
				p.OpenData(reply);
			EXPECT_EQ(begins + done, reply.substr(reply.find('\n') + 1) + p.Hear());
			EXPECT_EQ(FtpPeer::Body(octets), p.Hear(1));
			EXPECT_TRUE(p.t->line[1].ended);
			talker_wait(p.t, 2 * second);
		}
		EXPECT_EQ(3u, p.Tally().transactions);
		EXPECT_EQ(6000u, p.Own(FTP_OCTETS));
		p.ExpectNothingKept();
	}
}

TEST(L4FtpServer, GoesOnWhereItIsTold)
{
	FtpPeer p(true);
	std::string reply;

	p.Hear();
	for (const char *number : {"REST", "REST x", "REST 1x", "REST -1", "REST 4294967296"})
		EXPECT_EQ("501", Code(p.Say(std::string(number) + "\r\n"))) << number;
	/* the next file alone, whichever comes first */
	for (unsigned rest : {990, 0, 1000}) {
		reply = p.Say("PASV\r\n");
		if (rest > 0) {
			EXPECT_EQ("350", Code(p.Say("REST " + std::to_string(rest) + "\r\n")));
		}
		p.OpenData(reply);
		EXPECT_EQ(begins + done, p.Say("RETR octets/1000\r\n") + p.Hear());
		EXPECT_EQ(FtpPeer::Body(1000).substr(rest), p.Hear(1));
		talker_wait(p.t, 2 * second);
	}
	p.OpenData(p.Say("PASV\r\n"));
	EXPECT_EQ("350", Code(p.Say("REST 1001\r\n")));
	EXPECT_EQ("554", Code(p.Say("RETR octets/1000\r\n")));
	EXPECT_EQ("350", Code(p.Say("REST 400\r\n")));
	EXPECT_EQ(begins, p.Say("STOR octets/1000\r\n"));
	EXPECT_EQ("450", Code(p.Say("REST 5\r\n")));
	p.Say(FtpPeer::Body(1000, CLIENT_STREAM).substr(400), 1);
	p.Close(1);
	EXPECT_EQ(done, p.Hear());
	EXPECT_EQ(0u, p.Wrong() + p.Own(FTP_LENGTH));
}

TEST(L4FtpServer, WhatDoesNotBeginForgetsWhereToGoOn)
{
	for (const char *vain : {"RETR octets/1000", "STOR octets/1000", "RETR name", "RETR octets/99"}) {
		FtpPeer p(true);

		p.Hear();
		EXPECT_EQ("350", Code(p.Say("REST 100\r\n")));
		EXPECT_NE(begins, p.Say(std::string(vain) + "\r\n"));
		p.OpenData(p.Say("PASV\r\n"));
		EXPECT_EQ(begins + done, p.Say("RETR octets/1000\r\n") + p.Hear()) << vain;
		EXPECT_EQ(FtpPeer::Body(1000), p.Hear(1)) << vain;
		p.ExpectNothingKept();
	}
}

TEST(L4FtpServer, ASecondFileDoesNotChangeTheFirst)
{
	FtpPeer p(true);

	p.Hear();
	p.OpenData(p.Say("PASV\r\n"));
	EXPECT_EQ("350", Code(p.Say("REST 400\r\n")));
	EXPECT_EQ(begins, p.Say("STOR octets/1000\r\n"));
	for (const char *second : {"RETR octets/5", "RETR name", "STOR octets/7"})
		EXPECT_EQ("450", Code(p.Say(std::string(second) + "\r\n"))) << second;
	p.Say(FtpPeer::Body(1000, CLIENT_STREAM).substr(400), 1);
	p.Close(1);
	EXPECT_EQ(done, p.Hear());
	EXPECT_EQ(0u, p.Wrong() + p.Own(FTP_LENGTH));
}

TEST(L4FtpServer, ComparesWhatIsStored)
{
	FtpPeer p(true);

	p.Hear();
	p.OpenData(p.Say("PASV\r\n"));
	EXPECT_EQ(begins, p.Say("STOR octets/1000\r\n"));
	p.Say(FtpPeer::Body(1000, CLIENT_STREAM), 1);
	p.Close(1);
	EXPECT_EQ(done, p.Hear());
	EXPECT_EQ(0u, p.Wrong() + p.Own(FTP_LENGTH));

	EXPECT_EQ("200", Code(p.Say("EPSV ALL\r\n")));
	p.OpenData(p.Say("PASV\r\n"));
	p.Say("STOR octets/1000\r\n");
	p.Say(FtpPeer::Body(998, CLIENT_STREAM) + "x", 1);
	p.Close(1);
	EXPECT_EQ(1u, p.Wrong());
	EXPECT_EQ(1u, p.Own(FTP_LENGTH));
	p.ExpectNothingKept();
}

TEST(L4FtpServer, ConnectsToItsClientAndToNobodyElse)
{
	FtpPeer p(true);

	p.Hear();
	p.t->app.listens = true;
	for (const char *bad :
	     {"PORT 198,18,0,1,4\r\n", "PORT\r\n", "EPRT |3|198.18.0.1|1025|\r\n",
	      "EPRT |1|198.18.0.1|0|\r\n", "EPRT |1|198.18.0.1|1025\r\n", "EPRT \r\n",
	      "EPRT |1|198.18.0.1.9.9.9.9.9.9.9.9.9.9.9.9.9.9.9.9.9.9.9.9.9|1|\r\n", "EPRT |2|::x|1|\r\n"})
		EXPECT_EQ("501", Code(p.Say(bad))) << bad;
	EXPECT_EQ(8u, p.Own(FTP_MALFORMED));
	EXPECT_EQ("500", Code(p.Say("PORT 198,18,0,2,4,1\r\n")));
	EXPECT_EQ("500", Code(p.Say("EPRT |2|2001:2::1|1025|\r\n")));
	EXPECT_EQ(2u, p.Own(FTP_FOREIGN));
	for (const char *good : {"PORT 198,18,0,1,4,1\r\n", "EPRT !1!198.18.0.1!1026!\r\n"}) {
		EXPECT_EQ("200", Code(p.Say(good)));
		EXPECT_EQ(begins + done, p.Say("RETR octets/1000\r\n"));
		EXPECT_EQ(1000u, p.t->line[1].heard);
		EXPECT_EQ(20u, came_from);
		talker_wait(p.t, 2 * second);
	}
	p.ExpectNothingKept();
}

TEST(L4FtpServer, NobodyElseGetsAFile)
{
	FtpPeer p(true);
	std::string reply;

	p.Hear();
	reply = p.Say("PASV\r\n");
	p.OpenByAnother(FtpPeer::Port(reply), 3);
	EXPECT_EQ(nullptr, p.t->line[3].conn) << "as on a closed port";
	EXPECT_EQ("", p.Say("RETR octets/1000\r\n"));
	p.OpenData(reply);
	EXPECT_EQ(begins + done, p.Hear());
	EXPECT_EQ(1000u, p.t->line[1].heard);
	p.OpenData(reply, 2);
	EXPECT_EQ(nullptr, p.t->line[2].conn) << "nobody waits there any more";
	p.ExpectNothingKept();
}

TEST(L4FtpServer, AClientThatDoesNotConnectIsTold)
{
	FtpPeer p(true);

	p.Hear();
	p.Say("PASV\r\n");
	EXPECT_EQ("", p.Say("RETR octets/1000\r\n"));
	EXPECT_EQ("450", Code(p.Say("PASV\r\n")));
	talker_wait(p.t, 9 * second);
	EXPECT_EQ("", p.Hear());
	talker_wait(p.t, 2 * second);
	EXPECT_EQ("425", Code(p.Hear()));
	EXPECT_EQ(1u, p.Own(FTP_NO_DATA));
	p.Say("PORT 198,18,0,1,4,1\r\n"); /* where nobody listens */
	EXPECT_EQ("425", Code(p.Say("RETR octets/1000\r\n")));
	EXPECT_EQ(2u, p.Own(FTP_NO_DATA));
	p.ExpectNothingKept();
}

TEST(L4FtpServer, AnyEndInTheMiddleIsCounted)
{
	FtpPeer p(true);

	p.Hear();
	p.OpenData(p.Say("PASV\r\n"));
	p.Say("STOR octets/1000\r\n");
	p.Say(FtpPeer::Body(10, CLIENT_STREAM), 1);
	p.Close(1, true);
	EXPECT_EQ("426", Code(p.Hear()));
	EXPECT_EQ(1u, p.Own(FTP_CUT));
	p.OpenData(p.Say("PASV\r\n"));
	p.Say("STOR octets/1000\r\n");
	talker_wait(p.t, 11 * second);
	EXPECT_EQ("426", Code(p.Hear()));
	EXPECT_EQ(1u, p.Own(FTP_SILENT));
	p.OpenData(p.Say("PASV\r\n"));
	p.Say("STOR octets/1000\r\n");
	p.Close(0);
	EXPECT_EQ(2u, p.Own(FTP_CUT));
	EXPECT_EQ(0u, p.Tally().transactions);
	p.ExpectNothingKept();
}

TEST(L4FtpServer, LinesWithoutEndAndFloodsDoNoHarm)
{
	FtpPeer p(true);

	p.Hear();
	EXPECT_EQ("500", Code(p.Say(std::string(100000, 'x'))));
	EXPECT_EQ("", p.Hear());
	EXPECT_EQ("200", Code(p.Say("\r\nNOOP\r\n")));
	EXPECT_EQ(1u, p.Own(FTP_OVERLONG));
	std::string flood;
	for (unsigned i = 0; i < 1000; i++)
		flood += "PWD\r\n";
	p.Say(flood);
	EXPECT_EQ(nullptr, p.t->line[0].conn);
	p.ExpectNothingKept();
}

/* whatever a client says, in any order: nothing is kept in the end, and the next client is served */
TEST(L4FtpServer, AnythingIsTaken)
{
	const std::string words[] = {"PASV\r\n",
				     "EPSV\r\n",
				     "RETR 5000\r\n",
				     "STOR 7\r\n",
				     "ABOR\r\n",
				     "PORT 198,18,0,1,4,1\r\n",
				     "EPRT |1|198.18.0.1|1025|\r\n",
				     "QUIT\r\n",
				     "\r\n",
				     "RETR",
				     " 1\r\n",
				     "\xff",
				     "PORT ,,,",
				     "229 (|||1|)\r\n"};
	std::mt19937 random(11);

	for (unsigned i = 0; i < 300; i++) {
		FtpPeer p(true);

		p.t->app.listens = i % 2 == 0;
		for (unsigned n = random() % 30; n > 0; n--) {
			std::string said = p.Say(words[random() % std::size(words)]);
			unsigned high, low, line = 1 + random() % 6;

			if (sscanf(said.c_str(), "227 Entering Passive Mode (198,19,0,1,%u,%u).", &high,
				   &low) == 2 &&
			    random() % 2 == 0)
				talker_open(p.t, line, uint16_t(high << 8 | low));
			switch (random() % 8) {
			case 0:
				p.Close(line, random() % 2 == 0);
				break;
			case 1:
				p.Say("octets", line);
				break;
			case 2:
				talker_wait(p.t, random() % 12 * second);
			}
		}
		p.ExpectNothingKept();
	}
}
