/* SPDX-License-Identifier: BSD-3-Clause */
/* Multicast listener discovery, versions 1 and 2: ICMPv6 messages. */
#include "membership_priv.h"

#define ADDRESS 16
#define SCOPE   FG_CHECKSUM_PAYLOAD

static const struct fg_value_name types[] = {{"query", 130}, {"report", 131}, {"done", 132}, {NULL, 0}};

static const struct fg_field fields[] = {
	{"type", 0, 8, 131, "kind of message", .names = types},
	{"code", 8, 8, 0, "zero"},
	{"checksum", 16, 16, 0, "over pseudo-header, header and payload", FG_KIND_HEX, true},
	{"max_response", 32, 16, 0, "of a query, milliseconds"},
	{"reserved", 48, 16, 0, "zero"},
	{"group", 64, 128, 0, "multicast group", FG_KIND_IPV6},
	{NULL},
};

static const struct fg_field query_fields[] = {
	{"type", 0, 8, 130, "query"},
	{"code", 8, 8, 0, "zero"},
	{"checksum", 16, 16, 0, "over pseudo-header, header and payload", FG_KIND_HEX, true},
	{"max_response", 32, 16, 10000, "milliseconds"},
	{"reserved", 48, 16, 0, "zero"},
	{"group", 64, 128, 0, "multicast group; ::, all", FG_KIND_IPV6},
	{"reserved2", 192, 4, 0, "zero"},
	{"suppress", 196, 1, 0, "routers do not update their timers"},
	{"robustness", 197, 3, 2, "how many losses are coped with"},
	{"interval", 200, 8, 125, "of queries, seconds"},
	{"count", 208, 16, 0, "number of sources", .computed = true},
	{"sources", 224, 0, 0, "addresses", FG_KIND_IPV6},
	{NULL},
};

static const struct fg_field report_fields[] = {
	{"type", 0, 8, 143, "report of version 2"},
	{"reserved", 8, 8, 0, "zero"},
	{"checksum", 16, 16, 0, "over pseudo-header, header and payload", FG_KIND_HEX, true},
	{"reserved2", 32, 16, 0, "zero"},
	{"count", 48, 16, 0, "number of records", .computed = true},
	{NULL},
};

static const struct fg_field record_fields[] = {
	{"type", 0, 8, 4, "what it says of the sources", .names = record_types},
	{"auxiliary", 8, 8, 0, "auxiliary data; none"},
	{"count", 16, 16, 0, "number of sources", .computed = true},
	{"group", 32, 128, 0, "multicast group", FG_KIND_IPV6},
	{"sources", 160, 0, 0, "addresses", FG_KIND_IPV6},
	{NULL},
};

/* as with IGMP: the content identifies version 1, because the frame's payload follows the message */
static bool
is_mld_query(const uint8_t *header, size_t room)
{
	return (header[24] & 7) != 0 && header[24] >> 4 == 0;
}

static const struct fg_place places[] = {{"ip", 58}, {NULL}};

static const struct fg_protocol query = {
	.name = "mld2_query",
	.title = "MLDv2 query (RFC 3810)",
	MEMBERSHIP_QUERY(28),
	.is = is_mld_query,
};

static const struct fg_protocol mld = {
	.name = "mld",
	.title = "MLDv1 (RFC 2710)",
	.size = 24,
	.fields = fields,
	.main = "group",
	MEMBERSHIP_MESSAGE,
};

static const struct fg_protocol report = {
	.name = "mld2_report",
	.title = "MLDv2 report; its records are its options (RFC 3810)",
	MEMBERSHIP_REPORT("mld2 record"),
};

static const struct fg_protocol record = {
	.name = "mld2_record",
	.title = "an address record of an MLDv2 report (RFC 3810)",
	MEMBERSHIP_RECORD("mld2 record"),
};

FG_PROTOCOLS(mld, &query, &mld, &report, &record);
