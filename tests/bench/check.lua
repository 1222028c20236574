-- SPDX-License-Identifier: BSD-3-Clause

--- The works that have an aim beside a peer on the same machine, as tests, for tools/bench check: each ratio
-- is held against its aim. A work that falls short is measured anew, twice at most, before it has failed: a
-- machine may do other things at any time, and a hot path that has become slow is slow each time. Speaks the
-- Test Anything Protocol.
local turns = require "turns"

local WORKS = { "tx", "fields4", "rx" }
local RUNS, TRIES = 3, 3

local folder = arg[0]:match("^(.*)/[^/]*$") or "."

local function is_short(row)
   return row.aim ~= nil and row.fps < row.aim * row.peer_fps
end

local function any_short(rows)
   for _, row in ipairs(rows) do
      if is_short(row) then
         return true
      end
   end
   return false
end

-- @return true: all of it reaches its aims
local function check(name, machine)
   local rows = turns.run(name, machine, RUNS)
   for _ = 2, TRIES do
      rows = any_short(rows) and turns.run(name, machine, RUNS) or rows
   end
   for _, row in ipairs(rows) do
      if row.aim then
         local word = is_short(row) and "not ok" or "ok"
         local ratio = row.fps / row.peer_fps
         print(("%s - %s reaches %.2f of %s; the aim is %.2f"):format(word, name, ratio, row.peer, row.aim))
      end
   end
   return not any_short(rows)
end

local reached = true
local ok, why = turns.with_machine(folder, function(machine)
   assert(machine.peers, "dpdk-testpmd is missing; on Debian: apt install dpdk-dev")
   for _, name in ipairs(WORKS) do
      reached = check(name, machine) and reached
   end
end)
if not ok then
   print("ok - # skip " .. why)
end
os.exit(reached and 0 or 1)
