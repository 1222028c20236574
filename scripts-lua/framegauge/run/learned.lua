-- SPDX-License-Identifier: BSD-3-Clause

--- `run --learned FOLDER`: an earlier run's findings on the device, as a setting of a plan.
--
-- It saves trials on the way to a throughput, but no deciding trial (search/bisection.lua,
-- search/mlr/controller.lua). So with a device that has changed the search takes longer, and its result is as
-- correct.
local parameters = require "framegauge.methods.characterise.parameters"
local queue = require "framegauge.methods.characterise.queue"
local report = require "framegauge.report"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"

local M = {}

local BAD_USAGE = 2

-- The load that a buffer or a bucket just takes in a trial.
local function passing(model, frame_size, seconds)
   local fps, line = queue.rate(model, frame_size), queue.rate({ line_bps = model.line_bps }, frame_size)
   return fps < line and math.min(line, fps + queue.places(model, frame_size) / seconds) or line
end

-- Of a characterisation: by its model, of the direction that forwards least.
local function by_model(result, frame_size, seconds)
   local least
   for _, row in ipairs(result.results.characterisation or {}) do
      local lossy = row.loss and row.loss.min_ratio > 0
      if not parameters.is_whole(row) or row.limit == "load" or row.both_ways == "shared" or lossy then
         return nil
      end
      for _, port in ipairs(result.ports) do
         local fps = passing(parameters.model(row, port.line_rate), frame_size, seconds)
         least = math.min(least or fps, fps)
      end
   end
   return least
end

-- Of a search: between the load that passed and the one that failed.
local function by_search(result, frame_size)
   local least
   for _, row in ipairs(result.results.throughput or {}) do
      local fps = row.frame_size == frame_size and row.validity == "valid" and row.throughput_fps
      if fps then
         fps = row.upper_fps and (fps + row.upper_fps) / 2 or fps * (1 + 1e-9)
         least = math.min(least or fps, fps)
      end
   end
   return least
end

--- A result's throughput by frame size.
-- @param seconds  length of the trials that decide
-- @return list of { frame_size =, load = frames per second }, of those that it tells of
function M.loads(result, frame_sizes, seconds)
   return tables.map(frame_sizes, function(frame_size)
      local fps = by_model(result, frame_size, seconds) or by_search(result, frame_size)
      return fps and fps > 0 and { frame_size = frame_size, load = fps } or nil
   end)
end

-- The result that a folder has.
local function result_in(path)
   local read, result = pcall(report.read, path:match "^(.*)/twin%.yaml$" or path == "twin.yaml" and "."
      or path)
   return read and result or user_error.raise("run", BAD_USAGE, "--learned: %s; expected the folder of a characterisation, or of a run by RFC 2544", tostring(result))
end

-- Length of the trials that decide; of several goals the first one's.
local function deciding(o)
   return o.goals and o.goals[1].final_trial or o.trial
end

--- A setting, as --set takes it, of what a device is known to carry.
-- @param path  folder of a characterisation or of a test by RFC 2544; or twin.yaml in it
-- @param plan  whose frame sizes count
function M.setting(path, plan)
   local result = result_in(path)
   if plan.test ~= "rfc2544" then
      user_error.raise("run", BAD_USAGE, "--learned: the plan has test: %s; expected test: rfc2544",
         plan.test)
   end
   local o = plan.rfc2544
   local list = tables.map(M.loads(result, o.frame_sizes, deciding(o.throughput)), function(one)
      return ("{frame_size: %s, load: %.3ffps}"):format(one.frame_size, one.load)
   end)
   if not list[1] then
      user_error.raise("run", BAD_USAGE, "--learned: %s tells of none of the plan's frame sizes what the device carries; expected a characterisation with a model, or throughputs of these sizes", path)
   end
   return ("rfc2544.throughput.learned=[%s]"):format(table.concat(list, ", "))
end

return M
