-- SPDX-License-Identifier: BSD-3-Clause

--- The reference device that behaves as a device was found to: the text of twin.yaml, a plan's keys
-- `reference_device`, to be read by `framegauge run PLAN --on twin.yaml`.
local parameters = require "framegauge.methods.characterise.parameters"

local M = {}

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
   if model.buffer_frames or model.buffer_bytes then
      add("buffer", math.max(1, model.buffer_frames or model.buffer_bytes), model.buffer_bytes and "B" or "")
   end
   add("latency", row.base_latency and row.base_latency.ns, "ns")
   add("latency_per_byte", row.latency_per_byte and row.latency_per_byte.ns, "ns")
   list[#list + 1] = row.switching and { "switching", row.switching } or nil
   if row.jitter ~= "none" and row.jitter ~= "other" and row.jitter_mean_ns then
      list[#list + 1] = { "jitter", ("{mean: %sns, distribution: %s}"):format(number(row.jitter_mean_ns),
         row.jitter) }
   end
   if row.loss and row.loss.ratio > 0 then
      list[#list + 1] = { "loss_random", number(row.loss.ratio * 100) .. "%" }
   end
   add("recovery", row.recovery and row.recovery.ns and row.recovery.ns > 0 and row.recovery.ns, "ns")
   if model.cir_bps then
      list[#list + 1] = { "profiles", ("{all: {cir: %sbps, cbs: %s}}"):format(number(model.cir_bps),
         number(math.floor(model.cbs_bytes))) }
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
   local out = {}
   for i, one in ipairs(list) do
      out[i] = ("%s%s: %s"):format(indent, one[1], one[2])
   end
   return table.concat(out, "\n") .. "\n"
end

-- What the reference device cannot be told.
local function missing(rows)
   local list = {}
   for _, row in ipairs(rows) do
      local function add(what)
         list[#list + 1] = ("#   %s: %s\n"):format(row.direction, what)
      end
      if not parameters.is_whole(row) then
         add "no model explains its rates and its buffer; only what is written below was found"
      elseif row.limit == "linear" then
         add "each frame takes a fixed time and one for each byte, which the reference device does not have"
      end
      if row.both_ways == "shared" then
         add "it forwards less when the other direction is loaded, too; the reference device does not"
      end
      if row.jitter == "other" then
         add "its jitter is like none of the reference device's distributions"
      end
   end
   return list[1] and "# What the reference device cannot do:\n" .. table.concat(list) or ""
end

--- The text of twin.yaml.
-- @param rows      of result.characterisation
-- @param name      of the device
-- @param line_bps  of the slowest line
function M.text(rows, name, line_bps)
   local first = keys_of(rows[1], line_bps)
   local second = rows[2] and keys_of(rows[2], line_bps)
   local text = ("# The reference device that behaves as %s did. framegauge run PLAN --on THIS FILE runs a "
      .. "plan "
      .. "against it.\n%sreference_device:\n  rate: %sbps\n%s"):format(name:gsub("%c", " "), missing(rows),
      number(line_bps), lines(first, "  "))
   if second and not same(first, second) then
      text = text .. "  reverse:\n" .. lines(second, "    ")
   end
   return text
end

return M
