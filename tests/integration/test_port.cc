/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports over DPDK's own devices: frames sent through one must come out of the other as they were. Needs
 * neither root nor huge pages.
 */
#include <cerrno>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

#include <rte_ethdev.h>
#include <rte_launch.h>

#include "fg_host.h"
#include "fg_tsc.h"
#include "port_under_test.h"

/* what drivers call, for which DPDK installs no header */
extern "C" rte_eth_dev *rte_eth_dev_allocated(const char *name);
extern "C" int rte_eth_dev_callback_process(rte_eth_dev *dev, rte_eth_event_type event, void *unused);

TEST(Host, StartsOnceAndHasAWorker)
{
	fg_host_config config = {};
	fg_lcore_info lcore;

	EXPECT_EQ(0, fg_host_start(&config, nullptr));
	ASSERT_GE(fg_host_lcores(&lcore, 1), 1u);
	EXPECT_GE(lcore.cpu, 0);
	EXPECT_GE(lcore.node, 0);
}

int
scheduling(void *wanted)
{
	struct sched_param none = {};

	if (wanted != nullptr)
		sched_setscheduler(0, SCHED_OTHER, &none);
	return sched_getscheduler(0);
}

int
on_worker(unsigned id, bool reset)
{
	rte_eal_remote_launch(scheduling, reset ? &id : nullptr, id);
	return rte_eal_wait_lcore(id);
}

TEST(Host, GivesItsWorkersRealTimePriority)
{
	fg_lcore_info lcore;
	fg_error err = {};
	int rc, before = sched_getscheduler(0);

	ASSERT_GE(fg_host_lcores(&lcore, 1), 1u);
	rc = fg_host_realtime(&err);
	if (rc == -EPERM)
		GTEST_SKIP() << err.message;
	ASSERT_EQ(0, rc) << err.message;
	EXPECT_EQ(SCHED_FIFO, on_worker(lcore.id, false));
	EXPECT_EQ(SCHED_OTHER, on_worker(lcore.id, true)) << "for the other tests";
	EXPECT_EQ(before, sched_getscheduler(0)) << "control stays what it was";
}

/* how far apart the two clocks may have been looked at, relative to the time between two looks */
double
looks_ppm(const fg_tsc &a, const fg_tsc &b)
{
	return a.error_ppm + b.error_ppm + 100.0 / double(b.clock_ns - a.clock_ns) * 1e6;
}

TEST(Tsc, KnowsHowFastTheCounterRuns)
{
	fg_tsc a, b;
	double hz;

	fg_tsc_measure(&a);
	usleep(300000);
	fg_tsc_measure(&b);
	hz = double(b.ticks - a.ticks) * 1e9 / double(b.clock_ns - a.clock_ns);
	EXPECT_NEAR(1, b.hz / hz, looks_ppm(a, b) * 1e-6);
	EXPECT_GT(b.error_ppm, 0);
}

TEST(Vdev, NullDeviceTakesAndGives)
{
	Port port("vdev:net_null0,size=64");

	ASSERT_TRUE(port.Opened()) << port.Message();
	EXPECT_STREQ("net_null", port->caps.driver);
	EXPECT_FALSE(port->caps.physical);
	EXPECT_EQ(0u, port->caps.line_rate_bps);
	EXPECT_FALSE(port->caps.rx_timestamp);
	EXPECT_EQ(1518u, port->caps.max_frame);
	EXPECT_TRUE(port.HasLink());
	EXPECT_EQ(100u, port.Send(0, 100, 60));
	EXPECT_EQ(100u, port.Counters().tx_frames);
}

TEST(Vdev, RingGivesBackWhatItTook)
{
	Port port("vdev:net_ring0");

	ASSERT_TRUE(port.Opened()) << port.Message();
	ExpectIntact(port, port, 0, 500, 60);
	EXPECT_EQ(500u, port.Counters().rx_frames);
}

TEST(Vdev, SeesALinkThatComesBackWithinTwoLooks)
{
	Port port("vdev:net_ring2");
	uint16_t id;

	ASSERT_TRUE(port.Opened()) << port.Message();
	ASSERT_EQ(0, rte_eth_dev_get_port_by_name("net_ring2", &id));
	EXPECT_TRUE(port.HasLink());
	ASSERT_EQ(0u, port.Counters().link_changes);
	ASSERT_EQ(0, rte_eth_dev_set_link_down(id));
	EXPECT_FALSE(port->ops->link_up(port.operator->()));
	EXPECT_FALSE(port->ops->link_up(port.operator->())) << "and still so: no change";
	ASSERT_EQ(0, rte_eth_dev_set_link_up(id));
	EXPECT_TRUE(port->ops->link_up(port.operator->()));
	EXPECT_EQ(2u, port.Counters().link_changes);
}

TEST(Vdev, CountsAnOutageThatOnlyTheDriverSaw)
{
	Port port("vdev:net_ring4");
	uint16_t id;

	ASSERT_TRUE(port.Opened()) << port.Message();
	rte_eth_dev *device = rte_eth_dev_allocated("net_ring4");
	ASSERT_NE(nullptr, device);
	const auto tell = [&] { rte_eth_dev_callback_process(device, RTE_ETH_EVENT_INTR_LSC, nullptr); };

	ASSERT_EQ(0, rte_eth_dev_get_port_by_name("net_ring4", &id));
	EXPECT_TRUE(port.HasLink());
	ASSERT_EQ(0u, port.Counters().link_changes) << "coming up first is none";
	tell(); // down, and up again before anybody looks
	tell();
	EXPECT_EQ(2u, port.Counters().link_changes);
	ASSERT_EQ(0, rte_eth_dev_set_link_down(id));
	tell();
	EXPECT_EQ(3u, port.Counters().link_changes) << "a change that is told and seen is one";
}

TEST(Vdev, LargerFramesOnRequest)
{
	Port port("vdev:net_ring1", 9018);

	ASSERT_TRUE(port.Opened()) << port.Message();
	EXPECT_EQ(9018u, port->caps.max_frame);
}

TEST(Vdev, RefusesWhatIsNone)
{
	Port first("vdev:net_null5");

	ASSERT_TRUE(first.Opened()) << first.Message();
	ExpectRefusal("vdev:net_null5", EBUSY, "open as a port already");
	ExpectRefusal("vdev:net_nonsense0", ENODEV, "no driver takes it");
	ExpectRefusal("wire0", EINVAL, "virtual wire");
	ExpectRefusal("eth0", EINVAL, "is not a device");
	ExpectRefusal("0000:ff:1f.7", ENODEV, "no PCI device 0000:ff:1f.7");
}

TEST(Pools, AreFreedWhenAllFramesAreBack)
{
	rte_mempool *pool = rte_pktmbuf_pool_create("held", 63, 0, 0, 256, SOCKET_ID_ANY);
	rte_mbuf *held;

	ASSERT_NE(nullptr, pool);
	held = rte_pktmbuf_alloc(pool);
	fg_port_pool_free(pool);
	{
		Port port("vdev:net_null6");
		ASSERT_TRUE(port.Opened()) << port.Message();
	}
	ASSERT_EQ(pool, rte_mempool_lookup("held")) << "a card has a frame of it";
	rte_pktmbuf_free(held); /* as a driver does when its port is closed */
	{
		Port port("vdev:net_null7");
		ASSERT_TRUE(port.Opened()) << port.Message();
	}
	EXPECT_EQ(nullptr, rte_mempool_lookup("held"));
	pool = rte_pktmbuf_pool_create("whole", 63, 0, 0, 256, SOCKET_ID_ANY);
	fg_port_pool_free(pool);
	EXPECT_EQ(nullptr, rte_mempool_lookup("whole"));
	fg_port_pool_free(nullptr);
}

TEST(Queues, AreApart)
{
	Port port("vdev:net_ring2", 0, 3);

	ASSERT_TRUE(port.Opened()) << port.Message();
	EXPECT_EQ(3u, port->queues);
	EXPECT_STREQ("east", fg_port_lane(port.Get(), 2)->name);
	for (unsigned queue : {2, 0, 1}) {
		port.queue = queue;
		ASSERT_EQ(100u, port.Send(1000 * queue, 100, 60));
	}
	for (unsigned queue : {0, 1, 2}) {
		uint32_t number = 1000 * queue;

		port.queue = queue;
		for (const Frame &frame : port.Receive(100))
			ASSERT_EQ(MakeFrame(number++, 60), frame);
		EXPECT_EQ(1000 * queue + 100, number);
	}
	EXPECT_EQ(300u, port.Counters().rx_frames);
	EXPECT_EQ(300u, port.Counters().tx_frames);
}

TEST(Queues, OfMemifsMeetInPairs)
{
	const std::string path = scratch_path("queues");
	Port server("memif:" + path + ",server", 0, 3), client("memif:" + path, 0, 3);

	ASSERT_TRUE(server.Opened()) << server.Message();
	ASSERT_TRUE(client.Opened()) << client.Message();
	ASSERT_TRUE(client.HasLink() && server.HasLink());
	for (unsigned queue : {0, 1, 2}) {
		client.queue = server.queue = queue;
		EXPECT_TRUE(client.Receive().empty()); /* and gives the server room to write */
		ExpectIntact(client, server, 100 * queue, 50, 60);
		ExpectIntact(server, client, 200 * queue, 50, 60);
	}
	client.Close();
	EXPECT_TRUE(server.LosesLink());
}

TEST(Queues, AreRefusedWhereThereAreNone)
{
	const std::string path = scratch_path("no-queues");

	ExpectRefusal("vdev:net_ring3", ERANGE, "17 queues: at most 16", 17);
	ExpectRefusal("vdev:net_pcap3,tx_pcap=" + path, ERANGE, "2 queues: vdev:net_pcap3", 2);
	ExpectRefusal("pcap:," + path, ERANGE, "2 queues: pcap:," + path + " has 1", 2);
	ExpectRefusal("kernel:lo", ERANGE, "2 queues: kernel:lo has 1", 2);
	unlink(path.c_str());
}

TEST(Memif, CarriesFramesBothWays)
{
	const std::string path = scratch_path("pair");
	Port server("memif:" + path + ",server"), client("memif:" + path);

	ASSERT_TRUE(server.Opened()) << server.Message();
	ASSERT_TRUE(client.Opened()) << client.Message();
	ASSERT_TRUE(client.HasLink()) << client.Message();
	ASSERT_TRUE(server.HasLink()) << server.Message();
	EXPECT_TRUE(client.Receive().empty()); /* only a client that polls gives the server room to write */
	for (size_t length : {60, 61, 508, 1514}) {
		ExpectIntact(client, server, 0, 300, length);
		ExpectIntact(server, client, 1000, 300, length);
	}
	EXPECT_EQ(0u, client.Counters().link_changes);
	EXPECT_FALSE(client->caps.physical);
	server.Close();
	EXPECT_TRUE(client.LosesLink());
	EXPECT_EQ(1u, client.Counters().link_changes);
	client.Close();
	EXPECT_NE(0, access(path.c_str(), F_OK)) << "the server's socket stays behind";
}

TEST(Memif, TellsWhoIsMissingOrInTheWay)
{
	const std::string path = scratch_path("way");

	ExpectRefusal("memif:" + path, ENOENT, "start the other side first");
	close(open(path.c_str(), O_CREAT | O_WRONLY, 0600));
	ExpectRefusal("memif:" + path + ",server", EEXIST, "is no socket");
	unlink(path.c_str());
	Port server("memif:" + path + ",server");
	ASSERT_TRUE(server.Opened()) << server.Message();
	ExpectRefusal("memif:" + path + ",server", EBUSY, "listens");
}

TEST(Pcap, ReadsBackWhatItWrote)
{
	const std::string path = scratch_path("capture");
	Port out("pcap:," + path);

	ASSERT_TRUE(out.Opened()) << out.Message();
	EXPECT_EQ(50u, out.Send(7, 50, 124));
	out.Close();

	Port in("pcap:" + path);
	uint32_t number = 7;
	ASSERT_TRUE(in.Opened()) << in.Message();
	for (const Frame &frame : in.Receive(50))
		ASSERT_EQ(MakeFrame(number++, 124), frame);
	EXPECT_EQ(57u, number);
	EXPECT_EQ(10u, in.Send(0, 10, 60)) << "what is sent is dropped";
	unlink(path.c_str());
	ExpectRefusal("pcap:" + path, ENOENT, "cannot be read");
	ASSERT_EQ(0, mkfifo(path.c_str(), 0600));
	for (const char *way : {"pcap:", "pcap:,"}) /* with nobody at its other end */
		ExpectRefusal(way + path, EINVAL, path + " is a pipe; expected a file");
	unlink(path.c_str());
}

/* trial after trial needs the same one */
TEST(Pool, IsTakenAgainWhereItIsLikeTheWantedOneAndWhole)
{
	rte_mempool *pool = fg_port_pool_take(63, 0, 2048, SOCKET_ID_ANY), *other;
	rte_mbuf *out = rte_pktmbuf_alloc(pool);
	char name[RTE_MEMPOOL_NAMESIZE];

	strcpy(name, pool->name);
	fg_port_pool_keep(pool);
	other = fg_port_pool_take(63, 0, 2048, SOCKET_ID_ANY);
	EXPECT_NE(pool, other) << "a card still holds one of its buffers";
	rte_pktmbuf_free(out);
	pool = fg_port_pool_take(63, 0, 2048, SOCKET_ID_ANY);
	EXPECT_STREQ(name, pool->name) << "a new one may have the address of one that was freed";
	fg_port_pool_keep(pool);
	fg_port_pool_keep(other);
	other = fg_port_pool_take(63, 0, 4096, SOCKET_ID_ANY);
	EXPECT_EQ(4096, rte_pktmbuf_data_room_size(other));
	EXPECT_EQ(nullptr, rte_mempool_lookup(name)) << "its memory may be what another one needs";
	fg_port_pool_keep(other);
	strcpy(name, other->name);
	fg_port_pools_sweep();
	EXPECT_EQ(nullptr, rte_mempool_lookup(name));
}
