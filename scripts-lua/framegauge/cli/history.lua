-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge history`: earlier runs, the levels of their figures, and whether the newest are worse.
local ansi = require "framegauge.text.ansi"
local csv = require "framegauge.text.csv"
local format = require "framegauge.text.format"
local grid = require "framegauge.text.grid"
local Index = require "framegauge.history.index"
local json = require "framegauge.text.json"
local parse = require "framegauge.cli.parse"
local result_page = require "framegauge.cli.result_page"
local tables = require "framegauge.core.tables"
local trend = require "framegauge.history.trend"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local SUCCESS, FELL_SHORT, BAD_USAGE = 0, 1, 2
local NO_REGRESSION = "no regression"
local MOST_FIGURES = 2 -- of a run in the list

local function date(text)
   return (text or "unknown"):gsub("T", " "):gsub("Z$", "")
end

local function main_figures(index, folder)
   local list = {}
   for _, one in ipairs(index:figures(folder)) do
      if #list < MOST_FIGURES and one.figure then
         local unit = one.unit ~= "" and " " .. one.unit or ""
         list[#list + 1] = ("%s: %s%s"):format(one.name, one.text, unit)
      end
   end
   return table.concat(list, "; ")
end

local function device(run)
   return run.device and (run.firmware and run.device .. " " .. run.firmware or run.device) or run.firmware
end

local RUNS = {
   { "Started", "UTC", function(run) return date(run.started) end, left = true },
   { "Plan", "", function(run) return run.plan end, left = true },
   { "Test", "", function(run) return run.test end, left = true },
   { "Device", "", device, left = true },
   { "Validity", "", function(run) return run.interrupted == "yes" and "interrupted" or run.validity end,
      left = true, kind = "validity" },
   { "Figures", "", function(run) return run.figures end, left = true },
   { "Folder", "", function(run) return run.folder end, left = true },
}

local function list_text(index, runs, paint)
   local out = {}
   if #runs == 0 then
      out[1] = "There are no runs.\n"
   else
      for _, run in ipairs(runs) do
         run.figures = main_figures(index, run.folder)
      end
      out[1] = grid.text(RUNS, runs, paint)
   end
   for _, one in ipairs(index:problems()) do
      out[#out + 1] = ("Not read: %s: %s\n"):format(one.folder, one.problem)
   end
   return table.concat(out)
end

local function number(value)
   return ("%.6g"):format(value)
end

local CHANGES = {
   { "Table", "", function(line) return line.series.title end, left = true },
   { "Row", "", function(line) return line.series.name end, left = true },
   { "Figure", "", function(line) return line.series.heading end, left = true },
   { "Since", "UTC", function(line) return date(line.started) end, left = true },
   { "Runs", "since", function(line) return format.count(line.runs) end },
   { "Before", "", function(line) return number(line.before) end },
   { "After", "", function(line) return number(line.after) end },
   { "", "%", function(line) return line.change_percent and ("%+.2f"):format(line.change_percent) end },
   { "", "", function(line) return line.mark end, left = true },
   { "Device", "", function(line) return line.device ~= "" and line.device or nil end, left = true },
}

local function trend_text(list, paint)
   local lines, without, points, left_out = {}, 0, 0, 0
   for _, series in ipairs(list) do
      for _, change in ipairs(series.changes) do
         lines[#lines + 1] = setmetatable({ series = series }, { __index = change })
      end
      without = without + (#series.changes == 0 and 1 or 0)
      points, left_out = math.max(points, #series.points), left_out + series.left_out
   end
   local ending = "%s%s of up to %s, %d without a change. Left out, because not the device's: %s.\n"
   return ending:format(#lines > 0 and grid.text(CHANGES, lines, paint) .. "\n" or "",
      format.plural(#list, "figure"), format.plural(points, "run"), without,
      format.plural(left_out, "figure"))
end

local CSV_COLUMNS = {
   "started", "plan", "test", "folder", "device", "firmware", "configuration", "title", "name", "figure",
   "unit", "value", "low", "high", "valid",
}

local function write_csv(index, runs, path)
   local lines = {}
   for _, run in ipairs(runs) do
      for _, figure in ipairs(index:figures(run.folder)) do
         lines[#lines + 1] = setmetatable(figure, { __index = run })
      end
   end
   result_page.write("history", path, csv.text(CSV_COLUMNS, lines))
end

-- The name that a plan has in its results: as it is given, or of its file.
local function plan_name(index, given)
   local names = tables.field(index:plans(), "plan")
   local base = given:match "([^/]+)%.ya?ml$"
   for _, name in ipairs { given, base } do
      if tables.contains(names, name) then
         return name
      end
   end
   user_error.raise("history", BAD_USAGE, "there is no run of %s; there are runs of: %s", given,
      #names > 0 and table.concat(names, ", ") or "no plan")
end

local function check_usage(arguments, options)
   if not arguments[1] and (options.trend or options.expect) then
      parse.usage_error("history", "history: --trend and --expect need the name of a plan")
   elseif options.expect and options.expect ~= NO_REGRESSION then
      parse.usage_error("history", "history: --expect takes '%s', not '%s'", NO_REGRESSION, options.expect)
   end
end

local function judge(list)
   local found = trend.regressions(list)
   for _, one in ipairs(found) do
      io.stdout:write(("Regression: %s, %s: %s was %s and is %s since %s%s\n"):format(one.series.title,
         one.series.name, one.series.heading, number(one.change.before), number(one.change.after),
         date(one.change.started), one.change.device ~= "" and " (" .. one.change.device .. ")" or ""))
   end
   return #found == 0 and SUCCESS or FELL_SHORT
end

local function show(index, plan, options)
   local paint = ansi.new(uv.guess_handle(1) == "tty")
   local runs = index:runs(plan)
   local points, ended
   if options.trend or options.expect then
      points, ended = index:points(plan)
   end
   local list = points and trend.of(points)
   if options.csv then
      write_csv(index, runs, options.csv)
   elseif options.json then
      io.stdout:write(json.encode(list and trend.data(plan, list, ended) or runs, { pretty = true }), "\n")
   elseif options.trend then
      io.stdout:write(trend_text(list, paint))
   elseif not options.expect then
      io.stdout:write(list_text(index, runs, paint))
   end
   return options.expect and judge(list) or SUCCESS
end

--- The command.
-- @param arguments  name of a plan, or nothing
function M.main(arguments, options)
   check_usage(arguments, options)
   local index = Index.open(options["in"] or "framegauge-runs", {
      again = options.rebuild, url = options.database,
   })
   local ok, status = pcall(function()
      return show(index, arguments[1] and plan_name(index, arguments[1]), options)
   end)
   index:close()
   return ok and status or error(status, 0)
end

return M
