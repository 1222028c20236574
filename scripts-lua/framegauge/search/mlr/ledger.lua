-- SPDX-License-Identifier: BSD-3-Clause

--- The trials of one search by load: every goal judges all of them.
local Ledger = {}
Ledger.__index = Ledger

local NOTHING = {}

--- An empty ledger.
function Ledger.new()
   return setmetatable({
      loads = {}, -- every load with a trial, ascending
      by_load = {}, -- lists of { record =, ns = duration in whole nanoseconds }
   }, Ledger)
end

--- Whole nanoseconds of a duration.
function Ledger.ns(seconds)
   return math.floor(seconds * 1e9 + 0.5)
end

--- Enter a trial.
function Ledger:add(load, seconds, record)
   local trials = self.by_load[load]
   if not trials then
      trials = {}
      self.by_load[load] = trials
      local i = #self.loads + 1
      while i > 1 and self.loads[i - 1] > load do
         i = i - 1
      end
      table.insert(self.loads, i, load)
   end
   trials[#trials + 1] = { record = record, ns = Ledger.ns(seconds) }
end

--- The trials at a load, oldest first.
function Ledger:at(load)
   return self.by_load[load] or NOTHING
end

--- Strike out the trials at a load that are not valid.
function Ledger:forgive(load)
   local kept = {}
   for _, trial in ipairs(self:at(load)) do
      if trial.record.validity == "valid" then
         kept[#kept + 1] = trial
      end
   end
   self.by_load[load] = kept
end

return Ledger
