-- SPDX-License-Identifier: BSD-3-Clause
std = "luajit"
max_line_length = false -- tools/check-layers measures lines
include_files = { "scripts-lua/**/*.lua", "tests/**/*.lua", "tools/**/*.lua" }
files["tests/lua/*_spec.lua"] = { std = "+busted" }
files["tests/lua/run.lua"] = { globals = { "arg" } }
files["tools/wireshark"] = {
   read_globals = { "Proto", "ProtoField", "UInt64", "base", "register_postdissector" },
   unused_args = false,
}
