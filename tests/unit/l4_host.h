/* SPDX-License-Identifier: BSD-3-Clause */
/* A host with a worker and one application that does what a test tells it, and a burst that catches what it
 * sends. */
#ifndef L4_HOST_H
#define L4_HOST_H

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "app_priv.h"
#include "tcp_priv.h"
}

namespace l4
{
using Frame = std::vector<uint8_t>;

/* What both hosts of a test agree on: a stream's bytes follow from who sends it. */
const uint32_t client_stream = 11, server_stream = 7919;

class Host
{
      public:
	/* must be first: the worker knows the application by its address */
	struct TestApp {
		fg_app base;
		Host *host;
	};

	Host(bool is_client, const fg_l4_tcp &tcp, uint16_t mtu, uint32_t connections = 64, uint64_t seed = 1)
	    : client(is_client)
	{
		fg_l4_config config = {};

		config.connections = connections;
		config.seed = seed;
		config.mtu = mtu;
		config.mac[0] = 2;
		config.mac[5] = is_client ? 1 : 2;
		EXPECT_EQ(0, fg_l4_worker_create(&config, &w, nullptr));
		payload_init();
		the_app.base = {};
		the_app.host = this;
		the_app.base.ops = &ops;
		the_app.base.tcp = tcp;
		the_app.base.listens = !is_client;
		the_app.base.port = 80;
		the_app.base.locals = 1;
		SetAddress(false);
		list[0] = &the_app.base;
		w->app = list;
		w->apps = 1;
	}
	~Host()
	{
		w->app = nullptr;
		fg_l4_worker_free(w);
	}
	Host(const Host &) = delete;
	Host &operator=(const Host &) = delete;

	void
	SetAddress(bool v6)
	{
		ipv6 = v6;
		memcpy(the_app.base.local, Address(client), 16);
	}
	fg_flow
	Flow(uint16_t port = 40000) const
	{
		fg_flow f = {};

		memcpy(f.local, Address(client), 16);
		memcpy(f.remote, Address(!client), 16);
		f.local_port = client ? port : 80;
		f.remote_port = client ? 80 : port;
		f.mac[0] = 2;
		f.mac[5] = client ? 2 : 1;
		f.ipv6 = ipv6;
		return f;
	}
	const uint8_t *
	Address(bool of_client) const
	{
		static const uint8_t v4[2][16] = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 198, 19, 0, 1},
						  {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 198, 18, 0, 1}};
		static const uint8_t v6[2][16] = {{0x20, 1, 0, 2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
						  {0x20, 1, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

		return ipv6 ? v6[of_client] : v4[of_client];
	}

	/* polls at the time `now`; what is sent goes to `send` */
	uint64_t
	Poll(uint64_t now)
	{
		uint64_t due;

		do {
			fg_burst *b = Burst();

			due = w->endpoint.poll(&w->endpoint, now, b);
			Deliver();
		} while (due <= now && rooms > 0);
		return due;
	}
	void
	Input(const Frame &frame, uint64_t now)
	{
		/* memory of just the frame's size, so that a sanitizer sees what reads beyond */
		std::unique_ptr<uint8_t[]> copy(new uint8_t[frame.size()]);

		memcpy(copy.get(), frame.data(), frame.size());
		const fg_arrival in = {copy.get(), frame.size(), now};
		w->endpoint.input(&w->endpoint, &in, 1, Burst());
		Deliver();
	}
	/* run something that may send at once */
	void
	Do(uint64_t now, const std::function<void()> &what)
	{
		w->now = now;
		if (!own(w)->wheel.running)
			wheel_start(&own(w)->wheel, now);
		w->out = Burst();
		what();
		Deliver();
	}

	bool client, ipv6 = false;
	fg_l4 *w = nullptr;
	std::function<void(const Frame &)> send = [](const Frame &) {};
	unsigned rooms = FG_BURST_ROOMS;

	/* what the application is told, and does then */
	std::function<void(fg_stream *)> on_established = [](fg_stream *) {}, on_eof = [](fg_stream *) {};
	std::function<void(fg_stream *, fg_l4_end)> on_closed = [](fg_stream *, fg_l4_end) {};
	bool refuse_early = false;
	unsigned refuse_every = 1; /* of parts of 500 bytes */
	/* bytes written at each payload in order; until they are acknowledged all that comes is refused */
	uint64_t answer = 0;
	/* ns: until then all but the first bytes are refused, as if another connection had the room */
	uint64_t refuse_until = 0;
	uint64_t received = 0, wrong = 0;
	unsigned established = 0, closed = 0;
	fg_l4_end last_end = FG_L4_ENDS;

      private:
	static Host *
	Of(fg_l4 *w, fg_stream *c)
	{
		return reinterpret_cast<TestApp *>(w->app[c->app])->host;
	}
	static void
	Established(fg_l4 *w, fg_stream *c)
	{
		Host *h = Of(w, c);

		h->established++;
		h->on_established(c);
	}
	static bool
	Receive(fg_l4 *w, fg_stream *c, uint64_t offset, const uint8_t *data, uint32_t length, bool early)
	{
		Host *h = Of(w, c);

		if (early && h->refuse_early && offset / 500 % h->refuse_every == 0)
			return false;
		if (offset > 0 && w->now < h->refuse_until)
			return false;
		if (h->answer > 0 && (early || c->acked < c->written))
			return false;
		h->wrong += payload_wrong(h->client ? server_stream : client_stream, offset, data, length);
		h->received += length;
		if (h->answer > 0)
			fg_stream_write(w, c, h->answer);
		return true;
	}
	static void
	Fill(fg_l4 *w, fg_stream *c, uint64_t offset, uint8_t *to, uint32_t length)
	{
		payload_fill(Of(w, c)->client ? client_stream : server_stream, offset, to, length);
	}
	static void
	Eof(fg_l4 *w, fg_stream *c)
	{
		Of(w, c)->on_eof(c);
	}
	static void
	Closed(fg_l4 *w, fg_stream *c, fg_l4_end end)
	{
		Host *h = Of(w, c);

		h->closed++;
		h->last_end = end;
		h->on_closed(c, end);
	}
	static void
	Timer(fg_l4 *, fg_stream *)
	{
	}

	fg_burst *
	Burst()
	{
		burst.rooms = rooms;
		burst.frames = 0;
		burst.capacity = sizeof(memory[0]);
		for (unsigned i = 0; i < FG_BURST_ROOMS; i++)
			burst.room[i] = memory[i];
		return &burst;
	}
	void
	Deliver()
	{
		std::vector<Frame> frames;

		for (unsigned i = 0; i < burst.frames; i++)
			frames.emplace_back(memory[i], memory[i] + burst.length[i]);
		burst.frames = 0;
		for (const Frame &f : frames)
			send(f);
	}

	static const fg_app_ops ops;
	TestApp the_app = {};
	fg_app *list[1];
	fg_burst burst = {};
	uint8_t memory[FG_BURST_ROOMS][9216];
};

inline const fg_app_ops Host::ops = {Established, Receive, nullptr, nullptr, Eof,     nullptr, nullptr,
				     Fill,        nullptr, Closed,  Timer,   nullptr, nullptr};

} /* namespace l4 */

#endif
