/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model DEVICE: what becomes of frames, "TIME OCTETS" a line of the input, TIME in ns: when each leaves, or
 * -1. By this campaign.py sees whether the devices in C are the one in Python.
 */
#include "model.h"

int
main(int argc, char **argv)
{
	struct noise_model model;
	unsigned long time;
	unsigned octets;
	enum noise_fate fate;

	noise_model_init(&model, argc > 1 ? argv[1] : "");
	while (scanf("%lu %u", &time, &octets) == 2)
		printf("%ld\n", (long)noise_model_pass(&model, time, octets, &fate));
	return 0;
}
