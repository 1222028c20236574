-- SPDX-License-Identifier: BSD-3-Clause

--- Frame loss rate: the graph RFC 2544 26.3 asks for, both axes from 0 to 100 %, and its figures.
local Plot = require "framegauge.report.chart.plot"
local h = require "framegauge.report.html.element"
local scale = require "framegauge.report.chart.scale"
local tables = require "framegauge.report.html.tables"
local words = require "framegauge.report.html.words"

local M = { name = "frame_loss", title = "Frame loss rate", reference = "RFC 2544, section 26.3" }

local SERIES = 8

-- A loss is never rounded down to none.
local function percent(value)
   if value == 0 then
      return "0"
   end
   return value < 0.005 and "< 0.01" or ("%.2f"):format(value)
end

--- What of it belongs into the summary: the row at the highest load.
M.summary = { { "Loss", "% at full load", words.field("loss_percent", percent) } }

local function direction_words(name)
   return name == "both" and "both directions" or words.direction(name)
end

local function points(rows)
   local list = {}
   for i, row in ipairs(rows) do
      local title = "%d bytes at %.4g %% load: %s %% lost"
      list[i] = {
         row.load_percent, row.loss_percent,
         title:format(row.frame_size, row.load_percent, percent(row.loss_percent)),
      }
   end
   return list
end

local function chart(group, number)
   local function percent_tick(value)
      return ("%g"):format(value)
   end
   local plot = Plot.new {
      id = "loss" .. number, title = "Frame loss against offered load",
      description = "Share of the frames lost at each load, one line for each frame size. The table below "
         .. "has the figures.",
      x = { scale = scale.linear(100, percent_tick), label = "offered load, % of the line" },
      y = { scale = scale.linear(100, percent_tick), label = "frames lost, %" },
   }
   for i, size in ipairs(words.grouped(words.by_size(group.rows), "frame_size")) do
      table.sort(size.rows, function(a, b) return a.load_percent < b.load_percent end)
      plot:series {
         points = points(size.rows), class = "s" .. (i - 1) % SERIES + 1, shape = i,
         name = size.name .. " bytes",
      }
   end
   return plot:figure(("Frame loss against offered load, %s."):format(direction_words(group.name)))
end

local function by_descending_load(rows)
   local list = { unpack(rows) }
   table.sort(list, function(a, b) return a.load_percent > b.load_percent end)
   return list
end

local function cell(row)
   local text = row and percent(row.loss_percent)
   return row and row.verdict ~= "valid" and { text, " ", words.verdict(row.verdict) } or text
end

-- One line for each load, one column for each frame size.
local function figures(group)
   local lines = {}
   for i, by_load in ipairs(words.grouped(by_descending_load(group.rows), "load_percent")) do
      lines[i] = { load = ("%.4g"):format(by_load.name) }
      for _, row in ipairs(by_load.rows) do
         lines[i][row.frame_size] = row
      end
   end
   local columns = { { "Load", "% of line", words.field "load" } }
   for _, size in ipairs(words.sizes(group.rows)) do
      columns[#columns + 1] = { size .. " bytes", "% lost", function(line) return cell(line[size]) end }
   end
   return tables.build {
      caption = "Frame loss, " .. direction_words(group.name), columns = columns, rows = lines,
   }
end

--- The figure to remember.
function M.headline(rows)
   local size = words.grouped(words.by_size(rows), "frame_size")[1]
   local top = words.grouped(by_descending_load(size.rows), "load_percent")[1]
   local row = words.largest(top.rows, "loss_percent")
   return { {
      ("Loss at %d bytes"):format(row.frame_size), percent(row.loss_percent), "%",
      ("at %.4g %% load"):format(row.load_percent),
   } }
end

--- The section.
function M.body(rows)
   local out = {}
   for i, group in ipairs(words.grouped(rows, "direction")) do
      out[i] = { chart(group, i), figures(group) }
   end
   return {
      h.p {
         ("Share of the frames that did not arrive, in trials of %g s, from the highest load downwards until "
            .. "two loads in a row lost none; what was not tried is left out."):format(rows[1].trial_s),
      },
      out, words.reasons(rows),
   }
end

return M
