-- SPDX-License-Identifier: BSD-3-Clause

-- Loads that pause, that begin or end with nothing, and loads of a number of frames: what `check` accepts is
-- sent as it was asked for, and judged by the frames that were asked for.
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local result_schema = require "result_schema"
local scratch = require "scratch"
local uv = require "luv"

local HEAD = [[
test: traffic
ports: {a: {device: wire0, ipv4: 198.18.1.2/24}, b: {device: wire1, ipv4: 198.19.1.2/24}}
reference_device: {rate: 100Mbps, latency: 20us}
traffic: {duration: 1s, learning_wait: 10ms, drain: 100ms}
streams:
]]

-- @return rows by stream, the result, what was printed
local function run(streams)
   local path, out = scratch.path(), scratch.path()
   local file = assert(io.open(path, "w"))
   file:write(HEAD, streams)
   file:close()
   local output, status = scratch.shell(("'%s' run '%s' --out '%s' 2>&1"):format(uv.exepath(), path, out))
   local text = scratch.read(out .. "/result.json")
   assert(text, output)
   assert.is_true(result_schema.validate(out .. "/result.json"))
   local result, rows = json.decode(text), {}
   for _, row in ipairs(result.results.traffic) do
      rows[row.stream] = row
   end
   return rows, result, output, status
end

-- What is wrong with streams, each problem with its line and key.
local function problems_of(streams)
   local _, errors = plans.load_text(HEAD .. streams, "plan.yaml")
   local lines = {}
   for i, err in ipairs(errors or {}) do
      lines[i] = tostring(err)
   end
   return table.concat(lines, "\n")
end

describe("what is sent of", function()
   teardown(scratch.remove)

   local rows, result, output, status

   setup(function()
      rows, result, output, status = run [[
  off: {rate: 0}
  none: {rate: {poisson: 0%}}
  slow: {rate: 0.3fps}
  pause: {rate: {profile: [{rate: 1kfps, for: 100ms}, {rate: 0fps, for: 100ms}]}}
  late: {rate: {profile: [{rate: 0, for: 900ms}, {rate: 1kfps, for: 100ms}]}}
  few: {rate: {profile: [{rate: 1fps, for: 100ms}, {rate: 1kfps, for: 400ms}]}}
  rise: {rate: {from: 0, to: 2kfps, over: 1s}}
  fall: {rate: {from: 2kfps, to: 0%, over: 1s}}
  flat: {rate: {from: 0, to: 0, over: 1s}}
  short: {rate: {from: 1kfps, to: 3kfps, over: 500ms}}
  long: {rate: {from: 1kfps, to: 3kfps, over: 2s}}
  mix: {size: imix, rate: 2.4fps}
  bursts: {rate: {burst: 100, gap: 24h}}
  parts: {rate: {profile: [{rate: 1400fps, for: 1ms}]}}
  tenths: {rate: {profile: [{rate: 100fps, for: 1ms}]}}
  uneven: {rate: {profile: [{rate: 1400fps, for: 1ms}, {rate: 300fps, for: 1500us}]}}
  paused: {from: b, to: a, rate: {profile: [{rate: 1400fps, for: 1ms}, {rate: 0, for: 1ms}]}}
  ramps:
    from: b
    to: a
    rate: {profile: [{from: 0, to: 1500fps, over: 1ms}, {from: 1500fps, to: 100fps, over: 1ms}]}
  bits: {from: b, to: a, size: [64, 1518], rate: {profile: [{rate: 5Mbps L2, for: 1ms}]}}
  percent:
    from: b
    to: a
    size: [64, 1518]
    rate: {profile: [{rate: 5%, for: 700us}, {from: 1%, to: 3%, over: 1ms}]}
]]
   end)

   local function expect(name, frames)
      local row = rows[name]
      assert.same({ frames, 0, "valid" }, { row.tx, row.lost, row.validity }, name)
      assert.near(frames, row.intended_fps, 1, name)
   end

   it("no load is said to be nothing, and makes no other stream invalid", function()
      assert.same({ 0, "valid", 1 }, { status, result.validity, #result.trials })
      for _, name in ipairs { "off", "none", "flat" } do
         assert.same({ 0, "not-applicable", { "its rate is 0: it sends nothing" } },
            { rows[name].tx, rows[name].validity, rows[name].reasons }, name)
      end
      assert.same({ 0, "not-applicable", { "no frame was due in 1 s at 0.3 frames per second" } },
         { rows.slow.tx, rows.slow.validity, rows.slow.reasons })
      local _, told = output:gsub("no frame was due", "")
      assert.equal(1, told)
   end)

   it("a profile is what its steps ask, with its pauses", function()
      expect("pause", 500)
      expect("late", 100)
      expect("few", 800)
   end)

   it("a profile is the integral of its rates, also where no step has whole frames", function()
      expect("parts", 1400)
      expect("tenths", 100)
      expect("uneven", 740)
      expect("paused", 700)
      expect("ramps", 775)
      -- 5 Mbit/s in the mean frame of 791 bytes; with 20 bytes more, 5 % in 7 of 17, and 2 % in 10 of 17. A
      -- frame of 1518 bytes is nearly two of the mean
      for name, frames in pairs { bits = 790.1, percent = 498.8 } do
         assert.near(frames, rows[name].tx, 2, name)
         assert.equal("valid", rows[name].validity, name)
      end
   end)

   it("a ramp is what it asks in the trial, from nothing, to nothing, shorter and longer", function()
      expect("rise", 1000)
      expect("fall", 1000)
      expect("short", 1000)
      expect("long", 1500)
   end)

   it("a slow mix and of bursts far apart are whole frames and whole bursts", function()
      assert.same({ 2, "valid" }, { rows.mix.tx, rows.mix.validity })
      assert.same({ 100, "valid" }, { rows.bursts.tx, rows.bursts.validity })
   end)
end)

describe("a number of frames", function()
   teardown(scratch.remove)

   it("is sent exactly, however the load lies in time, and is all that is asked for", function()
      local rows, result = run [[
  even: {rate: 10kfps, frames: 1000}
  one: {rate: 1%, frames: 1}
  all: {rate: 1kfps, frames: 1000}
  mix: {size: imix, rate: 5Mbps L2, frames: 500}
  bursts: {rate: {rate: 1kfps, burst: 64, within: 100kfps}, frames: 200}
  once: {rate: {burst: 1000, gap: 24h}, frames: 1000}
  ramp: {rate: {from: 0, to: 2kfps, over: 500ms}, frames: 400}
  back: {from: b, to: a, rate: {poisson: 10kfps}, frames: 1234}
  steps: {from: b, to: a, rate: {profile: [{rate: 1kfps, for: 100ms}, {rate: 0, for: 10ms}]}, frames: 777}
  more: {from: b, to: a, rate: {poisson: 100fps}, frames: 100}
]]
      assert.same({ "valid", 1 }, { result.validity, #result.trials })
      for name, frames in pairs {
         even = 1000, one = 1, all = 1000, mix = 500, bursts = 200, once = 1000, ramp = 400, back = 1234,
         steps = 777,
      } do
         local row = rows[name]
         assert.same({ frames, frames, 0, "valid" }, { row.tx, row.rx, row.lost, row.validity }, name)
         assert.near(frames, row.intended_fps, 1e-6, name)
         assert.near(frames, row.offered_fps, 1e-6, name)
      end
      -- when a random process has sent them, nobody knows before
      assert.is_true(rows.more.tx > 60 and rows.more.tx <= 100)
   end)

   it("has to fit into the duration", function()
      local text = "  s: {rate: 10fps, frames: 11}\n  t: {rate: {rate: 50%, burst: 10}, frames: 100000}\n"
      assert.matches("plan.yaml:6:%d+: streams.s.frames: its rate sends 10 frames in 1 s; expected no more",
         problems_of(text))
      assert.matches("streams.t.frames: its rate sends 74,410 frames in 1 s", problems_of(text))
      assert.equal("", problems_of "  s: {rate: 10fps, frames: 10}\n")
   end)

   it("is what framegauge frames shows", function()
      local file = scratch.path()
      local handle = assert(io.open(file, "w"))
      handle:write(HEAD, "  s: {rate: 1kfps, frames: 3}\n  t: {rate: 10%}\n")
      handle:close()
      local output = scratch.shell(("'%s' frames '%s' --stream s --count 10 2>&1"):format(uv.exepath(), file))
      local _, shown = output:gsub("ethernet", "")
      assert.equal(3, shown, output)
   end)
end)

describe("frames of many sizes", function()
   it("are judged by the time that their bytes take", function()
      -- the first 777 of a cycle are longer than all of it in the mean, by more than a hundredth
      local rows = run [[
  some: {size: {random: 64-1518}, rate: 10%, frames: 777}
  few: {size: {mix: {64: 1, 1518: 9}}, rate: 30Mbps L2, frames: 7}
]]
      assert.same({ "valid", 777 }, { rows.some.validity, rows.some.tx })
      assert.same({ "valid", 7 }, { rows.few.validity, rows.few.tx })
   end)

   it("may be of any size there is", function()
      local rows = run("  s: {size: {from: 64, to: 16000}, rate: 10%}\n")
      assert.equal("valid", rows.s.validity)
   end)

   it("come from the beginning of a ramp that is too slow to be paced", function()
      local rows = run "  s: {rate: {from: 0, to: 0.001fps, over: 24h}}\n  t: {rate: 1kfps}\n"
      assert.same({ "not-applicable", "valid" }, { rows.s.validity, rows.t.validity })
   end)
end)

describe("a trial without any frame", function()
   it("is invalid, and is not repeated", function()
      local rows, result, _, status = run "  a: {rate: 0}\n  b: {rate: 0.1fps}\n"
      assert.same({ 3, "invalid", 1 }, { status, result.validity, #result.trials })
      assert.same({ "no frame of any stream was due in 1 s" }, rows.a.reasons)
   end)
end)

describe("check", function()
   it("refuses bursts that are slower than the mean load", function()
      local within = problems_of "  s: {rate: {rate: 10kfps, burst: 10, within: 1kfps}}\n"
      assert.matches("plan.yaml:6:%d+: streams.s.rate.within: 1 kfps within a burst is slower than the mean load, 10 kfps; expected at least 10 kfps", within)
      assert.matches("streams.s.rate.per_second: 1 kfps within a burst is slower than the mean load, 10 kfps", problems_of "  s: {rate: {per_second: 1000, burst: 10, within: 1kfps}}\n")
      assert.matches("streams.s.rate.gap: shorter than the time between two frames of a burst; expected at least 1 ms", problems_of "  s: {rate: {gap: 10us, burst: 10, within: 1kfps}}\n")
      assert.matches("streams.s.rate.within: no frame leaves", problems_of
         "  s: {rate: {rate: 10%, burst: 10, within: 0}}\n")
      assert.matches("streams.s.rate.within: 1 Mfps within a burst, more than the line carries; expected at most 148.8 kfps", problems_of "  s: {rate: {rate: 10%, burst: 10, within: 1Mfps}}\n")
      assert.equal("", problems_of "  s: {rate: {rate: 10%, burst: 10, within: 10%}}\n")
      assert.equal("", problems_of "  s: {rate: {gap: 1ms, burst: 10, within: 1kfps}}\n")
      assert.equal("", problems_of "  s: {rate: {rate: 0, burst: 10}}\n")
   end)

   it("refuses what no clock can pace", function()
      local slow = problems_of "  s: {rate: {profile: [{for: 1s}, {from: 0, to: 1e-10fps, over: 1s}]}}\n"
      assert.matches("streams.s.rate.profile%[2%].to: less than a frame in eleven days; expected 0, or at least", slow)
      assert.matches("streams.s.rate.*less than a frame", problems_of "  s: {rate: 0.0000000001fps}\n")
   end)

   it("refuses steps without a length, and more of them than can be prepared", function()
      for _, step in ipairs { "{for: 0s}", "{from: 0, to: 1%, over: 0s}" } do
         assert.matches("out of range; expected 1us to 24h", problems_of(
            "  s: {rate: {profile: [" .. step .. "]}}\n"))
      end
      assert.matches("streams.s.rate.over: \"0s\" is out of range", problems_of
         "  s: {rate: {from: 0, to: 1%, over: 0s}}\n")
      assert.matches("streams.s.rate.profile: 1,000,000 loads one after the other in 1 s; expected at most 100,000",
         problems_of "  s: {rate: {profile: [{for: 1us}]}}\n", 1, true)
      assert.equal("", problems_of "  s: {rate: {profile: [{for: 10us}]}}\n")
   end)

   it("says by how much a line is too slow", function()
      assert.matches("are 100.0003 Mbit/s at layer 1, more than its line carries (100 Mbit/s)",
         problems_of "  s: {rate: 148810fps}\n", 1, true)
   end)
end)
