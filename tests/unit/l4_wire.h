/* SPDX-License-Identifier: BSD-3-Clause */
/* A client and a server, each a worker of its own, and a wire of known length between them. */
#ifndef L4_WIRE_H
#define L4_WIRE_H

extern "C" {
#include "fg_checksum.h"
}
#include "l4_line.h"

namespace l4
{
inline fg_l4_app
Client(const char *kind)
{
	fg_l4_app a = {};

	a.kind = kind;
	a.locals = a.remotes = 1;
	memcpy(a.local, "\xc6\x12\0\1", 4);
	memcpy(a.remote, "\xc6\x13\0\1", 4);
	a.port = 5001;
	a.port_first = 10000;
	a.port_last = 60000;
	a.connections = 1;
	a.request = a.response = 1;
	a.datagram = 1000;
	a.timeout_ns = second;
	fg_l4_tcp_defaults(&a.tcp);
	return a;
}

inline fg_l4_app
ServerOf(const fg_l4_app &client)
{
	fg_l4_app a = client;

	a.server = true;
	memcpy(a.local, client.remote, 16);
	a.locals = client.remotes;
	return a;
}

/* 10 Mbit/s and 1 ms each way; whatever the line cannot take now waits */
class Wire : public Line
{
      public:
	explicit Wire(const fg_l4_app &client, uint64_t stop = 2 * second, uint64_t omit = 0,
		      uint64_t interval = 0, bool cuts = false)
	    : Wire(client, ServerOf(client), stop, omit, interval, cuts)
	{
	}
	Wire(const fg_l4_app &client, const fg_l4_app &server, uint64_t stop = 2 * second, uint64_t omit = 0,
	     uint64_t interval = 0, bool cuts = false)
	{
		const fg_l4_app apps[2] = {client, server};

		ns_per_octet = 800;
		gap = 24;
		delay = ms;
		ring = 2 * ms; /* a NIC's */
		capacity = 65400;
		burst.cuts = checked = cuts;
		sees = [this](unsigned from, uint64_t now, std::vector<uint8_t> &frame) {
			if (burst.segment[0] != 0)
				ExpectSegments(frame);
			if (from == 0)
				last_frame = now - second;
			return true;
		};
		max_lag = ms;
		for (unsigned i : {0, 1})
			Create(i, apps[i], 4096, second + stop, omit, interval);
		Run(second + stop + 10 * second);
	}

	fg_l4_result
	Client() const
	{
		return Result(0);
	}
	fg_l4_result
	Server() const
	{
		return Result(1);
	}
	void
	ExpectNoFaults() const
	{
		for (unsigned i : {0, 1}) {
			fg_l4_counters c;

			fg_l4_read_counters(l4[i], &c);
			EXPECT_EQ(0u, c.wrong_octets);
			EXPECT_EQ(0u, c.rx_bad_checksum + c.rx_malformed + c.no_connection + c.table_full);
			EXPECT_EQ(0u, fg_l4_open(l4[i]));
		}
	}

	unsigned cut = 0;        /* frames that were left to the port to cut */
	uint64_t last_frame = 0; /* when the client sent it, since the start */

      private:
	fg_l4_result
	Result(unsigned i) const
	{
		fg_l4_result r;

		fg_l4_read(l4[i], 0, &r);
		return r;
	}
	/* as they are to be cut: full ones of 1448 bytes, and the sum of the pseudo-header alone */
	void
	ExpectSegments(const std::vector<uint8_t> &frame)
	{
		uint64_t sum = fg_checksum_pseudo4((const fg_ipv4 *)&frame[14], 6, frame.size() - 34);
		uint16_t expected = ~fg_checksum_finish(sum), checksum;

		memcpy(&checksum, &frame[50], 2);
		EXPECT_EQ(expected, checksum);
		EXPECT_EQ(1448u, burst.segment[0]);
		EXPECT_EQ(0u, (frame.size() - 66) % 1448);
		EXPECT_LT(1448u, frame.size() - 66);
		cut++;
	}
};

} /* namespace l4 */

#endif
