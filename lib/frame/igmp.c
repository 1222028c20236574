/* SPDX-License-Identifier: BSD-3-Clause */
/* IGMP, versions 1 to 3. The queries of all versions have one type and differ in length. */
#include "membership_priv.h"

#define ADDRESS 4
#define SCOPE   FG_CHECKSUM_ENCLOSED

static const struct fg_value_name types[] = {
	{"query", 0x11}, {"report1", 0x12}, {"report", 0x16}, {"leave", 0x17}, {NULL, 0},
};

static const struct fg_field fields[] = {
	{"type", 0, 8, 0x16, "kind of message; report1: the report of version 1", .names = types},
	{"max_response", 8, 8, 0, "of a query, tenths of a second"},
	{"checksum", 16, 16, 0, "over the whole message", FG_KIND_HEX, true},
	{"group", 32, 32, 0xe0000001, "multicast group", FG_KIND_IPV4},
	{NULL},
};

static const struct fg_field query_fields[] = {
	{"type", 0, 8, 0x11, "query", FG_KIND_HEX},
	{"max_response", 8, 8, 100, "tenths of a second"},
	{"checksum", 16, 16, 0, "over the whole message", FG_KIND_HEX, true},
	{"group", 32, 32, 0, "multicast group; 0.0.0.0: all", FG_KIND_IPV4},
	{"reserved", 64, 4, 0, "zero"},
	{"suppress", 68, 1, 0, "routers do not update their timers"},
	{"robustness", 69, 3, 2, "how many losses are coped with"},
	{"interval", 72, 8, 125, "of queries, seconds"},
	{"count", 80, 16, 0, "number of sources", .computed = true},
	{"sources", 96, 0, 0, "addresses", FG_KIND_IPV4},
	{NULL},
};

static const struct fg_field report_fields[] = {
	{"type", 0, 8, 0x22, "report of version 3", FG_KIND_HEX},
	{"reserved", 8, 8, 0, "zero"},
	{"checksum", 16, 16, 0, "over the whole message", FG_KIND_HEX, true},
	{"reserved2", 32, 16, 0, "zero"},
	{"count", 48, 16, 0, "number of records", .computed = true},
	{NULL},
};

static const struct fg_field record_fields[] = {
	{"type", 0, 8, 4, "what it says of the sources", .names = record_types},
	{"auxiliary", 8, 8, 0, "auxiliary data; none"},
	{"count", 16, 16, 0, "number of sources", .computed = true},
	{"group", 32, 32, 0xe0000101, "multicast group", FG_KIND_IPV4},
	{"sources", 64, 0, 0, "addresses", FG_KIND_IPV4},
	{NULL},
};

/*
 * A version 3 query differs in length, but the frame's payload follows it here. Its further bytes identify
 * it: robustness is never 0.
 */
static bool
is_query(const uint8_t *header, size_t room)
{
	return (header[8] & 0xf7) != 0 && header[8] >> 4 == 0;
}

static const struct fg_place places[] = {{"ip", 2}, {NULL}};

static const struct fg_protocol query = {
	.name = "igmp3_query",
	.title = "IGMPv3 query (RFC 3376)",
	MEMBERSHIP_QUERY(12),
	.is = is_query,
};

static const struct fg_protocol igmp = {
	.name = "igmp",
	.title = "IGMPv1 and IGMPv2 (RFC 1112, RFC 2236)",
	.size = 8,
	.fields = fields,
	.main = "group",
	MEMBERSHIP_MESSAGE,
};

static const struct fg_protocol report = {
	.name = "igmp3_report",
	.title = "IGMPv3 report; its records are its options (RFC 3376)",
	MEMBERSHIP_REPORT("igmp3 record"),
};

static const struct fg_protocol record = {
	.name = "igmp3_record",
	.title = "a group record of an IGMPv3 report (RFC 3376)",
	MEMBERSHIP_RECORD("igmp3 record"),
};

FG_PROTOCOLS(igmp, &query, &igmp, &report, &record);
