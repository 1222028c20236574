-- SPDX-License-Identifier: BSD-3-Clause

--- Works of tools/bench, measured by turns with their peers: Framegauge, peer, Framegauge, peer ..., so that
-- what disturbs the machine disturbs both, and the medians are compared.
local shaped = require "work_shapes"
local testpmd = require "testpmd"
local uv = require "luv"

local SECONDS = 1 -- of each measurement

local M = {}

--- A work by its name: its title (what), and how to start it.
function M.definition(name)
   return shaped[name] or require("work_" .. name)
end

-- CPUs this process may use.
local function allowed_cpus()
   local cpus = {}
   for line in io.lines("/proc/self/status") do
      for first, last in (line:match("^Cpus_allowed_list:%s*(.*)") or ""):gmatch("(%d+)%-?(%d*)") do
         for cpu = tonumber(first), tonumber(last) or tonumber(first) do
            table.insert(cpus, cpu)
         end
      end
   end
   return cpus
end

-- Who runs where: the main threads, which sleep, share a core with whatever needs a third.
-- @return nil and why that is not possible
local function place(folder)
   local cpus = allowed_cpus()
   if #cpus < 2 then
      return nil, "needs two CPUs: what is measured, and what it works with, must have one each"
   end
   return {
      main = cpus[1], worker = cpus[2], other = cpus[3] or cpus[1],
      peers = testpmd.found(), seconds = SECONDS, folder = folder,
   }
end

--- The median of a list, which is sorted by that.
function M.median(list)
   table.sort(list)
   local middle = (#list + 1) / 2
   return (list[math.floor(middle)] + list[math.ceil(middle)]) / 2
end

local function turn(contender, samples)
   if contender.measure then
      table.insert(samples, contender.measure())
   end
end

-- @return the medians: ours, and a list of {name=, aim=, fps=} of the peers
local function measure(work, runs)
   local contenders = { { measure = work.ours } }
   for _, peer in ipairs(work.peers) do
      table.insert(contenders, peer)
   end
   local samples = {}
   for i = 1, #contenders do
      samples[i] = {}
   end
   for _ = 1, runs do
      for i, contender in ipairs(contenders) do
         turn(contender, samples[i])
      end
   end
   local peers = {}
   for i = 2, #contenders do
      peers[i - 1] = {
         name = contenders[i].name,
         aim = contenders[i].aim,
         fps = contenders[i].constant or (#samples[i] > 0 and M.median(samples[i]) or nil),
      }
   end
   return M.median(samples[1]), peers
end

-- Microseconds for which some thread of this machine has waited for a processor so far; nil where the kernel
-- does not count them.
local function waited()
   local file = io.open "/proc/pressure/cpu"
   local text = file and file:read "*a"
   if file then
      file:close()
   end
   return text and tonumber(text:match "some [^\n]*total=(%d+)")
end

--- Measure a work. One that cannot be is left out aloud.
-- @return a row for each peer: {name, fps, unit, peer, peer_fps, aim, waiting = share of the time in which
--         some thread waited for a processor, nil where that is not known}; none and why, where it cannot be
function M.run(name, machine, runs)
   local work, why = M.definition(name).start(machine)
   if not work then
      io.stderr:write(("tools/bench: %s is left out: %s\n"):format(name, why))
      return {}, why
   end
   local began, before = uv.hrtime(), waited()
   local ok, fps, peers = pcall(measure, work, runs)
   local waiting = before and (waited() - before) * 1e3 / (uv.hrtime() - began)
   work.close()
   if not ok then
      error(fps, 0)
   end
   local rows = {}
   for i, peer in ipairs(peers) do
      rows[i] = {
         name = name, fps = fps, peer = peer.name, peer_fps = peer.fps, aim = peer.aim,
         unit = M.definition(name).unit or "frames", waiting = waiting,
      }
   end
   return rows
end

--- Call fn(machine): the CPUs, whether there are peers (machine.peers), and a folder for sockets that is gone
-- afterwards.
-- @param folder  of the benchmarks
-- @return true, or nil and why this machine will not do
function M.with_machine(folder, fn)
   local machine, why = place(folder)
   if not machine then
      return nil, why
   end
   machine.scratch = assert(uv.fs_mkdtemp("/tmp/framegauge-bench-XXXXXX"))
   local ok, err = pcall(fn, machine)
   os.execute(("rm -rf '%s'"):format(machine.scratch))
   if not ok then
      error(err, 0)
   end
   return true
end

return M
