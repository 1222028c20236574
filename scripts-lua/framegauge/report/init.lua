-- SPDX-License-Identifier: BSD-3-Clause

--- Results of runs: read as plain tables, shown as text, and their reports made again.
--
-- A result is what result.json holds (docs/reference/results.md): results.<test> is a list of rows, trials a
-- list of the trials, verdict the worst of all. What is null there is absent here.
local bars = require "framegauge.text.bars"
local files = require "framegauge.report.files"
local ansi = require "framegauge.text.ansi"
local Folder = require "framegauge.report.folder"
local format = require "framegauge.report.result"
local json = require "framegauge.text.json"
local methods = require "framegauge.methods"
local plans = require "framegauge.report.plan"
local tables = require "framegauge.core.tables"
local text = require "framegauge.report.text"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local BAD_USAGE, ENVIRONMENT = 2, 4

local function refuse(status, message, command)
   user_error.raise(command or "report", status, "%s", message)
end

local function file_of(folder)
   return folder .. "/result.json"
end

-- The first key of a result that does not fit, and what is wrong with it; nil where all is well.
local function damage_of(value)
   local test = type(value.plan) == "table" and value.plan.test
   if not tables.contains(methods.names(), test) then
      return "plan.test: no test of this program"
   end
   return format.wrong(value) or plans.wrong(value.plan)
end

--- The result in a folder of a run. Raises an error with a status when no result can be read.
-- @param folder   its path
-- @param command  the one whose help answers that error (default: report)
-- @usage method.run(tester.plan, { tester = tester, out = path, quiet = true })
-- local row = report.read(path).results.throughput[1]
-- return row.frame_size, row.validity --> 64 valid
function M.read(folder, command)
   local path = file_of(folder)
   local content, message = Folder.open(folder):read "result.json"
   if not content then
      refuse(BAD_USAGE, "no result: " .. (message or path .. " cannot be read"), command)
   end
   local ok, value = pcall(json.decode, content)
   if not ok or type(value) ~= "table" or not value.schema_version then
      refuse(BAD_USAGE, path .. " is not the result of a run", command)
   elseif value.schema_version ~= format.SCHEMA_VERSION then
      refuse(BAD_USAGE, ("%s has version %s of its schema, this program reads version %d"):format(path,
         tostring(value.schema_version), format.SCHEMA_VERSION), command)
   end
   local damage = damage_of(value)
   if damage then
      refuse(BAD_USAGE, ("%s is damaged: %s"):format(path, damage), command)
   end
   value = files.prepared(value)
   plans.complete(value.plan)
   return value
end

--- A result as a person reads it at the end of a run. On a terminal it has colours, and bars if it can.
-- @param result  as read() gives it
-- @usage method.run(tester.plan, { tester = tester, out = path, quiet = true })
-- return (report.text(report.read(path)):match "Throughput") --> Throughput
function M.text(result)
   return text.render(result, ansi.new(uv.guess_handle(1) == "tty"), bars.wanted())
end

--- Write again what follows from the result in a folder: report.html, junit.xml and the tables.
-- @param folder   its path
-- @param summary  also write summary.html, the report on one page
-- @return the result
-- @usage method.run(tester.plan, { tester = tester, out = path, quiet = true })
-- return report.write(path).validity --> valid
function M.write(folder, summary)
   local result, moment = M.read(folder), files.moment(folder)
   local rendered = files.render(result, moment)
   if summary then
      rendered[#rendered + 1] = { "summary.html", files.summary(result, moment) }
   end
   local done, message = pcall(function()
      local place = Folder.open(folder)
      for _, file in ipairs(rendered) do
         place:write(file[1], file[2])
      end
   end)
   if not done then
      refuse(ENVIRONMENT, "cannot write to " .. folder .. ": " .. tostring(message))
   end
   return result
end

return M
