/* SPDX-License-Identifier: BSD-3-Clause */
/* Our client of FTP, and a server that says what it should not, or nothing: each has its name. */
#include "l4_ftp_peer.h"

using namespace l4;

namespace
{
/* port 1025 of the peer */
const std::string address = "227 Entering Passive Mode (198,18,0,1,4,1).\r\n";
} /* namespace */

TEST(L4FtpClient, GetsItsFilesAndLeavesInPeace)
{
	FtpPeer p(false);

	EXPECT_EQ("PASV\r\n", p.Greet());
	EXPECT_EQ("RETR octets/1000\r\n", p.Say(address));
	p.Say("150 here it is\r\n");
	p.Say(FtpPeer::Body(1000), 1);
	p.Close(1);
	EXPECT_EQ(0u, p.Tally().transactions) << "the last reply is missing";
	EXPECT_EQ("PASV\r\n", p.Say("226 done\r\n"));
	EXPECT_EQ("RETR octets/1000\r\n", p.Say(address));
	EXPECT_EQ("", p.Say("150 here it is\r\n226 done\r\n")) << "the file is missing";
	p.Say(FtpPeer::Body(1000), 1);
	p.Close(1);
	EXPECT_EQ("QUIT\r\n", p.Hear());
	p.Say("221 bye\r\n");
	EXPECT_EQ(2u, p.Tally().transactions);
	EXPECT_EQ(2000u, p.Own(FTP_OCTETS));
	EXPECT_EQ(0u, p.Tally().refused + p.Wrong());
	p.ExpectNothingKept();
}

TEST(L4FtpClient, RepliesMayHaveManyLinesAndComeInPieces)
{
	FtpPeer p(false, FG_L4_FTP_EXTENDED_PASSIVE);

	EXPECT_EQ("", p.Say("220-hello\r\n"));
	EXPECT_EQ("", p.Say("230 is not the end\r\n  220 nor this\r\n220-nor that\r\n22"));
	EXPECT_EQ("USER u\r\n", p.Say("0 but this\r\n"));
	EXPECT_EQ("TYPE I\r\n", p.Say("230 no password\n"));
	EXPECT_EQ("EPSV\r\n", p.Say("200 ok\r\n"));
	EXPECT_EQ("RETR octets/1000\r\n", p.Say("229 (|||1025|)\r\n"));
	EXPECT_EQ(0u, p.Tally().refused);
}

TEST(L4FtpClient, ResumesAFile)
{
	for (bool upload : {false, true}) {
		FtpPeer p(false, FG_L4_FTP_PASSIVE, 600, upload, 3, 400);
		const char *what = upload ? "STOR octets/1000\r\n" : "RETR octets/1000\r\n";

		p.Greet();
		EXPECT_EQ("REST 400\r\n", p.Say(address));
		EXPECT_EQ(what, p.Say("350 fine\r\n"));
		p.Say("150 go on\r\n");
		if (upload) {
			EXPECT_EQ(FtpPeer::Body(1000, CLIENT_STREAM).substr(400), p.Hear(1));
		} else {
			p.Say(FtpPeer::Body(1000).substr(400), 1);
			p.Close(1);
		}
		EXPECT_EQ("PASV\r\n", p.Say("226 done\r\n"));
		EXPECT_EQ(1u, p.Tally().transactions);
		EXPECT_EQ(600u, p.Own(FTP_OCTETS));
		EXPECT_EQ(0u, p.Wrong());
		/* a server that cannot is no reason to take the whole file for the rest */
		EXPECT_EQ("REST 400\r\n", p.Say(address));
		EXPECT_EQ("PASV\r\n", p.Say("502 not here\r\n"));
		EXPECT_EQ(1u, p.Own(FTP_5XX));
		EXPECT_EQ(1u, p.Replies(502));
		/* nor is one that says yes to something else */
		EXPECT_EQ("REST 400\r\n", p.Say(address));
		EXPECT_EQ("QUIT\r\n", p.Say("200 fine\r\n"));
		EXPECT_EQ(1u, p.Own(FTP_OTHER));
	}
}

TEST(L4FtpClient, PutsAFile)
{
	FtpPeer p(false, FG_L4_FTP_PASSIVE, 3000, true);

	p.Greet();
	EXPECT_EQ("STOR octets/1000\r\n", p.Say(address));
	EXPECT_EQ("", p.Hear(1)) << "before the server was ready";
	p.Say("150 go on\r\n");
	EXPECT_EQ(FtpPeer::Body(3000, CLIENT_STREAM), p.Hear(1));
	EXPECT_TRUE(p.t->line[1].ended);
	EXPECT_EQ("PASV\r\n", p.Say("226 done\r\n"));
	EXPECT_EQ(1u, p.Tally().transactions);
	EXPECT_EQ(3000u, p.Own(FTP_OCTETS));
}

TEST(L4FtpClient, WaitsForTheServerToConnect)
{
	for (uint8_t mode : {FG_L4_FTP_ACTIVE, FG_L4_FTP_EXTENDED_ACTIVE}) {
		FtpPeer p(false, mode);
		std::string asks = p.Greet();
		unsigned high = 0, low = 0, port = 0;

		if (mode == FG_L4_FTP_ACTIVE) {
			ASSERT_EQ(2, sscanf(asks.c_str(), "PORT 198,19,0,1,%u,%u\r\n", &high, &low)) << asks;
			port = high << 8 | low;
		} else {
			ASSERT_EQ(1, sscanf(asks.c_str(), "EPRT |1|198.19.0.1|%u|\r\n", &port)) << asks;
		}
		EXPECT_EQ("RETR octets/1000\r\n", p.Say("200 so I shall\r\n"));
		talker_open(p.t, 2, uint16_t(port + 1));
		EXPECT_EQ(nullptr, p.t->line[2].conn) << "nobody waits there";
		talker_open(p.t, 1, uint16_t(port));
		talker_open(p.t, 2, uint16_t(port));
		EXPECT_EQ(nullptr, p.t->line[2].conn) << "nobody waits there any more";
		p.Say("150 here it is\r\n");
		p.Say(FtpPeer::Body(1000), 1);
		p.Close(1);
		p.Say("226 done\r\n");
		EXPECT_EQ(1u, p.Tally().transactions);
		EXPECT_EQ(0u, p.Tally().refused);
	}
}

TEST(L4FtpClient, RepliesThatRefuseAreCountedByCode)
{
	FtpPeer p(false, FG_L4_FTP_PASSIVE, 1000, false, 4);

	p.Greet();
	EXPECT_EQ("PASV\r\n", p.Say("425 not now\r\n")) << "the next file";
	p.Say(address);
	EXPECT_EQ("PASV\r\n", p.Say("550 no such file\r\n"));
	p.Say(address);
	p.Say("150 here it is\r\n");
	p.Say(FtpPeer::Body(10), 1);
	p.Close(1, true);
	EXPECT_EQ("PASV\r\n", p.Say("426 gone\r\n"));
	EXPECT_EQ("QUIT\r\n", p.Say("331 what?\r\n"));
	EXPECT_EQ(4u, p.Tally().refused);
	EXPECT_EQ(1u, p.Own(FTP_4XX));
	EXPECT_EQ(1u, p.Own(FTP_5XX));
	EXPECT_EQ(1u, p.Own(FTP_CUT)) << "426 tells of what has been counted";
	EXPECT_EQ(1u, p.Own(FTP_OTHER));
	for (unsigned code : {425, 550, 426, 331})
		EXPECT_EQ(1u, p.Replies(code)) << code;
	EXPECT_STREQ("331 what?", ((const ftp *)p.t->other->app[0])->reply);
	EXPECT_EQ(0u, p.Tally().transactions);
	p.Say("221 bye\r\n");
	p.ExpectNothingKept();
}

TEST(L4FtpClient, WhoIsNotLetInLeaves)
{
	FtpPeer p(false);

	p.Say("220 ready\r\n");
	p.Say("331 password?\r\n");
	p.Say("530 not you\r\n");
	EXPECT_EQ(1u, p.Replies(530));
	p.ExpectOneFault(FTP_5XX);
}

TEST(L4FtpClient, LinesWithoutACodeEndTheSession)
{
	for (const char *line : {"SSH-2.0-x\r\n", "22 ready\r\n", "2200 ready\r\n", "999 ready\r\n", "\r\n",
				 "\n", "22O ready\r\n", "\x00\xff\r\n"}) {
		FtpPeer p(false);

		p.Say(std::string(line, line[0] == '\0' ? 4 : strlen(line)));
		p.ExpectOneFault(FTP_MALFORMED);
	}
}

TEST(L4FtpClient, LinesWithoutEndEndTheSession)
{
	FtpPeer p(false);

	p.Say("220 " + std::string(FTP_LINE - 5, 'x'));
	EXPECT_EQ(0u, p.Tally().refused);
	p.Say("x");
	p.Say(std::string(100000, 'x') + "\r\n220 ready\r\n");
	p.ExpectOneFault(FTP_OVERLONG);
}

TEST(L4FtpClient, AddressesThatAreNoneAreRefused)
{
	for (const char *line : {"227 (198,18,0,1,4)\r\n", "227 (198,18,0,1,4,256)\r\n", "227 1,2,3\r\n",
				 "227\r\n", "227 (198,18,0,1,0,0)\r\n", "227 (1198,18,0,1,4,1)\r\n",
				 "227 (99999999999999,18,0,1,4,1)\r\n"}) {
		FtpPeer p(false, FG_L4_FTP_PASSIVE, 1000, false, 1);

		p.Greet();
		EXPECT_EQ("QUIT\r\n", p.Say(line)) << line;
		p.ExpectOneFault(FTP_MALFORMED);
	}
	for (const char *line : {"229 (|||0|)\r\n", "229 (|||65536|)\r\n", "229 (||1025|)\r\n", "229 (\r\n",
				 "229 1025\r\n", "229 (111102511)\r\n", "229 (|||1025)\r\n"}) {
		FtpPeer p(false, FG_L4_FTP_EXTENDED_PASSIVE, 1000, false, 1);

		p.Greet();
		EXPECT_EQ("QUIT\r\n", p.Say(line)) << line;
		p.ExpectOneFault(FTP_MALFORMED);
	}
}

TEST(L4FtpClient, NobodyElsesAddressIsUsed)
{
	FtpPeer p(false, FG_L4_FTP_PASSIVE, 1000, false, 1);

	p.Greet();
	EXPECT_EQ("QUIT\r\n", p.Say("227 (198,18,0,2,4,1)\r\n"));
	EXPECT_EQ(1u, p.Tally().opened) << "the control connection alone";
	p.ExpectOneFault(FTP_FOREIGN);
}

TEST(L4FtpClient, ADataConnectionThatIsRefusedIsCounted)
{
	FtpPeer p(false, FG_L4_FTP_PASSIVE, 1000, false, 1);

	p.Greet();
	p.t->app.listens = false;
	EXPECT_EQ("QUIT\r\n", p.Say(address));
	p.ExpectOneFault(FTP_NO_DATA);
}

TEST(L4FtpClient, ADataConnectionThatNeverComesIsCounted)
{
	FtpPeer p(false, FG_L4_FTP_ACTIVE, 1000, false, 1);

	p.Greet();
	p.Say("200 so I shall\r\n");
	p.Say("150 here it is\r\n");
	talker_wait(p.t, 9 * second);
	EXPECT_EQ(0u, p.Tally().refused);
	talker_wait(p.t, 2 * second);
	p.ExpectOneFault(FTP_NO_DATA);
}

TEST(L4FtpClient, SilenceEndsTheSession)
{
	const std::string said[] = {"220 ready\r\n", "331 password?\r\n", "230 welcome\r\n", "200 binary\r\n",
				    address,         "150-here it is\r\n"};

	for (unsigned n = 0; n <= std::size(said); n++) {
		FtpPeer p(false);

		for (unsigned i = 0; i < n; i++)
			p.Say(said[i]);
		talker_wait(p.t, 9 * second);
		EXPECT_EQ(0u, p.Tally().refused) << n;
		talker_wait(p.t, 2 * second);
		EXPECT_EQ(nullptr, p.t->line[0].conn) << n;
		p.ExpectOneFault(FTP_SILENT);
	}
}

TEST(L4FtpClient, BytesThatMoveAreNoSilence)
{
	FtpPeer p(false, FG_L4_FTP_PASSIVE, 40);

	p.Greet();
	p.Say(address);
	p.Say("150 here it is\r\n");
	for (unsigned i = 0; i < 4; i++) {
		talker_wait(p.t, 7 * second);
		p.Say(FtpPeer::Body(40).substr(10 * i, 10), 1);
	}
	p.Close(1);
	EXPECT_EQ("PASV\r\n", p.Say("226 done\r\n"));
	EXPECT_EQ(1u, p.Tally().transactions);
}

TEST(L4FtpClient, AControlConnectionThatEndsInTheMiddleIsCounted)
{
	const std::string said[] = {"220 ready\r\n", "331 password?\r\n", "230 welcome\r\n", "200 binary\r\n",
				    address,         "150 here it is\r\n"};

	for (unsigned n = 0; n <= std::size(said); n++) {
		FtpPeer p(false);

		for (unsigned i = 0; i < n; i++)
			p.Say(said[i]);
		p.Close(0);
		p.ExpectOneFault(FTP_CUT);
	}
}

TEST(L4FtpClient, FilesOfAnotherLengthOrOtherBytesAreNoticed)
{
	for (unsigned octets : {0, 999, 1001}) {
		FtpPeer p(false, FG_L4_FTP_PASSIVE, 1000, false, 1);

		p.Greet();
		p.Say(address);
		p.Say("150 here it is\r\n");
		p.Say(FtpPeer::Body(octets), 1);
		p.Close(1);
		EXPECT_EQ("QUIT\r\n", p.Say("226 done\r\n")) << octets;
		EXPECT_EQ(0u, p.Wrong());
		p.ExpectOneFault(FTP_LENGTH);
	}
	FtpPeer p(false);

	p.Greet();
	p.Say(address);
	p.Say(FtpPeer::Body(999) + "\x01", 1);
	EXPECT_EQ(1u, p.Wrong());
}

TEST(L4FtpClient, AnUploadThatIsOverBeforeItBeginsIsNoticed)
{
	FtpPeer p(false, FG_L4_FTP_PASSIVE, 3000, true, 1);

	p.Greet();
	p.Say(address);
	EXPECT_EQ("QUIT\r\n", p.Say("226 done\r\n"));
	p.ExpectOneFault(FTP_LENGTH, false);
}

TEST(L4FtpClient, AServerThatTakesOnlyAPartIsNoticed)
{
	FtpPeer p(false, FG_L4_FTP_PASSIVE, 1 << 20, true, 1);

	p.Greet();
	p.Say(address);
	p.Close(1);
	EXPECT_EQ("QUIT\r\n", p.Say("226 done\r\n"));
	p.ExpectOneFault(FTP_LENGTH, false);
}
