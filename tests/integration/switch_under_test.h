/* SPDX-License-Identifier: BSD-3-Clause */
/* A reference switch that frees itself, with stations behind its ports: station n is behind port n. */
#ifndef SWITCH_UNDER_TEST_H
#define SWITCH_UNDER_TEST_H

#include "device_under_test.h"
#include "fg_switch.h"

const frames::Mac everyone = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

inline fg_switch_config
SwitchOf(unsigned ports, double rate_bps = 1e9, uint64_t buffer = 512)
{
	fg_switch_config config = {};

	config.ports = ports;
	for (unsigned i = 0; i < ports; i++)
		config.rate_bps[i] = rate_bps;
	config.buffer = buffer;
	config.gap = 12;
	config.alpha = 1;
	config.min_frame = 64;
	config.max_frame = 1518;
	config.table.size = 8192;
	return config;
}

inline frames::Mac
Station(unsigned number)
{
	return {2, 0, 0, uint8_t(number >> 16), uint8_t(number >> 8), uint8_t(number)};
}

/* without FCS */
inline frames::Bytes
FrameTo(const frames::Mac &destination, const frames::Mac &source, unsigned size = 64)
{
	frames::Bytes b = frames::ethernet(destination, source, 0x88b5);

	b.resize(size - 4);
	return b;
}

class Switch : public Ports
{
      public:
	explicit Switch(const fg_switch_config &config, uint32_t in_flight = 16384) : ports(config.ports)
	{
		fg_error err = {};

		EXPECT_EQ(0, fg_switch_create(&config, in_flight, 1518, &device, &err))
			<< err.where << err.message;
		FindMarks();
	}
	~Switch() override
	{
		fg_switch_free(device);
		EXPECT_EQ(0u, InUse()) << "buffers have leaked";
	}
	fg_switch *
	Get() const
	{
		return device;
	}
	fg_port *
	Port(unsigned i) const override
	{
		return fg_switch_port(device, i);
	}
	fg_switch_counters
	Counters(unsigned i) const
	{
		fg_switch_counters out;

		fg_switch_read_counters(device, i, &out);
		return out;
	}
	/* Every station is heard once; what is flooded is thrown away. The counts begin anew */
	void
	Learn()
	{
		for (unsigned i = 0; i < ports; i++)
			Launch(i, 0, FrameTo(everyone, Station(i)), us);
		for (unsigned i = 0; i < ports; i++)
			Receive(i);
		fg_switch_reset(device);
	}
	/* From one station to another */
	void
	Cross(unsigned from, unsigned to, uint32_t number, uint64_t launch, unsigned size = 64)
	{
		Launch(from, number, FrameTo(Station(to), Station(from), size), launch);
	}

	const unsigned ports;

      private:
	fg_switch *device = nullptr;
};

#endif
