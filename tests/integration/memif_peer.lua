-- SPDX-License-Identifier: BSD-3-Clause

-- memif_peer.lua PLAN REFLECT CPUS: three trials against a reflector in another process, which is killed in
-- the midst of the second and started again before the third.
local api = require "framegauge.core.api"
local Tester = require "framegauge.tester"
local ffi = require "ffi"
local job = require "framegauge.core.job"
local plan = require "framegauge.plan"
local trial = require "framegauge.trial"
local uv = require "luv"

local file, reflect, cpus = ...
local program = os.getenv "FRAMEGAUGE" or "build/app/framegauge"
local err = api.error()
local config = ffi.new("struct fg_host_config", {
   lcores = ("0@(%s),1@(%s)"):format(cpus, cpus), huge_pages = 1,
})
api.check(api.C.fg_host_start(config, err), err)

local function start_reflector()
   local out = uv.new_pipe()
   local process = assert(uv.spawn(program, {
      args = { "reflect", reflect }, stdio = { nil, out, 2 },
   }, function() end))
   local ready = false
   out:read_start(function(_, text)
      ready = ready or (text or ""):find "far " ~= nil
   end)
   while not ready do
      job.sleep(0.01)
   end
   return process
end

local function check(name, holds, found)
   print((holds and "ok - " or "not ok - ") .. name)
   if not holds then
      print("# " .. tostring(found))
   end
end

local function one(tester, number)
   local raw = tester:trial {
      frame_size = 64, fps = 1000, duration = 1, directions = { "near->near" }, drain = 1,
   }
   return trial.record(raw, { number = number, test = "peer", frame_size = 64, fps = 1000, seconds = 1 })
end

return job.run(function()
   local reflector = start_reflector()
   local tester = assert(Tester.open(assert(plan.load(file))))
   local record = one(tester, 1)
   check("frames come back from the peer", record.rx > 0, record.reasons[1])

   function tester:await(...) -- traffic has begun
      self.await = nil
      reflector:kill "sigkill"
      while api.C.fg_port_wait_link(self.handles[1], 0, nil) == 0 do
         job.sleep(0.01)
      end
      return self:await(...)
   end
   record = one(tester, 2)
   check("a trial without its peer is invalid, and says so", record.validity == "invalid"
      and table.concat(record.reasons, "; "):find("^the peer of near is gone[^;]*$") ~= nil,
      record.validity .. ": " .. table.concat(record.reasons, "; "))

   reflector = start_reflector()
   api.check(api.C.fg_port_wait_link(tester.handles[1], 5000, err), err)
   record = one(tester, 3)
   check("the peer that has come back is joined again", record.rx > 0 and record.validity ~= "invalid",
      table.concat(record.reasons, "; "))
   reflector:kill "sigkill"
   tester:close()
   return 0
end)
