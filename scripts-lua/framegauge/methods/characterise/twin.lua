-- SPDX-License-Identifier: BSD-3-Clause

--- The reference device that behaves as the measured device, or the reference switch where a table of
-- addresses was found: the text of twin.yaml with the key `reference_device` or `reference_switch`, read by
-- `framegauge run PLAN --on twin.yaml`.
local parameters = require "framegauge.methods.characterise.parameters"
local tables = require "framegauge.core.tables"

local M = {}

-- Keys that the reference switch has, too.
local OF_SWITCH = { "capacity", "buffer", "latency", "latency_per_byte", "switching" }

local function number(value)
   return ("%.12g"):format(value)
end

-- Keys of one direction: list of { key, text }.
local function keys_of(row, line_bps)
   local model, list = parameters.model(row, line_bps), {}
   local function add(key, value, unit)
      list[#list + 1] = value and { key, number(value) .. unit } or nil
   end
   add("capacity", model.capacity_fps, "fps")
   add("bandwidth", model.bandwidth_bps, "bps")
   if model.buffer_frames or model.buffer_bytes and not model.shapes then
      add("buffer", math.max(1, model.buffer_frames or model.buffer_bytes), model.buffer_bytes and "B" or "")
   end
   add("latency", row.base_latency and row.base_latency.ns, "ns")
   add("latency_per_byte", row.latency_per_byte and row.latency_per_byte.ns, "ns")
   list[#list + 1] = row.switching and { "switching", row.switching == "unclear" and "cut-through"
      or row.switching } or nil
   if row.jitter ~= "none" and row.jitter ~= "other" and row.jitter_mean_ns then
      list[#list + 1] = { "jitter", ("{mean: %sns, distribution: %s}"):format(number(row.jitter_mean_ns),
         row.jitter) }
   end
   if (row.loss and row.loss.ratio or 0) > 0 then
      list[#list + 1] = { "loss_random", number(row.loss.ratio * 100) .. "%" }
   end
   add("recovery", row.recovery and row.recovery.ns and row.recovery.ns > 0 and row.recovery.ns, "ns")
   if model.cir_bps then
      local shaping = model.shapes and (", shaping: %sns"):format(number(math.floor(model.buffer_bytes * 8e9
         / model.cir_bps))) or ""
      list[#list + 1] = { "profiles", ("{all: {cir: %sbps, cbs: %s%s}}"):format(number(model.cir_bps),
         number(math.floor(model.cbs_bytes)), shaping) }
   end
   return list
end

local function same(one, other)
   for i = 1, math.max(#one, #other) do
      if not one[i] or not other[i] or one[i][1] ~= other[i][1] or one[i][2] ~= other[i][2] then
         return false
      end
   end
   return true
end

local function lines(list, indent)
   local out = tables.map(list, function(one) return ("%s%s: %s"):format(indent, one[1], one[2]) end)
   return table.concat(out, "\n") .. "\n"
end

-- Keys of the reference switch, and properties that it has no key for.
local function keys_of_switch(rows, line_bps, found)
   local list, lacks = {}, {}
   for _, one in ipairs(keys_of(rows[1], line_bps)) do
      local has = tables.contains(OF_SWITCH, one[1])
      table.insert(has and list or lacks, has and one or one[1])
   end
   for _, one in ipairs(list) do -- one engine for all ports: twice where each way has its own
      local fps = one[1] == "capacity" and rows[1].both_ways == "independent" and rows[1].capacity.fps
      one[2] = fps and number(2 * fps) .. "fps" or one[2]
   end
   local t, keys = found, {}
   local function add(estimate, unit, form, scale)
      keys[#keys + 1] = estimate and estimate[unit] and form:format(number(estimate[unit] * (scale or 1)))
         or nil
   end
   add(t.addresses, "addresses", "size: %s")
   add(t.ageing, "ns", "ageing: %ss", 1e-9)
   add(t.learning, "fps", "learning_rate: %sfps")
   add(t.learning_queue, "addresses", "learning_queue: %s")
   list[#list + 1] = { "mac_table", ("{%s}"):format(table.concat(keys, ", ")) }
   return list, lacks
end

-- Properties that the reference device has no key for.
-- @param lacks  of a switch: keys that only the reference device has
local function missing(rows, lacks)
   local list = {}
   if lacks and lacks[1] then
      list[1] = ("#   the reference switch has no %s, which the device has\n"):format(
         table.concat(lacks, ", "))
   end
   for _, row in ipairs(rows) do
      local function add(what)
         list[#list + 1] = ("#   %s: %s\n"):format(row.direction, what)
      end
      if row.validity and row.validity ~= "valid" then
         add "the tester fell short in some trials, so what was found may be the tester's: see the report"
      end
      if row.limit == "load" then
         add(("all of %.6g frames/s came through; what it does with more was not tried, and the reference device forwards it"):format(row.capacity.min_fps))
      end
      if not parameters.is_whole(row) then
         add "no model explains its rates and its buffer; only what is written below was found"
      elseif row.limit == "linear" then
         add "each frame takes a fixed time and one for each byte, which the reference device does not have"
      end
      if row.counted and row.counted ~= "frame" then
         add(("its rate counts a frame in another way (%s); the reference device counts it with its FCS")
            :format(row.counted))
      end
      if row.both_ways == "shared" then
         add "it forwards less when the other direction is loaded, too; the reference device does not"
      end
      if row.switching == "unclear" then
         add "whether it stores frames is not told; the reference device cuts through, with the time for each byte that gives its delays"
      end
      if row.jitter == "other" then
         add "its jitter is like none of the reference device's distributions"
      end
   end
   return list[1] and "# What to know of it, and what the reference device cannot do:\n"
      .. table.concat(list) or ""
end

local HEAD = "# The reference %s that behaves as %s did. framegauge run PLAN --on THIS FILE runs a plan against it.\n%sreference_%s:\n  rate: %sbps\n%s"

--- The text of twin.yaml.
-- @param rows      of result.characterisation
-- @param name      of the device
-- @param line_bps  of the slowest line
-- @param found     its table of addresses (result.mac_table), or nil
function M.text(rows, name, line_bps, found)
   name = name:gsub("%c", " ")
   if found and found.learns then
      local keys, lacks = keys_of_switch(rows, line_bps, found)
      return HEAD:format("switch", name, missing(rows, lacks), "switch", number(line_bps),
         lines(keys, "  "))
   end
   local first = keys_of(rows[1], line_bps)
   local second = rows[2] and keys_of(rows[2], line_bps)
   local text = HEAD:format("device", name, missing(rows), "device", number(line_bps), lines(first, "  "))
   if second and not same(first, second) then
      text = text .. "  reverse:\n" .. lines(second, "    ")
   end
   return text
end

return M
