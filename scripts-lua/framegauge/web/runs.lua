-- SPDX-License-Identifier: BSD-3-Clause

--- Earlier runs as the page shows them: their list, the history of a plan, two of them compared. The answers
-- are the figures of `framegauge history` and `framegauge compare` as JSON.
--
-- Runs come only from the index (framegauge.history.index): a name in a request never becomes a path.
local compare = require "framegauge.report.compare"
local Index = require "framegauge.history.index"
local job = require "framegauge.core.job"
local Server = require "framegauge.web.server"
local tables = require "framegauge.core.tables"
local trend = require "framegauge.history.trend"
local uv = require "luv"

local M = {}

local MAX_RUNS = 200
local BUSY_NS = 10e6 -- that others wait for

local rested -- when others could run last

-- A thousand new runs take seconds to read: traffic and viewers go on meanwhile.
-- A sleep of 0 is over before the loop looks at its descriptors.
local function let_others_run()
   local now = uv.hrtime()
   rested = rested or now
   if job.current() and now - rested > BUSY_NS then
      job.sleep(0.001)
      rested = uv.hrtime()
   end
end

-- What a function makes of the index of a folder; nil where the folder is not there.
local function with_index(root, fn)
   if not uv.fs_stat(root) then
      return nil
   end
   local index = Index.open(root, { pause = let_others_run })
   local ok, result = pcall(fn, index)
   index:close()
   if not ok then
      error(result, 0)
   end
   return result
end

--- The last runs, the newest first.
-- @param root  folder of the runs
function M.list(root)
   local rows = with_index(root, Index.runs) or {}
   local list = {}
   for i = #rows, math.max(1, #rows - MAX_RUNS + 1), -1 do
      local row = rows[i]
      list[#list + 1] = {
         run = row.folder, plan = row.plan, test = row.test, started = row.started, device = row.device,
         firmware = row.firmware, validity = row.validity, outcome = row.outcome,
      }
   end
   return list
end

local TESTED = { "device", "firmware", "plan", "test" }

local function key_of(row)
   return table.concat(tables.map(TESTED, function(key)
      return row[key] or ""
   end), "\0")
end

--- What was tested: each device and firmware with each plan that was run on it, and the last of these runs.
-- At most 200, the last first.
-- @param root  folder of the runs
function M.devices(root)
   local rows, list, known = with_index(root, Index.runs) or {}, {}, {}
   for i = #rows, 1, -1 do
      local row = rows[i]
      local key = key_of(row)
      if not known[key] then
         known[key] = {
            device = row.device, firmware = row.firmware, plan = row.plan, test = row.test, runs = 0,
            run = row.folder, started = row.started, validity = row.validity, outcome = row.outcome,
         }
         list[#list + 1] = #list < MAX_RUNS and known[key] or nil
      end
      known[key].runs = known[key].runs + 1
   end
   return list
end

--- The figures of a plan over its runs (framegauge.history.trend).
function M.history(root, plan)
   return with_index(root, function(index)
      if tables.find(index:plans(), "plan", plan) then
         local points, runs = index:points(plan)
         return trend.data(plan, trend.of(points), runs)
      end
   end) or Server.refuse(404, "there is no run of the plan %s", plan)
end

--- Two runs compared (framegauge.report.compare).
function M.compare(root, before, after)
   local known = tables.field(with_index(root, Index.runs) or {}, "folder")
   for _, folder in ipairs { before, after } do
      if not tables.contains(known, folder) then
         Server.refuse(404, "there is no run %s", folder)
      end
   end
   return (compare.folders(root .. "/" .. before, root .. "/" .. after))
end

return M
