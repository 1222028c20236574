-- SPDX-License-Identifier: BSD-3-Clause

--- A copy of a run's folder as a run leaves it that is killed after a number of trials.
-- @param path    folder of the whole run
-- @param trials  trials that are recorded
-- @param part    how many characters of the next trial's record were written (default: none)
-- @return the folder of the copy
local json = require "framegauge.text.json"
local scratch = require "scratch"

return function(path, trials, part)
   local copy = scratch.path()
   scratch.shell(("mkdir '%s' && cp '%s/plan.yaml' '%s'"):format(copy, path, copy))
   local facts = json.decode(scratch.read(path .. "/run.json"))
   facts.ended, facts.elapsed_s = json.null, json.null
   scratch.write(copy .. "/run.json", json.encode(facts))
   local n, kept = 0, {}
   for line in io.lines(path .. "/trials.jsonl") do
      n = n + 1
      kept[#kept + 1] = n <= trials and line .. "\n" or n == trials + 1 and line:sub(1, part or 0) or nil
   end
   scratch.write(copy .. "/trials.jsonl", table.concat(kept))
   return copy
end
