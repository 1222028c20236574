/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a memif. Whichever end goes first, the driver notices it in EAL's interrupt thread and takes the rings of
 * the other down there, at any moment; we take them down when a port is closed. Never may both do so.
 */
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>

#include "port_under_test.h"
#include "slow_teardown.h"

rte_mempool *frames;

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
	const std::string path = Scratch("memif");
};

TEST_F(Memif, EndsOfOneProcessCloseInAnyOrder)
{
	for (int round = 0; round < 20; round++) {
		Port server("memif:" + path + ",server"), client("memif:" + path);

		ASSERT_TRUE(server.Opened()) << server.Message();
		ASSERT_TRUE(client.Opened()) << client.Message();
		ASSERT_TRUE(client.HasLink() && server.HasLink());
		ASSERT_EQ(20u, client.Send(0, 20, 60));
		(round % 2 == 0 ? server : client).Close();
		(round % 2 == 0 ? client : server).Close();
	}
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

/* Say that the port is open with one character, and keep it so until killed */
static int
Hold(const std::string &device)
{
	Port port(device);

	if (!port.Opened() || write(STDOUT_FILENO, ".", 1) != 1)
		return 1;
	pause();
	return 0;
}

int
main(int argc, char **argv)
{
	fg_host_config config = {};
	fg_error err = {};

	testing::InitGoogleTest(&argc, argv);
	config.huge_pages = 1;
	config.memory_mb = 128;
	if (fg_host_start(&config, &err) != 0) {
		fprintf(stderr, "%s: %s\n", err.where, err.message);
		return 1;
	}
	if (argc == 2 && strncmp(argv[1], "--hold=", 7) == 0)
		return Hold(argv[1] + 7);
	frames = rte_pktmbuf_pool_create("frames", 4095, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	return frames == nullptr ? 1 : RUN_ALL_TESTS();
}
