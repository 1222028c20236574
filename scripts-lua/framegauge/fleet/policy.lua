-- SPDX-License-Identifier: BSD-3-Clause

--- The limits of an agent's traffic: only its own file sets them, and no controller can widen them.
local address = require "framegauge.plan.address"
local ethernet = require "framegauge.core.ethernet"
local octets = require "framegauge.core.octets"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

local MAPPED = ("\0"):rep(10) .. "\255\255"

local function text_of(bytes)
   return octets.address_text(#bytes == 4 and MAPPED .. bytes or bytes)
end

local function within(bytes, networks)
   for _, network in ipairs(networks) do
      if #address.bytes(network.address) == #bytes
         and address.same_network(text_of(bytes), network.address, network.prefix) then
         return true
      end
   end
   return false
end

-- The number of the last bytes of an address, as bytes again.
local function moved(base, number)
   local out, rest = {}, number
   for i = #base, 1, -1 do
      if i > #base - math.min(8, #base) then
         out[i] = string.char(rest % 256)
         rest = math.floor(rest / 256)
      else
         out[i] = base:sub(i, i)
      end
   end
   return table.concat(out)
end

-- All values of a field are between the first and the last one, and networks have no holes.
local function ends_of(base, program)
   local first, count, step = tonumber(program.first) or 0, tonumber(program.count) or 1,
      tonumber(program.step) or 0
   if program.list then
      return program.list
   elseif not base or program.high then
      return nil
   end
   local last = first + step * (count - 1)
   return last < 2 ^ 53 and { moved(base, first), moved(base, last) } or nil
end

-- Every value that the destination of an IP layer can have; nil where that is not clear.
local function destinations(layer)
   local base, list, program = layer.destination, {}, (layer.vary or {}).destination
   for _, field in ipairs(layer.fields or {}) do
      if field.name == "destination" then
         base = field.value or field.program and (field.program.base or (field.program.list or {})[1])
         program = field.program
         if field.bad then
            return nil
         end
      end
   end
   list[1] = base
   tables.append(list, program and ends_of(base, program) or {})
   if not base or program and #list == 1 then
      return nil
   end
   return list
end

local function check_stack(stack, more, networks)
   local found = false
   if more.bytes and more.bytes[1] then
      return "bytes by offset change, and only a file with agent.raw: true permits that"
   end
   for _, layer in ipairs(stack) do
      if layer.bytes and layer.bytes[1] then
         return "bytes by offset change, and only a file with agent.raw: true permits that"
      elseif layer[1] == "ipv4" or layer[1] == "ipv6" then
         found = true
         local list = destinations(layer)
         if not list then
            return ("which addresses its %s layer is for cannot be told"):format(layer[1])
         end
         for _, one in ipairs(list) do
            if type(one) ~= "string" or #one ~= (layer[1] == "ipv4" and 4 or 16) then
               return "an address of a wrong form"
            elseif not within(one, networks) then
               return ("it is for %s, which is not in agent.sends_to"):format(text_of(one))
            end
         end
      end
   end
   return not found and "it has no IP layer, and only a file with agent.raw: true permits that" or nil
end

--- Why a frame may not be sent, a sentence; nil when it may.
-- @param stack, more  as traffic/frame.lua builds it
-- @param agent        group of the agent's file: sends_to, raw
function M.frame_problem(stack, more, agent)
   return not agent.raw and check_stack(stack, more or {}, agent.sends_to) or nil
end

--- Why an address may not be sent to, a sentence; nil when it may.
-- @param text  the address
function M.address_problem(text, agent)
   local bytes = text:find(":", 1, true) and octets.ipv6(text) or octets.ipv4(text)
   return not agent.raw and not within(bytes, agent.sends_to)
      and ("%s is not in agent.sends_to"):format(text) or nil
end

local MAX_REPORTS = 10 -- of a membership, as a plan has it

--- Why a port may not join a group, a sentence; nil when it may.
-- @param group    bytes
-- @param reports  how often a report is sent
function M.group_problem(group, reports, agent)
   if #group ~= 4 and #group ~= 16 then
      return "an address of a wrong form"
   elseif reports > MAX_REPORTS then
      return ("more than %d reports"):format(MAX_REPORTS)
   end
   return not agent.raw and not within(group, agent.sends_to)
      and ("%s is not in agent.sends_to"):format(text_of(group)) or nil
end

-- Bits per second that a stream takes of its line, at most.
local function peak_of(one)
   local peak, size = 0, 0
   for _, load in ipairs(one.loads) do
      peak = math.max(peak, load.fps, load.end_fps or 0, load.burst_fps or 0)
   end
   for _, frame in ipairs(one.frames) do
      size = math.max(size, frame.size)
   end
   local turn = one.turn
   local share = tonumber(turn.every) ~= 0 and turn.take ~= "u0" and turn.every ~= "u0"
      and tonumber(turn.take:sub(2)) / tonumber(turn.every:sub(2)) or 1
   return ethernet.l1_bps(peak, size) * share
end

--- Why streams together are too fast, a sentence; nil when they are not.
-- @param told   of recipe.streams(), those that leave ports of this agent
function M.rate_problem(told, agent)
   local by_port = {}
   for _, one in ipairs(told) do
      by_port[one.from.port] = (by_port[one.from.port] or 0) + peak_of(one)
   end
   for port, bps in pairs(agent.limit and by_port or {}) do
      local most = agent.limit
      if bps > most * (1 + 1e-6) then
         return ("port %s: %s L1 is more than agent.limit, %s"):format(port, units.format_bits(bps),
            units.format_bits(most))
      end
   end
   return nil
end

return M
