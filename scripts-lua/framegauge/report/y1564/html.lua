-- SPDX-License-Identifier: BSD-3-Clause

--- Y.1564 on the page: the sheet to sign, the services as agreed, the steps of each, the performance of all.
local charts = require "framegauge.report.y1564.charts"
local fields = require "framegauge.report.y1564.fields"
local format = require "framegauge.report.format"
local h = require "framegauge.report.html.element"
local plain = require "framegauge.tables"
local profile = require "framegauge.report.y1564.profile"
local tables = require "framegauge.report.html.tables"
local terms = require "framegauge.report.y1564.words"
local words = require "framegauge.report.html.words"

local M = {}

local field = words.field

local function mbps(bps)
   return format.decimal(bps / 1e6, 3)
end

local function ratio(value)
   if value == 0 then
      return "0"
   end
   return value < 1e-3 and ("%.2e"):format(value) or format.decimal(value * 100, 3) .. " %"
end

-- Of several rows the verdict that says most against the service.
local WORSE = { ["not-testable"] = 0, pass = 1, fail = 2, ["tester-limited"] = 3, invalid = 4 }

local function verdict_of(rows, direction)
   local worst
   for _, row in ipairs(rows) do
      if row.direction == direction and (not worst or WORSE[row.verdict] > WORSE[worst]) then
         worst = row.verdict
      end
   end
   return worst
end

local function failed_of(service, direction)
   local list, seen = {}, {}
   for _, kind in ipairs { "configuration", "performance" } do
      for _, row in ipairs(service[kind]) do
         local what = row.step or "performance"
         if row.direction == direction and row.verdict == "fail" and not seen[what] then
            seen[what], list[#list + 1] = true, what .. " (" .. table.concat(row.failed, ", ") .. ")"
         end
      end
   end
   return #list > 0 and table.concat(list, "; ") or nil
end

-- One line for each service and direction.
local function lines_of(result)
   local list = {}
   for _, service in ipairs(result.results.y1564.services) do
      local seen = {}
      for _, kind in ipairs { "configuration", "performance" } do
         for _, row in ipairs(service[kind]) do
            if not seen[row.direction] then
               seen[row.direction] = true
               list[#list + 1] = {
                  service = service, name = service.name, direction = row.direction,
                  configuration = verdict_of(service.configuration, row.direction),
                  performance = verdict_of(service.performance, row.direction),
                  failed = failed_of(service, row.direction),
               }
            end
         end
      end
   end
   return list
end

local SUMMARY = {
   { "Service", "", field "name", left = true },
   { "Direction", "", field("direction", words.direction), left = true },
   { "Configuration", "", field("configuration", words.verdict), left = true },
   { "Performance", "", field("performance", words.verdict), left = true },
   { "Failed", "", field "failed", left = true, optional = true },
}

--- The table at the top.
function M.summary(result)
   return tables.build { caption = "The services", columns = SUMMARY, rows = lines_of(result) }
end

--- Figures to remember.
function M.tiles(result)
   local services, good, steps, passed = 0, 0, 0, 0
   for _, service in ipairs(result.results.y1564.services) do
      services, good = services + 1, good + (service.verdict == "pass" and 1 or 0)
   end
   for _, one in ipairs(fields.rows(result.results, "configuration")) do
      if one.row.verdict ~= "not-testable" then
         steps, passed = steps + 1, passed + (one.row.verdict == "pass" and 1 or 0)
      end
   end
   local list = { { "Services accepted", ("%d of %d"):format(good, services), "" } }
   if steps > 0 then
      list[2] = { "Configuration steps passed", ("%d of %d"):format(passed, steps), "" }
   end
   return list
end

-- Figures that steps and performance have in common.
local FIGURES = {
   { "Offered IR", "Mbit/s", field("offered_ir_bps", mbps) },
   { "ULR", "Mbit/s", field("offered_ulr_bps", mbps) },
   { "Received IR", "Mbit/s", field("received_ir_bps", mbps) },
   { "least", "in 1 s", field("ir_bps.min", mbps) },
   { "most", "in 1 s", field("ir_bps.max", mbps) },
   { "Lost", "frames", field("lost", words.count) },
   { "FLR", "", field("flr", ratio) },
   { "FTD min", "ms", field("ftd_ns.min", words.milliseconds) },
   { "mean", "ms", field("ftd_ns.mean", words.milliseconds) },
   { "max", "ms", field("ftd_ns.max", words.milliseconds) },
   { "mean", "corrected", field("ftd_corrected_ns.mean", words.milliseconds), optional = true },
   { "± clocks", "ms", field("clock_error_ns", words.milliseconds), optional = true },
   { "FDV", "ms", field("fdv_ns", words.milliseconds) },
}

local VERDICT = { "Verdict", "", field("verdict", words.verdict), left = true }
local function columns(first, last)
   return plain.joined(first, FIGURES, last)
end

local STEPS = columns({
   { "Step", "", field "title", left = true },
}, { VERDICT })

local function reasons(row)
   return row.reasons and #row.reasons > 0 and table.concat(row.reasons, "; ") or nil
end

-- A step of two colours has a line for each below it.
local function with_colours(rows)
   local list = {}
   for _, row in ipairs(rows) do
      list[#list + 1] = setmetatable({ title = row.step .. " " .. row.name }, { __index = row })
      for _, colour in ipairs(row.yellow and { "green", "yellow" } or {}) do
         list[#list + 1] = setmetatable({ title = "of it " .. colour }, { __index = row[colour] })
      end
   end
   return list
end

-- "green: PCP 5, DEI 0, DSCP 0 (12 frames)": how the frames of a colour arrived that were marked anew.
local function marks_of(colour, figures)
   local list = {}
   for _, marked in ipairs(figures.remarked > 0 and figures.marks or {}) do
      local parts = {}
      for _, key in ipairs { "pcp", "dei", "dscp" } do
         parts[#parts + 1] = marked[key] and ("%s %d"):format(key:upper(), marked[key]) or nil
      end
      list[#list + 1] = ("%s (%s)"):format(#parts > 0 and table.concat(parts, ", ") or "no mark",
         words.plural(marked.frames, "frame"))
   end
   return #list > 0 and ("%s frames arrived with %s"):format(colour, table.concat(list, "; ")) or nil
end

local function joined(...)
   local list = {}
   for i = 1, select("#", ...) do
      list[#list + 1] = select(i, ...) or nil
   end
   return #list > 0 and table.concat(list, "; ") or nil
end

local function below(row)
   local burst = row.burst
   local inferred = burst and burst.inferred and ("bucket inferred from the loss: %s to %s bytes"):format(
      words.count(burst.inferred.least), words.count(burst.inferred.most))
   return joined(reasons(row), inferred or nil, row.green and marks_of("green", row.green),
      row.yellow and marks_of("yellow", row.yellow))
end

local function configuration(service)
   local out = {}
   for _, group in ipairs(words.grouped(service.configuration, "direction")) do
      out[#out + 1] = tables.build {
         caption = ("%s, %s"):format(service.name, words.direction(group.name)), columns = STEPS,
         rows = with_colours(group.rows), below = below, class = "compact",
      }
   end
   return out
end

-- Columns of what there is none of are left out.
local function some(count)
   return count > 0 and words.count(count) or nil
end

local PERFORMANCE = columns({
   { "Service", "", field "service", left = true },
   { "Direction", "", field("direction", words.direction), left = true },
}, {
   { "AVAIL", "%", field("avail_percent", words.fixed(3)) },
   { "Unavail.", "s", field("unavailable_s", words.count) },
   { "Reord.", "frames", field("reordered", some), optional = true },
   { "Twice", "frames", field("duplicates", some), optional = true },
   VERDICT,
})

local function performance(result)
   local rows = {}
   for i, one in ipairs(fields.rows(result.results, "performance")) do
      rows[i] = setmetatable({ service = one.service }, { __index = one.row })
   end
   return #rows > 0 and tables.build {
      caption = "All services at once, at CIR", columns = PERFORMANCE, rows = rows,
      below = function(row) return joined(reasons(row), marks_of("green", row)) end,
      class = "compact",
   }
end

local function definitions(result)
   local items = {}
   for i, sentence in ipairs(terms.definitions(result)) do
      items[i] = h.li { sentence }
   end
   return h.ul { items }
end

--- The sections: list of { title, reference, body }.
function M.sections(result, moment)
   local list = {
      { "Services as agreed", nil, { profile.table(result), definitions(result) } },
   }
   for _, service in ipairs(result.results.y1564.services) do
      if #service.configuration > 0 then
         list[#list + 1] = {
            "Configuration test: " .. service.name, "each step alone, other services silent",
            configuration(service),
         }
      end
   end
   local shown = performance(result)
   if shown then
      list[#list + 1] = { "Performance test", "all services at once", { shown, charts.of(result) } }
   end
   list[#list + 1] = { "Acceptance", nil, profile.sheet(result, moment, M.summary(result)) }
   return list
end

return M
