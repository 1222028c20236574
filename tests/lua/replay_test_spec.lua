-- SPDX-License-Identifier: BSD-3-Clause

-- The test `replay` through the reference device: its rows must say what the device was told to do.
local json = require "framegauge.text.json"
local replays = require "replays"
local schema = require "result_schema"
local scratch = require "scratch"
local uv = require "luv"

local CONFIGS = debug.getinfo(1, "S").source:match "^@(.*)tests/lua/" .. "configs/"
local FRAMES = 200 -- in configs/replay-reference.pcap

local CONFIG = CONFIGS .. "replay-reference.yaml"

-- Run a plan with settings. @return its rows, exit status, the folder, what was said
local function run_plan(plan, ...)
   local path = scratch.path()
   local words = { ("'%s' run '%s' --out '%s'"):format(uv.exepath(), plan, path) }
   for _, set in ipairs { ... } do
      words[#words + 1] = ("--set '%s'"):format(set)
   end
   local output, status = scratch.shell(table.concat(words, " ") .. " 2>&1")
   local file = io.open(path .. "/result.json")
   if not file then
      return nil, status, path, output
   end
   local result = json.decode(file:read "*a")
   file:close()
   return result.results.replay, status, path, output
end

-- A run of the reference plan.
local function run(...)
   return run_plan(CONFIG, ...)
end

describe("a replay as a test", function()
   teardown(scratch.remove)

   it("passes a device that forwards all of it, each time with the same result", function()
      local rows, status, path, output = run()
      assert.equal(0, status, output)
      assert.equal(2, #rows)
      for _, row in ipairs(rows) do
         assert.equal("pass", row.outcome)
         assert.equal(FRAMES, row.frames)
         assert.equal(FRAMES, row.verified.same)
         assert.near(row.recorded_s / 2, row.duration_s, 1e-6)
         assert.equal(0, row.behind.max_ns)
      end
      assert.equal("02:00:00:00:00:01", rows[1].setting.rewrite.destination_mac)
      assert.is_true(schema.validate(path .. "/result.json"))
      local lines = scratch.read(path .. "/trials.jsonl")
      assert.equal(2, select(2, lines:gsub('"test":"replay"', "")))
      assert.matches("Rewritten fields", scratch.read(path .. "/report.html"))
      assert.matches("198.18.0.0/15=10.18.0.0/15", output, 1, true)
      local _, _, again = run()
      assert.equal(scratch.read(path .. "/result.json"), scratch.read(again .. "/result.json"))
   end)

   it("is the tester's where the device paused the port, which sent later than it was to", function()
      local times = {}
      for i = 1, 400 do
         times[i] = i * 50000
      end
      local plan = scratch.path() .. ".yaml"
      scratch.write(plan, ([[
test: replay
ports: {east: {device: wire0}, west: {device: wire1}}
reference_switch: {rate: 100Mbps, ports: {west: {rate: 20Mbps}}, flow_control: pause, buffer: 1000}
replay: {file: %s}
]]):format(replays.write(replays.frames(512, times))))
      local rows, _, _, output = run_plan(plan)
      assert.truthy(rows, output)
      assert.same({ "tester-limited", 400 }, { rows[1].validity, rows[1].verified.same })
      assert.matches("^frames left later than they were to, because the device paused port east %d+ time",
         rows[1].reasons[1])
   end)

   it("fails one that loses, copies, reorders or changes frames, and says how many", function()
      local rows, status, path = run("reference_device.loss_every=10", "replay.repetitions=1")
      assert.equal(1, status)
      assert.equal("fail", rows[1].outcome)
      assert.equal(FRAMES / 10, rows[1].verified.lost)
      assert.matches('failure message="20 lost"', scratch.read(path .. "/junit.xml"))
      rows = run("reference_device.reorder.every=20", "reference_device.reorder.by=1", "replay.repetitions=1")
      assert.equal(0, rows[1].verified.lost)
      assert.equal(FRAMES / 20, rows[1].verified.reordered)
      rows = run("reference_device.duplicate.every=20", "replay.repetitions=1")
      assert.equal(FRAMES / 20, rows[1].verified.duplicates)
   end)

   it("keeps to a rate, over loops, and need not compare", function()
      local plan = scratch.path() .. ".yaml"
      local file = assert(io.open(plan, "w"))
      file:write((scratch.read(CONFIG):gsub("  speed: 2x\n", ""):gsub("file: %S+", "file: 2.pcap")))
      file:close()
      scratch.shell(("cp '%sreplay-reference.pcap' '%s2.pcap'"):format(CONFIGS, plan:match "^.*/"))
      local rows, status = run_plan(plan, "replay.rate=100Mbps L1", "replay.loops=3", "replay.verify=false",
         "replay.repetitions=1")
      assert.equal(0, status)
      assert.equal("valid", rows[1].validity)
      assert.equal(3 * FRAMES, rows[1].frames)
      assert.near(100, rows[1].sent_l1_mbps, 1e-6)
      assert.near((rows[1].frames - 1) / rows[1].duration_s, rows[1].sent_fps, 1e-3)
      assert.equal(json.null, rows[1].verified)
   end)

   it("says what is odd about its capture", function()
      local plan = scratch.path() .. ".yaml"
      scratch.write(plan, replays.PLAN:gsub("rfc2544", "replay") .. "replay: {file: "
         .. replays.write(replays.frames(64, { 5e9, 5.1e9, 0, 0.1e9 })) .. "}\n")
      local rows, status, path, output = run_plan(plan)
      assert.equal(0, status)
      assert.equal(1, rows[1].times_anew)
      assert.near(0.3, rows[1].duration_s, 1e-9)
      local remark = "the clock goes back by 128 ms or more 1 time"
      assert.matches(remark, output, 1, true)
      assert.is_truthy(scratch.read(path .. "/report.html"):find(remark, 1, true))
   end)

   it("is refused before anything is sent, if it cannot be", function()
      local _, status, path, output = run("replay.file=none.pcap")
      assert.equal(2, status)
      assert.matches("none.pcap: No such file", output, 1, true)
      assert.is_nil(io.open(path))
      _, status, _, output = run("replay.speed=1000x")
      assert.equal(2, status)
      assert.matches("a line of 1 Gbit/s %(east%)", output)
   end)
end)
