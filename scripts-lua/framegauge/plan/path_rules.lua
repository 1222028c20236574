-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold between the keys of a path (plan/path_rows.lua).
local M = {}

-- A group that says how, but not how often, was not meant so; for a second way it may say that there is none.
local function happens(way, key, path, found)
   local group = way[key]
   if group and group.every == 0 and group.random == 0 then
      found:add(path .. "." .. key, "never happens", "every or random with it")
   end
end

--- Check the keys of one way.
-- @param way    its values
-- @param path   where they stand in the plan
-- @param found  takes the problems (plan/problems.lua)
-- @param first  the way whose keys hold where this one says nothing; nil: there is none
function M.check(way, path, found, first)
   local run, every = way.loss_run, way.loss_every or first and first.loss_every or 0
   if run and every == 0 then
      found:add(path .. ".loss_run", "says how many, but not when", "loss_every beside it")
   elseif run and run > every then
      found:add(path .. ".loss_run", ("%d of every %d frames"):format(run, every), "at most loss_every")
   end
   for _, key in ipairs(first and {} or { "reorder", "duplicate", "corrupt" }) do
      happens(way, key, path, found)
   end
   if way.jitter and way.jitter.deviation and way.jitter.distribution ~= "normal" then
      found:add(path .. ".jitter.deviation", ("not for a %s distribution"):format(way.jitter.distribution),
         "distribution: normal beside it")
   end
end

local function reference_device(values, found)
   local device = values.reference_device
   M.check(device, "reference_device", found)
   if device.reverse then
      M.check(device.reverse, "reference_device.reverse", found, device)
   end
end

M.rules = { reference_device }

return M
