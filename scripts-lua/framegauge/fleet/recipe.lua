-- SPDX-License-Identifier: BSD-3-Clause

--- Streams of a trial as they are sent to another tester: described, not as bytes.
--
-- A frame is described by the recipe that traffic/frame.lua builds it from. Strings there are bytes, and
-- tables have lists and keys side by side, which JSON has not; so each value is sent with its kind:
--
--    number, boolean          as they are
--    "x6162"                  a string, in hexadecimal
--    "u18446744073709551615"  a 64-bit number
--    { l = [...], k = {...} } a table: its list and its keys
local ffi = require "ffi"
local tables = require "framegauge.core.tables"
local frame = require "framegauge.traffic.frame"
local octets = require "framegauge.core.octets"
local streams = require "framegauge.tester.streams"

ffi.cdef "unsigned long long strtoull(const char *text, char **end, int base);"

local M = {}

local DEEPEST = 8 -- tables in tables
local NOT_TOLD = { origin = true } -- of a layer: what a plan's error would point to

--- A value as JSON can carry it.
function M.pack(value)
   if type(value) == "string" then
      return "x" .. octets.hex(value)
   elseif type(value) == "cdata" then
      return "u" .. tostring(ffi.cast("uint64_t", value)):match "%d+"
   elseif type(value) ~= "table" then
      return value
   end
   local out = { l = {}, k = {} }
   for i, item in ipairs(value) do
      out.l[i] = M.pack(item)
   end
   for key, item in pairs(value) do
      if type(key) == "string" and not NOT_TOLD[key] then
         out.k[key] = M.pack(item)
      end
   end
   return out
end

--- The value again. An invalid one raises.
function M.unpack(value, depth)
   depth = depth or 0
   if type(value) == "string" then
      local kind, text = value:sub(1, 1), value:sub(2)
      if kind == "u" and text:find "^%d+$" then
         return ffi.cast("uint64_t", ffi.C.strtoull(text, nil, 10))
      end
      return kind == "x" and octets.unhex(text) or error("a value of no kind: " .. value:sub(1, 20), 0)
   elseif type(value) ~= "table" then
      return value
   elseif depth > DEEPEST or type(value.l) ~= "table" or type(value.k) ~= "table" then
      error("a table of no form", 0)
   end
   local out = tables.map(value.l, function(item) return M.unpack(item, depth + 1) end)
   for key, item in pairs(value.k) do
      out[key] = M.unpack(item, depth + 1)
   end
   return out
end

local LOAD = { "fps", "frames", "ns", "shape", "end_fps", "burst", "burst_fps", "seed", "by_octets",
   "overhead", "max_lag_ns" }
local STREAM = { "unmeasured", "limit", "phase", "tag_first", "tag_every", "tags", "measure", "latest_ns" }
local TURN = { "first", "take", "every" }

local function told(struct, keys)
   local out = {}
   for _, key in ipairs(keys) do
      local value = struct[key]
      if type(value) == "cdata" then
         value = ffi.istype("uint64_t", value) and M.pack(value) or tonumber(value)
      end
      out[key] = value
   end
   return out
end

local function set(struct, values, keys)
   for _, key in ipairs(keys) do
      local value = values[key]
      if type(value) == "string" then
         value = M.unpack(value)
      end
      struct[key] = value
   end
end

-- The recipe of a template, without which no other tester can build it.
local function recipe_of(template)
   local recipe = frame.recipe(template)
   return { size = recipe.size, stack = M.pack(recipe.stack), more = M.pack(recipe.more) }
end

--- The streams of a trial.
-- @param list  of framegauge.tester.streams
-- @param owner  function(index of a port) -> its owner, as name of the agent and name of its port there
-- @return list of { from =, to = { agent =, port = }, ... }
function M.streams(list, owner)
   local out = {}
   for i = 1, list.count do
      local s, kept = list.array[i - 1], list.made[i]
      local one = told(s, STREAM)
      if s.faults ~= nil then
         error("errors on purpose are not told to agents", 0)
      end
      one.copies_of = s.copies_of > 0 and s.copies_of or nil
      one.from, one.to = owner(s.tx_port + 1), owner(s.rx_port + 1)
      one.turn, one.loads = told(s.turn, TURN), {}
      for k = 1, s.loads do
         one.loads[k] = told(s.load[k - 1], LOAD)
      end
      if kept.sizes then
         one.cycle, one.frames = kept.cycle, {}
         for k, template in ipairs(kept.templates) do
            one.frames[k] = recipe_of(template)
         end
      else
         one.frames = { recipe_of(kept.frame) }
      end
      out[i] = one
   end
   return out
end

local function build(told_frame)
   return frame.build(told_frame.size, M.unpack(told_frame.stack), M.unpack(told_frame.more))
end

-- Templates of a stream: of one size, or of a cycle of sizes.
local function frames_of(one, kept)
   local by_size = {}
   for _, recipe in ipairs(one.frames) do
      by_size[recipe.size] = build(recipe)
   end
   if not one.cycle then
      kept[#kept + 1] = by_size
      return { frame = by_size[one.frames[1].size] }
   end
   local sizes, frames
   sizes, frames, kept[#kept + 1] = streams.cycle(one.cycle, function(size)
      return by_size[size] or error("no frame of size " .. size, 0)
   end)
   return { sizes = sizes, frames = frames }
end

--- The streams at one agent: it sends those from its ports, and receives those to its ports. Frames of other
-- streams are misdirected.
-- @param told_streams  of streams() by their places
-- @param places        of those that are told; the rest belongs to others
-- @param index  function(name of a port of ours) -> its number, or nil
-- @param ours   name of the agent
-- @return { own = array of those that are told, places =, kept = }
function M.list(told_streams, places, index, ours)
   local own = ffi.new("struct fg_stream_config[?]", #places)
   local list = { own = own, places = places, kept = {} }
   local function add(s, one)
      local from = one.from.agent == ours and index(one.from.port)
      local to = one.to.agent == ours and index(one.to.port)
      local loads = ffi.new("struct fg_load[?]", #one.loads)
      for k, load in ipairs(one.loads) do
         set(loads[k - 1], load, LOAD)
      end
      set(s, one, STREAM)
      set(s.turn, one.turn, TURN)
      s.tx_port, s.rx_port = (from or to or 1) - 1, (to or from or 1) - 1
      s.copies_of, s.elsewhere = one.copies_of or 0, not to
      s.idle, s.load, s.loads = not from or one.copies_of ~= nil, loads, #one.loads
      list.kept[#list.kept + 1] = loads
      for key, value in pairs(frames_of(one, list.kept)) do
         s[key] = value
      end
   end
   for k, i in ipairs(places) do
      add(own[k - 1], told_streams[i])
   end
   return list
end

return M
