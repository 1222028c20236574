/* SPDX-License-Identifier: BSD-3-Clause */
/* Bandwidth profiles of the reference device: which frames of a service pass, when, and what it counts. */
#include <initializer_list>

#include "device_under_test.h"

namespace
{

const uint64_t M = 1000000;

/* a profile of the frames of a VLAN; 0: of all */
fg_device_profile
Profile(uint16_t vlan, uint64_t cir, uint64_t cbs, uint64_t eir = 0, uint64_t ebs = 0)
{
	fg_device_profile p = {};

	p.class_.vlan = vlan;
	p.meter = {FG_METER_MEF, false, false, cir, eir, cbs, ebs};
	return p;
}

void
Set(const Wire &wire, unsigned side, std::initializer_list<fg_device_profile> list)
{
	fg_error err = {};

	ASSERT_EQ(0, fg_device_set_profiles(wire.Get(), side, list.begin(), unsigned(list.size()), &err))
		<< err.message;
}

fg_device_profile_counters
Counters(const Wire &wire, unsigned side, unsigned i)
{
	fg_device_profile_counters out;

	fg_device_read_profile_counters(wire.Get(), side, i, &out);
	return out;
}

/* 512 bytes with FCS in a VLAN, PCP 5 when green and 4 when yellow */
frames::Bytes
Tagged(uint8_t vlan, bool yellow = false)
{
	frames::Bytes bytes(508, 0x5a);

	bytes[12] = 0x81;
	bytes[13] = 0;
	bytes[14] = yellow ? 0x80 : 0xa0;
	bytes[15] = vlan;
	return bytes;
}

const uint64_t spacing = 40960 * ns; /* 512 bytes at 100 Mbit/s */

TEST(Profile, PolicesEachServiceByItself)
{
	Wire wire(Device(1e9));

	Set(wire, 0, {Profile(10, 100 * M, 512), Profile(20, 50 * M, 512)});
	for (uint32_t i = 0; i < 1000; i++) {
		wire.Launch(0, i, Tagged(10), i * spacing);
		wire.Launch(0, i, Tagged(20), i * spacing);
		wire.Launch(0, i, Tagged(30), i * spacing);
	}
	/* a frame of VLAN 20 finds half of the tokens, so every other one passes */
	EXPECT_EQ(1000u, Counters(wire, 0, 0).green);
	EXPECT_EQ(500u, Counters(wire, 0, 1).green);
	EXPECT_EQ(500u, Counters(wire, 0, 1).red);
	EXPECT_EQ(500u, wire.Counters(0).policed);
	EXPECT_EQ(2500u, wire.Receive(1).size()) << "VLAN 30 is nobody's business";
}

TEST(Profile, IsOfOneDirection)
{
	Wire wire(Device(1e9));

	Set(wire, 0, {Profile(0, 50 * M, 512)});
	for (uint32_t i = 0; i < 1000; i++) {
		wire.Launch(0, i, 512, i * spacing);
		wire.Launch(1, i, 512, i * spacing);
	}
	EXPECT_EQ(500u, wire.Receive(1).size());
	EXPECT_EQ(1000u, wire.Receive(0).size());
	EXPECT_EQ(0u, wire.Counters(1).policed);
}

TEST(Profile, SeesTheColourOfAFrame)
{
	/* yellow and green in turn, the yellow ones first, and tokens for every other frame */
	for (bool aware : {false, true}) {
		Wire wire(Device(1e9));
		fg_device_profile p = Profile(10, 50 * M, 512);

		p.colouring.pcps = 1 << 4;
		p.meter.aware = aware;
		Set(wire, 0, {p});
		for (uint32_t i = 0; i < 1000; i++)
			wire.Launch(0, i, Tagged(10, i % 2 == 0), i * spacing);
		EXPECT_EQ(500u, Counters(wire, 0, 0).green);
		for (const Arrival &a : wire.Receive(1))
			ASSERT_EQ(aware, a.number % 2 == 1)
				<< "the first to come takes the token, unless it is yellow";
	}
}

TEST(Profile, DelaysNothingWhenItPolices)
{
	Wire with(Device(1e9)), without(Device(1e9));

	Set(with, 0, {Profile(0, 100 * M, 64000)});
	for (uint32_t i = 0; i < 100; i++) {
		with.Launch(0, i, 512, i * spacing);
		without.Launch(0, i, 512, i * spacing);
	}
	std::vector<Arrival> a = with.Receive(1), b = without.Receive(1);
	ASSERT_EQ(a.size(), b.size());
	for (size_t i = 0; i < a.size(); i++)
		EXPECT_EQ(a[i].time, b[i].time);
}

TEST(Profile, ShapesIfSo)
{
	Wire wire(Device(1e9));
	fg_device_profile p = Profile(0, 60 * M, 512, 40 * M, 512);
	std::vector<Arrival> got;

	p.shaping_ns = 10 * 40960; /* ten frames may wait */
	Set(wire, 0, {p});
	for (uint32_t i = 0; i < 100; i++)
		wire.Launch(0, i, 512, 0);
	got = wire.Receive(1);
	/*
	 * They come in 4.256 us apart. The first two find tokens; the others leave one after the other at the
	 * shaper's rate while no more than ten times that lie ahead.
	 */
	ASSERT_LT(12u, got.size());
	EXPECT_NEAR(line_time(1e9, 512), double(got[1].time - got[0].time), 1);
	for (size_t i = 2; i < got.size(); i++)
		EXPECT_NEAR(spacing, double(got[i].time - got[i - 1].time), i == 2 ? spacing : 1) << i;
	for (const Arrival &a : got)
		EXPECT_LE(double(a.time) - a.number * line_time(1e9, 512) - store_time(1e9, 512),
			  10.0 * spacing);
	EXPECT_EQ(got.size(), Counters(wire, 0, 0).green);
	EXPECT_EQ(got.size() - 2, Counters(wire, 0, 0).shaped);
	EXPECT_EQ(100 - got.size(), Counters(wire, 0, 0).red);
	EXPECT_EQ(100 - got.size(), wire.Counters(0).policed);
}

TEST(Profile, BeginsAgainAfterAReset)
{
	Wire wire(Device(1e9));

	Set(wire, 0, {Profile(0, 0, 5120)});
	for (int again = 0; again < 2; again++) {
		for (uint32_t i = 0; i < 20; i++)
			wire.Launch(0, i, 512, i * spacing);
		EXPECT_EQ(10u, Counters(wire, 0, 0).green);
		EXPECT_EQ(10u, Counters(wire, 0, 0).red);
		fg_device_reset(wire.Get(), 0);
		EXPECT_EQ(0u, Counters(wire, 0, 0).green);
	}
}

TEST(Profile, CanBeReplacedAndRefused)
{
	Wire wire(Device(1e9));
	fg_error err = {};
	fg_device_profile bad = Profile(0, 0, 512);

	Set(wire, 0, {Profile(0, 0, 512)});
	bad.shaping_ns = 1000;
	EXPECT_EQ(-ERANGE, fg_device_set_profiles(wire.Get(), 0, &bad, 1, &err));
	EXPECT_STREQ("reference_device.profiles", err.where);
	wire.Launch(0, 0, 512, 0);
	wire.Launch(0, 1, 512, 0);
	EXPECT_EQ(1u, wire.Counters(0).policed) << "a refused one changes nothing";
	Set(wire, 0, {});
	wire.Launch(0, 2, 512, 0);
	EXPECT_EQ(2u, wire.Receive(1).size());
}

} // namespace
