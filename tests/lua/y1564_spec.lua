-- SPDX-License-Identifier: BSD-3-Clause

-- The arithmetic of Y.1564: which loads, which limits, what is inferred.
local configuration = require "framegauge.methods.y1564.configuration"
local loads = require "framegauge.methods.y1564.loads"
local paths = require "framegauge.methods.y1564.plan.paths"
local plans = require "framegauge.plan"
local report = require "framegauge.methods.y1564.report"
local steps = require "framegauge.methods.y1564.steps"

local TEXT = [[
test: y1564
ports: {east: {device: wire0}, west: {device: wire1}}
y1564: {services: {data: {%s}}}
]]

-- The plan of one service.
local function plan_of(service, ...)
   return assert(plans.load_text(TEXT:format(service), "x.yaml", { sets = { ... } }))
end

local TESTER = { ports = { { line_rate = 1e9, serial_rate = 1e9 }, { line_rate = 1e9, serial_rate = 1e9 } } }
local DECLARED = { ports = { { line_rate = 1e9 }, { line_rate = 1e9 } } } -- by the plan

-- The steps of one service from east to west, by name.
local function steps_of(service, ...)
   local plan, by_name, names = plan_of(service, ...), {}, {}
   local path = steps.on_line(plan, TESTER)[1]
   for _, step in ipairs(steps.of(path, plan.y1564)) do
      by_name[step.step], names[#names + 1] = step, step.step
   end
   return by_name, table.concat(names, ", "), path
end

local function frames_of(list)
   local frames, seconds = 0, 0
   for _, load in ipairs(list) do
      frames = frames + (load.frames or math.floor(load.fps * load.seconds + 0.5))
      seconds = seconds + load.seconds
   end
   return frames, seconds
end

local AGREED = "cir: 100Mbps, cbs: 64000, eir: 50Mbps, ebs: 64000"
local NO_EXCESS = "cir: 100Mbps, cbs: 64000"

describe("rates of Y.1564", function()
   it("count the frame, or the line as well", function()
      for size, ulr in pairs { [64] = 131.25e6, [512] = 103.90625e6, [1518] = 101.31752e6 } do
         assert.near(ulr, paths.ulr(100e6, size), 10)
         assert.near(100e6, paths.ir(ulr, "ulr", size), 10)
         assert.equal(100e6, paths.ir(100e6, "ir", size))
      end
   end)

   it("of policing are a quarter above what was agreed", function()
      for _, case in ipairs {
         { 100, 50, 162.5, 62.5 }, { 100, 20, 125, 25 }, { 100, 10, 135, 35 }, { 100, 0, 125, 25 },
      } do
         assert.same({ case[3], case[4] }, { steps.policing_load(case[1], case[2]) })
      end
   end)
end)

describe("the steps of a service", function()
   it("follow from its excess rate and its colour", function()
      local function names(service)
         return (select(2, steps_of(service, "y1564.configuration.tests=[cir,step-load,eir,policing,cbs,ebs]",
            "y1564.configuration.steps=[100%]", "y1564.configuration.over_burst=false")))
      end
      local aware = ", dscp: 10, colour: aware, marking: dscp, yellow: 12"
      assert.equal("A.1, A.2, B.2, C.2, D.2, E.2, E.2 exact", names(AGREED))
      assert.equal("A.1, A.2, B.1, C.1, D.1, E.1, E.1 exact", names(AGREED .. aware))
      assert.equal("A.1, A.2, C.2, D.2, D.2 exact", names(NO_EXCESS))
      assert.equal("A.1, A.2, C.1, D.1, D.1 exact", names(NO_EXCESS .. aware))
   end)

   it("test the committed bucket only where nothing is beyond it", function()
      assert.is_truthy(steps_of(AGREED)["D.2"].untestable)
      assert.is_nil(steps_of(NO_EXCESS)["D.2"].untestable)
   end)

   it("bound what may pass by what the buckets held", function()
      local limits = steps_of(AGREED .. ", acceptance: {flr: 1%}")["C.2"].limits
      assert.near(99e6, limits.ir_min_bps, 1)
      assert.near(150.034e6, limits.ir_max_bps, 500)
      local share = "y1564.configuration.margin_mode=percent"
      limits = steps_of(AGREED .. ", acceptance: {flr: 0%}", share)["C.2"].limits
      assert.near(99e6, limits.ir_min_bps, 1)
      assert.near(151.5e6, limits.ir_max_bps, 1)
   end)

   it("that the line cannot carry are not made", function()
      local by_name = steps_of "cir: 500Mbps, cbs: 64000, eir: 400Mbps, ebs: 64000"
      assert.is_nil(by_name["B.2"].untestable)
      assert.is_truthy(by_name["C.2"].untestable)
      assert.is_nil(by_name["C.2"].load)
   end)
end)

describe("a burst test", function()
   it("sends groups at CIR, and in each gap a burst at the rate of the line", function()
      local by_name = steps_of(NO_EXCESS .. ", acceptance: {flr: 0%}")
      local step = by_name["D.2"]
      assert.same({ frames = 138, group = 4883, cycles = 10, fps = 234962 }, step.load.burst)
      local frames, seconds = frames_of(step.load.green)
      assert.equal(48830, frames)
      assert.near(step.load.seconds, seconds, 1e-9)
      frames, seconds = frames_of(step.load.green_bursts)
      assert.equal(1380, frames)
      assert.near(step.load.seconds, seconds + step.load.burst_delay, 1e-9)
      assert.equal(125, by_name["D.2 exact"].load.burst.frames)
      for received, failed in pairs { [49580] = {}, [49579] = { "burst" } } do
         local v = { failed = {}, reasons = {} }
         local row = {
            burst = setmetatable({ group_lost = 0 }, { __index = step.load.burst }),
            green = { rx = received },
         }
         step.judge(v, row)
         assert.same(failed, v.failed)
         row.burst.group_lost, v = 489, { failed = {}, reasons = {} } -- beyond 1 % of 48,830
         step.judge(v, row)
         assert.same({ "IR" }, v.failed)
         assert.matches("rate too low: 489 of 48,830 frames", v.reasons[1], 1, true)
      end
   end)

   it("gives a slow bucket time to fill", function()
      local by_name = steps_of "cir: 1Mbps, cbs: 64000"
      local burst = by_name["D.2"].load
      -- 8 * 64000 / 1e6 s and an eighth more, before the burst and after it
      assert.near(10 * (0.2 + 2 * 0.576), burst.seconds, 10 * 0.01)
   end)

   it("of yellow frames waits for the green ones", function()
      local by_name = steps_of(AGREED .. ", dscp: 10, colour: aware, marking: dscp, yellow: 12")
      local load = by_name["E.1"].load
      local green, green_seconds = frames_of(load.green)
      local yellow, yellow_seconds = frames_of(load.yellow)
      assert.near(green_seconds, load.burst_delay + yellow_seconds, 1e-9)
      assert.equal(10 * 4883, green)
      assert.equal(10 * 138, yellow)
   end)

   it("is longer than any that a full bucket passes", function()
      local _, _, path = steps_of(NO_EXCESS)
      assert.equal(250, loads.over_burst(path, 64000, 100e6, 1e9 / (8 * 532)))
      -- most of a burst flows in at such a rate: 64000 / (1 - 0.9 / 0.9624) / 512
      local n = loads.over_burst(path, 64000, 900e6, 1e9 / (8 * 532))
      assert.is_true(n > 1.2 * 1929 and n < 1.3 * 1929, tostring(n))
      assert.is_nil(loads.over_burst(path, 64000, 960e6, 1e9 / (8 * 532)))
   end)

   it("tells the size of the bucket by the frames that it lost", function()
      -- 139 frames of a burst find tokens, and of the rest as many as flow in: see the device's own test
      local fps, cir, cbs = 1e9 / (8 * 532), 100e6, 64000
      for frames = 150, 300, 25 do
         local passed = math.floor((cbs + cir / 8 * (frames - 1) / fps) / 512)
         local size = configuration.infer({ frames = frames, lost = frames - passed, cycles = 1, fps = fps },
            { inflow = cir, spilt = 0, buckets = 1 }, { frame_size = 512, largest = 512 })
         assert.is_true(size.min_bytes <= cbs and cbs <= size.max_bytes)
         assert.is_true(size.max_bytes - size.min_bytes < 600)
      end
   end)
end)

describe("a step", function()
   -- A trial that sent 1000 frames of each stream and lost some.
   local function session(verdict, lost)
      return { trial = function(_, ask)
         local directions = {}
         for i, stream in ipairs(ask.streams) do
            directions[i] = {
               direction = stream.name, tx = 1000, rx = 1000 - lost, lost = lost, loss_ratio = lost / 1000,
               tx_bytes = 512000, rx_bytes = 512 * (1000 - lost), offered_fps = 1000, duplicates = 0,
               reordered = 0,
               latency = { min_ns = 1, mean_ns = 2, max_ns = 3, p999_ns = 3 }, marks = {},
               series = { tx = { 1000 }, ir_min_bps = { 3 }, ir_max_bps = { 5 } },
            }
         end
         return { trial = 7, validity = verdict, reasons = { "so it is" }, directions = directions }
      end }
   end

   local function rows_of(verdict, lost, known)
      local plan, rows = plan_of(NO_EXCESS, "y1564.configuration.tests=[cir]"), {}
      local tester = { plan = plan, ports = { { mac = "02:00:00:00:00:01" }, { mac = "02:00:00:00:00:02" } } }
      tester.gateway_mac = function() end
      configuration.run(tester, session(verdict, lost), steps.on_line(plan, known or TESTER)[1], plan.y1564,
         rows)
      return rows
   end

   it("that the tester could not carry says nothing of the service", function()
      for _, verdict in ipairs { "tester-limited", "invalid" } do
         for _, lost in ipairs { 0, 500 } do
            local row = rows_of(verdict, lost)[1]
            assert.equal(verdict, row.validity)
            assert.same({}, row.failed)
            assert.same({ "so it is" }, row.reasons)
         end
      end
      assert.equal("pass", rows_of("valid", 0)[1].outcome)
      assert.same({ "FLR" }, rows_of("valid", 500)[1].failed)
   end)

   it("has the delay of a whole frame", function()
      -- 512 bytes take 4,096 ns on a line of 1 Gb/s
      assert.same({ min_ns = 4097, mean_ns = 4098, max_ns = 4099 }, rows_of("valid", 0)[1].ftd)
      assert.same({ min_ns = 1, mean_ns = 2, max_ns = 3 }, rows_of("valid", 0, DECLARED)[1].ftd)
   end)
end)

describe("the report of Y.1564", function()
   it("has nothing to say of the clocks of two testers before their first step", function()
      local plan, list = plan_of(NO_EXCESS), {}
      plan.y1564.topology = "two-testers"
      report.notes({ plan = plan, results = { y1564 = { services = {} } } }, function(text)
         list[#list + 1] = text
      end)
      assert.not_matches("clock", table.concat(list, "\n"))
      assert.matches("FTD: one-way, between two testers", table.concat(list, "\n"), 1, true)
   end)
end)
