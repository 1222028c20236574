/* SPDX-License-Identifier: BSD-3-Clause */
/* What SFP modules say of themselves, by the bytes of SFF-8472. */
#include <gtest/gtest.h>

#include <cstring>

#include "fg_port_about.h"

namespace
{

struct Module {
	uint8_t id[FG_SFF8472_ID] = {3};
	uint8_t monitor[FG_SFF8472_MONITOR_SIZE] = {};
	fg_port_module seen;

	Module()
	{
		memcpy(id + 20, "FINISAR CORP.   ", 16);
		memcpy(id + 40, "FTLX8571D3BCV\0\0\0", 16);
		memcpy(id + 68, "AB1\x01             ", 16);
	}

	void
	At(unsigned place, uint16_t word)
	{
		monitor[place - FG_SFF8472_MONITOR_AT] = (uint8_t)(word >> 8);
		monitor[place - FG_SFF8472_MONITOR_AT + 1] = (uint8_t)word;
	}

	int
	Read()
	{
		return fg_sff8472_read(id, monitor, &seen);
	}
};

TEST(PortModule, TextsEndWithoutBlanksAndHoldNothingThatIsNoText)
{
	Module m;

	m.id[3] = 1 << 4;
	ASSERT_EQ(0, m.Read());
	EXPECT_STREQ("SFP", m.seen.type);
	EXPECT_STREQ("10GBASE-SR", m.seen.media);
	EXPECT_STREQ("FINISAR CORP.", m.seen.vendor);
	EXPECT_STREQ("FTLX8571D3BCV", m.seen.part);
	EXPECT_STREQ("AB1?", m.seen.serial);
	EXPECT_FALSE(m.seen.has_temperature);
}

TEST(PortModule, TheMediumOfACableIsTheCable)
{
	Module m;

	m.id[3] = 1 << 4;
	m.id[8] = 1 << 2;
	ASSERT_EQ(0, m.Read());
	EXPECT_STREQ("passive copper", m.seen.media);
}

TEST(PortModule, TemperatureIsSignedAndInPartsOf256)
{
	Module m;

	m.id[92] = 1 << 6 | 1 << 5;
	m.At(96, 0xfd80); /* the standard's own example of a negative one: -2.5 */
	m.At(102, 5000);
	m.At(104, 1);
	ASSERT_EQ(0, m.Read());
	ASSERT_TRUE(m.seen.has_temperature && m.seen.has_power);
	EXPECT_DOUBLE_EQ(-2.5, m.seen.temperature_c);
	EXPECT_DOUBLE_EQ(0.5, m.seen.tx_power_mw);
	EXPECT_DOUBLE_EQ(0.0001, m.seen.rx_power_mw);
}

TEST(PortModule, ATemperatureThatTheHostHasToCalibrateIsCalibrated)
{
	Module m;

	m.id[92] = 1 << 6 | 1 << 4;
	m.At(84, 0x0180); /* slope 1.5 */
	m.At(86, 0xff00); /* offset -1 */
	m.At(96, 20 << 8);
	ASSERT_EQ(0, m.Read());
	ASSERT_TRUE(m.seen.has_temperature);
	EXPECT_DOUBLE_EQ(29, m.seen.temperature_c);
	EXPECT_FALSE(m.seen.has_power);
}

TEST(PortModule, WhatIsNotMonitoredIsNotRead)
{
	Module m;

	m.id[92] = 1 << 5;
	m.At(96, 0x1900);
	ASSERT_EQ(0, m.Read());
	EXPECT_FALSE(m.seen.has_temperature || m.seen.has_power);
	m.id[92] = 1 << 6 | 1 << 5;
	ASSERT_EQ(0, fg_sff8472_read(m.id, NULL, &m.seen));
	EXPECT_FALSE(m.seen.has_temperature || m.seen.has_power);
}

TEST(PortModule, AnotherKindOfModuleIsRefused)
{
	Module m;

	m.id[0] = 0x11; /* QSFP28 */
	EXPECT_EQ(-EINVAL, m.Read());
}

} // namespace
