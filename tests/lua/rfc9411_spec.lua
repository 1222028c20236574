-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 9411 held against reference firewalls, its criteria against worked examples, and a run of its plan.
local criteria = require "framegauge.methods.rfc9411.criteria"
local interrupted = require "interrupted"
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local result_schema = require "result_schema"
local scratch = require "scratch"
local tables = require "framegauge.core.tables"
local truth = require "rfc9411_truth"
local truth_table = require "truth_table"
local uv = require "luv"

local CONFIG = debug.getinfo(1, "S").source:match "^@(.*)tests/lua/" .. "configs/rfc9411-reference.yaml"

local function wrong(keys, firewall)
   local _, errors = plans.load_text(truth.plan_of("firewall", firewall or "", keys), "x.yaml")
   return errors and tostring(errors[1]) or ""
end

describe("the criteria of RFC 9411", function()
   it("allow less than a share of failures, which is none of a few", function()
      for n, most in pairs { [99999] = 0, [100000] = 0, [100001] = 1, [3000000] = 29 } do
         assert.equal(most, criteria.allowed(n, 1e-5))
      end
   end)

   it("hold samples against their mean", function()
      assert.near(0.04, criteria.deviation({ 100, 104, 99, 97, 100 }, 1), 1e-9)
      assert.near(0.0558, criteria.deviation({ 100, 106, 99, 97, 100 }, 1), 1e-4)
      assert.near(0.0173, criteria.deviation({ 100, 106, 99, 97, 100 }, 3), 1e-4)
   end)

   it("judge several samples together where there are few events in each", function()
      assert.equal(1, criteria.width(10, 20000))
      assert.equal(2, criteria.width(10, 10000))
      assert.equal(5, criteria.width(10, 100))
   end)

   it("are each met or not", function()
      local o = { failures = 1e-5, shortfall = 0.01, deviation = 0.05, concurrency_deviation = 0.1 }
      local samples, seen = {}, { attempted = 200000, failed = 4, opened = 200000, resets = 4,
         transactions = 200000, measured_s = 10 }
      for i = 1, 10 do
         samples[i] = { transactions_per_s = 20000, throughput_bps = 1e8, concurrent = i == 3 and 120 or 100 }
      end
      local met = {}
      for _, one in ipairs(criteria.judge(o, samples, seen, { transactions_per_s = 20300,
         gets = 10 })) do
         met[one.name] = one.met
      end
      -- 4 resets of 200,000, where one may be
      assert.same({ failed_transactions = false, reset_connections = false, transactions_per_s = false,
         rate_deviation = true, concurrency_deviation = false }, met)
      -- 20,204 less 1 %, and less one connection of 10 in 10 s
      for gets, expected in pairs { [30] = true, [10] = false } do
         assert.equal(expected, criteria.judge(o, samples, seen, { transactions_per_s = 20204,
            gets = gets })[3].met)
      end
      local list = criteria.judge(o, samples, seen, { concurrent = 100 })
      assert.same({ "least_open_connections", 100, 99, true },
         { list[3].name, list[3].value, list[3].limit, list[3].met })
   end)
end)

describe("the rate of few connections", function()
   local O = { failures = 1e-5, shortfall = 0.01, deviation = 0.05, concurrency_deviation = 0.1 }

   -- @param each  connections of ten transactions in each of ten samples
   local function deviates(each)
      local samples, all = {}, 0
      for i, n in ipairs(each) do
         samples[i], all = { throughput_bps = n * 1e6, concurrent = 1 }, all + n
      end
      local seen = { attempted = 10 * all, failed = 0, opened = all, resets = 0, transactions = 10 * all,
         measured_s = 0.5 }
      return not tables.find(criteria.judge(O, samples, seen, { transactions_per_s = 20 * all, gets = 10 }),
         "name", "rate_deviation").met
   end

   it("may differ by one connection, which is whole, and by no more", function()
      assert.is_false(deviates { 1, 1, 1, 2, 1, 1, 2, 1, 2, 1 }) -- 6 or 7 of 13 in half of the samples
      assert.is_true(deviates { 1, 1, 1, 1, 1, 1, 2, 1, 2, 2 })
   end)

   it("is the device's where it sets up all of them", function()
      local results = truth.measure { name = "few", firewall = "setup_rate: 5000, setup_queue: 50",
         keys = "tests: [latency], objects: [1KiB], target: {transactions: 520}" }
      assert.same({ "valid", {} }, { results.latency[1].validity, results.latency[1].reasons or {} })
      assert.equal(260, results.latency[1].transactions_per_s)
   end)
end)

describe("the share of a line", function()
   teardown(scratch.remove)

   it("is at most 100 %, though a transaction that was under way counts whole", function()
      local path = scratch.path()
      local output, status = scratch.shell(("'%s' run configs/rfc9411-reference.yaml --quick --out '%s' %s 2>&1"):format(
         uv.exepath(), path, "--set reference_device.rate=10Mbps --set reference_device.firewall.inspect=1us --set 'rfc9411.tests=[connections]' --set 'rfc9411.objects=[1KiB]' --set rfc9411.target.connections=1000000"))
      local row = json.decode((assert(scratch.read(path .. "/result.json"), output))).results.rfc9411.connections[1]
      assert.is_true(row.transactions_per_s > row.theoretical, status)
      assert.equal(100, row.theoretical_percent)
   end)
end)

describe("a plan of RFC 9411", function()
   it("is told what does not fit", function()
      assert.equal("", wrong "seed: 1")
      assert.truthy(wrong("tests: [latency, concurrent]"):find("rfc9411.tests: latency is", 1, true))
      assert.equal("", wrong "tests: [latency], target: {transactions: 1000}")
      local text = truth.plan_of("firewall", "", "seed: 1"):gsub("sample: 50ms", "sample: 300ms")
      local _, slow = plans.load_text(text, "x.yaml")
      assert.truthy(tostring(slow and slow[1]):find("less than two samples", 1, true))
      text = truth.plan_of("firewall", "", "clients: 5"):gsub(", gateway: [%d.]+", ""):gsub(
         "198.19.1.2/24", "198.18.1.4/24")
      local _, errors = plans.load_text(text, "x.yaml")
      assert.truthy(tostring(errors and errors[1]):find("5 addresses from 198.18.1.2 on reach", 1, true))
      assert.truthy(wrong("over: https"):find("rfc9411.target: connections is missing", 1, true))
      assert.equal("", wrong "over: https, target: {connections: 100, transactions: 100}")
      assert.truthy(wrong("over: https, tests: [concurrent], tls: {early_data: 1KiB}"):find(
         "rfc9411.tls.early_data: early data needs a session", 1, true))
      assert.truthy(wrong("seed: 1", "sessions: 0"):find("firewall.sessions", 1, true))
      text = truth.plan_of("nat", "first_port: 9, last_port: 8", "seed: 1"):gsub(", gateway: [%d.]+", "")
      _, errors = plans.load_text(text, "x.yaml")
      local said = tostring(errors and errors[1]) .. tostring(errors and errors[2])
      assert.truthy(said:find("8 is before 9", 1, true))
      assert.truthy(said:find("inside has no gateway", 1, true))
   end)
end)

describe("a reference device that", function()
   for _, device in ipairs(truth.DEVICES) do
      it(device.name, function()
         for _, check in ipairs(device.checks(truth.measure(device))) do
            assert.is_true(truth_table.holds(check), ("%s: %s, not %s (%s to %s)"):format(check.what,
               tostring(check.measured), tostring(check.truth), tostring(check.low), tostring(check.high)))
         end
      end)
   end
end)

describe("a run of RFC 9411", function()
   teardown(scratch.remove)

   local function run(words, ...)
      return scratch.shell(("'%s' %s 2>&1"):format(uv.exepath(), words:format(...)))
   end

   it("goes on where it was ended, and has its graphs", function()
      local path = scratch.path()
      local output, status = run("run '%s' --quick --out '%s' --set 'rfc9411.tests=[connections, latency]' --set 'rfc9411.objects=[1KiB]' --set rfc9411.sustain=500ms --expect 'ttfb<=1ms@latency' --expect 'connections>=4900@connections'", CONFIG, path)
      assert.equal(0, status, output)
      assert.is_true(result_schema.validate(path .. "/result.json"))
      local page = scratch.read(path .. "/report.html")
      assert.truthy(page:find("TCP connections per second, sustain phase", 1, true))
      local half = interrupted(path, 3)
      output, status = run("run --resume '%s'", half)
      assert.equal(0, status, output)
      for _, name in ipairs { "result.json", "trials.jsonl" } do
         assert.is_true(scratch.read(path .. "/" .. name) == scratch.read(half .. "/" .. name), name)
      end
      assert.equal(5000, math.floor(json.decode(scratch.read(path .. "/result.json")).results.rfc9411
         .connections[1].connections_per_s + 0.5))
   end)

   it("says beforehand what it takes", function()
      local output, status = run("run '%s' --quick --dry-run", CONFIG)
      assert.equal(0, status, output)
      assert.truthy(output:find("http throughput", 1, true))
      assert.truthy(output:find("ramp up 200 ms", 1, true))
   end)
end)
