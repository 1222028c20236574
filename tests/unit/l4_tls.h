/* SPDX-License-Identifier: BSD-3-Clause */
/* An application over TLS over TCP, between two workers. */
#ifndef L4_TLS_H
#define L4_TLS_H

#include "l4_wire.h"

namespace l4
{
const char *const ALL =
	"TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305";

inline fg_secure_config
Tls(bool server, uint16_t version)
{
	fg_secure_config c = {};

	c.tls.server = server;
	c.tls.oldest = c.tls.newest = version;
	c.tls.seeded = true;
	c.tls.seed = 7;
	c.tls.ciphers = ALL;
	c.tls.groups = "X25519:P-256";
	c.tls.certificate = server ? "p256" : nullptr;
	c.tls.server_name = "fg.test";
	c.tls.verify = !server;
	c.record = 16384;
	c.hold = 8 << 20;
	c.handshakes_at_once = 256;
	c.timeout_ns = 10 * second;
	return c;
}

struct Options {
	uint16_t version = FG_TLS_1_3;
	double loss = 0;
	uint64_t seed = 1;
	uint32_t record = 16384;
	uint64_t hold = 8 << 20;
	uint64_t key_update_every = 0;
	bool resume = false, reuse = false;
	uint32_t early_data = 0, refuse_every = 0;
	bool plain_server = false, plain_client = false;
	int corrupt = -1; // the frame with payload of this number has one bit changed, and the right checksum
	uint64_t stop = second;
	const char *ciphers = ALL;
	const char *certificate = "p256";
};

class Pair : public Line
{
      public:
	Pair(fg_l4_app client, const Options &options) : Line(options.seed), o(options)
	{
		fg_secure_config tls[2] = {Tls(false, o.version), Tls(true, o.version)};
		fg_l4_app apps[2] = {client, ServerOf(client)};

		loss = reorder = o.loss;
		duplicate = o.loss / 4;
		checked = o.corrupt >= 0;
		sees = [this](unsigned, uint64_t, std::vector<uint8_t> &frame) {
			if (frame.size() > 66 && (int)with_payload++ == o.corrupt)
				frame.back() ^= 1;
			return true;
		};
		tls[0].tls.resume = o.resume;
		tls[0].tls.reuse = o.reuse;
		tls[0].tls.early_data = tls[1].tls.early_data = o.early_data;
		tls[1].tls.refuse_every = o.refuse_every;
		tls[1].tls.tickets = o.resume ? 2 : 0;
		tls[1].tls.certificate = o.certificate;
		for (unsigned i : {0, 1}) {
			tls[i].record = o.record;
			tls[i].hold = o.hold;
			tls[i].key_update_every = o.key_update_every;
			tls[i].tls.ciphers = o.ciphers;
			apps[i].tls = (i == 0 ? o.plain_client : o.plain_server) ? nullptr : &tls[i];
			Create(i, apps[i], 4096, second + o.stop);
		}
		Run(second + o.stop + 300 * second);
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
			EXPECT_EQ(0u,
				  counters[i].held_refused + counters[i].no_spans + counters[i].no_secrets)
				<< i;
			EXPECT_EQ(0u, fg_l4_open(l4[i])) << i;
			EXPECT_EQ(0u, result[i].tls.tally.failed) << result[i].tls.reason;
			EXPECT_EQ(0u, result[i].tls.tally.bad_records) << i;
			EXPECT_EQ(0u, result[i].tls.tally.truncated) << i;
			for (unsigned n = 0; n < FG_SECURE_ALERTS; n++)
				EXPECT_EQ(0u, result[i].tls.tally.alerts_out[n]) << i << ": " << n;
		}
	}

	fg_l4_result result[2];
	fg_l4_counters counters[2];
	unsigned with_payload = 0;

      private:
	Options o;
};

} /* namespace l4 */

#endif
