/* SPDX-License-Identifier: BSD-3-Clause */
/* The main of tests that need DPDK but no device: it runs on ordinary memory and without root. */
#include <cstdio>

#include <gtest/gtest.h>

#include "fg_port.h"

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
	return RUN_ALL_TESTS();
}
