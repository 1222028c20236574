-- SPDX-License-Identifier: BSD-3-Clause

--- dpdk-testpmd as the peer of a measurement: started once, told what to do through its prompt, and asleep
-- while it is not its turn.
local child = require "child"
local job = require "framegauge.core.job"
local uv = require "luv"

local PROMPT = "testpmd> "
local START_SECONDS, ANSWER_SECONDS = 20, 10

local Testpmd = {}
Testpmd.__index = Testpmd

local M = {}

--- Is there a dpdk-testpmd on this machine?
function M.found()
   for folder in (os.getenv("PATH") or ""):gmatch("[^:]+") do
      if uv.fs_access(folder .. "/dpdk-testpmd", "X") then
         return true
      end
   end
   return false
end

-- What it has said since the last answer, once the prompt is there again.
function Testpmd:answer(seconds)
   local process, deadline = self.child, uv.hrtime() + seconds * 1e9
   while not process.said:find(PROMPT, self.read_to, true) do
      if process.exited or uv.hrtime() > deadline then
         error("dpdk-testpmd does not answer; the last it said:\n" .. process:last_words(), 0)
      end
      job.sleep(0.005)
   end
   local from = self.read_to
   self.read_to = #process.said + 1
   return process.said:sub(from)
end

--- Start it, without traffic.
-- @param cpus     {main=, forwarder=}
-- @param devices  list of --vdev values
-- @param options  list of testpmd's own options
function M.start(cpus, devices, options)
   -- its answers and its prompt take different ways to the pipe; unbuffered they stay in order
   local arguments = {
      "-oL", "dpdk-testpmd", "--no-huge", "--no-shconf", "--no-telemetry", "--no-pci", "-m", "256",
      ("--lcores=0@%d,1@%d"):format(cpus.main, cpus.forwarder),
   }
   for _, device in ipairs(devices) do
      table.insert(arguments, "--vdev=" .. device)
   end
   for _, option in ipairs { "--", "-i", "--nb-cores=1", "--total-num-mbufs=16384", "--no-mlockall",
      "--no-lsc-interrupt", "--burst=32" } do
      table.insert(arguments, option)
   end
   for _, option in ipairs(options) do
      table.insert(arguments, option)
   end
   local self = setmetatable({ child = child.spawn("stdbuf", arguments), read_to = 1 }, Testpmd)
   local ok, err = pcall(self.answer, self, START_SECONDS)
   if not ok then
      self:close()
      error(err, 0)
   end
   return self
end

--- Type a command. @return what it answers
function Testpmd:command(text)
   self.child:write(text)
   return self:answer(ANSWER_SECONDS)
end

--- Frames per second over a time: it reckons that itself, from one look at its counters to the next.
-- @param field  "Rx" or "Tx"
-- @param ports  numbers of the ports to add up
function Testpmd:rate(field, ports, seconds)
   local total = 0
   for _, port in ipairs(ports) do
      self:command("show port stats " .. port)
   end
   job.sleep(seconds)
   for _, port in ipairs(ports) do
      local text = self:command("show port stats " .. port)
      total = total + tonumber((assert(text:match(field .. "%-pps:%s+(%d+)"), text)))
   end
   return total
end

--- Stop it.
function Testpmd:close()
   self.child:close()
end

return M
