-- SPDX-License-Identifier: BSD-3-Clause

-- Traffic by hand on the reference device: what is counted is what the device was set to do.
local commands = require("framegauge.console.commands").by_name
local ffi = require "ffi"
local job = require "framegauge.core.job"
local plans = require "framegauge.plan"
local Control = require "framegauge.control"
local History = require "framegauge.control.history"
local tables = require "framegauge.core.tables"
local view = require "framegauge.console.view"

local function tester_of(sets)
   local plan = require "framegauge.console.default_plan"
   return Control.new(assert(plans.load_text(plan, "console", { sets = sets })))
end

local function refused(pattern, ...)
   local ok, err = pcall(...)
   assert.falsy(ok)
   assert.matches(pattern, tostring(err))
end

-- Wait until something is so. What is waited for needs the traffic: with the end of that, it fails.
local function await(traffic, what)
   while not what() do
      assert.falsy(traffic.task.ended, "the traffic ended before its time")
      job.sleep(0.01)
   end
end

-- Columns of a line, escape sequences left out.
local function width(line)
   return #line:gsub("\27%[[%d;]*m", ""):gsub("[\128-\191]", "")
end

describe("traffic by hand", function()
   local control, traffic

   local function on(sets)
      control = tester_of { "reference_device.time=free", unpack(sets or {}) }
      traffic = control.traffic
   end
   after_each(function()
      control:close()
   end)

   -- Wait until a stream has sent a number of frames.
   local function sent(i, frames)
      await(traffic, function()
         return traffic.history and traffic.history:stream(i).tx >= frames
      end)
   end

   it("for a time sends what the rates say, and nothing is lost below the capacity", function()
      on()
      traffic:set_rate("east", "100kfps")
      traffic:set_rate("west-east", "50kfps")
      traffic:start(nil, 2):wait()
      local east, west = traffic.history:stream(1), traffic.history:stream(2)
      assert.same({ 200000, 200000, 0 }, { east.tx, east.rx, east.lost })
      assert.same({ 100000, 100000, 0 }, { west.tx, west.rx, west.lost })
      assert.near(20.5e3, east.latency.p99_ns, 100)
      assert.equal(0, east.latency.jitter_ns)
      assert.equal(200000, traffic.history:port(2).rx)
   end)

   it("counts what the device loses", function()
      on { "reference_device.loss_every=100" }
      traffic:set_rate("all", "100kfps")
      traffic:start("east", 1):wait()
      local east = traffic.history:stream(1)
      assert.same({ 100000, 99000, 1000 }, { east.tx, east.rx, east.lost })
      assert.equal(0.01, east.loss_ratio)
      assert.equal(0, traffic.history:stream(2).tx)
   end)

   it("is over when streams of a number of frames have sent them, also at another rate", function()
      on { "reference_device.loss_every=100",
         "streams.s={from: east, size: 128, rate: 1kfps, frames: 20000}" }
      local task = traffic:start "s"
      traffic:set_rate("s", "10kfps")
      task:wait()
      local s = traffic.history:stream(1)
      assert.same({ 20000, 19800, false }, { s.tx, s.rx, traffic.list[1].running })
      assert.matches("10 kfps, 20,000 frames", tostring(commands.streams.run { control = control }), 1, true)
   end)

   it("sends nothing at a rate of 0", function()
      on()
      traffic:set_rate("east", "0")
      traffic:set_rate("west", "1kfps")
      traffic:start(nil, 1):wait()
      assert.same({ 0, 1000 }, { traffic.history:stream(1).tx, traffic.history:stream(2).tx })
   end)

   it("makes errors on purpose and does not take them for loss", function()
      on { "reference_device.loss_every=100", "streams.s={from: east, size: 128, rate: 10kfps, errors: {skip: {every: 3}, duplicate: {every: 4}, fcs: {every: 10}}}" }
      local task = traffic:start("s", 1)
      task:wait()
      local s = traffic.history:stream(1)
      assert.equal(10000, s.tx)
      assert.near(100 * 0.9, s.lost, 10) -- one of ten that the device loses was wrong
      assert.matches("sent 10,000, lost " .. s.lost, traffic:summary())
      assert.equal(s.lost, tables.find(control.totals:read(), "name", "s").lost)
   end)

   it("is started, changed and stopped while it runs, stream by stream", function()
      on { "reference_device.time=real" }
      traffic:set_rate("all", "1kfps")
      local task = traffic:start "east"
      sent(1, 100)
      assert.equal("running", task:state())
      assert.equal(task, traffic:start "west")
      sent(2, 100)
      traffic:set_rate("east-west", "20kfps")
      local before = traffic.history:stream(1).tx
      local began = traffic.live:elapsed()
      sent(1, before + 20000)
      assert.truthy(traffic.live:elapsed() - began < 10) -- at the rate before it would take 20 s
      traffic:stop "east"
      assert.falsy(task.ended)
      traffic:stop()
      assert.equal("done", task:state())
      for i = 1, 2 do
         local counts = traffic.history:stream(i)
         assert.equal(0, counts.lost)
         assert.equal(counts.tx, counts.rx)
      end
   end)

   it("has percentiles and jitter of the delay while it runs", function()
      on { "reference_device.time=real", "reference_device.jitter.mean=100us",
         "reference_device.jitter.distribution=uniform" }
      traffic:set_rate("east", "10kfps")
      traffic:start "east"
      sent(1, 5000)
      local running = traffic.history:stream(1).latency
      traffic:stop()
      local ended = traffic.history:stream(1).latency
      for _, key in ipairs { "p50_ns", "p99_ns", "p999_ns" } do
         assert.near(ended[key], running[key], 20e3)
      end
      assert.truthy(running.p99_ns > 1.5 * running.p50_ns)
      assert.truthy(running.jitter_ns > 20e3 and running.jitter_ns < 200e3)
   end)

   it("shows how long frames waited in the tester's own port, where streams share it", function()
      local function shown(device, rate)
         control = Control.new(assert(plans.load_text(([[
test: traffic
ports: { east: { device: wire0 }, west: { device: wire1 } }
%s: { time: free, rate: 100Mbps }
streams:
   one: { from: east, to: west, size: 1518, rate: 1000fps }
   two: { from: east, to: west, size: 1518, rate: %s }
]]):format(device, rate), "two.yaml")))
         control.traffic:start(nil, 1):wait()
         return tostring(commands.latency.run({ control = control }, {})),
            control.traffic.history:stream(1).latency.own_queue_max_ns
      end
      for _, device in ipairs { "reference_switch", "reference_device" } do
         local text, waited = shown(device, "1300fps")
         assert.is_true(waited > 1e3 and waited < 2 * 1538 * 80, waited)
         assert.matches("own queue", text, 1, true)
         local page = table.concat((view.page(control, { columns = 80, rows = 24 })), "\n")
         assert.matches("own queue: a frame of %S+ waited [%d.]+ us in the tester's port\n", page .. "\n")
         local history = control.traffic.history
         assert.equal(history:own_queue(), history:progress().own_queue_max_ns)
         control:close()
      end
      local text, waited = shown("reference_device", "1000fps") -- spread, so that none waits
      assert.is_nil(waited)
      assert.is_nil(text:find("own queue", 1, true))
   end)

   it("counts from a clear on", function()
      on { "reference_device.time=real" }
      traffic:start "east"
      sent(1, 1000)
      local before = traffic.history:stream(1).tx
      traffic.history:clear()
      assert.equal(0, traffic.history:stream(1).tx)
      sent(1, 1000)
      traffic:stop()
      assert.truthy(traffic.final.streams[1].tx >= before + 1000)
      assert.equal(0, traffic.history:stream(1).lost)
   end)

   it("is refused where the line cannot carry it, or nobody knows what is meant", function()
      on()
      refused("port east: 1.5 Gbit/s L1 would exceed its line rate, 1 Gbit/s", traffic.set_rate,
         traffic, "east", "150%")
      refused("no unit; expected frames", traffic.set_rate, traffic, "east", "5")
      refused("there is no stream or port 'esat'; did you mean 'east'%?", traffic.start, traffic, "esat")
   end)

   it("and a test exclude each other", function()
      on { "reference_device.time=real" }
      traffic:start()
      refused("port east is in use by job 1: traffic", require("framegauge.control.tests").start, control,
         "rfc2544", {}, { quick = true })
      refused("job 1: traffic", control.set, control, { name = "x" })
   end)

   it("shares the load of a port between its streams", function()
      on { "streams.a={from: east, size: 128}", "streams.b={from: east, size: 128}" }
      traffic:set_rate("east", "10%")
      traffic:start(nil, 1):wait()
      local line = 1e9 / 8 / 148
      assert.near(line * 0.05, traffic.history:stream(1).tx, 1)
      assert.near(line * 0.05, traffic.history:stream(2).tx, 1)
   end)
end)

describe("shaped loads of a plan by hand", function()
   local control, traffic

   local function sent_in(seconds, rate)
      control = tester_of { "reference_device.time=free", "streams.a={from: east, rate: " .. rate .. "}" }
      traffic = control.traffic
      traffic:start(nil, seconds):wait()
      return traffic.history:stream(1).tx
   end
   after_each(function()
      control:close()
   end)

   it("go through their profile, again and again", function()
      local profile = "{profile: [{rate: 1kfps, for: 500ms}, {rate: 3kfps, for: 500ms}]}"
      assert.equal(2500, sent_in(1.5, profile))
      control:close()
      assert.equal(1400, sent_in(1, "{profile: [{rate: 1400fps, for: 1ms}]}"))
   end)

   it("climb a ramp, and end with it", function()
      assert.equal(5500, sent_in(2, "{from: 1kfps, to: 10kfps, over: 1s}"))
   end)

   it("come in bursts", function()
      assert.equal(1000, sent_in(1, "{rate: 1kfps, burst: 100}"))
      -- from the first of ten bursts to the last there are nine tenths of the second
      assert.truthy(traffic.final.streams[1].tx_duration_ns < 0.91e9)
   end)

   it("come at random, as the seed has it", function()
      local n = sent_in(1, "{poisson: 10kfps}")
      assert.truthy(n ~= 10000 and math.abs(n - 10000) < 500)
      control:close()
      assert.equal(n, sent_in(1, "{poisson: 10kfps}"))
   end)

   it("are constant once the rate was changed", function()
      sent_in(1, "{rate: 1kfps, burst: 100}")
      traffic:set_rate("a", "2kfps")
      traffic:start(nil, 1):wait()
      assert.equal(2000, traffic.history:stream(1).tx)
      assert.truthy(traffic.final.streams[1].tx_duration_ns > 0.99e9)
   end)
end)

describe("the live view", function()
   it("fits the terminal, whatever there is to show", function()
      local control = tester_of { "reference_device.time=free" }
      for _, size in ipairs { { 80, 24 }, { 40, 10 }, { 200, 60 }, { 10, 5 } } do
         for _, colour in ipairs { true, false } do
            local lines = view.page(control, {
               columns = size[1], rows = size[2], colour = colour, utf8 = colour,
            })
            assert.truthy(#lines <= size[2])
            for _, line in ipairs(lines) do
               assert.truthy(width(line) <= size[1], line)
            end
         end
         if not control.traffic.history then
            control.traffic:start(nil, 3):wait()
         end
      end
      local text = table.concat((view.page(control, { columns = 80, rows = 24 })), "\n")
      assert.matches("east%-west .* ok\n", text)
      assert.falsy(text:find "\27")
      control:close()
   end)

   it("is a line for each port, too", function()
      local control = tester_of { "reference_device.time=free" }
      assert.same({}, view.lines(control, { columns = 80 }))
      control.traffic:set_rate("all", "10kfps")
      control.traffic:start(nil, 3):wait()
      local lines = view.lines(control, { columns = 60 })
      assert.equal(2, #lines)
      assert.matches("^east .* tx .* Mbit/s L1", lines[1])
      assert.truthy(#lines[1] <= 60 and #lines[2] <= 60)
      control:close()
   end)

   it("has the rate that a port sent and the rate that it received", function()
      local sums = { tx_bps = 20e6, rx_bps = 10e6, lost = 7 }
      local history = { ports = { { name = "east" } }, time = 2, base_time = 0, port = function() return sums end }
      assert.matches("tx 20.0 Mbit/s L1  rx 10.0 Mbit/s L1  missing 7",
         view.lines({ traffic = { history = history } }, { columns = 80 })[1], 1, true)
   end)

   it("never shows a rate above that of the line", function()
      local control = tester_of { "reference_device.time=real" }
      control.traffic:set_rate("all", "100%")
      control.traffic:start()
      local most, looks = 0, 0
      await(control.traffic, function()
         for i = 1, 2 do
            local sums = control.traffic.history and control.traffic.history:port(i)
            most = math.max(most, sums and sums.tx_bps or 0, sums and sums.rx_bps or 0)
            looks = looks + (sums and sums.tx_bps > 0 and 1 or 0)
         end
         return looks >= 200
      end)
      control:close()
      assert.truthy(most <= 1e9, tostring(most))
   end)

   it("shows a port at the rate of its line, whatever its streams add up to", function()
      local stream, sample = { from = 1, to = 2, size = 64 }, ffi.new "struct fg_stream_live[2]"
      local history = History.new({ list = { stream, stream }, control = { plan = { ports = { {}, {} } } },
         line_rate = function() return 1e9 end }, { delays = function() return {} end })
      for i = 0, 1 do
         sample[i].tx_frames, sample[i].rx_frames = 1e6, 1e6
      end
      history:add(sample, 1)
      assert.equal(1e6 * 84 * 8, history:stream(1).tx_bps) -- twice that is more than the line carries
      assert.same({ 1e9, 1e9 }, { history:port(1).tx_bps, history:port(2).rx_bps })
   end)

   it("shows a rate without what was lost before its window", function()
      local stream, sample = { from = 1, to = 2, size = 64 }, ffi.new "struct fg_stream_live[1]"
      local history = History.new({ list = { stream }, control = { plan = { ports = { {}, {} } } },
         line_rate = function() return 1e9 end }, { delays = function() return {} end })
      for second, received in ipairs { 5e5, 1.5e6 } do
         sample[0].tx_frames, sample[0].rx_frames, sample[0].missing = 1e6 * second, received, 5e5
         history:add(sample, second)
         assert.equal(second == 1 and 5e5 * 84 * 8 or 1e6 * 84 * 8, history:stream(1).rx_bps)
      end
   end)

   it("of a thousand streams looks only at those that it shows", function()
      local plan = { require "framegauge.console.default_plan", "streams:\n" }
      for i = 1, 1000 do
         plan[#plan + 1] = ("  s%d: {from: east, rate: 10fps}\n"):format(i)
      end
      local control = Control.new(assert(plans.load_text(table.concat(plan), "many", {
         sets = { "reference_device.time=free" },
      })))
      local traffic = control.traffic
      traffic:start()
      await(traffic, function()
         return traffic.history and traffic.history.time > 0
      end)
      local look = spy.on(traffic.history, "stream")
      local lines = view.page(control, { columns = 80, rows = 24, first = 500, colour = true })
      assert.equal(24, #lines)
      assert.matches("s500 ", table.concat(lines, "\n"))
      assert.spy(look).was.called_at_most(24)
      traffic.history.own_queue = function() return 5e3, 1 end
      local text = table.concat((view.page(control, { columns = 80, rows = 24, first = 500 })), "\n")
      assert.matches("own queue: a frame of s1 waited 5 us", text, 1, true)
      assert.matches("of 1000; arrow keys scroll$", text)
      control:close()
   end)
end)
