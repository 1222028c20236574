/* SPDX-License-Identifier: BSD-3-Clause */
/* XDP programs of others, on interfaces that a port is to be opened on. */
#include <csignal>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "interfaces_under_test.h"

namespace
{

using XdpPrograms = Kernel;

/* This thread has not the right to see what other programs have attached. */
class WithoutSysAdmin
{
      public:
	WithoutSysAdmin()
	{
		Set(before, SYS_capget);
		memcpy(now, before, sizeof(now));
		now[0].effective &= ~(1u << CAP_SYS_ADMIN);
		Set(now, SYS_capset);
	}
	~WithoutSysAdmin()
	{
		Set(before, SYS_capset);
	}
	WithoutSysAdmin(const WithoutSysAdmin &) = delete;
	WithoutSysAdmin &operator=(const WithoutSysAdmin &) = delete;

      private:
	static void
	Set(__user_cap_data_struct *data, long call)
	{
		__user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};

		EXPECT_EQ(0, syscall(call, &header, data));
	}
	__user_cap_data_struct before[2], now[2];
};

/* An XDP program that passes everything on, attached while this object lives */
class OtherProgram
{
      public:
	explicit OtherProgram(unsigned interface)
	{
		static const bpf_insn pass[] = {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, XDP_PASS},
						{BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
		bpf_attr load = {}, attach = {};

		load.prog_type = BPF_PROG_TYPE_XDP;
		load.insns = reinterpret_cast<uintptr_t>(pass);
		load.insn_cnt = 2;
		load.license = reinterpret_cast<uintptr_t>("BSD");
		strcpy(load.prog_name, "other_one");
		program = int(syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof(load)));
		EXPECT_LE(0, program) << strerror(errno);
		attach.link_create.prog_fd = unsigned(program);
		attach.link_create.target_ifindex = interface;
		attach.link_create.attach_type = BPF_XDP;
		link = int(syscall(SYS_bpf, BPF_LINK_CREATE, &attach, sizeof(attach)));
		EXPECT_LE(0, link) << strerror(errno);
	}
	~OtherProgram()
	{
		close(link);
		close(program);
	}
	OtherProgram(const OtherProgram &) = delete;
	OtherProgram &operator=(const OtherProgram &) = delete;

      private:
	int program, link;
};

/* A process like ours with an open port, for DPDK does not survive a fork; killed with this object */
class OtherTester
{
      public:
	explicit OtherTester(const std::string &device)
	{
		const std::string hold = "--hold=" + device;
		int ready[2];
		char byte;

		EXPECT_EQ(0, pipe(ready));
		child = fork();
		if (child == 0) {
			dup2(ready[1], STDOUT_FILENO);
			execl("/proc/self/exe", "integration_port", hold.c_str(), nullptr);
			_exit(1);
		}
		close(ready[1]);
		EXPECT_EQ(1, read(ready[0], &byte, 1)) << "the other tester does not start";
		close(ready[0]);
	}
	~OtherTester()
	{
		kill(child, SIGKILL);
		waitpid(child, nullptr, 0);
	}
	OtherTester(const OtherTester &) = delete;
	OtherTester &operator=(const OtherTester &) = delete;

      private:
	pid_t child;
};

} // namespace

TEST_F(XdpPrograms, BestIsXdpAndRefusesASecondOne)
{
	Port best("kernel:fga");

	ASSERT_TRUE(best.Opened()) << best.Message();
	EXPECT_EQ(0u, std::string(best->caps.mode).find("AF_XDP (")) << best->caps.mode;
	for (const char *second : {"kernel:fga", "kernel:fga,af_xdp", "kernel:fga,af_packet",
				   "kernel:fga,offload", "vdev:net_af_packet9,qpairs=1,iface=fga"})
		ExpectRefusal(second, EBUSY,
			      "another program takes frames from fga by XDP; end it, or: ip link");
	EXPECT_FALSE(best.Counters().intercepted);
	const WithoutSysAdmin less; /* whose program it is cannot be seen then */
	for (const char *second : {"kernel:fga", "kernel:fga,af_packet", "vdev:net_af_packet9,iface=fga"})
		ExpectRefusal(
			second, EBUSY,
			"an XDP program is attached to fga, and whether it takes frames cannot be seen without CAP_SYS_ADMIN");
}

TEST_F(XdpPrograms, RefusesWhereAProgramOfAnotherKindIsAttached)
{
	const OtherProgram other(if_nametoindex("fga"));

	ExpectRefusal(
		"kernel:fga,af_packet", EBUSY,
		"the XDP program \"other_one\" is attached to fga and may take frames; to remove it: ip link set fga xdp off");
}

TEST_F(XdpPrograms, UsesAgainWhatAKilledTesterLeft)
{
	{
		const OtherTester other("kernel:fga");
		Port a("kernel:fga");
		EXPECT_EQ(-EBUSY, a.status);
	}
	ASSERT_TRUE(Run("ip link show fga | grep -q xdp"));
	Port a("kernel:fga"), b("kernel:fgb");
	ASSERT_TRUE(a.Opened()) << a.Message();
	EXPECT_EQ(0u, std::string(a->caps.mode).find("AF_XDP (")) << a->caps.mode;
	ASSERT_TRUE(a.HasLink() && b.HasLink());
	ExpectIntact(b, a, 0, 100, 60);
}

/* it took nothing while somebody looked */
TEST_F(XdpPrograms, AreNoInterceptionOnceNobodyUsesThem)
{
	Port a("kernel:fga,af_packet");

	ASSERT_TRUE(a.Opened() && a.HasLink()) << a.Message();
	{
		const OtherTester other("kernel:fga,af_xdp");
		EXPECT_TRUE(a.Counters().intercepted);
	}
	ASSERT_TRUE(Run("ip link show fga | grep -q xdp"));
	for (int tries = 0; tries < 100 && a.Counters().intercepted; tries++)
		usleep(10000);
	EXPECT_FALSE(a.Counters().intercepted);
	EXPECT_TRUE(a.HasLink()) << "looks at the interface";
	EXPECT_EQ(0u, a.Counters().intercepts);
}

TEST_F(XdpPrograms, OpensADriverOfDpdkMoreThanOnce)
{
	for (int i = 0; i < 2; i++) {
		Port a("vdev:net_af_xdp8,iface=fga"), b("vdev:net_af_xdp9,iface=fgb");

		ASSERT_TRUE(a.Opened()) << i << a.Message();
		ASSERT_TRUE(b.Opened()) << i << b.Message();
		ASSERT_TRUE(a.HasLink() && b.HasLink());
		ExpectIntact(b, a, 0, 20, 60);
	}
	Port best("kernel:fga,af_xdp");
	EXPECT_TRUE(best.Opened()) << best.Message();
}
