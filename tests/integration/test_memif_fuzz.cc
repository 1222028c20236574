/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A memif peer that knows the protocol and keeps to nothing: messages that are wrong, cut short, out of order
 * or too many, descriptors of every kind, rings that are written over, memory that goes away. The port has to
 * live on, in bounded time, lose no descriptor and no memory, and take a good peer afterwards. What the peer
 * does follows from the seed alone; $FUZZ_SEED chooses another.
 */
#include <csignal>
#include <fstream>
#include <memory>
#include <thread>

#include <rte_lcore.h>

#include "memif_hostile_peer.h"
#include "port_under_test.h"

namespace fuzz
{

const unsigned LONGEST = 60; /* seconds of a round, on a machine with other work; it takes milliseconds */

/* A thread that sends and receives over a port all the time */
class Lcore
{
      public:
	explicit Lcore(Port &port) : thread([this, &port] { Poll(port); })
	{
	}
	~Lcore()
	{
		done = true;
		thread.join();
	}
	Lcore(const Lcore &) = delete;
	Lcore &operator=(const Lcore &) = delete;

	std::atomic<uint64_t> polls{0}, received{0}, sent{0};

      private:
	void
	Poll(Port &port)
	{
		rte_mbuf *burst[32];

		rte_thread_register();
		for (uint16_t i = 0; !done; i++) {
			const uint16_t n = uint16_t(1 + i % 32);

			if (rte_pktmbuf_alloc_bulk(frames, burst, n) == 0) {
				for (uint16_t k = 0; k < n; k++)
					rte_pktmbuf_append(burst[k], uint16_t(60 + (i + k) % 1458));
				uint16_t out = port->tx(port.Get(), burst, n, 0);
				rte_pktmbuf_free_bulk(burst + out, n - out);
				sent += out;
			}
			uint16_t in = port->rx(port.Get(), burst, n, 0);
			rte_pktmbuf_free_bulk(burst, in);
			received += in;
			polls++;
		}
		rte_thread_unregister();
	}

	std::atomic<bool> done{false};
	std::thread thread; /* the last: it uses the others */
};

/* Mapped of what peers share, and the size of everything that is mapped, in MiB */
inline unsigned
SharedMappings(uint64_t &mapped)
{
	std::ifstream maps("/proc/self/maps");
	unsigned n = 0;

	mapped = 0;
	for (std::string line; std::getline(maps, line);) {
		uint64_t from = 0, to = 0;

		sscanf(line.c_str(), "%lx-%lx", &from, &to);
		mapped += to - from;
		n += line.find("memfd:hostile") != std::string::npos ||
		     line.find("memfd:framegauge-memif") != std::string::npos;
	}
	mapped >>= 20;
	return n;
}

/* @return whether it becomes so while the port's thread takes down what it had */
template <typename Condition>
bool
Becomes(const Condition &condition)
{
	for (unsigned i = 0; i < LONGEST * 500; i++) {
		if (condition())
			return true;
		usleep(1000);
	}
	return false;
}

} // namespace fuzz

class MemifFuzz : public testing::Test
{
      protected:
	void
	SetUp() override
	{
		const char *chosen = getenv("FUZZ_SEED");

		seed = chosen != nullptr ? uint32_t(strtoul(chosen, nullptr, 10)) : 1;
		if (chosen != nullptr && seed == 0)
			seed = std::random_device()();
		if (getenv("FRAMEGAUGE_LONG") != nullptr)
			messages = 50000;
		signal(SIGALRM, [](int) { (void)!write(STDERR_FILENO, round, strlen(round)), _exit(1); });
		before = by_hand::OpenDescriptors();
	}
	void
	TearDown() override
	{
		uint64_t mapped_after;

		alarm(0);
		EXPECT_TRUE(fuzz::Becomes([&] { return by_hand::OpenDescriptors() == before; }));
		EXPECT_EQ(0u, fuzz::SharedMappings(mapped_after));
		EXPECT_GE(mapped + LEEWAY, mapped_after) << "MiB; a lost region has one or more";
		printf("%lu messages in %u rounds of seed %u, %lu frames received, %lu sent\n", said, rounds,
		       seed, received, sent);
	}

	void
	Open(const std::string &device)
	{
		port = std::make_unique<Port>(device);
		ASSERT_TRUE(port->Opened()) << port->Message();
		open = by_hand::OpenDescriptors();
	}
	void
	Poll()
	{
		lcore = std::make_unique<fuzz::Lcore>(*port);
	}
	void
	Rest()
	{
		if (lcore != nullptr)
			received += lcore->received, sent += lcore->sent;
		lcore.reset();
	}
	void
	Close()
	{
		Rest();
		port.reset();
	}
	/* What hangs is ended, and says where */
	hostile::Dice
	Begin()
	{
		snprintf(round, sizeof(round), "hangs in round %u of seed %u\n", rounds, seed);
		alarm(fuzz::LONGEST);
		if (rounds == 20) /* whatever is allocated once has been */
			fuzz::SharedMappings(mapped);
		return hostile::Dice(seed * 1000000 + rounds++);
	}
	void
	ExpectAlive()
	{
		const uint64_t polls = lcore->polls;

		EXPECT_TRUE(fuzz::Becomes([&] { return lcore->polls > polls + 1; }));
	}
	/* while nobody polls */
	void
	ExpectServes(Port &good)
	{
		ASSERT_TRUE(good.Opened() && good.HasLink() && port->HasLink()) << good.Message();
		ExpectIntact(good, *port, 0, 20, 60);
		ExpectIntact(*port, good, 0, 20, 1514);
	}

	enum { LEEWAY = 128 };
	const std::string path = scratch_path("fuzz");
	hostile::OddDescriptors odd;
	std::unique_ptr<Port> port;
	std::unique_ptr<fuzz::Lcore> lcore;
	uint64_t messages = 1500, said = 0, received = 0, sent = 0, mapped = 0;
	uint32_t seed;
	unsigned rounds = 0, before, open;
	static inline char round[64];
};

TEST_F(MemifFuzz, ClientsThatBreakTheProtocol)
{
	while (said < messages && !HasFailure()) {
		hostile::Dice dice = Begin();

		if (port == nullptr)
			Open("memif:" + path + ",server");
		if (lcore == nullptr)
			Poll();
		{
			hostile::Peer peer(dice, odd, by_hand::Connect(path));

			peer.BeClient();
			said += peer.said;
			if (dice.Percent(5) && said < messages)
				Close();
		}
		if (port == nullptr)
			continue;
		ExpectAlive();
		EXPECT_TRUE(fuzz::Becomes([&] { return by_hand::OpenDescriptors() == open; })) << round;
		if (dice.Percent(2) || said >= messages) {
			Rest();
			Port good("memif:" + path);
			ExpectServes(good);
		}
	}
	Close();
}

TEST_F(MemifFuzz, ServersThatBreakTheProtocol)
{
	std::unique_ptr<Port> good;
	int listener = -1;

	while (said < messages && !HasFailure()) {
		hostile::Dice dice = Begin();

		if (port == nullptr) {
			good = std::make_unique<Port>("memif:" + path + ",server");
			Open("memif:" + path);
		}
		if (good != nullptr) {
			ExpectServes(*good);
			good.reset();
			listener = by_hand::Listen(path);
			Poll();
		}
		{
			hostile::Peer peer(dice, odd, accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));

			peer.BeServer();
			said += peer.said;
			if (dice.Percent(2))
				Close();
		}
		if (port != nullptr)
			ExpectAlive();
		if (port != nullptr && !dice.Percent(2))
			continue;
		close(listener);
		unlink(path.c_str());
		if (port != nullptr) {
			Rest();
			EXPECT_TRUE(fuzz::Becomes([&] { return by_hand::OpenDescriptors() == before + 1; }))
				<< round;
			good = std::make_unique<Port>("memif:" + path + ",server");
		}
	}
	Close();
	good.reset();
	close(listener);
	unlink(path.c_str());
}
