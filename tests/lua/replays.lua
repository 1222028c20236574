-- SPDX-License-Identifier: BSD-3-Clause

--- What specs of replays share: captures made here, a tester to send them from, and what is refused.
local Tester = require "framegauge.tester"
local assert = require "luassert"
local job = require "framegauge.core.job"
local pcap = require "framegauge.text.pcap"
local plan = require "framegauge.plan"
local replay = require "framegauge.tester.replay"
local scratch = require "scratch"

local M = {}

--- The reference device on two ends of a wire.
M.PLAN = [[
test: rfc2544
ports:
  east: {device: wire0}
  west: {device: wire1}
reference_device: {rate: 1Gbps, time: free}
]]

--- A capture.
-- @param frames  list of { time in ns, bytes without FCS }
-- @return its path
function M.write(frames)
   local path = scratch.path() .. ".pcap"
   local file = assert(pcap.create(path))
   for _, frame in ipairs(frames) do
      file:add(frame[2], frame[1])
   end
   assert(file:close())
   return path
end

--- Frames of one size at some times, no two alike.
-- @param octets  of each, with FCS
function M.frames(octets, times)
   local list = {}
   for i, ns in ipairs(times) do
      list[i] = { ns, "\2\0\0\0\0\1\2\0\0\0\0\2\x88\xb5" .. ("%04d"):format(i) .. ("."):rep(octets - 22) }
   end
   return list
end

--- Do something with a tester, which is closed then.
-- @param device  settings of the reference device
function M.with_tester(device, fn)
   local sets = {}
   for key, value in pairs(device) do
      sets[#sets + 1] = ("reference_device.%s=%s"):format(key, value)
   end
   local loaded, errors = plan.load_text(M.PLAN, "built-in plan", { sets = sets })
   job.run(function()
      local tester = assert(Tester.open(assert(loaded, errors and tostring(errors[1])), { max_frame = 1522 }))
      local ok, why = pcall(fn, tester)
      tester:close()
      if not ok then
         error(why, 0)
      end
   end)
end

--- Replay once, where the device does nothing.
-- @return the result, and the facts of the file
function M.run(o)
   local result, facts
   M.with_tester({}, function(tester)
      local one = replay.open(tester, o)
      result, facts = one:run(), one.facts
      one:close()
   end)
   return result, facts
end

--- What replay.open() says against its arguments.
function M.refused(o, device)
   local why
   M.with_tester(device or {}, function(tester)
      local ok, err = pcall(replay.open, tester, o)
      assert.is_false(ok)
      why = err
   end)
   assert.equal(2, why.status)
   return tostring(why)
end

return M
