/* SPDX-License-Identifier: BSD-3-Clause */
/* Which sockets of the process are a driver's. */
#include <gtest/gtest.h>

#include <set>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include "port_priv.h"
}

namespace
{

const unsigned MANY = 100;

TEST(PortSockets, ThoseOfOtherPortsAreNotTheDriversHoweverMany)
{
	std::vector<int> others, own;
	fg_socket_set before = {}, after = {};

	for (unsigned i = 0; i < MANY; i++)
		others.push_back(socket(AF_UNIX, SOCK_DGRAM, 0));
	ASSERT_TRUE(fg_socket_list(AF_UNIX, nullptr, &before));
	for (unsigned i = 0; i < MANY; i++)
		own.push_back(socket(AF_UNIX, SOCK_DGRAM, 0));
	ASSERT_TRUE(fg_socket_list(AF_UNIX, &before, &after));
	EXPECT_EQ(std::set<int>(own.begin(), own.end()), std::set<int>(after.fd, after.fd + after.count));
	free(before.fd);
	free(after.fd);
	for (int fd : others)
		close(fd);
	for (int fd : own)
		close(fd);
}

/* DPDK later than 22.11 closes them itself, and the kernel takes its time with them all the same */
TEST(PortSockets, XdpIsSettlingAlsoWhereTheDriverHasClosedItsSockets)
{
	fg_socket_set closed = {AF_XDP, static_cast<int *>(malloc(sizeof(int))), 1};

	closed.fd[0] = socket(AF_UNIX, SOCK_DGRAM, 0);
	close(closed.fd[0]);
	EXPECT_FALSE(fg_xdp_is_settling());
	fg_socket_release(&closed);
	EXPECT_TRUE(fg_xdp_is_settling());
	EXPECT_EQ(0u, closed.count);
}

} // namespace
