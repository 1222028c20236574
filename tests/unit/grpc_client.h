/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GRPC_CLIENT_H
#define GRPC_CLIENT_H

/* A client of gRPC by nghttp2's other half, one step at a time. */
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>
#include <sys/socket.h>
#include <unistd.h>

using GrpcFields = std::vector<std::pair<std::string, std::string>>;

/* What a client has got of a call. */
struct GrpcReply {
	GrpcFields fields;
	std::string body;
	bool closed = false;
	uint32_t code = 0;

	std::string
	field(const std::string &name) const
	{
		for (const auto &one : fields)
			if (one.first == name)
				return one.second;
		return "<none>";
	}
};

class GrpcClient
{
      public:
	explicit GrpcClient(uint16_t port)
	{
		nghttp2_session_callbacks *callbacks;
		sockaddr_in address = {};

		address.sin_family = AF_INET;
		address.sin_port = htons(port);
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		fd = socket(AF_INET, SOCK_STREAM, 0);
		EXPECT_EQ(0, connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)));
		nghttp2_session_callbacks_new(&callbacks);
		nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
		nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
		nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
		nghttp2_session_client_new(&session, callbacks, this);
		nghttp2_session_callbacks_del(callbacks);
		nghttp2_submit_settings(session, 0, nullptr, 0);
	}

	~GrpcClient()
	{
		nghttp2_session_del(session);
		close(fd);
	}

	GrpcClient(const GrpcClient &) = delete;
	GrpcClient &operator=(const GrpcClient &) = delete;

	/* Begin a call; without an end its body never ends. */
	int32_t
	call(const GrpcFields &fields, const std::string &body, bool end = true)
	{
		std::vector<nghttp2_nv> list;
		nghttp2_data_provider provider = {};

		for (const auto &one : fields)
			list.push_back({(uint8_t *)(one.first.data()), (uint8_t *)(one.second.data()),
					one.first.size(), one.second.size(), 0});
		bodies.push_back({body, 0, end});
		provider.source.ptr = reinterpret_cast<void *>(bodies.size() - 1);
		provider.read_callback = read_body;
		return nghttp2_submit_request(session, nullptr, list.data(), list.size(), &provider, nullptr);
	}

	void
	cancel(int32_t id)
	{
		nghttp2_submit_rst_stream(session, 0, id, NGHTTP2_CANCEL);
	}

	/* Send what there is, and read what arrives within a time. @return whether the connection goes on */
	bool
	turn(bool reads = true)
	{
		const uint8_t *data;
		uint8_t block[65536];
		ssize_t n;

		while ((n = nghttp2_session_mem_send(session, &data)) > 0)
			unsent.append(reinterpret_cast<const char *>(data), size_t(n));
		n = send(fd, unsent.data(), unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0)
			unsent.erase(0, size_t(n));
		while (reads && (n = recv(fd, block, sizeof(block), MSG_DONTWAIT)) > 0)
			nghttp2_session_mem_recv(session, block, size_t(n));
		return !reads || n < 0;
	}

	std::map<int32_t, GrpcReply> replies;
	int fd;

      private:
	struct Body {
		std::string text;
		size_t sent;
		bool ends;
	};

	static ssize_t
	read_body(nghttp2_session *, int32_t, uint8_t *out, size_t max, uint32_t *flags,
		  nghttp2_data_source *source, void *user)
	{
		Body &body = static_cast<GrpcClient *>(user)->bodies[reinterpret_cast<size_t>(source->ptr)];
		size_t n = std::min(max, body.text.size() - body.sent);

		if (n == 0 && !body.ends)
			return NGHTTP2_ERR_DEFERRED;
		body.text.copy(reinterpret_cast<char *>(out), n, body.sent);
		body.sent += n;
		if (body.ends && body.sent == body.text.size())
			*flags = NGHTTP2_DATA_FLAG_EOF;
		return ssize_t(n);
	}

	static int
	on_header(nghttp2_session *, const nghttp2_frame *frame, const uint8_t *name, size_t n,
		  const uint8_t *value, size_t m, uint8_t, void *user)
	{
		static_cast<GrpcClient *>(user)->replies[frame->hd.stream_id].fields.emplace_back(
			std::string((const char *)name, n), std::string((const char *)value, m));
		return 0;
	}

	static int
	on_data(nghttp2_session *, uint8_t, int32_t id, const uint8_t *data, size_t n, void *user)
	{
		static_cast<GrpcClient *>(user)->replies[id].body.append((const char *)data, n);
		return 0;
	}

	static int
	on_close(nghttp2_session *, int32_t id, uint32_t code, void *user)
	{
		GrpcReply &reply = static_cast<GrpcClient *>(user)->replies[id];

		reply.closed = true;
		reply.code = code;
		return 0;
	}

	nghttp2_session *session = nullptr;
	std::string unsent;
	std::vector<Body> bodies;
};

#endif
