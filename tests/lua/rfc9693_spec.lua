-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 9693 held against reference gateways, the four tuples against its text, and a run of its plan.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local fixture = require "fixture"
local interrupted = require "interrupted"
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local result_schema = require "result_schema"
local scratch = require "scratch"
local small_runs = require "small_runs"
local truth = require "rfc9693_truth"
local truth_table = require "truth_table"
local tuples = require "framegauge.methods.rfc9693.tuples"
local uv = require "luv"

local CONFIG = debug.getinfo(1, "S").source:match "^@(.*)tests/lua/" .. "configs/rfc9693-reference.yaml"

local function load(keys, change)
   local text = truth.plan_of { nat = "sessions: 100", keys = keys }
   return plans.load_text(change and text:gsub(change[1], change[2]) or text, "x.yaml")
end

local function wrong(keys, change)
   local _, errors = load(keys, change)
   return errors and tostring(errors[1]) or ""
end

describe("a plan of RFC 9693", function()
   it("is told what does not fit", function()
      assert.equal("", wrong "seed: 1")
      for keys, message in pairs {
         ["connections: [10001]"] = "connections[1]: ports and addresses give 10000 four tuples",
         ["capacity: {start: 20000}"] = "capacity.start: ports and addresses give 10000 four tuples",
         ["tests: [latency], establishment_rate: 10fps"] = "latency stands on throughput",
         ["tests: [teardown]"] = "teardown stands on connection_rate",
         ["latency: {trial: 1s, tag_after: 1s}"] = "latency.tag_after: no frame comes after it",
         ["addresses: {source: 60000}"] = "60000",
      } do
         assert.is_true(wrong(keys):find(message, 1, true) ~= nil, keys .. ": " .. wrong(keys))
      end
      assert.truthy(wrong("seed: 1", { "last: 2999", "last: 1999" }):find("1999 is before 2000", 1, true))
      assert.truthy(wrong("seed: 1", { "ipv4: 198.1(%d).1.2/24, gateway: 198.1%d.1.1",
         "ipv6: 2001:2:0:%1::2/64" }):find("ports.inside: the port has no IPv4 address", 1, true))
   end)

   it("is too much for a timeout that is over before all is validated", function()
      local method = require "framegauge.methods.rfc9693.method"
      local tester = { max_fps = function() return 1488095 end }
      -- 10,000 at the rate of the line and 10,000 at half of it: 20.2 ms; the gap and two drains are 45 ms
      assert.is_nil((method.check(load "timeout: 66ms", tester)))
      assert.truthy(method.check(load "timeout: 65ms", tester):find("65 ms is over before 10,000", 1, true))
   end)
end)

describe("four tuples", function()
   it("are enumerated destination ports first, and none twice", function()
      local plan = load "connections: [100], addresses: {source: 2, destination: 3}"
      local of, seen = tuples.of(plan), {}
      assert.same({ 0xc6120102, 2000, 0xc6130102, 1 }, { of(0) })
      assert.same({ 0xc6120102, 2000, 0xc6130102, 10 }, { of(9) })
      assert.same({ 0xc6120102, 2001, 0xc6130102, 1 }, { of(10) })
      assert.same({ 0xc6120103, 2000, 0xc6130102, 1 }, { of(10000) })
      assert.same({ 0xc6120103, 2999, 0xc6130104, 10 }, { of(59999) })
      for i = 0, 59999 do
         seen[table.concat({ of(i) }, " ")] = true
      end
      local n = 0
      for _ in pairs(seen) do
         n = n + 1
      end
      assert.equal(60000, n)
   end)

   it("come in an order that has each once", function()
      local order, seen, moved = tuples.order(1000, "random", 7), {}, 0
      for i = 0, 999 do
         assert.falsy(seen[order[i]])
         seen[order[i]], moved = true, moved + (order[i] ~= i and 1 or 0)
      end
      assert.is_true(seen[0] and seen[999] and moved > 900)
      assert.equal(5, tuples.order(10, "increasing", 7)[5])
   end)

   it("that arrive as one are a collision", function()
      local known, plan = tuples.table(3), load "seed: 1"
      local order = tuples.order(3, "increasing", 1)
      local entry = ffi.cast("struct fg_state_entry *", known.entry)
      for i, port in ipairs { 2000, 7000, 7000 } do
         entry[i - 1] = { source = 9, source_port = port, destination = 8,
            destination_port = i == 2 and 1 or 2, known = true }
      end
      assert.equal(3, known:known())
      local seen = known:translation(plan, order)
      assert.same({ 0, 1, 2000, 7000 }, { seen.collisions, seen.external_addresses, seen.ports_min,
         seen.ports_max })
      assert.near(100 / 3, seen.preserved_ports_percent, 1e-9)
      entry[1].destination_port = 2
      assert.equal(1, known:translation(plan, order).collisions)
   end)

   it("have no table without connections", function()
      local err = api.error()
      assert.is_true(api.C.fg_state_table_create(0, ffi.new("struct fg_state_table *[1]"), err) < 0)
   end)
end)

describe("RFC 9693", function()
   for _, device in ipairs(truth.DEVICES) do
      it("measures a gateway that " .. device.name, function()
         for _, one in ipairs(device.checks((truth.measure(device)))) do
            assert.is_true(truth_table.holds(one), ("%s: %s, and not %s to %s"):format(one.what, one.measured,
               one.low or one.truth, one.high or ""))
         end
      end)
   end

   it("establishes more connections than an address has ports", function()
      local row = truth.measure({ nat = "sessions: 100000", name = "many", keys = "tests: [connection_rate], addresses: {source: 7}, connections: [70000]" }).connection_rate[1]
      assert.equal("valid", row.validity)
      assert.equal(1488095, row.connections_per_s)
      assert.equal("maximum", row.limited_by)
   end)

   it("takes a device that forwards and forgets for what it is only by validation", function()
      local device = { nat = "sessions: 10, full: replace", name = "forgets",
         keys = "tests: [connection_rate], connections: [100], max: 10kfps, resolution: 50%, timeout: 500ms" }
      local row = truth.measure(device).connection_rate[1]
      assert.equal("invalid", row.validity)
      assert.equal("not established", row.failed_because)
      device.keys = device.keys .. ", validate: false"
      row = truth.measure(device).connection_rate[1]
      assert.equal(10000, row.connections_per_s)
   end)

   it("knows a Responder that was too fast from a table that was full", function()
      -- back to the Initiator 30,000 a second: half of 50,000 fits, and half of 100,000 at half of that alone
      local _, session = truth.measure { name = "slow back", nat = "sessions: 1000",
         device = "reverse: {capacity: 30kfps, buffer: 10}",
         keys = "tests: [connection_rate], connections: [1000], max: 100kfps" }
      assert.same({ "not established", 0.5 }, { session.trials[1].failed_because,
         session.trials[1].setting.alpha })
      assert.same({ 0, 0.25, 100000 }, { session.trials[2].lost, session.trials[2].setting.alpha,
         session.trials[2].intended_fps })
      assert.equal(4, #session.trials) -- of two repetitions
   end)
end)

describe("framegauge run with RFC 9693", function()
   teardown(scratch.remove)

   local function run(words, ...)
      return scratch.shell(("'%s' %s 2>&1"):format(uv.exepath(), words:format(...)))
   end

   it("goes on where it was ended, has its graphs, and judges expectations", function()
      local path, output, status = fixture.run("rfc9693", small_runs.RFC9693)
      assert.equal(0, status, output)
      assert.is_true(result_schema.validate(path .. "/result.json"))
      local page = scratch.read(path .. "/report.html")
      assert.truthy(page:find("chart-capacity", 1, true))
      local half = interrupted(path, 5)
      output, status = run("run --resume '%s'", half)
      assert.equal(0, status, output)
      for _, name in ipairs { "result.json", "trials.jsonl" } do
         assert.is_true(scratch.read(path .. "/" .. name) == scratch.read(half .. "/" .. name), name)
      end
      local results = json.decode(scratch.read(path .. "/result.json")).results.rfc9693
      assert.equal(1000000, results.teardown[1].teardown_per_s)
      assert.equal(0, results.teardown[1].left)
      local rate = results.connection_rate[1].uncertainty.connections_per_s
      assert.is_true(rate.low <= 20000 and rate.high >= 20000)
   end)

   it("says beforehand what it takes", function()
      local output, status = run("run '%s' --quick --dry-run", CONFIG)
      assert.equal(0, status, output)
      assert.truthy(output:find("capacity", 1, true))
      assert.truthy(output:find("Times follow from what the reference device is set to", 1, true))
   end)
end)
