/* SPDX-License-Identifier: BSD-3-Clause */
/* What `framegauge --version` prints, from the libraries that are really loaded. */
#include <rte_version.h>

#include <luajit.h>

#include "script_priv.h"

int
luaopen_framegauge_build(lua_State *L)
{
	lua_createtable(L, 0, 3);
	lua_pushliteral(L, FG_VERSION);
	lua_setfield(L, -2, "version");
	lua_pushstring(L, rte_version());
	lua_setfield(L, -2, "dpdk");
	lua_pushliteral(L, LUAJIT_VERSION);
	lua_setfield(L, -2, "luajit");
	return 1;
}
