-- SPDX-License-Identifier: BSD-3-Clause

--- With which marks the frames of a stream arrived: PCP and DEI of the outermost tag, DSCP of the IP header.
local api = require "framegauge.api"
local ffi = require "ffi"

local C = api.C
local M = {}

--- Read them after a trial.
-- @return list of { pcp =, dei = (0 or 1), dscp =, frames = }, the first two nil without a tag, dscp without
-- IP
function M.read(engine, stream)
   local n = C.fg_engine_marks(engine, stream, nil, 0)
   local found, list = ffi.new("struct fg_marked[?]", n), {}
   C.fg_engine_marks(engine, stream, found, n)
   for i = 1, n do
      local one = found[i - 1]
      list[i] = {
         pcp = one.tagged and one.pcp or nil, dei = one.tagged and (one.dei and 1 or 0) or nil,
         dscp = one.ip and one.dscp or nil, frames = tonumber(one.frames),
      }
   end
   return list
end

return M
