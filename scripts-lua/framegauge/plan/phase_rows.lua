-- SPDX-License-Identifier: BSD-3-Clause

--- The keys that every test has: the phases around the load of a trial (RFC 2544, 23), and how often a trial
-- that says nothing is made again. In the notation of plan/rows.lua; a test says its defaults, and in its own
-- words what a phase is for where that is something else.
local M = {}

local function phase(key, words)
   M[key] = function(default, help)
      return { key = key, type = "time", default = default, max = "10min", help = help or words }
   end
end

phase("learning_wait", "between the learning frames and the load")
phase("drain", "how long frames may still arrive after the load; later ones are lost")
phase("settle", "rest for the device after a trial")

--- How often a trial may be made again.
M.retries = {
   key = "retries", type = "integer", default = "2", min = "0", max = "100",
   help = "how often an invalid trial is repeated",
}

return M
