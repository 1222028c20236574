/* SPDX-License-Identifier: BSD-3-Clause */
/* Which frames of a port are its endpoint's. */
#include <vector>

#include <rte_mbuf.h>

#include <gtest/gtest.h>

#include "fg_endpoint.h"
#include "fg_endpoint_port.h"
#include "fg_port.h"
#include "fg_task.h"
#include "net_frames.h"

namespace
{

using namespace frames;

struct Endpoint : fg_endpoint {
	std::vector<Bytes> got;
	uint64_t passed = 0;

	Endpoint() : fg_endpoint{}
	{
		input = [](fg_endpoint *e, const fg_arrival *in, unsigned n, fg_burst *) {
			for (unsigned i = 0; i < n; i++) {
				static_cast<Endpoint *>(e)->got.push_back(
					Bytes(in[i].frame, in[i].frame + in[i].length));
				static_cast<Endpoint *>(e)->passed = in[i].passed;
			}
		};
		poll = [](fg_endpoint *, uint64_t, fg_burst *) { return UINT64_MAX; };
	}
};

struct EndpointPort : testing::Test {
	EndpointPort()
	{
		const fg_endpoint_port_config config = {&port, &endpoint, 1518, 0, 0};

		port.caps.numa_node = SOCKET_ID_ANY;
		pool = rte_pktmbuf_pool_create("frames", 63, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
		EXPECT_NE(nullptr, pool);
		EXPECT_EQ(0, fg_endpoint_port_create(&config, &e, nullptr));
	}
	~EndpointPort()
	{
		fg_endpoint_port_free(e);
		EXPECT_EQ(0u, rte_mempool_in_use_count(pool)) << "buffers have leaked";
		rte_mempool_free(pool);
	}
	bool
	Takes(const Bytes &frame, const Bytes &inside = {})
	{
		fg_sink *sink = fg_endpoint_port_sink(e);
		fg_task *task = fg_endpoint_port_task(e);
		rte_mbuf *m = rte_pktmbuf_alloc(pool);

		memcpy(rte_pktmbuf_append(m, uint16_t(frame.size())), frame.data(), frame.size());
		endpoint.got.clear();
		if (!sink->take(sink, m, 0)) {
			rte_pktmbuf_free(m);
			return false;
		}
		task->publish(task, 0);
		EXPECT_EQ(std::vector<Bytes>{inside.empty() ? frame : inside}, endpoint.got);
		return true;
	}

	fg_port port = {};
	Endpoint endpoint;
	fg_endpoint_port *e = nullptr;
	rte_mempool *pool;
};

Bytes
ipv4(uint8_t protocol, uint8_t type = 0)
{
	Bytes b = icmp(type, host_mac, peer_mac, host_ipv4, peer_ipv4);

	b[23] = protocol;
	return b;
}

Bytes
ipv6(uint8_t protocol, uint8_t type = 0)
{
	Bytes b = icmpv6(host_mac, peer_mac, host_ipv6, peer_ipv6, Bytes{type, 0, 0, 0, 0, 0, 5, 0});

	b[20] = protocol;
	return b;
}

TEST_F(EndpointPort, GetsTcpUdpAndWhatRoutersReportOfThem)
{
	const uint8_t icmp4 = 1, tcp = 6, udp = 17, icmp6 = 58, unreachable = 3, too_big = 2;

	for (uint8_t protocol : {tcp, udp}) {
		EXPECT_TRUE(Takes(ipv4(protocol)));
		EXPECT_TRUE(Takes(ipv6(protocol)));
	}
	EXPECT_TRUE(Takes(ipv4(icmp4, unreachable)));
	EXPECT_TRUE(Takes(ipv6(icmp6, too_big))) << "RFC 8201 needs it";
	EXPECT_TRUE(Takes(ipv6(icmp6, 1))) << "destination unreachable (RFC 4443, 3.1)";
	EXPECT_FALSE(Takes(ipv4(icmp4, 8)));
	EXPECT_FALSE(Takes(ipv6(icmp6, 128)));
	EXPECT_FALSE(Takes(arp(1, peer_mac, peer_ipv4, Mac{}, host_ipv4)));
}

/* what it does not take is the responder's: a port that pings others can still be pinged */
TEST_F(EndpointPort, GetsTheEchoRequestsOfAServerAndTheRepliesOfAClient)
{
	endpoint.echo_requests = true;
	EXPECT_TRUE(Takes(ipv4(1, 8)));
	EXPECT_TRUE(Takes(ipv6(58, 128)));
	EXPECT_FALSE(Takes(ipv4(1, 0)));
	EXPECT_FALSE(Takes(ipv6(58, 129)));
	endpoint.echo_requests = false;
	endpoint.echo_replies = true;
	EXPECT_FALSE(Takes(ipv4(1, 8)));
	EXPECT_FALSE(Takes(ipv6(58, 128)));
	EXPECT_TRUE(Takes(ipv4(1, 0)));
	EXPECT_TRUE(Takes(ipv6(58, 129)));
}

TEST_F(EndpointPort, TakesAPriorityTagForNone)
{
	Bytes plain = ipv4(6), tagged = plain, other;

	tagged.insert(tagged.begin() + 12, {0x81, 0, 0x60, 0});
	other = tagged;
	other[15] = 7;
	EXPECT_TRUE(Takes(tagged, plain));
	EXPECT_FALSE(Takes(other)) << "of VLAN 7";
}

/* a peer asks how many frames of its service came: frames of another VLAN do not count */
TEST_F(EndpointPort, CountsFramesForNobodyOfItsOwnVlanAlone)
{
	const Bytes plain = arp(1, peer_mac, peer_ipv4, Mac{}, host_ipv4);
	Bytes priority = plain, other;

	priority.insert(priority.begin() + 12, {0x81, 0, 0x60, 0});
	other = priority;
	other[15] = 7;
	for (const Bytes &frame : {plain, priority, other, other})
		EXPECT_FALSE(Takes(frame));
	EXPECT_TRUE(Takes(ipv4(6)));
	EXPECT_EQ(2u, endpoint.passed);
}

} // namespace
