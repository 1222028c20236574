/* SPDX-License-Identifier: BSD-3-Clause */
/* The main of tests that need DPDK but no device: it runs on ordinary memory and without root. */
#include <cstdio>
#include <sched.h>
#include <string>

#include <gtest/gtest.h>

#include "fg_host.h"
#include "fg_port.h"

/* the main lcore and two workers, on whatever CPUs there are: the tests ask what is right, not what is
 * fast */
static std::string
lcores()
{
	std::string cpus, map;
	cpu_set_t allowed;

	CPU_ZERO(&allowed);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			cpus += (cpus.empty() ? "" : ",") + std::to_string(cpu);
	for (int id = 0; id < 3; id++)
		map += (id == 0 ? "" : ",") + std::to_string(id) + "@(" + cpus + ")";
	return map;
}

int
main(int argc, char **argv)
{
	fg_host_config config = {};
	const std::string map = lcores();
	fg_error err = {};

	testing::InitGoogleTest(&argc, argv);
	config.huge_pages = 1;
	config.lcores = map.c_str();
	if (fg_host_start(&config, &err) != 0) {
		fprintf(stderr, "%s: %s\n", err.where, err.message);
		return 1;
	}
	return RUN_ALL_TESTS();
}
