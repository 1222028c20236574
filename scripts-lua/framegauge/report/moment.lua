-- SPDX-License-Identifier: BSD-3-Clause

--- run.json when read back: for a report, and to resume a run. Somebody may have changed it.
local Folder = require "framegauge.report.folder"
local json = require "framegauge.text.json"
local methods = require "framegauge.methods"
local result = require "framegauge.report.result"
local rows = require "framegauge.text.rows"
local tables = require "framegauge.core.tables"

local M = {}

local list = rows.list

-- A record whose keys may be missing; others may be there. @param known  key, type
local function open(known)
   local record = rows.record("moment", "", tables.map(known, function(one)
      return { one[1], one[2], "", optional = true, null = one.null }
   end))
   record.open = true
   return record
end

local MOMENT = open {
   { "plan_file", "text", null = true }, { "started", "text" }, { "ended", "text", null = true },
   { "elapsed_s", "number", null = true }, { "host", "text" }, { "kernel", "text" },
   { "cpu", "text", null = true }, { "cpus", "count" }, { "command_line", list "text" },
   { "resumed", list "object" }, { "known_by", list "text" }, { "generator", "object" },
   { "ports", list "object" }, { "plan", "object" }, { "expect", list "text" },
   { "calibration", result.CALIBRATION },
   { "captures", list(open {
      { "port", "text" }, { "file", "text" }, { "seen", "count" }, { "written", "count" },
      { "dropped", "count" }, { "triggers", "count" }, { "failure", "text" },
   }) },
   { "options", open {
      { "sets", list "text" }, { "eal", list "text" }, { "quick", "boolean" },
      { "on", open { { "text", "text" }, { "name", "text" } } },
   } },
}

--- The run.json of a folder, with its nulls.
-- @return the object; or nil, and what is wrong with it
function M.read(folder)
   local text, message = Folder.open(folder):read "run.json"
   local read, value = pcall(json.decode, text or "")
   if not text or not read or type(value) ~= "table" then
      return nil, message or "run.json is no JSON"
   end
   local problem = rows.wrong(value, MOMENT, "run.json")
   return not problem and value or nil, problem
end

--- Why the run cannot be resumed; nil when it can.
function M.lacks(moment)
   for _, key in ipairs { "generator", "ports", "plan", "calibration" } do
      if moment[key] == nil then
         return ("run.json.%s: missing"):format(key)
      end
   end
   return not tables.contains(methods.names(), moment.plan.test) and "run.json.plan.test: no test of this program"
      or nil
end

return M
