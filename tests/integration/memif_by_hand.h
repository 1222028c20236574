/* SPDX-License-Identifier: BSD-3-Clause */
/* The socket protocol of memif 2.0 by hand, for peers that break it. */
#ifndef MEMIF_BY_HAND_H
#define MEMIF_BY_HAND_H

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace by_hand
{

enum { MESSAGE = 128, MIB = 1 << 20, COOKIE = 0x3e31f20 };
enum { ACK = 1, HELLO, INIT, ADD_REGION, ADD_RING, CONNECT, CONNECTED, DISCONNECT };

using Bytes = std::vector<uint8_t>;

/* The field's bytes from @p at on, little-endian */
template <typename T>
void
Put(Bytes &bytes, size_t at, T value)
{
	bytes.resize(std::max(bytes.size(), at + sizeof(value)));
	memcpy(&bytes[at], &value, sizeof(value));
}

inline Bytes
MakeMessage(uint16_t type)
{
	Bytes bytes(MESSAGE);

	Put(bytes, 0, type);
	return bytes;
}

inline Bytes
MakeHello(uint16_t rings = 1)
{
	Bytes bytes = MakeMessage(HELLO);

	for (size_t at : {34, 36})
		Put<uint16_t>(bytes, at, 0x0200);
	Put<uint16_t>(bytes, 38, 255);
	for (size_t at : {40, 42})
		Put<uint16_t>(bytes, at, uint16_t(rings - 1));
	bytes[44] = 14;
	return bytes;
}

inline Bytes
MakeInit(uint32_t id = 0)
{
	Bytes bytes = MakeMessage(INIT);

	Put<uint16_t>(bytes, 2, 0x0200);
	Put(bytes, 4, id);
	return bytes;
}

inline Bytes
MakeRegion(uint16_t index, uint64_t size)
{
	Bytes bytes = MakeMessage(ADD_REGION);

	Put(bytes, 2, index);
	Put(bytes, 4, size);
	return bytes;
}

inline Bytes
MakeRing(bool c2s, uint16_t index, uint32_t offset, uint8_t log2_slots)
{
	Bytes bytes = MakeMessage(ADD_RING);

	Put<uint16_t>(bytes, 2, c2s);
	Put(bytes, 4, index);
	Put(bytes, 8, offset);
	bytes[12] = log2_slots;
	return bytes;
}

inline sockaddr_un
Address(const std::string &path)
{
	sockaddr_un address = {};

	address.sun_family = AF_UNIX;
	strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
	return address;
}

/* @return a socket that is connected */
inline int
Connect(const std::string &path)
{
	const sockaddr_un address = Address(path);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	EXPECT_EQ(0, connect(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address)));
	return fd;
}

inline int
Listen(const std::string &path)
{
	const sockaddr_un address = Address(path);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	EXPECT_EQ(0, bind(fd, reinterpret_cast<const sockaddr *>(&address), sizeof(address)));
	EXPECT_EQ(0, listen(fd, 8));
	return fd;
}

/* @return whether the other end took it: it may have gone, or be slow */
inline bool
Send(int fd, const Bytes &bytes, const std::vector<int> &descriptors = {})
{
	const size_t room = descriptors.size() * sizeof(int);
	std::vector<uint8_t> control(CMSG_SPACE(room));
	iovec part = {const_cast<uint8_t *>(bytes.data()), bytes.size()};
	msghdr out = {};

	out.msg_iov = &part;
	out.msg_iovlen = 1;
	if (!descriptors.empty()) {
		out.msg_control = control.data();
		out.msg_controllen = control.size();
		cmsghdr *c = CMSG_FIRSTHDR(&out);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(room);
		memcpy(CMSG_DATA(c), descriptors.data(), room);
	}
	return sendmsg(fd, &out, MSG_NOSIGNAL | MSG_DONTWAIT) == ssize_t(bytes.size());
}

/* @return the type of the next message, 0 without one for so long. Its descriptors are added to @p got. */
inline unsigned
Hear(int fd, int milliseconds, std::vector<int> *got = nullptr)
{
	Bytes bytes(MESSAGE);
	alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	iovec part = {bytes.data(), bytes.size()};
	msghdr in = {};
	pollfd ready = {fd, POLLIN, 0};
	int descriptor;

	in.msg_iov = &part;
	in.msg_iovlen = 1;
	in.msg_control = control;
	in.msg_controllen = sizeof(control);
	if (poll(&ready, 1, milliseconds) != 1 ||
	    recvmsg(fd, &in, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != ssize_t(MESSAGE))
		return 0;
	if (CMSG_FIRSTHDR(&in) != nullptr) {
		memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&in)), sizeof(descriptor));
		if (got != nullptr)
			got->push_back(descriptor);
		else
			close(descriptor);
	}
	return bytes[0];
}

/* of this process */
inline unsigned
OpenDescriptors()
{
	unsigned n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

} // namespace by_hand

#endif
