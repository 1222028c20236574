-- SPDX-License-Identifier: BSD-3-Clause

--- A characterisation: what the device is, and how far its model can be trusted.
local format = require "framegauge.text.format"
local formatters = require "framegauge.report.html.formatters"
local h = require "framegauge.text.xml"
local result_rows = require "framegauge.methods.characterise.result"
local show = require "framegauge.text.show"
local tables = require "framegauge.report.html.tables"
local twin = require "framegauge.methods.characterise.twin"

local M = {}

M.NAME = "Device characterisation"

function M.test_names(result)
   return format.plural(#(result.results.characterisation or {}), "direction")
end

-- How many predictions hold, how many a valid trial could prove or disprove, and how many there are.
local function held(result)
   local list, n, told = result.results.predictions or {}, 0, 0
   for _, one in ipairs(list) do
      n, told = n + (one.holds and 1 or 0), told + (one.holds ~= nil and 1 or 0)
   end
   return n, told, #list
end

local NOTHING = {}

local function of_table(result)
   return (result.results.mac_table or NOTHING)[1]
end

function M.notes(result, add)
   local rows = result.results.characterisation or {}
   if not rows[1] then
      return
   end
   local n, of, all = held(result)
   if all > 0 then
      add(("%d of %d trials that the model was not fitted to are as it predicts."):format(n, of))
      if all > of then
         add(("%d more say nothing of the model: the tester fell short, or they are invalid."):format(
            all - of))
      end
   else
      add "No trial was held out: no model, or no frame sizes for it."
   end
   for _, row in ipairs(rows) do
      for _, remark in ipairs(row.remarks) do
         add(("%s: %s."):format(row.direction, remark))
      end
   end
   for _, remark in ipairs((of_table(result) or NOTHING).remarks or NOTHING) do
      add(("Table of addresses: %s."):format(remark))
   end
end

-- Bits per second of the slowest line.
local function line_of(result)
   local least
   for _, port in ipairs(result.ports or {}) do
      least = port.line_rate and math.min(least or port.line_rate, port.line_rate) or least
   end
   return least
end

--- The reference device.
function M.files(result)
   local rows, line = result.results.characterisation or {}, line_of(result)
   local dut = result.device_under_test or {}
   return rows[1] and line and { { "twin.yaml", twin.text(rows, dut.name or result.name or "the device",
      line, of_table(result)) } } or {}
end

local DEFINITIONS = {
   { "Bounds", "in brackets. Bounds of rates and buffers follow from whole frames: if the model is right, the true value lies within them. The bounds of the loss hold with 95 % confidence (Clopper and Pearson)." },
   { "Limited by", "the simplest limit that agrees with all trials: frames per second (the device needs the same time for each frame), bits per second, or both." },
   { "Buffer", "capacity of the queue, without the frame that is being sent." },
   { "Confirmed", "the number of received frames and the longest delay lie between the predictions of the model at the ends of its bounds." },
}

-- All that is known of a direction, one below the other.
local function facts(row)
   local list = {}
   for _, column in ipairs(show.columns(result_rows.DIRECTION, "html", { row })) do
      local text, unit = column[3](row), column[2] ~= "" and " " .. column[2] or ""
      if text ~= nil and not column.id then
         list[#list + 1] = { column[1], formatters.words(tostring(text) .. unit) }
      end
   end
   for _, remark in ipairs(row.remarks) do
      list[#list + 1] = { "Not known", remark }
   end
   return { h.h3 { formatters.direction(row.direction) }, tables.facts(list) }
end

function M.sections(result)
   local rows, predictions = result.results.characterisation or {}, result.results.predictions or {}
   if not rows[1] then
      return {}
   end
   local directions = {}
   for i, row in ipairs(rows) do
      directions[i] = facts(row)
   end
   return {
      { "Device model", nil, { directions, tables.definitions(DEFINITIONS) } },
      predictions[1] and { "Predictions of the model", nil, {
         h.p { "Trials of other frame sizes and loads, which were not used to fit the model." },
         tables.of { result_rows.PREDICTION, "html", predictions, caption = "Predicted and measured",
            below = tables.reasons },
      } } or nil,
      of_table(result) and { "Table of addresses", "RFC 2889, sections 5.7 and 5.8", {
         tables.of { result_rows.MAC_TABLE, "html", { of_table(result) }, caption = "Table of addresses",
            below = tables.reasons },
      } } or nil,
   }
end

function M.tiles(result)
   local list = {}
   for _, row in ipairs(result.results.characterisation or {}) do
      local found = row.capacity
      list[#list + 1] = found and { "Capacity, " .. row.direction,
         (found.max_fps and "" or "≥ ") .. format.count(found.fps or found.min_fps), "frames/s",
         "limited by: " .. (result_rows.limit(row) or "unknown"), row = row } or nil
   end
   local n, of = held(result)
   list[#list + 1] = of > 0 and { "Predictions", ("%d of %d"):format(n, of), "confirmed",
      "in trials not used to fit the model" } or nil
   return list
end

return M
