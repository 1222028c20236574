/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of TCP (RFC 9293, 3.2). */
#include "frame_priv.h"

static const struct fg_protocol nop = {
	.name = "tcp_nop",
	.title = "no operation, an option of TCP (RFC 9293)",
	.size = 1,
	.fields = FG_FIELDS({"kind", 0, 8, 1, "1"}),
	.places = FG_PLACES({"tcp option", 1}),
	.option = true,
};

static const struct fg_protocol mss = {
	.name = "tcp_mss",
	.title = "maximum segment size, an option of TCP (RFC 9293)",
	.size = 4,
	.fields = FG_FIELDS({"kind", 0, 8, 2, "2"}, {"length", 8, 8, 4, "bytes of the option"},
			    {"size", 16, 16, 1460, "bytes"}),
	.main = "size",
	.places = FG_PLACES({"tcp option", 2}),
	.option = true,
};

static const struct fg_protocol scale = {
	.name = "tcp_window_scale",
	.title = "window scale, an option of TCP (RFC 7323)",
	.size = 3,
	.fields = FG_FIELDS({"kind", 0, 8, 3, "3"}, {"length", 8, 8, 3, "bytes of the option"},
			    {"shift", 16, 8, 7, "bits"}),
	.main = "shift",
	.places = FG_PLACES({"tcp option", 3}),
	.option = true,
};

static const struct fg_protocol permitted = {
	.name = "tcp_sack_permitted",
	.title = "selective acknowledgment permitted, an option of TCP (RFC 2018)",
	.size = 2,
	.fields = FG_FIELDS({"kind", 0, 8, 4, "4"}, {"length", 8, 8, 2, "bytes of the option"}),
	.places = FG_PLACES({"tcp option", 4}),
	.option = true,
};

static const struct fg_protocol stamp = {
	.name = "tcp_timestamps",
	.title = "timestamps, an option of TCP (RFC 7323)",
	.size = 10,
	.fields = FG_FIELDS({"kind", 0, 8, 8, "8"}, {"length", 8, 8, 10, "bytes of the option"},
			    {"value", 16, 32, 1, "time of the sender"},
			    {"echo", 48, 32, 0, "time of the other side"}),
	.main = "value",
	.places = FG_PLACES({"tcp option", 8}),
	.option = true,
};

static const struct fg_protocol any = {
	.name = "tcp_option",
	.title = "any other option of TCP (RFC 9293)",
	.size = 2,
	.fields = FG_FIELDS({"kind", 0, 8, 253, "which option; 253: experimental (RFC 4727)"},
			    {"length", 8, 8, 2, "bytes of the option", .computed = true},
			    {"data", 16, 0, 0, "what it holds", FG_KIND_OCTETS}),
	.main = "data",
	.places = FG_PLACES({"tcp option", 253}, {"tcp option", 2, 255}),
	.length_field = "length",
	.length_unit = 1,
	.option = true,
};

FG_PROTOCOLS(tcp_options, &nop, &mss, &scale, &permitted, &stamp, &any);
