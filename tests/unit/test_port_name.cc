/* SPDX-License-Identifier: BSD-3-Clause */
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

extern "C" {
#include "port_priv.h"
}

namespace
{

fg_port_name
Parsed(const std::string &device)
{
	fg_port_name name;
	fg_error err = {};

	EXPECT_EQ(0, fg_port_name_parse(device.c_str(), &name, &err)) << err.message;
	return name;
}

std::string
Refusal(const std::string &device)
{
	fg_error err = {};

	EXPECT_EQ(-EINVAL, fg_port_check_name(device.c_str(), nullptr, &err)) << device;
	EXPECT_EQ(EINVAL, err.code);
	return err.message;
}

bool
IsPhysical(const std::string &device)
{
	bool physical = false;
	fg_error err = {};

	EXPECT_EQ(0, fg_port_check_name(device.c_str(), &physical, &err)) << err.message;
	return physical;
}

} // namespace

TEST(PortName, KernelInterfaceWithAndWithoutItsMode)
{
	EXPECT_EQ(FG_PORT_KERNEL, Parsed("kernel:eth2").kind);
	EXPECT_STREQ("eth2", Parsed("kernel:eth2").text);
	EXPECT_EQ(FG_KERNEL_BEST, Parsed("kernel:eth2").mode);
	EXPECT_EQ(FG_KERNEL_AF_XDP, Parsed("kernel:eth2,af_xdp").mode);
	EXPECT_EQ(FG_KERNEL_AF_PACKET, Parsed("kernel:eth2,af_packet").mode);
	EXPECT_EQ(FG_KERNEL_OFFLOAD, Parsed("kernel:eth2,offload").mode);
	EXPECT_STREQ("eth2", Parsed("kernel:eth2,af_packet").text);
	EXPECT_STREQ("enp0s31f6.1234x", Parsed("kernel:enp0s31f6.1234x").text);
}

TEST(PortName, NoKernelInterface)
{
	for (const char *device : {"kernel:", "kernel:,af_xdp", "kernel:.", "kernel:..", "kernel:a/b",
				   "kernel:a b", "kernel:a:b", "kernel:sixteen-letters-"})
		EXPECT_NE(std::string::npos, Refusal(device).find("expected kernel:INTERFACE")) << device;
	EXPECT_NE(std::string::npos,
		  Refusal("kernel:eth2,xdp").find("expected af_xdp, af_packet, offload or nothing"));
	EXPECT_NE(std::string::npos,
		  Refusal("kernel:eth2,").find("expected af_xdp, af_packet, offload or nothing"));
}

TEST(PortName, MemifSocketAndItsRole)
{
	EXPECT_EQ(FG_PORT_MEMIF, Parsed("memif:/run/x.sock").kind);
	EXPECT_STREQ("/run/x.sock", Parsed("memif:/run/x.sock").text);
	EXPECT_FALSE(Parsed("memif:/run/x.sock").server);
	EXPECT_TRUE(Parsed("memif:x,server").server);
	EXPECT_STREQ("x", Parsed("memif:x,server").text);
}

TEST(PortName, NoMemifSocket)
{
	for (const std::string &device :
	     {std::string("memif:"), std::string("memif:,server"), std::string("memif:a b"),
	      std::string("memif:a\"b"), std::string("memif:a[0]"), "memif:/" + std::string(107, 'x')})
		EXPECT_NE(std::string::npos, Refusal(device).find("expected a path of 1 to 107")) << device;
	for (const char *option : {"client", "serve", "server,", "id=", "id=-1", "id=1x", "id=1234567890"})
		EXPECT_NE(std::string::npos, Refusal(std::string("memif:x,") + option)
						     .find("expected \"server\", \"id=N\" or nothing"))
			<< option;
	EXPECT_EQ(0u, Parsed("memif:x").id);
	EXPECT_EQ(7u, Parsed("memif:x,id=7").id);
	EXPECT_FALSE(Parsed("memif:x,id=7").server);
	EXPECT_EQ(8u, Parsed("memif:x,id=8,server").id);
	EXPECT_TRUE(Parsed("memif:x,server,id=8").server);
	EXPECT_STREQ(std::string(107, 'x').c_str(), Parsed("memif:" + std::string(107, 'x')).text);
}

TEST(PortName, CaptureFileReadWrittenOrBoth)
{
	EXPECT_EQ(FG_PORT_PCAP, Parsed("pcap:in.pcap").kind);
	EXPECT_STREQ("in.pcap", Parsed("pcap:in.pcap").text);
	EXPECT_STREQ("", Parsed("pcap:in.pcap").second);
	EXPECT_STREQ("in", Parsed("pcap:in,out").text);
	EXPECT_STREQ("out", Parsed("pcap:in,out").second);
	EXPECT_STREQ("", Parsed("pcap:,out").text);
	EXPECT_STREQ("out", Parsed("pcap:,out").second);
}

TEST(PortName, NoCaptureFile)
{
	for (const std::string &device :
	     {std::string("pcap:"), std::string("pcap:,"), std::string("pcap:a,"), std::string("pcap:a,b,c"),
	      std::string("pcap:a b"), "pcap:" + std::string(512, 'x')})
		EXPECT_NE(std::string::npos, Refusal(device).find("expected pcap:IN")) << device;
}

TEST(PortName, PciAddressWithAndWithoutDomain)
{
	EXPECT_EQ(FG_PORT_PCI, Parsed("0000:03:00.0").kind);
	EXPECT_STREQ("0000:03:00.0", Parsed("03:00.0").text);
	EXPECT_STREQ("0001:0a:1f.7", Parsed("1:A:1F.7").text);
}

TEST(PortName, NoPciAddress)
{
	for (const char *device : {"03:00", "03:00.", "03:00.8", "03:20.0", "00000:03:00.0", "0000:03:00.0x",
				   "0000:03:00.00", "100:00.0", ":03:00.0", "3", "."})
		EXPECT_NE(std::string::npos, Refusal(device).find("is not a device")) << device;
}

TEST(PortName, VirtualDeviceAsDpdkNamesIt)
{
	EXPECT_EQ(FG_PORT_VDEV, Parsed("vdev:net_null0,size=64").kind);
	EXPECT_STREQ("net_null0,size=64", Parsed("vdev:net_null0,size=64").text);
	for (const std::string &device : {std::string("vdev:"), std::string("vdev:,size=64"),
					  std::string("vdev:0net"), "vdev:n" + std::string(63, 'x')})
		EXPECT_NE(std::string::npos, Refusal(device).find("expected what DPDK's --vdev takes"))
			<< device;
}

TEST(PortName, WireIsKnownThoughItIsNoDevice)
{
	EXPECT_EQ(FG_PORT_WIRE, Parsed("wire0").kind);
	EXPECT_EQ(FG_PORT_WIRE, Parsed("wire12").kind);
	for (const char *device : {"wire", "wirex", "wire0x", "wire 0"})
		EXPECT_NE(std::string::npos, Refusal(device).find("is not a device")) << device;
}

TEST(PortName, EverythingElseIsRefusedWithTheForms)
{
	for (const std::string &device : {std::string(""), std::string("eth2"), std::string("Kernel:eth2"),
					  std::string(":"), std::string("%s%n"), std::string(100000, 'a')})
		EXPECT_NE(std::string::npos, Refusal(device).find("expected wireN, kernel:INTERFACE"))
			<< device.substr(0, 20);
}

TEST(PortName, PhysicalIsWhatMayReachANetwork)
{
	for (const char *device :
	     {"kernel:eth2", "03:00.0", "vdev:net_tap0,iface=x", "vdev:net_af_packet0,iface=eth2",
	      "vdev:net_virtio_user0,path=/dev/vhost-net", "vdev:net_pcap0,iface=eth2"})
		EXPECT_TRUE(IsPhysical(device)) << device;
	for (const char *device : {"wire0", "memif:x", "pcap:x", "vdev:net_null0", "vdev:net_ring1",
				   "vdev:net_memif,role=server", "vdev:net_pcap0,rx_pcap=a"})
		EXPECT_FALSE(IsPhysical(device)) << device;
}
