-- SPDX-License-Identifier: BSD-3-Clause

--- Frames with a stream's signature that do not belong to it, and frames that a device translated.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local octets = require "framegauge.core.octets"

local C = api.C
local M = {}

--- Kinds in the order in which they are shown, each with the engine's number.
M.KINDS = {
   { "quoted", C.FG_ALTERED_QUOTED }, { "fragments", C.FG_ALTERED_FRAGMENT },
   { "wrong_length", C.FG_ALTERED_LENGTH }, { "wrong_protocol", C.FG_ALTERED_PROTOCOL },
   { "wrong_payload", C.FG_ALTERED_PAYLOAD },
}

--- Frames by kind, without kinds whose count is 0; nil without any.
-- @param result  struct fg_stream_result
function M.read(result)
   local out = {}
   for _, kind in ipairs(M.KINDS) do
      local frames = tonumber(result.altered[kind[2]])
      out[kind[1]] = frames > 0 and frames or nil
   end
   return next(out) and out
end

--- The sum of several results; any may be nil; nil without any.
-- @param list  of what M.read() gave, by any key
function M.sum(list)
   local out = {}
   for _, one in pairs(list) do
      for kind, frames in pairs(one) do
         out[kind] = (out[kind] or 0) + frames
      end
   end
   return next(out) and out
end

local MAPPED = ("\0"):rep(10) .. "\255\255"

local function address(t, ip, port)
   local text = octets.address_text(t.version == 4 and MAPPED .. ffi.string(ip, 4) or ffi.string(ip, 16))
   return t.ports and (t.version == 4 and "%s:%d" or "[%s]:%d"):format(text, port) or text
end

--- Addresses, and ports if any, of a stream's first received frame, as far as they differ from the addresses
-- it was sent with: { source =, destination = }; nil where both are unchanged.
function M.translated(result)
   local t = result.translation
   return (t.source or t.destination) and {
      source = t.source and address(t, t.source_ip, t.source_port) or nil,
      destination = t.destination and address(t, t.destination_ip, t.destination_port) or nil,
   } or nil
end

return M
