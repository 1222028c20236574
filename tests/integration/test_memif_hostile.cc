/* SPDX-License-Identifier: BSD-3-Clause */
/* Memifs whose peers do what no good one does: the port goes on, and nothing of this process is lost. */
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <future>
#include <linux/memfd.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread>

#include "memif_by_hand.h"
#include "port_under_test.h"

namespace
{

using by_hand::MIB;

/* A client that may do with its memory what it likes */
class Client
{
      public:
	explicit Client(const std::string &path, off_t size = MIB, int wakes = -1)
	    : fd(by_hand::Connect(path)), memory(memfd_create("hostile", 0)),
	      wake(wakes < 0 ? eventfd(0, 0) : dup(wakes)), size(size)
	{
		EXPECT_EQ(0, ftruncate(memory, size));
		at = static_cast<uint8_t *>(
			mmap(nullptr, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0));
		for (unsigned offset : {0, 2048})
			memcpy(at + offset, &cookie, sizeof(cookie));
	}
	~Client()
	{
		munmap(at, MIB);
		close(wake);
		close(memory);
		close(fd);
	}
	Client(const Client &) = delete;
	Client &operator=(const Client &) = delete;

	unsigned
	Say(const by_hand::Bytes &message, const std::vector<int> &descriptors = {})
	{
		EXPECT_TRUE(by_hand::Send(fd, message, descriptors));
		return by_hand::Hear(fd, 60000);
	}
	/* Until before CONNECT. @return whether all was acknowledged */
	bool
	Prepare()
	{
		return by_hand::Hear(fd, 60000) == by_hand::HELLO &&
		       Say(by_hand::MakeInit()) == by_hand::ACK &&
		       Say(by_hand::MakeRegion(0, uint64_t(size)), {memory, wake}) == by_hand::ACK &&
		       Say(by_hand::MakeRing(true, 0, 0, 6), {wake, wake, wake}) == by_hand::ACK &&
		       Say(by_hand::MakeRing(false, 0, 2048, 6), {wake}) == by_hand::ACK;
	}
	bool
	Join()
	{
		return Prepare() && Say(by_hand::MakeMessage(by_hand::CONNECT)) == by_hand::CONNECTED;
	}
	/* @p n frames of 60 bytes are in the ring to the server */
	void
	Offer(uint16_t n)
	{
		SetSlots(0, n, 60);
	}
	/* @p n slots may be filled by the server, which is to wake us */
	void
	Await(uint16_t n, uint32_t length = 2048)
	{
		memset(at + 2048 + 4, 0, 2);
		SetSlots(2048, n, length);
	}

	int fd, memory, wake;

      private:
	void
	SetSlots(unsigned ring, uint16_t n, uint32_t length)
	{
		for (unsigned i = 0; i < n; i++) {
			const uint32_t slot[] = {0, length, 65536 + i * 2048, 0};

			memcpy(at + ring + 128 + i * sizeof(slot), slot, sizeof(slot));
		}
		__atomic_store_n(reinterpret_cast<uint16_t *>(at + ring + 6), n, __ATOMIC_RELEASE);
	}

	const uint32_t cookie = by_hand::COOKIE;
	const off_t size;
	uint8_t *at;
};

uint16_t
send_one(Port &port)
{
	rte_mbuf *m = MakeMbuf(MakeFrame(0, 60));
	const uint16_t sent = port->tx(port.Get(), &m, 1, 0);

	rte_pktmbuf_free_bulk(&m, 1 - sent);
	return sent;
}

} // namespace

class MemifHostile : public testing::Test
{
      protected:
	const std::string path = scratch_path("hostile");
};

/* a peer that truncates the memory that it shares ends its own link, and not this program; nor when there is
 * more of it than this system has */
TEST_F(MemifHostile, MayTakeItsMemoryAway)
{
	Port server("memif:" + path + ",server");

	ASSERT_TRUE(server.Opened()) << server.Message();
	for (off_t size : {off_t(MIB), off_t(MIB), off_t(1) << 42}) {
		Client client(path, size);

		ASSERT_TRUE(client.Join());
		ASSERT_TRUE(server.HasLink());
		client.Offer(3);
		EXPECT_EQ(3u, server.Receive(3).size());
		ASSERT_EQ(0, ftruncate(client.memory, 0));
		server.Receive();
		send_one(server);
		EXPECT_TRUE(server.LosesLink());
	}
	Port good("memif:" + path);
	ASSERT_TRUE(good.Opened() && server.HasLink()) << good.Message();
	ExpectIntact(good, server, 0, 20, 60);
}

extern "C" int memif_guard_begin(uint8_t *at, size_t size, int socket);
extern "C" void memif_guard_end(int guard);

/* regions that could not be touched without harm, or not be given back */
TEST_F(MemifHostile, MayShareWhatIsNoGoodMemory)
{
	const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC),
		  good = memfd_create("good", MFD_CLOEXEC);
	const int huge = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB | MFD_HUGE_2MB);
	Port server("memif:" + path + ",server");
	std::vector<int> guards;
	const auto refusal = [&](int region, uint64_t size) {
		Client client(path);
		char message[by_hand::MESSAGE + 1] = {};

		EXPECT_EQ(by_hand::HELLO, by_hand::Hear(client.fd, 60000));
		EXPECT_EQ(by_hand::ACK, client.Say(by_hand::MakeInit()));
		EXPECT_TRUE(by_hand::Send(client.fd, by_hand::MakeRegion(0, size), {region}));
		pollfd ready = {client.fd, POLLIN, 0};
		EXPECT_EQ(1, poll(&ready, 1, 60000));
		EXPECT_EQ(by_hand::MESSAGE, recv(client.fd, message, by_hand::MESSAGE, 0));
		return message[0] == by_hand::DISCONNECT ? std::string(message + 6) : "taken";
	};

	ASSERT_TRUE(server.Opened()) << server.Message();
	ASSERT_EQ(0, ftruncate(good, MIB));
	EXPECT_EQ("Region is no shared memory", refusal(file, 0));
	EXPECT_EQ("Region larger than its file", refusal(good, MIB + 1));
	const bool has_huge = huge >= 0 && ftruncate(huge, 2 * MIB) == 0;
	if (has_huge) {
		EXPECT_EQ("Region not of whole huge pages", refusal(huge, MIB));
	}
	for (int guard; (guard = memif_guard_begin(reinterpret_cast<uint8_t *>(1), 0, -1)) >= 0;)
		guards.push_back(guard);
	EXPECT_EQ("Too many regions", refusal(good, MIB));
	for (int guard : guards)
		memif_guard_end(guard);
	EXPECT_EQ("taken", refusal(good, MIB));
	for (int fd : {file, good, huge})
		close(fd);
	if (!has_huge)
		GTEST_SKIP() << "the kernel has no memory of huge pages to share; the rest was tested";
}

/* a server that refuses, or goes in the middle, costs none of our descriptors, 0 least of all */
TEST_F(MemifHostile, RefusesWithoutHarm)
{
	Port server("memif:" + path + ",server,id=1");
	const unsigned before = by_hand::OpenDescriptors();

	ASSERT_TRUE(server.Opened()) << server.Message();
	Port client("memif:" + path + ",id=2"); /* an interface that is not there: tried again and again */
	EXPECT_FALSE(client.Opened());
	EXPECT_NE(-1, fcntl(0, F_GETFD)) << "standard input is closed";
	EXPECT_EQ(before, by_hand::OpenDescriptors());
}

/* more descriptors than a message has use for are closed */
TEST_F(MemifHostile, MaySendTooManyDescriptors)
{
	Port server("memif:" + path + ",server");
	unsigned before = 0;

	ASSERT_TRUE(server.Opened()) << server.Message();
	for (int round = 0; round < 4; round++) {
		{
			Client client(path);

			ASSERT_TRUE(client.Join());
			ASSERT_TRUE(server.HasLink());
		}
		EXPECT_TRUE(server.LosesLink());
		usleep(20000); /* the link is gone before its descriptors are */
		if (round == 0)
			before = by_hand::OpenDescriptors();
	}
	EXPECT_EQ(before, by_hand::OpenDescriptors());
}

/* nor does a peer's DISCONNECT, before it has joined and afterwards */
TEST_F(MemifHostile, MaySendDescriptorsAsItGoes)
{
	Port server("memif:" + path + ",server");
	const unsigned before = by_hand::OpenDescriptors();

	ASSERT_TRUE(server.Opened()) << server.Message();
	for (bool joined : {false, true, false, true}) {
		Client client(path);

		ASSERT_TRUE(joined ? client.Join() : client.Prepare());
		by_hand::Send(client.fd, by_hand::MakeMessage(by_hand::DISCONNECT), {client.memory});
		by_hand::Hear(client.fd, 60000); /* it hangs up */
	}
	usleep(20000);
	EXPECT_EQ(before, by_hand::OpenDescriptors());
}

/* the same for servers: of a greeting, and of a refusal */
TEST_F(MemifHostile, MaySendDescriptorsAsAServer)
{
	const int listener = by_hand::Listen(path);
	std::thread hostile([&] {
		for (int connection; (connection = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
			by_hand::Send(connection, by_hand::MakeHello(), {listener});
			by_hand::Hear(connection, 60000);
			by_hand::Send(connection, by_hand::MakeMessage(by_hand::DISCONNECT), {listener});
			by_hand::Hear(connection, 60000);
			close(connection);
		}
	});
	const unsigned before = by_hand::OpenDescriptors();
	Port client("memif:" + path);

	EXPECT_FALSE(client.Opened());
	shutdown(listener, SHUT_RDWR);
	hostile.join();
	EXPECT_EQ(before, by_hand::OpenDescriptors());
	close(listener);
	unlink(path.c_str());
}

/* A receiver is woken through a descriptor that it chose: no lcore waits for it, or gets SIGPIPE. */
TEST_F(MemifHostile, MayBeWokenThroughAnything)
{
	const uint64_t full = UINT64_MAX - 1;
	const int counter = eventfd(0, 0);
	int filled[2], broken[2];
	Port server("memif:" + path + ",server");

	ASSERT_TRUE(server.Opened()) << server.Message();
	ASSERT_EQ(8, write(counter, &full, sizeof(full)));
	ASSERT_EQ(0, pipe2(filled, O_NONBLOCK));
	while (write(filled[1], &full, sizeof(full)) == ssize_t(sizeof(full)))
		;
	ASSERT_EQ(0, fcntl(filled[1], F_SETFL, 0));
	ASSERT_EQ(0, pipe(broken));
	close(broken[0]);
	for (int wake : {counter, filled[1], broken[1]}) {
		Client client(path, MIB, wake);

		ASSERT_TRUE(client.Join() && server.HasLink());
		client.Await(1);
		std::future<uint16_t> sent = std::async(std::launch::async, [&] { return send_one(server); });
		if (sent.wait_for(std::chrono::seconds(20)) != std::future_status::ready) {
			uint64_t drained;

			ADD_FAILURE() << "the lcore waits for its peer";
			(void)!read(wake == counter ? counter : filled[0], &drained, sizeof(drained));
		}
		EXPECT_EQ(1, sent.get());
		shutdown(client.fd, SHUT_RDWR);
		EXPECT_TRUE(server.LosesLink());
	}
	for (int fd : {counter, filled[0], filled[1], broken[1]})
		close(fd);
}

/* and one that can be woken is */
TEST_F(MemifHostile, IsWoken)
{
	Port server("memif:" + path + ",server");
	Client client(path);
	uint64_t times = 0;

	ASSERT_TRUE(server.Opened() && client.Join() && server.HasLink());
	client.Await(3);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(1, send_one(server));
	ASSERT_EQ(ssize_t(sizeof(times)), read(client.wake, &times, sizeof(times)));
	EXPECT_EQ(3u, times);
}

/* a frame that is longer than all slots of the peer's ring together is lost and counted, not offered again */
TEST_F(MemifHostile, MayHaveARingThatIsTooShort)
{
	Port server("memif:" + path + ",server");
	Client client(path);
	rte_mbuf *m = MakeMbuf(MakeFrame(0, 100));

	ASSERT_TRUE(server.Opened() && client.Join() && server.HasLink());
	client.Await(64, 1);
	EXPECT_EQ(1, server->tx(server.Get(), &m, 1, 0));
	EXPECT_EQ(1u, server.Counters().tx_errors);
	EXPECT_EQ(0u, server.Counters().tx_frames);
}

/* A server without a descriptor for a new peer waits without use of the processor, with a link and
 * without. */
TEST_F(MemifHostile, MayJoinWhereNoDescriptorIsLeft)
{
	for (bool linked : {false, true}) {
		Port server("memif:" + path + ",server");
		ASSERT_TRUE(server.Opened()) << server.Message();
		Port first(linked ? "memif:" + path : "vdev:net_null0");
		ASSERT_TRUE(first.Opened() && (!linked || server.HasLink())) << first.Message();
		rlimit before, none;
		rusage from, to;
		const int another = socket(AF_UNIX, SOCK_SEQPACKET, 0), free = dup(0);
		const sockaddr_un address = by_hand::Address(path);

		ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
		close(free);
		none = {rlim_t(free), before.rlim_max};
		ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
		EXPECT_EQ(0, connect(another, reinterpret_cast<const sockaddr *>(&address), sizeof(address)));
		getrusage(RUSAGE_SELF, &from);
		usleep(500000);
		getrusage(RUSAGE_SELF, &to);
		EXPECT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
		const long us = (to.ru_utime.tv_sec + to.ru_stime.tv_sec - from.ru_utime.tv_sec -
				 from.ru_stime.tv_sec) *
					1000000 +
				to.ru_utime.tv_usec + to.ru_stime.tv_usec - from.ru_utime.tv_usec -
				from.ru_stime.tv_usec;
		EXPECT_GT(25000, us) << "of 500,000 us; a loop takes all, and a tenth on a busy machine";
		EXPECT_EQ(linked ? by_hand::DISCONNECT : by_hand::HELLO, by_hand::Hear(another, 60000));
		close(another);
	}
}
