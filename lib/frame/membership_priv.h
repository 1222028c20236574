/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What IGMPv3 and MLDv2 share: MLDv2 is IGMPv3 for IPv6 (RFC 3810, 1), with longer addresses and in ICMPv6.
 * The members of each kind of message; its file adds names and fields, and defines ADDRESS, the bytes of an
 * address, and SCOPE, the bytes that the checksum covers.
 */
#include "frame_priv.h"

/** A message: its place and scope are defined by the file. */
#define MEMBERSHIP_MESSAGE .places = places, .typed = true, .checksum_scope = SCOPE, .hops = 1

/** A query with @p bytes before its list of sources. */
#define MEMBERSHIP_QUERY(octets)                                                     \
	MEMBERSHIP_MESSAGE, .size = octets, .fields = query_fields, .main = "group", \
			    .length_field = "count", .length_unit = ADDRESS, .length_base = octets

/** A report, whose records are its options. */
#define MEMBERSHIP_REPORT(space)                                                                         \
	MEMBERSHIP_MESSAGE, .size = 8, .fields = report_fields, .option_space = space, .option_bits = 8, \
			    .count_field = "count"

/** A record of a report. */
#define MEMBERSHIP_RECORD(space)                                                                         \
	.size = 4 + ADDRESS, .fields = record_fields, .main = "group",                                   \
	.places = FG_PLACES({space, 4}, {space, 1, 6}), .length_field = "count", .length_unit = ADDRESS, \
	.length_base = 4 + ADDRESS, .option = true

static const struct fg_value_name record_types[] = {
	{"is_include", 1}, {"is_exclude", 2}, {"to_include", 3}, {"to_exclude", 4},
	{"allow", 5},      {"block", 6},      {NULL, 0},
};
