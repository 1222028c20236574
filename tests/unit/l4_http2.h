/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer of HTTP/2 that says what a test wants, frame by frame; the server or the client that hears it is
 * ours. */
#ifndef L4_HTTP2_H
#define L4_HTTP2_H

#include <string>

#include "l4_wire.h"

extern "C" {
#include "http2/http2_priv.h"
#include "l4_talker.h"
}

namespace l4
{
const char PREFACE[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

inline std::string
Number(uint64_t value, unsigned octets)
{
	std::string out(octets, '\0');

	put_number((uint8_t *)&out[0], value, octets);
	return out;
}

inline std::string
Http2Frame(unsigned type, unsigned flags, uint32_t id, const std::string &payload)
{
	return Number(payload.size(), 3) + char(type) + char(flags) + Number(id, 4) + payload;
}

inline std::string
Setting(unsigned which, uint32_t value)
{
	return Number(which, 2) + Number(value, 4);
}

/* a field whose name is not in a table, never to be indexed */
inline std::string
Field(const std::string &name, const std::string &value)
{
	return std::string(1, '\0') + char(name.size()) + name + char(value.size()) + value;
}

inline const std::string GET_HEAD = std::string("\x82\x86", 2) + Field(":path", "/3000");
inline const std::string POST_HEAD = std::string("\x83\x86\x84", 3);
inline const std::string NOTHING = Http2Frame(H2_SETTINGS, 0, 0, "");

inline std::string
Get(uint32_t id)
{
	return Http2Frame(H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, id, GET_HEAD);
}

/* frames as they were heard */
struct Heard {
	unsigned type, flags;
	uint32_t id;
	std::string payload;
};

inline std::vector<Heard>
Frames(const std::string &text)
{
	std::vector<Heard> list;
	const uint8_t *p = (const uint8_t *)text.data();

	for (size_t at = 0; at + H2_HEADER <= text.size();) {
		size_t length = get_number(p + at, 3);

		list.push_back({p[at + 3], p[at + 4], uint32_t(get_number(p + at + 5, 4)),
				text.substr(at + H2_HEADER, length)});
		at += H2_HEADER + length;
	}
	return list;
}

inline fg_l4_app
Http2(uint32_t requests = 0, uint32_t body = 3000)
{
	fg_l4_app a = Client("HTTP2");

	a.path = "/octets/3000";
	a.host = "198.19.0.1";
	a.request = 0;
	a.response = body;
	a.requests = requests;
	return a;
}

/* our server or our client, and a peer of it */
class Http2Peer
{
      public:
	explicit Http2Peer(bool server, uint32_t requests = 4)
	{
		app = Http2(requests);
		app.server = server;
		app.streams = 4;
		app.cycles = 1;
		app.port = 80;
		t = talker_create(&app, 1500);
		if (server) {
			talker_open(t, 0, 80);
			Say(PREFACE);
		}
	}
	~Http2Peer()
	{
		talker_free(t);
	}
	Http2Peer(const Http2Peer &) = delete;
	Http2Peer &operator=(const Http2Peer &) = delete;

	void
	Say(const std::string &text)
	{
		talker_say(t, 0, text.data(), text.size());
		talker_settle(t);
	}
	/* all that arrived since the last time; of a client without its preface */
	std::vector<Heard>
	Hear()
	{
		const talker_line &line = t->line[0];
		size_t begin = read == 0 && !app.server ? sizeof(PREFACE) - 1 : read;
		std::string text((const char *)line.in + begin, line.heard - begin);

		read = line.heard;
		return Frames(text);
	}
	/* the code of the last frame of a type; -1: there was none */
	int
	Code(unsigned type)
	{
		int code = -1;

		for (const Heard &f : Hear())
			if (f.type == type)
				code = int(get_number(
					(const uint8_t *)f.payload.data() + f.payload.size() - 4, 4));
		return code;
	}
	uint64_t
	Own(message_sum sum) const
	{
		return t->other->app[0]->tally.own[sum];
	}
	const fg_l4_tally &
	Tally() const
	{
		return t->other->app[0]->tally;
	}
	/* the connection ended with GOAWAY and FIN, and nothing is kept of it */
	void
	ExpectFailed(h2_error code)
	{
		EXPECT_EQ(int(code), Code(H2_GOAWAY));
		EXPECT_EQ(1u, Own(MESSAGE_FAULTY));
		EXPECT_TRUE(t->line[0].ended);
		ExpectNothingKept();
	}
	void
	ExpectNothingKept() const
	{
		const http2 *a = (const http2 *)t->other->app[0];

		EXPECT_EQ(0u, talker_taken(&a->conns)) << "connections";
		EXPECT_EQ(0u, talker_taken(&a->exchanges)) << "exchanges";
		EXPECT_EQ(0u, talker_taken(&a->spans)) << "spans";
	}

	fg_l4_app app;
	talker *t;

      private:
	size_t read = 0;
};

/* a block as a server of ours sends it */
inline std::string
Ok(const std::string &more = "")
{
	return "\x88" + more;
}

inline std::string
Body(uint32_t octets)
{
	std::string out(octets, '\0');

	payload_fill(SERVER_STREAM, 0, (uint8_t *)&out[0], octets);
	return out;
}
/* what a peer says that ends the connection, or a stream */
struct Bad {
	const char *name;
	h2_error code;
	std::string text;
};

inline std::ostream &
operator<<(std::ostream &out, const Bad &bad)
{
	return out << bad.name;
}

} /* namespace l4 */

#endif
