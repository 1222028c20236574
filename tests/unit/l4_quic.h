/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Applications over QUIC, between two workers and a path of 200 Mbit/s and 2 ms each way that loses, delays
 * and duplicates as a seed says, and tells what it did.
 */
#ifndef L4_QUIC_H
#define L4_QUIC_H

#include "l4_wire.h"

namespace l4
{

/* where in a frame the UDP payload begins */
const size_t DATAGRAM = 42;

/* the frame was changed: it has no UDP checksum any more, which IPv4 allows */
inline void
WithoutChecksum(std::vector<uint8_t> &frame)
{
	frame[DATAGRAM - 2] = frame[DATAGRAM - 1] = 0;
}

inline fg_quic_config
Quic(bool server)
{
	fg_quic_config c = {};

	c.tls.server = server;
	c.tls.seeded = true;
	c.tls.seed = 7;
	c.tls.ciphers = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
	c.tls.groups = "X25519:P-256";
	c.tls.certificate = server ? "ed25519" : nullptr;
	c.tls.server_name = "fg.test";
	c.tls.verify = !server;
	c.congestion = FG_QUIC_CUBIC;
	c.max_datagram = 1452;
	c.ack_every = 2;
	c.window = c.stream_window = 16 << 20;
	c.initial_rtt_ns = 333 * ms;
	c.idle_ns = 30 * second;
	c.handshake_ns = 10 * second;
	c.handshakes_at_once = 256;
	c.streams = 256;
	c.port_first = 10000;
	c.port_last = 60000;
	return c;
}

struct QuicOptions {
	double loss = 0, reorder = 0, duplicate = 0;
	uint64_t delay = 2 * ms; /* each way */
	uint64_t seed = 1;
	uint64_t stop = second;
	uint64_t look = 301 * second;           /* since the start: nothing happens any more */
	uint32_t connections[2] = {1024, 1024}; /* that each side has room for */
	bool server = true;                     /* there is one */
	std::function<void(fg_quic_config &client, fg_quic_config &server)> set;
	/* may change each frame; `server` is the one of them */
	std::function<void(fg_l4 *server, unsigned from, std::vector<uint8_t> &frame)> change;
	/* sees each frame before the path does; false: it is lost */
	std::function<bool(unsigned from, std::vector<uint8_t> &frame)> path;
};

class QuicPair : public Line
{
      public:
	QuicPair(fg_l4_app client, const QuicOptions &options) : Line(options.seed), o(options)
	{
		fg_quic_config quic[2] = {Quic(false), Quic(true)};
		fg_l4_app apps[2] = {client, ServerOf(client)};

		if (strcmp(client.kind, "HTTP3") == 0)
			quic[0].tls.alpn = quic[1].tls.alpn = "h3";
		if (o.set)
			o.set(quic[0], quic[1]);
		max_lag = ms;
		delay = o.delay;
		loss = o.loss;
		reorder = o.reorder;
		duplicate = o.duplicate;
		sees = [this](unsigned from, uint64_t, std::vector<uint8_t> &frame) {
			if (o.change)
				o.change(l4[1], from, frame);
			return (from == 1 || o.server) && (!o.path || o.path(from, frame));
		};
		for (unsigned i : {0, 1}) {
			apps[i].quic = &quic[i];
			Create(i, apps[i], o.connections[i], second + o.stop);
		}
		Run(second + o.look);
		for (unsigned i : {0, 1}) {
			fg_l4_read(l4[i], 0, &result[i]);
			fg_l4_read_counters(l4[i], &counters[i]);
		}
	}
	void
	ExpectNoFaults() const
	{
		for (unsigned i : {0, 1}) {
			EXPECT_EQ(0u, counters[i].wrong_octets) << i;
			EXPECT_EQ(0u, counters[i].no_secrets + counters[i].table_full) << i;
			EXPECT_EQ(0u, fg_l4_open(l4[i])) << i;
			EXPECT_EQ(0u, result[i].quic.tally.failed) << result[i].quic.reason;
			EXPECT_EQ(0u, result[i].quic.tally.closed_with_error_out) << result[i].quic.reason;
			EXPECT_EQ(0u, result[i].quic.tally.closed_with_error_in) << result[i].quic.reason;
			EXPECT_EQ(result[i].total.opened, result[i].total.ended[FG_L4_END_CLOSED]) << i;
		}
	}
	const fg_quic_tally &
	Tally(unsigned i) const
	{
		return result[i].quic.tally;
	}

	fg_l4_result result[2];
	fg_l4_counters counters[2];

      private:
	QuicOptions o;
};

} /* namespace l4 */

#endif
