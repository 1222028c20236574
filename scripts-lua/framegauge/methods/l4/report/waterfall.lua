-- SPDX-License-Identifier: BSD-3-Clause

--- A loaded page, object by object: when each could be requested, was requested, began and ended.
local Plot = require "framegauge.report.chart.plot"
local format = require "framegauge.text.format"
local result_rows = require "framegauge.methods.l4.result"
local scale = require "framegauge.report.chart.scale"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

local MOST = 100 -- objects that are drawn
local ROW, AROUND = 20, 14 + 52 -- pixels
local NAME = 24 -- characters
local LEFT = 230

local PARTS = { -- from one moment to the next
   { "ready_ns", "asked_ns", "theory", "waits for a connection or a stream" },
   { "asked_ns", "first_byte_ns", "s2", "asked, waits for the first byte" },
   { "first_byte_ns", "end_ns", "s1", "comes" },
}

local MOMENTS = {
   { "ready_ns", "ready" }, { "asked_ns", "asked" }, { "first_byte_ns", "first byte" }, { "end_ns", "end" },
}

local function name_of(object)
   local name = #object.name > NAME and object.name:sub(1, NAME - 3) .. "..." or object.name
   return ("%s, %s"):format(name, units.format_size(object.bytes))
end

local function say(object)
   local words = { object.name .. ": " .. format.count(object.bytes) .. " bytes" }
   words[2] = object.after and "after " .. object.after
   for _, moment in ipairs(MOMENTS) do
      words[#words + 1] = moment[2] .. " at " .. format.nanoseconds(object[moment[1]])
   end
   return table.concat(words, ", ")
end

local function plain(value)
   return ("%g"):format(value)
end

-- " Of the time of all pages measured 4.3 % was set-up of connections, ..."; "" without a known share.
local function shares(page)
   if not page.setup_ratio then
      return ""
   end
   local function percent(part)
      return ("%.1f %% %s"):format(100 * page[part[1]], part[2])
   end
   return " Of the time of all pages measured " .. table.concat(tables.map({
      { "setup_ratio", "was set-up of connections" }, { "waiting_ratio", "waiting for responses" },
      { "transfer_ratio", "transfer" }, { "think_ratio", "pauses" } }, percent), ", ") .. "."
end

-- @param longest  of all pages, ns: one axis for all
local function chart(row, id, longest)
   local objects, names, last = row.page.objects, {}, 0
   for i, object in ipairs(objects) do
      names[i] = i <= MOST and name_of(object) or nil
      last = math.max(last, object.end_ns)
   end
   local unit = longest < 1e6 and { 1e3, "us" } or longest < 2e9 and { 1e6, "ms" } or { 1e9, "s" }
   local plot = Plot.new {
      id = id, title = "A page of " .. result_rows.name(row), left = LEFT, height = AROUND + ROW * #names,
      description = "A bar for each object, from when it could be asked for to its last byte.",
      x = { scale = scale.linear(longest / unit[1], plain), label = unit[2] .. " since the page was begun" },
      y = { scale = scale.names(names) },
   }
   for i = 1, #names do
      for _, part in ipairs(PARTS) do
         local from, to = objects[i][part[1]], objects[i][part[2]]
         if to > from then
            plot:bar(from / unit[1], to / unit[1], i, part[3], say(objects[i]))
         end
      end
   end
   for _, part in ipairs(PARTS) do
      plot:key(part[3], part[4])
   end
   return plot:figure(("%s: the first page that was measured, %s of %s in all; it took %s, the median %s.%s%s")
      :format(result_rows.name(row), format.plural(#objects, "object"), units.format_size(row.page.bytes),
      format.nanoseconds(last), format.nanoseconds(row.page.load.p50_ns), shares(row.page),
      #objects > MOST and (" The first %d are drawn."):format(MOST) or ""))
end

--- A figure for each row that has a page, in order.
function M.charts(rows)
   local list, longest = {}, 0
   for _, row in ipairs(rows) do
      for _, object in ipairs(row.page and row.page.objects or {}) do
         longest = math.max(longest, object.end_ns)
      end
   end
   for i, row in ipairs(rows) do
      if row.page and row.page.objects then
         list[#list + 1] = chart(row, "page-" .. i, longest)
      end
   end
   return list
end

return M
