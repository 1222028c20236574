-- SPDX-License-Identifier: BSD-3-Clause

--- The works that have an aim beside a peer on the same machine, as tests, for tools/bench check: each ratio
-- is held against its aim. A work that falls short is measured anew, twice at most, before it has failed: a
-- machine may do other things at any time, and a hot path that has become slow is slow each time. While
-- threads wait for a processor nothing can be said: what falls short then is skipped. Speaks the Test
-- Anything Protocol.
local turns = require "turns"

local WORKS = { "tx", "fields4", "rx" }
local RUNS, TRIES = 3, 3
local BUSY = 0.2 -- share of the time in which threads wait; the tester's own that sleep wait little

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

local results, failed = 0, 0

-- One of them that cannot be measured, or not beside anything that it has an aim for, has not reached any.
local function check(name, machine)
   local rows, why = turns.run(name, machine, RUNS)
   for _ = 2, TRIES do
      rows = any_short(rows) and turns.run(name, machine, RUNS) or rows
   end
   local before = results
   if rows[1] and rows[1].waiting then
      print(("# %s: some thread waited %.0f %% of the time"):format(name, rows[1].waiting * 100))
   end
   for _, row in ipairs(rows) do
      if row.aim then
         local busy = is_short(row) and (row.waiting or 0) > BUSY
         results, failed = results + 1, failed + (is_short(row) and not busy and 1 or 0)
         print(("%s - %s reaches %.2f of %s; the aim is %.2f%s"):format(
            is_short(row) and not busy and "not ok" or "ok", name, row.fps / row.peer_fps, row.peer, row.aim,
            busy and (" # SKIP this machine is too busy: threads waited %.0f %% of the time"):format(
               row.waiting * 100) or ""))
      end
   end
   if results == before then
      results, failed = results + 1, failed + 1
      print(("not ok - %s is measured beside a peer: %s"):format(name, why or "there is none with an aim"))
   end
end

local _, why = turns.with_machine(folder, function(machine)
   for _, name in ipairs(machine.peers and WORKS or {}) do
      check(name, machine)
   end
end)
why = why or "dpdk-testpmd is missing; on Debian: apt install dpdk-dev"
print(results > 0 and "1.." .. results or "1..0 # SKIP " .. why)
os.exit(failed == 0 and 0 or 1)
