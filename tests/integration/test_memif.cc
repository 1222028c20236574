/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memifs whose peers come and go, at any moment: rings are taken down once, and never while somebody is on
 * them. DPDK's own driver (vdev:net_memif) takes them down in EAL's interrupt thread.
 */
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <spawn.h>
#include <thread>
#include <sys/wait.h>

#include <rte_lcore.h>

#include "port_under_test.h"
#include "slow_teardown.h"

class Memif : public testing::Test
{
      protected:
	void
	SetUp() override
	{
		unmapped_twice = closed_twice = 0;
	}
	void
	TearDown() override
	{
		EXPECT_EQ(0, unmapped_twice);
		EXPECT_EQ(0, closed_twice);
	}
	const std::string path = scratch_path("memif");
};

static void
ExpectEndsToClose(const std::string &first, const std::string &second, int rounds)
{
	for (int round = 0; round < rounds; round++) {
		Port server(first), client(second);

		ASSERT_TRUE(server.Opened()) << server.Message();
		ASSERT_TRUE(client.Opened()) << client.Message();
		ASSERT_TRUE(client.HasLink() && server.HasLink());
		ASSERT_EQ(20u, client.Send(0, 20, 60));
		(round % 2 == 0 ? server : client).Close();
		(round % 2 == 0 ? client : server).Close();
	}
}

TEST_F(Memif, EndsOfOneProcessCloseInAnyOrder)
{
	ExpectEndsToClose("memif:" + path + ",server", "memif:" + path, 100);
}

TEST_F(Memif, EndsOfDpdksDriverDoSo)
{
	const std::string args = "socket-abstract=no,socket=" + path;

	ExpectEndsToClose("vdev:net_memif0,role=server," + args, "vdev:net_memif1,role=client," + args, 20);
}

/* This program once more, with a port open until it is killed */
class Peer
{
      public:
	explicit Peer(const std::string &device)
	{
		const std::string hold = "--hold=" + device;
		const char *const arguments[] = {"/proc/self/exe", hold.c_str(), nullptr};
		posix_spawn_file_actions_t actions;
		int ready[2];
		char is_open;

		if (pipe2(ready, O_CLOEXEC) != 0)
			return;
		posix_spawn_file_actions_init(&actions);
		posix_spawn_file_actions_adddup2(&actions, ready[1], STDOUT_FILENO);
		posix_spawn(&pid, arguments[0], &actions, nullptr, const_cast<char *const *>(arguments),
			    environ);
		posix_spawn_file_actions_destroy(&actions);
		close(ready[1]);
		open = read(ready[0], &is_open, 1) == 1;
		close(ready[0]);
	}
	~Peer()
	{
		Kill();
		waitpid(pid, nullptr, 0);
	}
	Peer(const Peer &) = delete;
	Peer &operator=(const Peer &) = delete;

	void
	Kill()
	{
		kill(pid, SIGKILL);
	}
	bool open = false;

      private:
	pid_t pid = -1;
};

TEST_F(Memif, ClosesWhileItsPeerDies)
{
	for (int round = 0; round < 4; round++) {
		Port server("memif:" + path + ",server");
		ASSERT_TRUE(server.Opened()) << server.Message();
		Peer peer("memif:" + path);
		ASSERT_TRUE(peer.open && server.HasLink());
		peer.Kill();
		usleep(round * SLOW_US / 3);
		server.Close();
	}
	for (int round = 0; round < 4; round++) {
		Peer peer("memif:" + path + ",server");
		ASSERT_TRUE(peer.open);
		Port client("memif:" + path);
		ASSERT_TRUE(client.Opened()) << client.Message();
		peer.Kill();
		usleep(round * SLOW_US / 3);
		client.Close();
	}
	unlink(path.c_str());
}

/* An lcore that is on the rings in the very moment in which the peer dies, again and again */
TEST_F(Memif, IsPolledWhileItsPeerDies)
{
	Port server("memif:" + path + ",server");
	std::atomic<bool> done{false};

	ASSERT_TRUE(server.Opened()) << server.Message();
	std::thread lcore([&] {
		rte_mbuf *burst[32];

		rte_thread_register();
		while (!done)
			if (rte_pktmbuf_alloc_bulk(frames, burst, 32) == 0) {
				for (rte_mbuf *m : burst)
					rte_pktmbuf_append(m, 1514);
				uint16_t sent = server->tx(server.Get(), burst, 32, 0);
				rte_pktmbuf_free_bulk(burst + sent, 32 - sent);
				rte_pktmbuf_free_bulk(burst, server->rx(server.Get(), burst, 32, 0));
			}
		rte_thread_unregister();
	});
	for (int round = 0; round < 10; round++) {
		Peer peer("memif:" + path);

		EXPECT_TRUE(peer.open && server.HasLink());
		peer.Kill();
		EXPECT_TRUE(server.LosesLink());
	}
	done = true;
	lcore.join();
	EXPECT_EQ(19u, server.Counters().link_changes) << "coming up first is none";
}
