/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quantities with units. Everything a user writes with a unit passes through here, so that "10Gbps" means the
 * same in a plan, on the command line and in a script. One table holds every suffix. How a quantity is shown
 * to people is decided where it is shown (framegauge.text.units).
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fg_units.h"

struct suffix {
	const char *text;
	double scale;
	enum fg_unit unit;
};

static const struct suffix suffixes[] = {
	{"Tbps", 1e12, FG_UNIT_BPS},
	{"Gbps", 1e9, FG_UNIT_BPS},
	{"Mbps", 1e6, FG_UNIT_BPS},
	{"kbps", 1e3, FG_UNIT_BPS},
	{"bps", 1, FG_UNIT_BPS},
	{"Tbit/s", 1e12, FG_UNIT_BPS},
	{"Gbit/s", 1e9, FG_UNIT_BPS},
	{"Mbit/s", 1e6, FG_UNIT_BPS},
	{"kbit/s", 1e3, FG_UNIT_BPS},
	{"bit/s", 1, FG_UNIT_BPS},
	{"Gfps", 1e9, FG_UNIT_FPS},
	{"Mfps", 1e6, FG_UNIT_FPS},
	{"kfps", 1e3, FG_UNIT_FPS},
	{"fps", 1, FG_UNIT_FPS},
	{"%", 1e-2, FG_UNIT_RATIO},
	{"ppm", 1e-6, FG_UNIT_RATIO},
	{"h", 3600e9, FG_UNIT_NS},
	{"min", 60e9, FG_UNIT_NS},
	{"s", 1e9, FG_UNIT_NS},
	{"ms", 1e6, FG_UNIT_NS},
	{"us", 1e3, FG_UNIT_NS},
	{"\xc2\xb5s", 1e3, FG_UNIT_NS},
	{"ns", 1, FG_UNIT_NS},
	{"GiB", 1073741824.0, FG_UNIT_BYTES},
	{"MiB", 1048576.0, FG_UNIT_BYTES},
	{"KiB", 1024.0, FG_UNIT_BYTES},
	{"GB", 1e9, FG_UNIT_BYTES},
	{"MB", 1e6, FG_UNIT_BYTES},
	{"kB", 1e3, FG_UNIT_BYTES},
	{"B", 1, FG_UNIT_BYTES},
	{"byte", 1, FG_UNIT_BYTES},
	{"bytes", 1, FG_UNIT_BYTES},
	{"frame", 1, FG_UNIT_FRAMES},
	{"frames", 1, FG_UNIT_FRAMES},
	{"", 1, FG_UNIT_NONE},
};

#define SUFFIXES (sizeof(suffixes) / sizeof(suffixes[0]))

static const char *
skip_spaces(const char *s)
{
	while (*s == ' ' || *s == '\t')
		s++;
	return s;
}

static const struct suffix *
find_suffix(const char *text, size_t length)
{
	char folded[8];

	if (length >= sizeof(folded))
		return NULL;
	memcpy(folded, text, length);
	folded[length] = '\0';
	if (folded[0] == 'K' && folded[1] != 'i')
		folded[0] = 'k';
	for (size_t i = 0; i < SUFFIXES; i++)
		if (strcmp(folded, suffixes[i].text) == 0)
			return &suffixes[i];
	return NULL;
}

/* " L2" after a bit rate; anything else left over is an error */
static int
parse_layer(const char *s, const struct suffix *suffix, int *layer)
{
	*layer = 0;
	s = skip_spaces(s);
	if (*s == '\0')
		return 0;
	if (suffix->unit != FG_UNIT_BPS || (s[0] != 'L' && s[0] != 'l') || s[1] < '1' || s[1] > '3')
		return -EINVAL;
	*layer = s[1] - '0';
	return *skip_spaces(s + 2) == '\0' ? 0 : -EINVAL;
}

/* A decimal number; strtod alone would take "nan", "inf" and hexadecimal as well. NULL: no number. */
static const char *
parse_number(const char *s, double *number)
{
	const char *digits = s + (*s == '+' || *s == '-');
	char *end;

	if (!isdigit((unsigned char)*digits) && *digits != '.')
		return NULL;
	if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
		return NULL;
	*number = strtod(s, &end);
	return end == s ? NULL : end;
}

/* 1/100 has no exact double but 100 has: dividing makes "5%" the double nearest to 0.05. No negative zero. */
static double
to_base(double number, const struct suffix *suffix)
{
	return (suffix->scale < 1 ? number / (1 / suffix->scale) : number * suffix->scale) + 0.0;
}

int
fg_units_parse(const char *text, struct fg_quantity *out, struct fg_error *err)
{
	const struct suffix *suffix;
	const char *unit;
	double number, value;
	size_t length;
	int layer;

	unit = parse_number(skip_spaces(text), &number);
	if (unit == NULL)
		goto not_a_quantity;
	unit = skip_spaces(unit);
	length = strcspn(unit, " \t");
	suffix = find_suffix(unit, length);
	if (suffix == NULL || parse_layer(unit + length, suffix, &layer) != 0)
		goto not_a_quantity;
	value = to_base(number, suffix);
	if (!isfinite(value))
		return fg_error_set(err, ERANGE, "quantity", "\"%.40s\" is too large a number", text);
	*out = (struct fg_quantity){.value = value, .unit = suffix->unit, .layer = layer};
	return 0;

not_a_quantity:
	return fg_error_set(
		err, EINVAL, "quantity",
		"\"%.40s\" is not a number with a unit (such as 10Gbps, 900kfps, 40%%, 64B, 120us)", text);
}
