-- SPDX-License-Identifier: BSD-3-Clause

-- Campaigns of TCP and UDP tests through the reference device: every figure is what its line and its settings
-- allow, and a run that was ended goes on as if it had not been.
local json = require "framegauge.report.json"
local line = require "framegauge.line"
local schema = require "result_schema"
local scratch = require "scratch"
local uv = require "luv"

local CONFIGS = debug.getinfo(1, "S").source:match "^@(.*)tests/lua/" .. "configs/"

local function command(words, ...)
   return ("'%s' %s 2>&1"):format(uv.exepath(), words:format(...))
end

-- Run a plan with settings. @return its rows, its folder, what was printed
local function run(config, ...)
   local path, sets = scratch.path(), {}
   for i, set in ipairs { ... } do
      sets[i] = ("--set '%s'"):format(set)
   end
   local output, status = scratch.shell(command("run '%s%s.yaml' --quick --out '%s' "
      .. "%s", CONFIGS, config, path,
      table.concat(sets, " ")))
   assert.equal(0, status, output)
   return json.decode(scratch.read(path .. "/result.json")).results.l4, path, output
end

local function near(expected, value, share)
   assert.near(expected, value, share * expected)
end

describe("the MTU sweep", function()
   local rows, path

   setup(function()
      rows, path = run("l4-mtu-sweep-reference", "l4.sweep.mtu=[256, 576, 1500, 9000]", "l4.duration=100ms",
         "l4.omit=20ms")
   end)

   teardown(scratch.remove)

   it("fills the line at every MTU, over both versions of IP", function()
      assert.equal(4 + 2 + 4 + 2, #rows) -- IPv6 needs 1280
      for _, row in ipairs(rows) do
         local p, udp = row.parameters, row.test == "UDP_STREAM"
         local exact = line.goodput(1e9, p.mtu, p.ip, udp and "udp" or "tcp+ts")
         near(exact, udp and row.received_bps or row.goodput_bps, 2e-3)
         near(exact, row.theoretical, 1e-9)
         assert.equal("valid", row.verdict)
      end
   end)

   it("has the legacy formula beside it, and a chart", function()
      near(1e9 * (1500 - 66) / 1512, rows[3].theoretical_legacy, 1e-9)
      near(1e9 * (9000 - 66) / 9012, rows[#rows].theoretical_legacy, 1e-9)
      local page = scratch.read(path .. "/report.html")
      assert.truthy(page:find("legacy formula, IPv6", 1, true))
      assert.is_true(schema.validate(path .. "/result.json"))
   end)

   it("goes on where it was ended", function()
      local half = scratch.path()
      scratch.shell(("mkdir '%s' && cp '%s/plan.yaml' '%s' && head -n 5 '%s/trials.jsonl' "
         .. ">'%s/trials.jsonl'"):format(
         half, path, half, path, half))
      local facts = json.decode(scratch.read(path .. "/run.json"))
      facts.ended, facts.elapsed_s = json.null, json.null
      local file = assert(io.open(half .. "/run.json", "wb"))
      file:write(json.encode(facts))
      file:close()
      local output, status = scratch.shell(command("run --resume '%s'", half))
      assert.equal(0, status, output)
      assert.truthy(output:find("5 trials made before", 1, true))
      for _, name in ipairs { "result.json", "trials.jsonl", "l4.csv" } do
         assert.is_true(scratch.read(path .. "/" .. name) == scratch.read(half .. "/" .. name), name)
      end
   end)
end)

describe("ever more clients", function()
   teardown(scratch.remove)

   it("wait for the round trip, and then for the line", function()
      local rows = run("l4-clients-reference", "l4.sweep.clients=[1, 8, 256]", "l4.http.requests=0")
      local one = rows[1].transactions_per_s
      near(8 * one, rows[2].transactions_per_s, 0.01)
      near(rows[3].theoretical, rows[3].transactions_per_s, 0.01)
      -- 200 us of the device, and the store and forward of request and response
      assert.is_true(one < 1 / 200e-6 and one > 1 / 240e-6)
   end)
end)

describe("repetitions", function()
   teardown(scratch.remove)

   it("say how well the mean is known", function()
      local rows = run("l4-battery-reference", "l4.tests=[TCP_STREAM]", "l4.repetitions=5",
         "reference_device.loss_random=0.5%")
      local row, sum, squares = rows[1], 0, 0
      assert.equal(5, #row.figures)
      for _, figure in ipairs(row.figures) do
         sum = sum + figure
      end
      near(sum / 5, row.goodput_bps, 1e-9)
      for _, figure in ipairs(row.figures) do
         squares = squares + (figure - sum / 5) ^ 2
      end
      near(2.776 * math.sqrt(squares / 4) / math.sqrt(5), row.confidence, 1e-9)
   end)
end)
