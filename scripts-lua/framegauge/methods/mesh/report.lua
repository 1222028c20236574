-- SPDX-License-Identifier: BSD-3-Clause

--- The test mesh: a matrix for each figure, and the pairs that have no valid one.
local format = require "framegauge.text.format"
local notes = require "framegauge.report.notes"
local result_rows = require "framegauge.methods.mesh.result"
local rows = require "framegauge.text.rows"
local show = require "framegauge.text.show"
local tables = require "framegauge.core.tables"
local page = require "framegauge.report.html.tables"

local M = {}

M.NAME = "Mesh"

local WIDEST, MAX_LINES = 12, 100 -- ports of a matrix on a terminal, lines there

local FIGURES = {
   { "throughput_percent", "Throughput, % of the line" },
   { "loss_ratio", "Loss, %" },
   { "latency.mean_ns", "Mean delay, µs" },
}

local function rows_of(result)
   return result.results.mesh or {}
end

function M.test_names(result)
   return format.plural(#result.plan.ports, "port")
end

-- The text of a cell: a figure, or the reason for its absence.
local function cell(row, column)
   if not row then
      return "-"
   elseif not rows.value(row, "trial") then
      return "not measured"
   elseif row.validity == "invalid" then
      return "invalid"
   end
   local text = column[3](row)
   return not text and "-" or row.validity == "valid" and text
      or text:find "^[<>]" and text or "(" .. text .. ")"
end

-- The columns of a matrix: the sender, and each receiver.
local function matrix(result, figure)
   local by_direction = {}
   local columns = { { "from \\ to", "", function(port) return port.name end, left = true } }
   for _, row in ipairs(rows_of(result)) do
      by_direction[row.direction] = row
   end
   local row = tables.find(result_rows.CELL.rows, 1, figure[1])
   local column = row and show.column(row) or show.column { figure[1], as = "us" }
   for _, port in ipairs(result.plan.ports) do
      columns[#columns + 1] = { port.name, "", function(from)
         return from.name == port.name and "" or cell(by_direction[from.name .. "->" .. port.name], column)
      end }
   end
   return columns
end

-- Figures that some row has.
local function known(result)
   return tables.map(FIGURES, function(figure)
      for _, row in ipairs(rows_of(result)) do
         if rows.value(row, figure[1]) ~= nil then
            return figure
         end
      end
   end)
end

local function amiss(result)
   return tables.map(rows_of(result), function(row)
      return (row.validity ~= "valid" or row.outcome == "fail" or (rows.value(row, "lost") or 0) > 0) and row
         or nil
   end)
end

--- A matrix for each figure; with many ports the pairs with a problem.
function M.terminal(result)
   local list, wide = {}, #result.plan.ports > WIDEST
   for _, figure in ipairs(wide and {} or known(result)) do
      list[#list + 1] = { title = figure[2], columns = matrix(result, figure), rows = result.plan.ports }
   end
   local lines = wide and rows_of(result) or amiss(result)
   lines = { unpack(lines, 1, math.min(#lines, MAX_LINES)) }
   list[#list + 1] = lines[1] and { title = wide and "Pairs" or "Lost or without a valid figure",
      columns = show.columns(result_rows.CELL, "terminal", lines), rows = lines } or nil
   return list
end

function M.notes(result, add)
   local o, n = result.plan.mesh, #rows_of(result)
   if #result.plan.ports > WIDEST and n > MAX_LINES then
      add(("The first %d of %s; mesh.csv has them all."):format(MAX_LINES, format.plural(n, "direction")))
   end
   add(o.class == "light" and "All pairs sent at once."
      or "Pairs of a round sent at once, both ways; no port was in two of them.")
   if o.throughput then
      add "Loss and delay are those with the throughputs of all pairs of the round at once."
      add("Where pairs of a round share a path, their throughputs are one way to share it, which follows from what is dropped.")
   end
   for _, row in ipairs(rows_of(result)) do
      local latency = rows.value(row, "latency")
      if latency then
         add(notes.latency(latency))
         break
      end
   end
   add "In brackets: the tester was the limit. A dash: not known."
end

local function tables_of(result)
   return tables.map(known(result), function(figure)
      return page.build { caption = figure[2], columns = matrix(result, figure), rows = result.plan.ports }
   end)
end

--- The table at the top: the matrix of the first figure, or with many ports the pairs.
function M.summary(result)
   local first = known(result)[1] or FIGURES[2]
   return page.build { caption = first[2], columns = matrix(result, first), rows = result.plan.ports }
end

function M.sections(result)
   local all, wrong, list = rows_of(result), amiss(result), {}
   local further = { unpack(tables_of(result), 2) } -- the first is the summary
   list[1] = further[1] and { "Further matrices", nil, further } or nil
   list[#list + 1] = wrong[1] and { "Lost or without a valid figure", nil,
      page.of { result_rows.CELL, "html", wrong, caption = "Pairs", below = page.reasons } } or nil
   list[#list + 1] = all[1] and { "Pairs", nil,
      page.of { result_rows.CELL, "html", all, caption = "All pairs" } } or nil
   return list
end

function M.tiles(result)
   local worst, valid, least = nil, 0, nil
   for _, row in ipairs(rows_of(result)) do
      local loss, throughput = rows.value(row, "loss_ratio"), rows.value(row, "throughput_percent")
      if row.validity == "valid" then
         valid = valid + 1
         worst = loss and (not worst or loss > worst.loss_ratio) and row or worst
         least = throughput and (not least or throughput < least.throughput_percent) and row or least
      end
   end
   return tables.map({ { "Directions", ("%d of %d"):format(valid, #rows_of(result)), "valid" },
      worst and { "Maximum loss", show.KINDS.loss[1](worst.loss_ratio), "%", worst.direction } or false,
      least and { "Minimum throughput", ("%.4g"):format(least.throughput_percent), "% of the line",
         least.direction } or false },
   function(tile) return tile or nil end)
end

return M
