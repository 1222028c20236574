/* SPDX-License-Identifier: BSD-3-Clause */
/* The main of tests that open ports: ordinary memory, frames to send, and --hold=DEVICE for tests that want
 * another tester. */
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include <rte_lcore.h>

#include "fg_host.h"
#include "port_under_test.h"

rte_mempool *frames;

/* Be another tester that has a port open until it is killed, and say so with one character */
static int
Hold(const std::string &device)
{
	Port port(device);

	if (!port.Opened() || write(STDOUT_FILENO, ".", 1) != 1)
		return 1;
	pause();
	return 0;
}

int
main(int argc, char **argv)
{
	fg_host_config config = {};
	fg_error err = {};

	testing::InitGoogleTest(&argc, argv);
	config.huge_pages = 1;
	if (fg_host_start(&config, &err) != 0) {
		fprintf(stderr, "%s: %s\n", err.where, err.message);
		return 1;
	}
	if (argc == 2 && strncmp(argv[1], "--hold=", 7) == 0)
		return Hold(argv[1] + 7);
	frames = rte_pktmbuf_pool_create("frames", 16383, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	return frames == nullptr ? 1 : RUN_ALL_TESTS();
}
