/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames and datagrams of QUIC that a peer made up. The input is read as the frames of a packet, as they are
 * once it was opened; and, in pieces behind a byte with their length, as datagrams to a server, each behind
 * a right head of an Initial where the byte is odd. What must hold: no access out of bounds, frames lie one
 * behind the other, ranges of an ACK fall, and a server keeps nothing of what begins no connection.
 */
#include <stdlib.h>
#include <string.h>

#include "fg_bytes.h"
#include "fg_checksum.h"
#include "fg_l4_app.h"
#include "fg_net.h"
#include "quic_priv.h"

enum { MTU = 1500, PORT = 443, HEADERS = 42, MOST = 1452, LEAST = 1200 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
expect(bool holds)
{
	if (!holds)
		abort();
}

static void
read_frames(const uint8_t *data, size_t size)
{
	const uint8_t *at = data, *end = data + size, *before = data;
	uint64_t low, high, last = UINT64_MAX;
	struct frame f;

	for (; at < end && frame_read(&at, end, &f); before = at, last = UINT64_MAX) {
		expect(at > before && at <= end);
		expect(!frame_is_stream(&f) || f.length <= (uint64_t)(at - before));
		while (frame_is_ack(&f) && frame_next_range(&f, &low, &high)) {
			expect(low <= high && high < last);
			last = low;
		}
	}
	expect(at <= end);
}

static struct fg_l4 *
create_server(void)
{
	struct fg_quic_config quic = {
		.tls = {.server = true,
			.seeded = true,
			.ciphers = "TLS_AES_128_GCM_SHA256",
			.groups = "X25519",
			.certificate = "ed25519",
			.server_name = "fg.test"},
		.congestion = FG_QUIC_CUBIC,
		.max_datagram = MOST,
		.ack_every = 2,
		.window = 1 << 20,
		.stream_window = 1 << 20,
		.initial_rtt_ns = 333000000,
		.idle_ns = 1000000000,
		.handshake_ns = 1000000000,
		.handshakes_at_once = 4,
	};
	struct fg_l4_app app = {.kind = "TCP_RR",
				.server = true,
				.local = {198, 18, 0, 1},
				.locals = 1,
				.port = PORT,
				.quic = &quic,
				.request = 1,
				.response = 1};
	struct fg_l4_config config = {.connections = 8, .seed = 1, .mtu = MTU};
	struct fg_l4 *l4;

	expect(fg_l4_create(&config, 1, &app, &l4, NULL) == 0);
	expect(fg_l4_schedule(l4, 1, 2, 0, 0, NULL) == 0);
	return l4;
}

static size_t
make_frame(uint8_t *frame, const uint8_t *payload, size_t length, bool initial)
{
	static const uint8_t head[] = {0xc0, 0, 0, 0, 1, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0};
	size_t all = initial ? LEAST : length;
	struct fg_ipv4 ip = {.version_ihl = 0x45,
			     .length = htons((uint16_t)(28 + all)),
			     .ttl = 64,
			     .protocol = FG_IP_UDP,
			     .src = {198, 18, 0, 2},
			     .dst = {198, 18, 0, 1}};

	memset(frame, 0, HEADERS + all);
	fg_put16(frame + 12, FG_ETHER_IPV4);
	ip.checksum = fg_checksum_finish(fg_checksum_add(0, &ip, sizeof(ip)));
	memcpy(frame + 14, &ip, sizeof(ip));
	fg_put16(frame + 34, 1000);
	fg_put16(frame + 36, PORT);
	fg_put16(frame + 38, (uint16_t)(8 + all)); /* and no checksum */
	memcpy(frame + HEADERS + (initial ? sizeof(head) : 0), payload, length);
	if (initial)
		memcpy(frame + HEADERS, head, sizeof(head));
	return HEADERS + all;
}

static void
receive_datagrams(const uint8_t *data, size_t size)
{
	static uint8_t frame[2048], out[2048];
	static struct fg_l4 *l4; /* one for all inputs: nothing is kept of any */
	static uint64_t now = 1;
	struct fg_burst burst = {.rooms = 1, .capacity = sizeof(out), .room = {out}};
	struct fg_l4_result result;
	struct fg_endpoint *e;

	if (l4 == NULL)
		l4 = create_server();
	e = fg_l4_endpoint(l4);
	for (size_t length; size > 1; data += length, size -= length, now += 10000000) {
		bool initial = *data & 1;

		length = *data++;
		size--;
		length = length < size ? length : size;
		const struct fg_arrival in = {frame, make_frame(frame, data, length, initial), now, false};

		burst.frames = 0;
		e->input(e, &in, 1, &burst);
		for (unsigned i = 0; i < 8; i++) {
			burst.frames = 0;
			e->poll(e, now, &burst);
		}
	}
	burst.frames = 0;
	for (unsigned i = 0; i < 8; i++, now += 1000000000, burst.frames = 0)
		e->poll(e, now, &burst);
	fg_l4_read(l4, 0, &result);
	expect(result.total.opened == 0 && result.quic.tally.handshakes == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > MOST)
		return 0;
	read_frames(data, size);
	receive_datagrams(data, size);
	return 0;
}
