/* SPDX-License-Identifier: BSD-3-Clause */
/* Memifs whose peers do what no good one does: the port goes on, and nothing of this process is lost. */
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "port_under_test.h"

namespace
{

const unsigned MESSAGE = 128, MIB = 1 << 20;

/* A client of memif 2.0 by hand, which may do with its memory what it likes */
class Client
{
      public:
	explicit Client(const std::string &path)
	    : fd(socket(AF_UNIX, SOCK_SEQPACKET, 0)), memory(memfd_create("hostile", 0)), wake(eventfd(0, 0))
	{
		sockaddr_un address = {};

		address.sun_family = AF_UNIX;
		strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
		EXPECT_EQ(0, connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)));
		EXPECT_EQ(0, ftruncate(memory, MIB));
		at = static_cast<uint8_t *>(
			mmap(nullptr, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0));
		Ring(0);
		Ring(2048);
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

	/* @return the type of what the server says */
	unsigned
	Hear()
	{
		uint8_t message[MESSAGE] = {};

		return recv(fd, message, MESSAGE, 0) == ssize_t(MESSAGE) ? message[0] : 0;
	}
	unsigned
	Say(const std::vector<uint8_t> &beginning, const std::vector<int> &descriptors = {})
	{
		uint8_t message[MESSAGE] = {};
		alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))] = {};
		iovec part = {message, MESSAGE};
		msghdr out = {};

		std::copy(beginning.begin(), beginning.end(), message);
		out.msg_iov = &part;
		out.msg_iovlen = 1;
		if (!descriptors.empty()) {
			out.msg_control = control;
			out.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
			cmsghdr *c = CMSG_FIRSTHDR(&out);
			c->cmsg_level = SOL_SOCKET;
			c->cmsg_type = SCM_RIGHTS;
			c->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
			memcpy(CMSG_DATA(c), descriptors.data(), descriptors.size() * sizeof(int));
		}
		EXPECT_EQ(ssize_t(MESSAGE), sendmsg(fd, &out, MSG_NOSIGNAL));
		return Hear();
	}
	/* INIT, a region of 1 MiB, a ring each way, CONNECT. @return whether all was acknowledged */
	bool
	Join()
	{
		return Hear() == HELLO && Say({3, 0, 0, 2}) == ACK &&
		       Say({4, 0, 0, 0, 0, 0, 0x10, 0}, {memory, wake}) == ACK &&
		       Say({5, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6}, {wake, wake, wake}) == ACK &&
		       Say({5, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 6}, {wake}) == ACK &&
		       Say({6, 0}) == CONNECTED;
	}
	/* @p n frames of 60 bytes are in the ring to the server */
	void
	Offer(uint16_t n)
	{
		for (unsigned i = 0; i < n; i++) {
			const uint32_t slot[] = {0, 60, 65536 + i * 2048, 0};

			memcpy(at + 128 + i * sizeof(slot), slot, sizeof(slot));
		}
		__atomic_store_n(reinterpret_cast<uint16_t *>(at + 6), n, __ATOMIC_RELEASE);
	}

	enum { ACK = 1, HELLO, CONNECTED = 7 };
	int fd, memory, wake;

      private:
	void
	Ring(unsigned offset)
	{
		const uint32_t cookie = 0x3e31f20;

		memcpy(at + offset, &cookie, sizeof(cookie));
	}

	uint8_t *at;
};

unsigned
open_descriptors()
{
	unsigned n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

} // namespace

class MemifHostile : public testing::Test
{
      protected:
	const std::string path = scratch_path("hostile");
};

/* a peer that truncates the memory that it shares ends its own link, and not this program */
TEST_F(MemifHostile, MayTakeItsMemoryAway)
{
	Port server("memif:" + path + ",server");

	ASSERT_TRUE(server.Opened()) << server.Message();
	for (int round = 0; round < 3; round++) {
		Client client(path);

		ASSERT_TRUE(client.Join());
		ASSERT_TRUE(server.HasLink());
		client.Offer(3);
		EXPECT_EQ(3u, server.Receive(3).size());
		ASSERT_EQ(0, ftruncate(client.memory, 0));
		server.Receive();
		rte_mbuf *m = MakeMbuf(MakeFrame(0, 60));
		rte_pktmbuf_free_bulk(&m, 1 - server->tx(server.Get(), &m, 1, 0));
		EXPECT_TRUE(server.LosesLink());
	}
	Port good("memif:" + path);
	ASSERT_TRUE(good.Opened() && server.HasLink()) << good.Message();
	ExpectIntact(good, server, 0, 20, 60);
}

/* a server that refuses, or goes in the middle, costs none of our descriptors, 0 least of all */
TEST_F(MemifHostile, RefusesWithoutHarm)
{
	Port server("memif:" + path + ",server,id=1");
	const unsigned before = open_descriptors();

	ASSERT_TRUE(server.Opened()) << server.Message();
	Port client("memif:" + path + ",id=2"); /* an interface that is not there: tried again and again */
	EXPECT_FALSE(client.Opened());
	EXPECT_NE(-1, fcntl(0, F_GETFD)) << "standard input is closed";
	EXPECT_EQ(before, open_descriptors());
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
			before = open_descriptors();
	}
	EXPECT_EQ(before, open_descriptors());
}
