-- SPDX-License-Identifier: BSD-3-Clause

-- Campaigns of TCP and UDP tests through the reference device: every figure is what its line and its settings
-- allow, and a run that was ended goes on as if it had not been.
local criteria = require "framegauge.methods.common.criteria"
local ethernet = require "framegauge.core.ethernet"
local interrupted = require "interrupted"
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
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
   local output, status = scratch.shell(command("run '%s%s.yaml' --quick --out '%s' %s", CONFIGS, config, path,
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
         local exact = ethernet.goodput(1e9, p.mtu, p.ip, udp and "udp" or "tcp+ts")
         near(exact, udp and row.received_bps or row.goodput_bps, 2e-3)
         near(exact, row.theoretical, 1e-9)
         assert.is_true(row.theoretical_percent <= 100, row.theoretical_percent)
         assert.equal("valid", row.validity)
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
      local half = interrupted(path, 5)
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

describe("buffers", function()
   teardown(scratch.remove)

   it("hold so much each round trip, unless the message has no room in them", function()
      local rows, path = run("l4-buffer-sweep-reference", "l4.sweep.buffer=[16KiB, 32KiB, 64KiB]",
         "l4.sweep.message=[576, 65536]", "l4.duration=300ms")
      assert.equal(2 * 3 + 2, #rows) -- UDP has no buffers
      for i = 1, 3 do
         local buffer, row = 16384 * 2 ^ (i - 1), rows[i]
         local most = math.min(row.theoretical, buffer * 8 / (500e-6 + 2 * 1526 * 8e-9))
         assert.is_true(row.goodput_bps < 1.01 * most and row.goodput_bps > 0.8 * most)
         near(most, math.min(row.theoretical, row.window_bps), 0.03)
      end
      -- a message larger than the buffer waits until that is empty
      assert.is_true(rows[6].goodput_bps < 0.6 * rows[3].goodput_bps)
      near(rows[8].theoretical, rows[8].received_bps, 1e-3)
      assert.is_true(schema.validate(path .. "/result.json"))
   end)
end)

describe("a policer", function()
   teardown(scratch.remove)

   it("passes what is below its rate, and no more of what is above", function()
      local rows = run("l4-policer-reference", "l4.sweep.rate=[50Mbps, 99Mbps, 125Mbps, 200Mbps]",
         "l4.duration=1s")
      local payload = 1472 / 1518
      assert.equal(0, rows[1].lost)
      assert.equal(0, rows[2].lost)
      for i, offered in ipairs { 50e6, 99e6, 125e6, 200e6 } do
         near(offered * payload, rows[i].sent_bps, 1e-3)
         near(math.min(offered, 100e6) * payload, rows[i].received_bps, 2e-3)
         near(math.min(offered, 100e6) * payload, rows[i].theoretical, 1e-9)
      end
      near(0.2, rows[3].loss_ratio, 0.02)
      near(0.5, rows[4].loss_ratio, 0.02)
   end)
end)

describe("the balance of paths", function()
   teardown(scratch.remove)

   it("shows one path, and that flows are reordered on it", function()
      local function balance(...)
         return run("l4-battery-reference", "l4.campaign=balance", "l4.tests=[UDP_STREAM]",
            "l4.balance.flows=8",
            "l4.omit=0s", ...)
      end
      local rows, path = balance()
      local row = rows[1]
      assert.equal("one path", row.spreading)
      assert.equal(0, row.flows_split)
      assert.equal(0, row.reordered)
      assert.equal(row.paths[1].received, row.datagrams - row.lost)
      assert.equal(8, row.paths[1].flows)
      assert.equal(1, row.paths[1].share)
      near(10000 * 1470 * 8, row.received_bps, 0.01)
      assert.is_true(schema.validate(path .. "/result.json"))
      row = balance("reference_device.reorder={random: 5%, by: 20}")[1]
      assert.is_true(row.reordered > 0)
   end)

   it("goes to the second port's address in a criterion, too, where the plan gives none", function()
      local plan = assert(plans.load(CONFIGS .. "l4-battery-reference.yaml", {
         sets = { "l4.campaign=balance", "l4.tests=[UDP_STREAM]" },
      }))
      assert.is_table(criteria.parse("received>=1Mbps@east->198.18.1.3", plan))
      local _, why = criteria.parse("received>=1Mbps@east->west", plan)
      assert.matches("directions of such rows: east%->198%.18%.1%.3;", why)
   end)
end)

describe("an open loop", function()
   teardown(scratch.remove)

   it("opens connections at its rate, and counts what they wait for from when they were due", function()
      local function crr(...)
         return run("l4-battery-reference", "l4.tests=[TCP_CRR]", "l4.connections=60000", "l4.omit=0s",
            ...)[1]
      end
      local row = crr("l4.load.rate=5000")
      near(5000, row.transactions_per_s, 0.01)
      -- two round trips, and the FINs: nobody waits for anybody
      assert.is_true(row.transaction.max_ns < 200e3)
      -- where only one may be open at a time, those that are due meanwhile wait for it
      local late = crr("l4.load.rate=20000", "l4.connections=1")
      assert.is_true(late.transaction.max_ns > 100e6)
   end)

   it("ramps up its clients, which think", function()
      local row = run("l4-battery-reference", "l4.tests=[HTTP]", "l4.connections=100",
         "l4.load.per_second=500",
         "l4.load.think=1ms", "l4.http.requests=0", "l4.omit=300ms", "l4.load.addresses=1")[1]
      -- by Little: as many as there are, each in a pause and a response
      near(100 / (row.transaction.mean_ns / 1e9 + 1e-3), row.transactions_per_s, 0.05)
   end)
end)

describe("a ramp", function()
   teardown(scratch.remove)

   it("is there when it should be, and gives what clients and pauses give", function()
      local rows = run("l4-ramp-reference", "l4.duration=45s", "l4.omit=39s")
      near(200 / (rows[1].transaction.mean_ns / 1e9 + 0.5), rows[1].transactions_per_s, 0.01)
      near(392, rows[1].transactions_per_s, 0.01)
      local started, path = run("l4-ramp-reference", "l4.duration=10s", "l4.omit=0s")
      local series = json.decode(scratch.read(path .. "/trials.jsonl")).sides[1].apps[1].series
      assert.equal(10, #series)
      for second, interval in ipairs(series) do
         assert.near(10 + 5 * second, interval.open, 1)
      end
      assert.equal(0, started[1].failures.reset)
      assert.truthy(scratch.read(path .. "/report.html"):find("HTTP: connections open", 1, true))
   end)
end)

describe("a search", function()
   teardown(scratch.remove)

   local function seek(...)
      return run("l4-connection-rate-reference", "l4.duration=500ms", "l4.omit=100ms",
         "l4.search.search_trial=200ms", "l4.search.resolution=2%", ...)
   end

   it("finds as many connections a second as the device has frames for", function()
      local rows, path = seek("l4.tests=[TCP_CRR]", "l4.search.max=40000")
      local row = rows[1]
      near(100e3 / 3, row.transactions_per_s, 0.03) -- SYN, request, FIN
      assert.equal("valid", row.validity)
      assert.is_true(row.load <= row.upper_load and #row.fell_short > 0)
      assert.is_true(schema.validate(path .. "/result.json"))
   end)

   it("finds as many transactions, of ten on a connection", function()
      local row = seek("l4.campaign=transaction-rate", "l4.tests=[HTTP]", "l4.http.body=100")[1]
      near(100e3 / 1.2, row.transactions_per_s, 0.03) -- SYN, ten requests, FIN
   end)

   it("holds as many connections as it is asked for, each with its transactions", function()
      local row = seek("l4.campaign=concurrency", "l4.tests=[HTTP]", "l4.connections=2000",
         "l4.search.ramp=5000")[1]
      assert.equal(2000, row.concurrent_connections)
      assert.equal("maximum", row.limited_by)
      -- a device that loses all SYNs but in a while
      local few = seek("l4.campaign=concurrency", "l4.tests=[TCP_RR]", "l4.connections=2000",
         "l4.search.ramp=5000", "reference_device.capacity=500fps", "reference_device.buffer=8")[1]
      assert.is_true(few.concurrent_connections < 2000)
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
      near(2.7764451052 * math.sqrt(squares / 4) / math.sqrt(5), row.confidence, 1e-9)
   end)
end)

describe("connections at a time", function()
   local function problem(of_l4)
      local plan, problems = plans.load_text([[
test: l4
ports: {a: {device: wire0, ipv4: 198.18.0.2/15}, b: {device: wire1, ipv4: 198.19.255.3/15}}
reference_device: {rate: 1Gbps}
l4: {]] .. of_l4 .. "}\n", "crowd", {})
      return not plan and tostring(problems[1]) or nil
   end

   it("are no more than the addresses have ports", function()
      assert.matches("l4.connections: 100000 connections of TCP_CC at a time from one address have 64512 ports.*l4.load.addresses: 2", problem "tests: [TCP_CC], connections: 100000")
      assert.is_nil(problem "tests: [TCP_CC], connections: 64512")
      assert.is_nil(problem "tests: [TCP_CC], connections: 100000, load: {addresses: 2}")
      assert.is_nil(problem "tests: [QUIC_RR], connections: 100000")
      assert.matches("l4.sweep.clients: 80000 connections of HTTP",
         problem "campaign: clients, tests: [HTTP], sweep: {clients: [10, 80000]}")
      assert.matches("l4.search.max: 70000 connections of HTTP",
         problem "campaign: concurrency, tests: [HTTP], search: {max: 70000}")
   end)
end)
