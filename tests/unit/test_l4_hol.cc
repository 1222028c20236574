/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Head-of-line blocking of HTTP/2, over TCP and over TLS, on paths that lose segments: what the client counts
 * against a model that knows when each byte arrived, and which stream each byte is of.
 */
#include "l4_http2.h"
#include "l4_tls.h"

using namespace l4;

namespace
{
const fg_app_ops *ops;
std::string plain; /* what the client read */

bool
Listen(fg_l4 *w, fg_stream *s, uint64_t offset, const uint8_t *data, uint32_t length, bool early)
{
	bool taken = ops->receive(w, s, offset, data, length, early);

	if (taken && !early)
		plain.append((const char *)data, length);
	return taken;
}

class HolPath : public Line
{
      public:
	HolPath(bool secured, uint32_t streams, double lost, uint64_t seed) : Line(seed), draws(seed)
	{
		fg_l4_app client = Http2(24, 60000);
		fg_secure_config tls[2] = {Tls(false, FG_TLS_1_3), Tls(true, FG_TLS_1_3)};
		fg_app_ops listening;

		client.path = "/octets/60000";
		client.streams = streams;
		client.cycles = 1;
		fg_l4_app apps[2] = {client, ServerOf(client)};
		sees = [=](unsigned from, uint64_t now, const std::vector<uint8_t> &frame) {
			return from == 0 || See(now, frame, lost);
		};
		for (unsigned i : {0, 1}) {
			apps[i].tls = secured ? &tls[i] : nullptr;
			Create(i, apps[i], 16, 100 * second);
		}
		plain.clear();
		ops = l4[0]->app[0]->ops;
		listening = *ops;
		listening.receive = Listen;
		l4[0]->app[0]->ops = &listening;
		Run(200 * second);
		l4[0]->app[0]->ops = ops;
		fg_l4_read(l4[0], 0, &result);
		Deliver(secured);
	}
	/* the time in which bytes waited, but not for bytes of their own stream */
	uint64_t
	Expected() const
	{
		std::map<uint32_t, std::pair<uint64_t, uint64_t>> streams; /* all had arrived; read until */
		uint64_t sum = 0;

		for (size_t at = 0, end; at + H2_HEADER <= plain.size(); at = end) {
			const uint8_t *f = (const uint8_t *)&plain[at];

			end = at + H2_HEADER + get_number(f, 3);
			if (f[3] > H2_HEADERS)
				continue;
			auto &[had, read] = streams[uint32_t(get_number(f + 5, 4))];
			for (size_t i = at + H2_HEADER; i < end; i++) {
				had = std::max(had, bytes[i].arrived);
				if (bytes[i].read > std::max(had, read))
					sum += bytes[i].read - std::max(had, read);
				read = bytes[i].read;
			}
		}
		return sum;
	}

	fg_l4_result result;
	unsigned losses = 0;

      private:
	struct Byte {
		uint64_t arrived, read;
	};

	bool
	See(uint64_t now, const std::vector<uint8_t> &frame, double lost)
	{
		uint32_t seq = uint32_t(get_number(&frame[38], 4)), header = 34 + frame[46] / 16 * 4;
		size_t length = 14 + get_number(&frame[16], 2) - header;

		free = std::max(free, now) + frame.size() * ns_per_octet;
		if (frame[47] & 2)
			first = seq + 1;
		if (length == 0)
			return true;
		if (double(draws() >> 11) * 0x1p-53 < lost) {
			losses++;
			return false;
		}
		seq -= first;
		raw.resize(std::max(raw.size(), seq + length));
		wire.resize(raw.size(), UINT64_MAX);
		for (size_t i = 0; i < length; i++) {
			raw[seq + i] = frame[header + i];
			wire[seq + i] = std::min(wire[seq + i], free + delay);
		}
		return true;
	}
	/* where the plain bytes are on the wire, and when TCP had each in order */
	void
	Deliver(bool secured)
	{
		std::vector<std::pair<size_t, size_t>> parts; /* begin, length */
		uint64_t latest = 0;
		size_t octets = 0, last = secured ? 17 : 0;

		for (size_t at = 0, n; secured && at < raw.size(); at += 5 + n) {
			n = get_number(&raw[at + 3], 2);
			if (raw[at] == FG_TLS_DATA)
				parts.emplace_back(at + 5, n - last);
		}
		if (secured)
			parts.pop_back(); /* close_notify */
		else
			parts.emplace_back(0, plain.size());
		for (auto &[at, n] : parts)
			octets += n;
		for (size_t first_one = 0;; octets -= parts[first_one++].second) { /* behind the handshake */
			if (octets == plain.size()) {
				parts.erase(parts.begin(), parts.begin() + long(first_one));
				break;
			}
			ASSERT_LT(plain.size(), octets);
		}
		for (size_t i = 0, seen = 0; i < parts.size(); i++) {
			auto [at, n] = parts[i];

			for (; seen < at; seen++)
				latest = std::max(latest, wire[seen]);
			for (size_t k = 0; k < n; k++, seen++) {
				latest = std::max(latest, wire[seen]);
				bytes.push_back({wire[seen], latest});
			}
		}
	}

	std::mt19937_64 draws;
	uint64_t free = 0;
	uint32_t first = 0;
	std::vector<uint8_t> raw;
	std::vector<uint64_t> wire; /* by position in TCP's stream: when the byte arrived first */
	std::vector<Byte> bytes;    /* of `plain` */
};
} /* namespace */

TEST(L4Hol, StreamsThatWaitForBytesOfOthers)
{
	for (bool secured : {false, true}) {
		double sum[2] = {};

		for (uint64_t seed = 1; seed <= 10; seed++) {
			HolPath p(secured, 8, 0.01, seed);
			const double expected = double(p.Expected()), counted = double(p.result.hol_ns);

			SCOPED_TRACE(std::to_string(secured) + ", seed " + std::to_string(seed));
			ASSERT_EQ(24u, p.result.total.transactions);
			ASSERT_LT(0u, p.losses);
			/* a block of what is kept has one time, its latest; over TLS each 256 bytes */
			EXPECT_LE(counted, expected);
			EXPECT_GE(counted, (secured ? 0.8 : 0.97) * expected - 1e6);
			sum[0] += expected;
			sum[1] += counted;
		}
		EXPECT_LT(double(100 * ms), sum[0]);
		EXPECT_NEAR(1, sum[1] / sum[0], secured ? 0.12 : 0.02);
	}
}

TEST(L4Hol, NothingWaitsWithoutLossOrForItself)
{
	for (bool secured : {false, true}) {
		HolPath clean(secured, 8, 0, 1), alone(secured, 1, 0.01, 1);

		EXPECT_EQ(24u, clean.result.total.transactions);
		EXPECT_EQ(0u, clean.losses);
		EXPECT_EQ(0u, clean.result.hol_ns);
		EXPECT_EQ(24u, alone.result.total.transactions);
		EXPECT_LT(0u, alone.losses);
		EXPECT_EQ(0u, alone.result.hol_ns) << secured;
	}
}
