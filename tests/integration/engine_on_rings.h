/* SPDX-License-Identifier: BSD-3-Clause */
/* An engine in the processor's time, on rings that give back what they took. */
#ifndef ENGINE_ON_RINGS_H
#define ENGINE_ON_RINGS_H

#include "engine_under_test.h"

const uint64_t any_lag = 30000000000; /* ns: late is only what an overloaded machine makes so */
const Times moment = {20, 300, 1000, 0};

class Port
{
      public:
	explicit Port(const std::string &device)
	{
		fg_port_config config = {};
		fg_error err = {};

		config.name = "east";
		config.device = device.c_str();
		EXPECT_EQ(0, fg_port_open(&config, &port, &err)) << err.message;
	}
	~Port()
	{
		Close();
	}
	Port(const Port &) = delete;
	Port &operator=(const Port &) = delete;

	void
	Close()
	{
		fg_port_close(port);
		port = nullptr;
	}

	fg_port *port = nullptr;
};

inline fg_engine_config
processor_time(unsigned lcores)
{
	fg_engine_config c = {};

	c.time = FG_TIME_TSC;
	c.buffers = 8191;
	c.lcores = lcores;
	/* with two, one sends and the other receives */
	for (unsigned i : {0, 1})
		c.port[i].rx_lcore[0] = lcores - 1;
	return c;
}

/* two rings, each joined to itself */
struct Rings {
	explicit Rings(unsigned lcores = 1)
	    : east("vdev:net_ring20"), west("vdev:net_ring21"),
	      engine(processor_time(lcores), east.port, west.port)
	{
	}

	Port east, west;
	Engine engine;
};

#endif
