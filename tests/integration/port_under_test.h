/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of ports over real drivers share: frames that differ, and a port that closes itself. */
#ifndef PORT_UNDER_TEST_H
#define PORT_UNDER_TEST_H

#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "fg_port.h"
#include "scratch_folder.h"

extern rte_mempool *frames; /* what is sent comes from here */

using Frame = std::vector<uint8_t>;

/* Not IP, so that no kernel on the way answers; every byte depends on the number */
inline Frame
MakeFrame(uint32_t number, size_t length)
{
	Frame frame(length);

	for (size_t i = 0; i < length; i++)
		frame[i] = (uint8_t)(number * 31 + i);
	memcpy(frame.data(), "\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x88\xb5", 14);
	memcpy(frame.data() + 14, &number, sizeof(number));
	return frame;
}

inline rte_mbuf *
MakeMbuf(const Frame &frame)
{
	rte_mbuf *m = rte_pktmbuf_alloc(frames);

	if (m != nullptr)
		memcpy(rte_pktmbuf_append(m, (uint16_t)frame.size()), frame.data(), frame.size());
	return m;
}

/* A port that closes itself */
class Port
{
      public:
	explicit Port(const std::string &device, uint32_t max_frame = 0, unsigned queues = 0)
	{
		fg_port_config config = {};

		config.name = "east";
		config.device = device.c_str();
		config.max_frame = max_frame;
		config.queues = queues;
		status = fg_port_open(&config, &port, &err);
	}
	~Port()
	{
		Close();
	}
	Port(const Port &) = delete;
	Port &operator=(const Port &) = delete;

	void
	Close()
	{
		fg_port_close(port);
		port = nullptr;
	}
	fg_port *
	operator->() const
	{
		return port;
	}
	fg_port *
	Get() const
	{
		return port;
	}
	bool
	Opened() const
	{
		return status == 0;
	}
	std::string
	Message() const
	{
		return std::string(err.where) + ": " + err.message;
	}
	fg_port_counters
	Counters() const
	{
		fg_port_counters counters;

		port->ops->counters(port, &counters);
		return counters;
	}
	bool
	HasLink()
	{
		return fg_port_wait_link(port, patience_ms, &err) == 0;
	}

	bool
	LosesLink()
	{
		uint64_t end = In(patience_ms);

		while (port->ops->link_up(port) && rte_get_tsc_cycles() < end)
			usleep(1000);
		return !port->ops->link_up(port);
	}

	/* Frames first..first+n-1; gives up when none is taken for a minute */
	uint32_t
	Send(uint32_t first, uint32_t n, size_t length)
	{
		uint64_t end = In(patience_ms);
		fg_port *lane = fg_port_lane(port, queue);
		uint32_t sent = 0;

		while (sent < n && rte_get_tsc_cycles() < end) {
			rte_mbuf *m = MakeMbuf(MakeFrame(first + sent, length));

			if (m == nullptr)
				break;
			if (lane->tx(lane, &m, 1, rte_get_tsc_cycles()) == 1) {
				sent++;
				end = In(patience_ms);
			} else {
				rte_pktmbuf_free(m);
			}
		}
		return sent;
	}

	/* What has come when a fifth of a second passed without another, or a minute while fewer than
	 * @p expected have come: their sender may wait for a processor */
	std::vector<Frame>
	Receive(size_t expected = 0)
	{
		std::vector<Frame> got;
		fg_port *lane = fg_port_lane(port, queue);
		uint64_t end = In(expected > 0 ? patience_ms : 200);

		while (rte_get_tsc_cycles() < end) {
			rte_mbuf *burst[32];
			uint16_t n = lane->rx(lane, burst, 32, rte_get_tsc_cycles());

			for (uint16_t i = 0; i < n; i++) {
				const uint8_t *data = rte_pktmbuf_mtod(burst[i], const uint8_t *);

				got.emplace_back(data, data + rte_pktmbuf_data_len(burst[i]));
				rte_pktmbuf_free(burst[i]);
			}
			if (n > 0)
				end = In(got.size() < expected ? patience_ms : 200);
		}
		return got;
	}

	int status;
	fg_error err = {};
	unsigned queue = 0; /* that Send() and Receive() use */

      private:
	static constexpr unsigned patience_ms = 60000;

	static uint64_t
	In(unsigned ms)
	{
		return rte_get_tsc_cycles() + rte_get_tsc_hz() / 1000 * ms;
	}

	fg_port *port = nullptr;
};

/* Frames first.. of a length, sent by one and received by the other as they were, in order */
inline void
ExpectIntact(Port &from, Port &to, uint32_t first, uint32_t n, size_t length)
{
	uint32_t number = first;

	ASSERT_EQ(n, from.Send(first, n, length));
	for (const Frame &frame : to.Receive(n))
		ASSERT_EQ(MakeFrame(number++, length), frame) << "length " << length;
	EXPECT_EQ(first + n, number) << "length " << length;
}

inline void
ExpectRefusal(const std::string &device, int code, const std::string &words, unsigned queues = 0)
{
	Port port(device, 0, queues);
	const char *key = code == ERANGE ? "queues" : "device";

	EXPECT_EQ(-code, port.status) << device << ": " << strerror(-port.status);
	EXPECT_NE(std::string::npos, port.Message().find(words)) << port.Message();
	EXPECT_EQ(0u, port.Message().find(std::string("ports.east.") + key + ": ")) << port.Message();
}

#endif
