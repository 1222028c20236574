-- SPDX-License-Identifier: BSD-3-Clause

-- The group capacity of RFC 3918 of devices that lose frames at random: made of arithmetic, because the
-- reference switch loses none.
local Tester = require "framegauge.tester"
local capacity = require "framegauge.methods.rfc3918.capacity"
local devices = require "devices"
local plans = require "framegauge.plan"

local PLAN = [[
test: rfc3918
ports: {a: {device: wire0}, b: {device: wire1}, c: {device: wire2}, d: {device: wire3}}
reference_switch: {rate: 1Gbps}
rfc3918: {frame_sizes: [64], tests: [group_capacity], capacity_max: 1000, monitor: d}
]]

-- A session with a switch that forwards the first groups only, and of their frames all but some at random.
local function session_of(forwards, loss, seed)
   local random, self = devices.generator(seed), { trials = {} }
   function self.trial(_, ask)
      local record = { directions = {}, validity = "valid", reasons = {}, trial = #self.trials + 1 }
      for i, stream in ipairs(ask.streams) do
         local tx = math.floor(stream.loads[1].fps * stream.loads[1].seconds + 0.5)
         local n = #ask.members / 2 -- of two receivers
         local lost, run, longest = 0, 0, 0
         for number = 0, tx - 1 do
            local gone = math.floor(number / (tx / n)) >= forwards or random(0, 1) < loss
            run = gone and run + 1 or 0
            lost, longest = lost + (gone and 1 or 0), math.max(longest, run)
         end
         record.directions[i] = { direction = stream.name, tx = tx, rx = tx - lost, lost = lost,
            measured = {}, rx_bytes = (tx - lost) * 64, loss_burst_max_frames = longest }
      end
      self.trials[record.trial] = record
      return record
   end
   return self
end

describe("the group capacity of a device that loses frames at random", function()
   it("is what it forwards groups of", function()
      local plan = assert(plans.load_text(PLAN, "x.yaml"))
      local tester = assert(Tester.open(plan))
      for _, loss in ipairs { 0, 0.0005, 0.01, 0.1 } do
         for i, groups in ipairs { 3, 77, 300, 731, 1000 } do
            local rows = {}
            capacity.run(plan, tester, session_of(groups, loss, 7 * i), "group_capacity", rows)
            assert.same({ groups, groups < 1000 and "missing" or "maximum", "valid" },
               { rows[1].groups, rows[1].limited_by, rows[1].validity }, loss .. " " .. groups)
         end
      end
      tester:close()
   end)
end)
