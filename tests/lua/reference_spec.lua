-- SPDX-License-Identifier: BSD-3-Clause

-- The whole way, from plan to result, against the reference device, whose truth is known. Every test starts
-- the program anew, in the wire's own time.
local json = require "framegauge.text.json"
local scratch = require "scratch"
local uv = require "luv"

local PLAN = debug.getinfo(1, "S").source:match "^@(.*)tests/lua/" .. "configs/rfc2544-reference.yaml"
local QUICK = "--quick"
-- fewer frames, sooner over
local SLOWER = { "reference_device.rate=100Mbps", "reference_device.capacity=90kfps" }

local function command(path, ...)
   local words = { ("'%s' run '%s' --out '%s'"):format(uv.exepath(), PLAN, path) }
   for _, word in ipairs { ... } do
      words[#words + 1] = word:sub(1, 2) == "--" and word or ("--set '%s'"):format(word)
   end
   return table.concat(words, " ")
end

local function result_of(path)
   return json.decode(scratch.read(path .. "/result.json"))
end

-- Run the reference plan with settings and options. @return result, exit status, path of the folder
local function run(...)
   local path = scratch.path()
   local output, status = scratch.shell(command(path, ...) .. " 2>&1")
   assert.is_true(status == 0 or status == 1 or status == 3, output)
   return result_of(path), status, path
end

-- Start it and send it a signal as soon as some trials are done.
-- @return exit status, path, seconds it took to end and, before, to do these trials
local function stop(signal, ...)
   local path = scratch.path()
   local script = [[
      start=$(date +%%s%%N)
      %s >/dev/null & pid=$!
      until [ "$(cat '%s/trials.jsonl' 2>/dev/null | wc -l)" -ge 3 ]; do
         sleep 0.02
         kill -0 $pid || exit
      done
      begin=$(date +%%s%%N)
      kill -%s $pid
      wait $pid 2>/dev/null
      echo $? $((($(date +%%s%%N) - begin) / 1000000)) $(((begin - start) / 1000000))]]
   local output = scratch.shell("exec 2>&1\n" .. script:format(command(path, ...), path, signal))
   local status, ending, trials = output:match "^(%d+) (%d+) (%d+)"
   assert.is_truthy(status, output)
   return tonumber(status), path, ending / 1000, trials / 1000
end

describe("throughput of the reference device", function()
   teardown(scratch.remove)

   for _, capacity in ipairs { 12345, 33e3, 70e3, 120e3, 500e3 } do
      it(("is its capacity or the line's maximum: %d fps"):format(capacity), function()
         local result, status = run(QUICK, "reference_device.rate=100Mbps", "reference_device.buffer=51",
            "reference_device.capacity=" .. capacity .. "fps", "rfc2544.frame_sizes=[64, 1518]")
         assert.equal(0, status)
         assert.equal(2, #result.results.throughput)
         for _, row in ipairs(result.results.throughput) do
            -- in the one second of a deciding trial the buffer of 51 frames lets 51 more pass
            local least = math.min(capacity, row.theoretical_fps)
            local most = math.min(capacity + 52, row.theoretical_fps)
            assert.equal("valid", row.validity)
            assert.is_true(row.throughput_fps <= most)
            assert.is_true(row.throughput_fps >= least - row.resolution_fps)
         end
      end)
   end

   it("holds to the procedure of RFC 2544, in less than the time of it", function()
      local result, status, path = run("reference_device.rate=1Mbps", "reference_device.capacity=900fps",
         "reference_device.buffer=50")
      assert.equal(0, status)
      assert.same({ standard = "RFC 2544", conforms = true, notes = {} }, result.conformance)
      assert.equal(7, #result.results.throughput)
      local seconds = 0
      for _, trial in ipairs(result.trials) do
         seconds = seconds + trial.duration_s
      end
      for i, theoretical in ipairs { 1488, 844, 452, 234, 119, 96, 81 } do
         local row = result.results.throughput[i]
         assert.equal(theoretical, row.theoretical_fps)
         assert.near(math.min(900, theoretical), row.throughput_fps, row.resolution_fps)
         assert.equal(60, row.trial_s)
      end
      assert.is_true(json.decode(scratch.read(path .. "/run.json")).elapsed_s < seconds)
   end)

   it("is found through gateways, over IPv6 and inside a VLAN", function()
      local ipv6 = "ports={east: {device: wire0, ipv6: '2001:2::1:2/64', gateway6: '2001:2::1:1'}, west: {device: wire1, ipv6: '2001:2:0:8000::2/64', gateway6: '2001:2:0:8000::1'}}"
      for setting, frame_size in pairs { ["ports.east.vlan=10"] = 68, [ipv6:gsub("'", '"')] = 84 } do
         local other = frame_size == 68 and "ports.west.vlan=10" or "rfc2544.retries=1"
         local sizes = ("rfc2544.frame_sizes=[%d]"):format(frame_size)
         local result = run(QUICK, setting, other, sizes, unpack(SLOWER))
         local row = result.results.throughput[1]
         assert.equal("valid", row.validity)
         assert.near(90e3, row.throughput_fps, row.resolution_fps + 513)
      end
   end)

   it("is measured one way alone when the plan says so", function()
      local result = run(QUICK, "rfc2544.bidirectional=false", "rfc2544.frame_sizes=[64]", unpack(SLOWER))
      assert.equal("east->west", result.results.throughput[1].direction)
      assert.equal(1, #result.trials[1].directions)
      local row = result.results.throughput[1]
      assert.near(90e3, row.throughput_fps, row.resolution_fps + 513)
   end)

   it("is next to none when every twentieth frame is lost, unless so much loss is tolerated", function()
      local lossy = { QUICK, "reference_device.loss_every=20", "rfc2544.frame_sizes=[512]" }
      local row = run(unpack(lossy)).results.throughput[1]
      assert.is_true(row.throughput_fps < 20) -- in the second of a deciding trial
      assert.same({ "valid", "loss" }, { row.validity, row.limited_by })
      lossy[#lossy + 1] = "rfc2544.throughput.loss_tolerance=10%"
      row = run(unpack(lossy)).results.throughput[1]
      assert.equal(row.theoretical_fps, row.throughput_fps)
   end)

   it("is the same to the byte when the plan and the seed are", function()
      local settings = {
         QUICK, "reference_device.loss_random=100ppm", "rfc2544.throughput.loss_tolerance=200ppm",
         "rfc2544.frame_sizes=[64, 1518]", unpack(SLOWER),
      }
      local _, _, one = run(unpack(settings))
      local _, _, other = run(unpack(settings))
      for _, name in ipairs { "result.json", "trials.jsonl", "throughput.csv" } do
         assert.equal(scratch.read(one .. "/" .. name), scratch.read(other .. "/" .. name))
      end
   end)

   it("is held against what is expected of it", function()
      for wanted, expected in pairs { ["89kfps"] = 0, ["95%"] = 1 } do
         local expect = ("--expect='throughput>=%s'"):format(wanted)
         local _, status = run(QUICK, "rfc2544.frame_sizes=[64]", expect, unpack(SLOWER))
         assert.equal(expected, status)
      end
   end)
end)

describe("a run that is ended early", function()
   teardown(scratch.remove)

   it("has kept every finished trial after kill -9", function()
      local _, path = stop("KILL")
      local n = 0
      for line in io.lines(path .. "/trials.jsonl") do
         n = n + 1
         assert.equal(n, json.decode(line).trial)
      end
      assert.is_true(n >= 3)
      assert.equal(json.null, json.decode(scratch.read(path .. "/run.json")).ended)
   end)

   it("stops at once on Ctrl-C, keeps what it has and says 130", function()
      local status, path, seconds, trials = stop("INT")
      assert.equal(130, status)
      -- to its end it would do seven times as many trials
      assert.is_true(seconds < math.max(1, 3 * trials), seconds .. " s after " .. trials .. " s")
      local result = result_of(path)
      assert.is_true(result.interrupted)
      assert.is_true(#result.trials >= 3)
   end)
end)
