/* SPDX-License-Identifier: BSD-3-Clause */
/* The line and the two ports at its ends, and what is between being made and being freed. */
#include <cmath>
#include <random>

#include "device_under_test.h"

TEST(WireLine, SendsFramesOneAfterTheOther)
{
	for (double rate : {1e7, 1e9, 1e10, 1e11, 4e11})
		for (unsigned size : {64, 65, 512, 1518, 9018, 16128}) {
			Wire wire(Device(rate));
			std::vector<Arrival> got;

			for (uint32_t i = 0; i < 10; i++)
				wire.Launch(0, i, size, 0);
			got = wire.Receive(1);
			ASSERT_EQ(10u, got.size());
			for (uint32_t i = 0; i < 10; i++) {
				EXPECT_EQ(i, got[i].number);
				EXPECT_NEAR(store_time(rate, size) + i * line_time(rate, size),
					    double(got[i].time), 1);
			}
		}
}

TEST(WireLine, CarriesItsFullRateWithoutAnyBuffer)
{
	/* also where a byte takes no whole number of picoseconds */
	for (double rate : {1e9, 3e9, 7e9, 1e11, 1.7e9})
		for (unsigned size : {64, 65, 1518}) {
			Wire wire(Device(rate, 0));

			for (uint32_t i = 0; i < 5000; i++)
				wire.Launch(0, i, size, 0);
			EXPECT_EQ(5000u, wire.Receive(1).size()) << rate << " bit/s, " << size;
		}
}

TEST(WireLine, SendsAtTheLaunchTimeButNotBeforeTheLineIsFree)
{
	Wire wire(Device(1e9));
	std::vector<Arrival> got;

	wire.Launch(0, 0, 64, 5 * us);
	wire.Launch(0, 1, 64, 5 * us + 100 * ns); /* the line is busy for 672 ns */
	wire.Launch(0, 2, 64, 10 * us);
	wire.Launch(0, 3, 64, 4 * us); /* too late for that */
	got = wire.Receive(1);
	ASSERT_EQ(4u, got.size());
	EXPECT_EQ(5 * us + 512 * ns, got[0].time);
	EXPECT_EQ(5 * us + (672 + 512) * ns, got[1].time);
	EXPECT_EQ(10 * us + 512 * ns, got[2].time);
	EXPECT_EQ(10 * us + (672 + 512) * ns, got[3].time);
}

TEST(WireLine, SendsNothingBeforeNow)
{
	Wire wire(Device(1e9));

	wire.Launch(0, 0, 64, 5 * us, /*now*/ 7 * us);
	wire.Send(0, frames::Bytes(60), 9 * us); /* without launch time */
	EXPECT_EQ(7 * us + 512 * ns, wire.Receive(1)[0].time);
	EXPECT_EQ(9 * us + 512 * ns, wire.Receive(1).empty() ? 9 * us + 512 * ns : 0) << "all came at once";
}

TEST(WireLine, TakesNoLessThanSixtyFourOctets)
{
	Wire wire(Device(1e9));
	std::vector<Arrival> got;

	for (size_t length : {4, 20, 59, 60})
		wire.Send(0, frames::Bytes(length));
	got = wire.Receive(1);
	ASSERT_EQ(4u, got.size());
	for (size_t i = 0; i < 4; i++)
		EXPECT_EQ((512 + i * 672) * ns, got[i].time);
}

TEST(WireLine, HandsOutNothingBeforeItArrives)
{
	Wire wire(Device(1e9));

	EXPECT_EQ(UINT64_MAX, wire.Port(1)->next_arrival(wire.Port(1)));
	wire.Launch(0, 0, 64, 0);
	wire.Launch(0, 1, 64, 5 * us);
	EXPECT_EQ(512 * ns, wire.Port(1)->next_arrival(wire.Port(1)));
	EXPECT_EQ(0u, wire.Receive(1, 512 * ns - 1).size());
	EXPECT_EQ(1u, wire.Receive(1, 512 * ns).size());
	EXPECT_EQ(5 * us + 512 * ns, wire.Port(1)->next_arrival(wire.Port(1)));
	EXPECT_EQ(1u, wire.Receive(1).size());
	EXPECT_EQ(0u, wire.Receive(0).size()) << "nothing for the sender";
}

TEST(WireLine, IsFullDuplex)
{
	Wire wire(Device(1e9));

	for (uint32_t i = 0; i < 100; i++) {
		wire.Launch(0, i, 1518, 0);
		wire.Launch(1, i, 64, 0);
	}
	EXPECT_EQ(uint64_t(store_time(1e9, 1518) + 99 * line_time(1e9, 1518)), wire.Receive(1).back().time);
	EXPECT_EQ(uint64_t(store_time(1e9, 64) + 99 * line_time(1e9, 64)), wire.Receive(0).back().time);
}

TEST(WireReset, ForgetsWhatIsOnTheWay)
{
	fg_device_config config = Device(1e9);
	std::vector<Arrival> got;

	config.direction[0].capacity_fps = 1;
	Wire wire(config);
	for (uint32_t i = 0; i < 5000; i++)
		wire.Launch(0, i, 64, 0);
	EXPECT_EQ(513u, Wire::InUse());
	fg_device_reset(wire.Get(), 0);
	EXPECT_EQ(0u, Wire::InUse());
	EXPECT_EQ(0u, wire.Receive(1).size());
	EXPECT_EQ(0u, wire.Counters(0).received);
	wire.Launch(0, 7, 64, 3 * us);
	got = wire.Receive(1);
	ASSERT_EQ(1u, got.size());
	EXPECT_EQ(3 * us + 512 * ns, got[0].time) << "line and server are idle";
}

TEST(WireRoom, CountsWhatItHasNoRoomForAsMissed)
{
	Wire wire(Device(1e9), 64);

	for (uint32_t i = 0; i < 100; i++)
		wire.Launch(0, i, 64, 0);
	EXPECT_EQ(36u, wire.PortCounters(1).rx_missed);
	EXPECT_EQ(64u, Wire::InUse());
	EXPECT_EQ(64u, wire.Receive(1).size());
	EXPECT_EQ(100u, wire.PortCounters(0).tx_frames);
	EXPECT_EQ(64u, wire.PortCounters(1).rx_frames);
	wire.Launch(0, 0, 64, 0);
	EXPECT_EQ(1u, wire.Receive(1).size()) << "there is room again";
}

TEST(WireRoom, SufficesForWhatCanBeInFlight)
{
	for (double rate : {1e9, 1e10})
		for (unsigned size : {64, 1518})
			for (double latency : {0.0, 20e3, 1e6})
				for (uint64_t buffer : {1, 512, 8192}) {
					fg_device_config config = Device(rate, buffer);
					uint32_t room;
					uint64_t burst_time = uint64_t(32 * line_time(rate, size)), now = 0;

					for (fg_device_direction &d : config.direction) {
						d.latency_ns = latency;
						d.capacity_fps = rate / 1e4;
					}
					room = fg_device_in_flight(&config, size);
					Wire wire(config, room);
					for (uint32_t i = 0; i < 30000; i++) {
						wire.Launch(0, i, size, 0, now);
						if (i % 32 == 31) {
							now += burst_time;
							wire.Receive(1, now);
						}
					}
					EXPECT_EQ(0u, wire.PortCounters(1).rx_missed);
				}
}

TEST(WireRoom, IsNotPromisedBeyondReason)
{
	fg_device_config config = Device(1e9, 1 << 20);

	EXPECT_EQ(0u, fg_device_in_flight(&config, 64));
	config = Device(1e11);
	config.direction[0].latency_ns = 10e9;
	EXPECT_EQ(0u, fg_device_in_flight(&config, 64));
	EXPECT_EQ(0u, fg_device_in_flight(&config, 1518));
}

namespace
{

void
expect_refused(const fg_device_config &config, uint32_t in_flight, const char *where)
{
	fg_device *wire = nullptr;
	fg_error err = {};

	EXPECT_EQ(-EINVAL, fg_device_create(&config, in_flight, &wire, &err)) << where;
	EXPECT_STREQ(where, err.where) << err.message;
	EXPECT_EQ(nullptr, wire);
}

} // namespace

TEST(WireCreate, RefusesWhatMakesNoSense)
{
	const double none = std::nan("");

	expect_refused(Device(1e9), 0, "wire");
	expect_refused(Device(1e9), (1 << 20) + 1, "wire");
	for (double rate : {0.0, -1e9, 999.0, 1.1e12, none, double(INFINITY)})
		expect_refused(Device(rate), 64, "reference_device.rate");
	expect_refused(Device(1e9, (1 << 20) + 1), 64, "reference_device.buffer");
	expect_refused(Device(1e9, UINT64_MAX), 64, "reference_device.buffer");
	for (double value : {-1.0, none, double(INFINITY), 1e30}) {
		for (unsigned side : {0, 1}) {
			fg_device_config config = Device(1e9);
			fg_device_direction &d = config.direction[side];

			d.capacity_fps = value;
			expect_refused(config, 64, "reference_device.capacity");
			d = {};
			d.capacity_bps = value;
			expect_refused(config, 64, "reference_device.bandwidth");
			d = {};
			d.latency_ns = value;
			expect_refused(config, 64, "reference_device.latency");
			d = {};
			d.latency_ns_per_octet = value;
			expect_refused(config, 64, "reference_device.latency_per_byte");
			d = {};
			d.impair.loss.random = value;
			expect_refused(config, 64, "reference_device.loss_random");
		}
	}
	fg_device_free(nullptr);
}

TEST(WirePort, IsAPortLikeAnyOther)
{
	Wire wire(Device(2.5e9));

	for (unsigned side : {0, 1}) {
		fg_port *port = wire.Port(side);

		EXPECT_STREQ("wire", port->caps.driver);
		EXPECT_EQ(2500000000u, port->caps.line_rate_bps);
		EXPECT_TRUE(port->caps.launch_time);
		EXPECT_TRUE(port->caps.rx_timestamp);
		EXPECT_FALSE(port->caps.physical);
		EXPECT_TRUE(port->ops->link_up(port));
		EXPECT_STREQ(side == 0 ? "wire0" : "wire1", port->device);
		fg_port_close(port);
	}
	EXPECT_NE(0, memcmp(wire.Port(0)->caps.mac, wire.Port(1)->caps.mac, 6));
	wire.Launch(0, 1, 64, 0);
	EXPECT_EQ(1u, wire.Receive(1).size()) << "closing did nothing";
}

TEST(WireBridge, PassesFramesOnAsTheyAre)
{
	std::mt19937_64 random(5);
	Wire wire(Device(1e9));

	for (int i = 0; i < 1000; i++) {
		frames::Bytes frame(14 + random() % 1500);
		std::vector<Arrival> got;

		for (uint8_t &octet : frame)
			octet = uint8_t(random());
		wire.Send(0, frame, 1);
		got = wire.Receive(1);
		ASSERT_EQ(1u, got.size());
		ASSERT_EQ(frame, got[0].bytes);
	}
	EXPECT_EQ(1000u, wire.Counters(0).forwarded);
}
