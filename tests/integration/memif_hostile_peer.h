/* SPDX-License-Identifier: BSD-3-Clause */
/* A memif peer that breaks the protocol as its dice fall: for test_memif_fuzz.cc. */
#ifndef MEMIF_HOSTILE_PEER_H
#define MEMIF_HOSTILE_PEER_H

#include <fcntl.h>
#include <random>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>

#include "memif_by_hand.h"

namespace hostile
{

using by_hand::Bytes, by_hand::MIB, by_hand::Put;

const off_t HUGE = off_t(1) << 40; /* more than there is memory */

/* The draws of a round, and nothing else that is random */
class Dice
{
      public:
	explicit Dice(uint32_t seed) : rng(seed)
	{
	}
	uint32_t
	operator()(uint32_t n)
	{
		return rng() % n;
	}
	bool
	Percent(uint32_t n)
	{
		return rng() % 100 < n;
	}
	uint32_t
	Number()
	{
		static const uint32_t edges[] = {
			0,      1,       2,       15,         60,         64,  2048,       16384,     0x7fff,
			0xffff, 0x10000, MIB - 1, 0x7fffffff, 0x80000000, MIB, 0xffff0000, 0xffffffff};

		return Percent(80) ? edges[rng() % (sizeof(edges) / sizeof(*edges))] : rng();
	}

      private:
	std::mt19937 rng;
};

/* What a descriptor can be that is no memory to share and nothing to be woken by */
class OddDescriptors
{
      public:
	OddDescriptors()
	{
		int ends[2];

		huge = Keep(memfd_create("hostile huge", 0));
		EXPECT_EQ(0, ftruncate(huge, HUGE));
		EXPECT_EQ(0, ftruncate(Keep(memfd_create("hostile tiny", 0)), 100));
		const int sealed = Keep(memfd_create("hostile sealed", MFD_ALLOW_SEALING));
		EXPECT_EQ(0, ftruncate(sealed, MIB));
		EXPECT_EQ(0, fcntl(sealed, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW));
		for (const char *path :
		     {"/dev/null", "/dev/zero", "/tmp", "/proc/self/exe", "/proc/self/mem"})
			Keep(open(path, O_RDONLY));
		EXPECT_EQ(0, pipe(ends)); /* full: a writer waits */
		Keep(ends[0]);
		EXPECT_EQ(0, fcntl(Keep(ends[1]), F_SETFL, O_NONBLOCK));
		while (write(ends[1], "12345678", 8) == 8)
			;
		EXPECT_EQ(0, fcntl(ends[1], F_SETFL, 0));
		EXPECT_EQ(0, pipe(ends)); /* broken: a writer gets SIGPIPE */
		Keep(ends[1]);
		close(ends[0]);
		const uint64_t full = UINT64_MAX - 1;
		EXPECT_EQ(8, write(Keep(eventfd(0, 0)), &full, sizeof(full)));
		Keep(eventfd(0, 0));
		Keep(eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE));
		Keep(timerfd_create(CLOCK_MONOTONIC, 0));
		EXPECT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
		Keep(ends[0]);
		Keep(ends[1]);
	}
	~OddDescriptors()
	{
		for (int fd : all)
			close(fd);
	}
	OddDescriptors(const OddDescriptors &) = delete;
	OddDescriptors &operator=(const OddDescriptors &) = delete;

	std::vector<int> all;
	int huge;

      private:
	int
	Keep(int fd)
	{
		EXPECT_LE(0, fd);
		all.push_back(fd);
		return fd;
	}
};

/* One connection, from its first message to its end */
class Peer
{
      public:
	Peer(Dice &dice, OddDescriptors &odd, int fd) : dice(dice), odd(odd), fd(fd), wildness(10 * dice(4))
	{
	}
	~Peer()
	{
		close(fd);
		for (int descriptor : got)
			close(descriptor);
		if (memory >= 0)
			close(memory);
		EXPECT_EQ(0, ftruncate(odd.huge, 0)); /* gives the pages back that were touched */
		EXPECT_EQ(0, ftruncate(odd.huge, HUGE));
	}
	Peer(const Peer &) = delete;
	Peer &operator=(const Peer &) = delete;

	void
	BeClient()
	{
		const uint8_t log2 = uint8_t(dice.Percent(80) ? 6 : dice(7));
		const int wake = odd.all[dice(uint32_t(odd.all.size()))];

		memory = dice.Percent(90) ? memfd_create("hostile", 0) : dup(odd.huge);
		EXPECT_EQ(0, ftruncate(memory, memory_size = dice.Percent(90) ? off_t(MIB) : HUGE));
		for (off_t at : {0, 2048})
			Write<uint32_t>(at, by_hand::COOKIE);
		Hear();
		std::vector<std::pair<Bytes, int>> script = {
			{by_hand::MakeInit(), -1},
			{by_hand::MakeRegion(0, uint64_t(memory_size)), memory},
			{by_hand::MakeRing(true, 0, 0, log2), wake},
			{by_hand::MakeRing(false, 0, 2048, log2), wake},
			{by_hand::MakeMessage(by_hand::CONNECT), -1},
		};
		for (unsigned i = 0; dice.Percent(wildness) && i < 300; i++) /* more than there may be */
			script.insert(script.begin() + 2, i % 2 == 0 ? script[1] : script[2]);
		const bool waits = !dice.Percent(wildness / 3);
		for (auto &[bytes, descriptor] : script) {
			Say(bytes, descriptor);
			if (waits)
				Hear();
		}
		ring = {0, 2048};
		Live();
	}

	void
	BeServer()
	{
		Say(by_hand::MakeHello(uint16_t(dice.Percent(80) ? 1 + dice(3) : dice.Number())), -1);
		for (unsigned heard = 1; heard != 0 && heard != by_hand::CONNECT && said < 60;) {
			heard = Hear();
			if (heard == by_hand::ADD_REGION && !got.empty())
				memory = dup(got.back());
			if (heard != 0)
				Say(by_hand::MakeMessage(heard == by_hand::CONNECT ? by_hand::CONNECTED
										   : by_hand::ACK),
				    -1);
		}
		struct stat status = {};
		memory_size = memory >= 0 && fstat(memory, &status) == 0 ? status.st_size : 0;
		for (off_t i = 0; i < 4; i++)
			ring.push_back(i * (128 + 4096 * 16));
		Live();
	}
	uint64_t said = 0;

      private:
	unsigned
	Hear()
	{
		return by_hand::Hear(fd, dice.Percent(98) ? 100 : 0, &got);
	}

	/* One message, or what has become of it */
	void
	Say(Bytes bytes, int descriptor)
	{
		std::vector<int> descriptors;

		if (descriptor >= 0)
			descriptors.push_back(descriptor);
		if (dice.Percent(wildness / 3))
			Change(bytes, descriptors);
		for (unsigned times = dice.Percent(wildness / 3) ? dice(4) : 1; times > 0; times--) {
			said++;
			by_hand::Send(fd, bytes, descriptors);
		}
	}

	void
	Change(Bytes &bytes, std::vector<int> &descriptors)
	{
		switch (dice(7)) {
		case 0:
			bytes[dice(16)] ^= uint8_t(1 << dice(8));
			break;
		case 1:
			Put<uint16_t>(bytes, 2 * dice(24), uint16_t(dice.Number()));
			break;
		case 2:
			Put(bytes, 2 + 2 * dice(6), dice.Number());
			break;
		case 3: /* not empty: that is the end of the connection */
			bytes.resize(1 + dice(dice.Percent(50) ? 127 : 4096));
			break;
		case 4:
			bytes = by_hand::MakeMessage(uint16_t(dice.Percent(80) ? dice(10) : dice.Number()));
			for (unsigned i = dice(20); i > 0; i--)
				bytes[2 + dice(30)] = uint8_t(dice(256));
			break;
		case 5:
			descriptors.clear();
			break;
		default:
			descriptors.resize(dice.Percent(80) ? 1 + dice(12) : 250);
			for (int &one : descriptors)
				one = odd.all[dice(uint32_t(odd.all.size()))];
		}
	}

	template <typename T>
	void
	Write(off_t at, T value)
	{
		if (memory >= 0 && at + off_t(sizeof(value)) <= memory_size)
			(void)!pwrite(memory, &value, sizeof(value), at);
	}

	/* into a ring of ours or of the port's */
	void
	Scribble()
	{
		const off_t at = ring[dice(uint32_t(ring.size()))];
		const off_t slot = at + 128 + 16 * off_t(dice(dice.Percent(80) ? 64 : 4096));

		switch (dice(8)) {
		case 0:
			Write<uint16_t>(at + 4, uint16_t(dice(2)));
			break;
		case 1:
			Write<uint16_t>(at + 6, uint16_t(dice.Number()));
			break;
		case 2:
			Write<uint16_t>(at + 64, uint16_t(dice.Number()));
			break;
		case 3: /* good ones */
			for (unsigned i = 0; i < 64; i++) {
				Write<uint32_t>(at + 128 + 16 * i, 0);
				Write<uint32_t>(at + 132 + 16 * i, 60 + i * 20);
				Write<uint32_t>(at + 136 + 16 * i, 4096 + 2048 * i);
			}
			Write<uint16_t>(at + 6, uint16_t(dice(64)));
			break;
		case 4: /* a chain without an end */
			for (unsigned i = 0; i < 64; i++)
				Write<uint16_t>(at + 128 + 16 * i, 1);
			break;
		case 5:
			Write<uint16_t>(slot + 2 * dice(2), uint16_t(dice.Number()));
			break;
		default:
			Write<uint32_t>(slot + 4 + 4 * dice(2), dice.Number());
		}
	}

	/* the port may believe that there is a link now */
	void
	Live()
	{
		const bool theirs = ring.size() > 2; /* sealed against becoming shorter */

		for (unsigned steps = dice(60); steps > 0; steps--) {
			if (dice.Percent(70))
				Scribble();
			else if (dice.Percent(20) && !theirs)
				EXPECT_EQ(0, ftruncate(memory, dice.Percent(50) ? 0 : memory_size / 2));
			else if (dice.Percent(20) && !theirs)
				EXPECT_EQ(0, ftruncate(memory, memory_size));
			else if (dice.Percent(20))
				Overfill();
			else if (dice.Percent(20))
				usleep(dice(2000));
			else if (dice.Percent(wildness))
				for (unsigned i = dice(40); i > 0; i--)
					Say(by_hand::MakeMessage(uint16_t(1 + dice(7))),
					    dice.Percent(50) ? odd.all[0] : -1);
		}
		if (dice.Percent(50))
			Say(by_hand::MakeMessage(by_hand::DISCONNECT), dice.Percent(50) ? odd.all[0] : -1);
	}

	/* our wake descriptor has no room left, and a writer waits */
	void
	Overfill()
	{
		const uint64_t full = UINT64_MAX - 1;
		uint64_t before;

		for (int one : got) {
			if (one == got[0] || fcntl(one, F_SETFL, O_NONBLOCK) != 0)
				continue;
			(void)!read(one, &before, sizeof(before));
			(void)!write(one, &full, sizeof(full));
			(void)!fcntl(one, F_SETFL, 0);
		}
	}

	Dice &dice;
	OddDescriptors &odd;
	const int fd;
	const uint32_t wildness; /* percent; 0: a peer that keeps to the protocol until it has a link */
	int memory = -1;
	off_t memory_size = 0;
	std::vector<off_t> ring;
	std::vector<int> got;
};

} // namespace hostile

#endif
