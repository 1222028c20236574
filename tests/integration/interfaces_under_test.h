/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef INTERFACES_UNDER_TEST_H
#define INTERFACES_UNDER_TEST_H

/*
 * Interfaces fga and fgb, joined, in a network namespace of this process's own, which goes when it ends. That
 * needs root, and is skipped aloud without.
 */
#include <cstdlib>
#include <fcntl.h>
#include <sched.h>

#include "port_under_test.h"

class Kernel : public testing::TestWithParam<const char *>
{
      protected:
	static void
	SetUpTestSuite()
	{
		host = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
		if (geteuid() == 0 && unshare(CLONE_NEWNET) == 0)
			ready = Run("ip link set lo up && sysctl -qw net.ipv6.conf.default.disable_ipv6=1");
	}
	static void
	TearDownTestSuite()
	{
		if (host >= 0) {
			setns(host, CLONE_NEWNET);
			close(host);
		}
	}
	void
	SetUp() override
	{
		if (!ready)
			GTEST_SKIP() << "needs root and iproute2, for interfaces in a network namespace";
		ASSERT_TRUE(Run(
			"ip link add fga type veth peer name fgb && ip link set fga up && ip link set fgb up"));
	}
	void
	TearDown() override
	{
		if (ready)
			Run("ip link del fga");
	}
	static bool
	Run(const std::string &command)
	{
		return system(command.c_str()) == 0;
	}
	/* by a flag, or by a socket */
	static bool
	IsPromiscuous(const char *interface)
	{
		return Run(std::string("! ip -d link show ") + interface + " | grep -q 'promiscuity 0'");
	}

	static inline bool ready;
	static inline int host = -1; /* the namespace we came from */
};

#endif
