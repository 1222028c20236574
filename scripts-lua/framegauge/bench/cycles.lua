-- SPDX-License-Identifier: BSD-3-Clause

--- Cycles of frame sizes for the engine.
local api = require "framegauge.api"
local ffi = require "ffi"

local C = api.C
local M = {}

--- A cycle of sizes, and a frame of each.
-- @param list  octets with FCS, one frame after the other
-- @param make  function(size) -> template
-- @return struct fg_sizes, array of templates by kind, and what must be kept as long as both
function M.of(list, make)
   local err, out, kept = api.error(), ffi.new("struct fg_sizes *[1]"), {}
   api.check(C.fg_sizes_create(ffi.new("uint16_t[?]", #list, list), #list, out, err), err)
   local sizes = ffi.gc(out[0], C.fg_sizes_free)
   local frames = ffi.new("const struct fg_template *[?]", sizes.kinds)
   for kind = 0, sizes.kinds - 1 do
      kept[kind + 1] = make(sizes.size[kind])
      frames[kind] = kept[kind + 1]
   end
   return sizes, frames, { sizes, frames, kept }
end

return M
