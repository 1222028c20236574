-- SPDX-License-Identifier: BSD-3-Clause

--- How frames of a capture are changed before they are sent, from arguments to struct fg_rewrite.
local address = require "framegauge.plan.address"
local api = require "framegauge.core.api"
local arguments = require "framegauge.plan.arguments"
local ffi = require "ffi"
local octets = require "framegauge.core.octets"
local user_error = require "framegauge.core.user_error"

local C = api.C
local M = {}

local BAD_INPUT = 2
local MOST_MOVES = tonumber(C.FG_MAX_MOVES)

local ROWS = {
   { "source_mac", "mac" }, { "destination_mac", "mac" }, { "vlan", "string", longest = 4 },
   { "networks", "table" },
}

local function set_mac(out, name, text)
   if text then
      out["has_" .. name] = true
      ffi.copy(out[name], octets.mac(text), 6)
   end
end

local function set_vlan(out, text)
   local id = text and text:find "^%d+$" and tonumber(text)
   if text == "none" then
      out.vlan = C.FG_VLAN_REMOVE
   elseif id and id >= 1 and id <= 4094 then
      out.vlan, out.vlan_id = C.FG_VLAN_SET, id
   elseif text then
      user_error.raise("replay", BAD_INPUT, "replay: rewrite.vlan: '%s' is no VLAN; expected 1 to 4094, or none", text)
   end
end

-- Both networks of "10.0.0.0/8=198.18.0.0/8", and their family; nil when it is not that.
local function networks(text)
   local from, to = text:match "^([^=]+)=([^=]+)$"
   for family = 4, from and 6 or 0, 2 do
      local a, b = address.parse_prefix(from, family), address.parse_prefix(to, family)
      if a and b and a.prefix == b.prefix then
         return a, b, family
      end
   end
   return nil
end

local function set_moves(out, list)
   if #list > MOST_MOVES then
      user_error.raise("replay", BAD_INPUT, "replay: rewrite.networks: %d of them; expected at most %d",
         #list, MOST_MOVES)
   end
   for i, text in ipairs(list) do
      local from, to, family = networks(tostring(text))
      if not from then
         user_error.raise("replay", BAD_INPUT, "replay: rewrite.networks: '%s' is not two networks of one size; expected such as 10.0.0.0/8=198.18.0.0/8", tostring(text))
      end
      local move = out.move[i - 1]
      local a, b = address.bytes(from.address, family), address.bytes(to.address, family)
      ffi.copy(move.from, a, #a)
      ffi.copy(move.to, b, #b)
      move.prefix, move.octets = from.prefix, #a
      out.moves = i
   end
end

--- Fill it in; what is wrong raises an error with a status.
-- @param out                struct fg_rewrite, all zero
-- @param o.source_mac       every frame comes from this MAC address
-- @param o.destination_mac  every frame goes to it
-- @param o.vlan             1 to 4094: number of the outermost tag, which is added to untagged frames;
--                           "none": the outermost tag is taken away
-- @param o.networks         list of "10.0.0.0/8=198.18.0.0/8": addresses of one network, source and
--                           destination, become addresses of the other; the first that fits. At most 8
function M.fill(out, o)
   local values = arguments.read("replay", o, ROWS)
   set_mac(out, "source_mac", values.source_mac)
   set_mac(out, "destination_mac", values.destination_mac)
   set_vlan(out, values.vlan)
   set_moves(out, values.networks or {})
end

return M
