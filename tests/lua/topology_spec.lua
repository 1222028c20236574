-- SPDX-License-Identifier: BSD-3-Clause
local Tester = require "framegauge.tester"
local tests = require "framegauge.methods.rfc2544.tests"
local plans = require "framegauge.plan"
local Session = require "framegauge.trial.session"
local topology = require "framegauge.traffic.topology"
local trial = require "framegauge.trial"

local function directions_of(names, kind, both_ways)
   local ports = {}
   for i, name in ipairs(names) do
      ports[i] = { name = name }
   end
   return topology.directions(ports, kind, not both_ways)
end

local WIRES = [[
ports:
  a: {device: wire0, gateway: 198.18.1.1}
  b: {device: wire1, gateway: 198.19.1.1}
  c: {device: wire2, gateway: 198.18.2.1}
  d: {device: wire3, gateway: 198.19.2.1}
test: rfc2544
reference_device: {capacity: 900kfps, reverse: {capacity: 800kfps}}
rfc2544:
  frame_sizes: [64]
  learning_wait: 10ms
  drain: 50ms
  settle: 0
  throughput: {trial: 200ms, search_trial: 20ms}
]]

local function run(plan)
   local tester, results = assert(Tester.open(plan)), {}
   local session = Session.new { tester = tester, retries = 0, phases = plan.rfc2544, sink = function() end }
   local ok, why = pcall(tests.run, plan, tester, session, results)
   tester:close()
   assert(ok, why)
   return results
end

describe("the topology", function()
   local four = { "a", "b", "c", "d" }

   it("takes ports two by two", function()
      assert.same({ { "a->b" }, "a->b" }, { directions_of({ "a", "b" }, "pairs", false) })
      assert.same({ { "a->b", "b->a" }, "both" },
         { directions_of({ "a", "b" }, "pairs", true) })
      assert.same({ { "a->b", "c->d" }, "inputs->outputs" },
         { directions_of(four, "pairs", false) })
      assert.same({ { "a->b", "c->d", "b->a", "d->c" }, "both" },
         { directions_of(four, "pairs", true) })
   end)

   it("lets every input send to all outputs, and back", function()
      assert.same({ { "a->b", "b->a" }, "both" },
         { directions_of({ "a", "b" }, "partial-mesh", true) })
      assert.same({ { "a->c", "a->d", "b->c", "b->d" }, "inputs->outputs" },
         { directions_of(four, "partial-mesh", false) })
      assert.same({ "a->c", "a->d", "b->c", "b->d", "c->a", "c->b", "d->a", "d->b" },
         (directions_of(four, "partial-mesh", true)))
   end)

   it("sends every port its own frames back in a loopback", function()
      assert.same({ { "a->a" }, "a->a" }, { directions_of({ "a" }, "loopback", true) })
      assert.same({ { "a->a", "b->b", "c->c" }, "all" },
         { directions_of({ "a", "b", "c" }, "loopback", false) })
   end)

   it("has the streams of a port take turns, all inputs with the same output at a time", function()
      local turns = topology.turns(directions_of({ "a", "b", "c", "x", "y", "z" }, "partial-mesh"))
      local order = {}
      for i, turn in ipairs(turns) do
         assert.same({ 1, 3 }, { turn.take, turn.every })
         order[i] = turn.first
      end
      assert.same({ 0, 1, 2, 0, 1, 2, 0, 1, 2 }, order)
      assert.same({ { first = 0, take = 1, every = 1, from = "a", share = 1 } }, topology.turns { "a->b" })
   end)
end)

describe("a plan of many ports", function()
   local function wrong(...)
      local _, errors = plans.load_text(WIRES, "x.yaml", { sets = { ... } })
      local lines = {}
      for i, err in ipairs(errors or {}) do
         lines[i] = tostring(err)
      end
      return table.concat(lines, "\n")
   end

   it("gives inputs and outputs networks of their own", function()
      local text = "test: rfc2544\nports: {a: {device: 'memif:/a'}, b: {device: 'memif:/b'}, c: {device: 'memif:/c'}, d: {device: 'memif:/d'}}\n"
         .. "rfc2544: {throughput: {max: 1Mfps}, topology: %s}"
      for kind, expected in pairs {
         pairs = { "198.18.1.2", "198.19.1.2", "198.18.2.2", "198.19.2.2" },
         ["partial-mesh"] = { "198.18.1.2", "198.18.2.2", "198.19.1.2", "198.19.2.2" },
      } do
         local plan = assert(plans.load_text(text:format(kind), "x.yaml"))
         for i, address in ipairs(expected) do
            assert.equal(address, plan.ports[i].ipv4)
         end
      end
   end)

   it("is refused where ports do not fit together", function()
      assert.equal("", wrong())
      assert.matches("wire2 is used by the port c already; expected a device of its own",
         wrong "ports.d.device=wire2", 1, true)
      assert.matches("ports.d.device: wire7 does not exist; expected one of wire0 to wire3",
         wrong "ports.d.device=wire7", 1, true)
      assert.matches("ports.b.device: wire2 is not joined with wire0 of the port a; expected wire1",
         wrong("ports.b.device=wire2", "ports.c.device=wire1"), 1, true)
      assert.matches("ports.d.ipv4: 198.18.1.2 is the address of the port a already",
         wrong("ports.d={device: wire3, ipv4: 198.18.1.2/24}"), 1, true)
      assert.matches("ports.d.ipv4: 198.18.1.0/16 overlaps",
         wrong("ports.d={device: wire3, ipv4: 198.18.9.9/16}"):gsub("9%.9", "1.0"), 1, true)
      assert.matches("ports.d.gateway: missing, while the port c has one",
         wrong("ports.d={device: wire3}"), 1, true)
      assert.matches("ports: 5 ports: one is left over; expected an even number of ports",
         wrong "ports.e={device: wire4}", 1, true)
      assert.matches("rfc2544.topology: every two wires have a device of their own, so no input reaches all outputs; expected pairs, or reference_switch, which joins all",
         wrong "rfc2544.topology=partial-mesh", 1, true)
   end)
end)

describe("a trial of directions that share a port", function()
   it("has the loads of the port and the counts of all", function()
      local function direction(name, share)
         return {
            name = name, share = share, intended_frames = 500, tx = 500, rx = 499,
            tx_duration_ns = 499 * 2 * 1e6, last_lost_ns = 1, intended_fps = 1000,
         }
      end
      local record = trial.record({
         time = "tsc", ports = {}, lcores = {},
         directions = { direction("a->c", 0.5), direction("a->d", 0.5) },
      }, {
         number = 1, test = "t", phase = "p", frame_size = 64, direction = "both", fps = 1000, seconds = 1,
      })
      assert.same({ "valid", 1000, 1000, 998 },
         { record.validity, record.intended_fps, record.offered_fps, record.rx })
   end)
end)

describe("four wires", function()
   it("have the right throughput each way on every pair", function()
      local plan = assert(plans.load_text(WIRES, "four", {
         sets = { "rfc2544.tests=[throughput, frame_loss]", "rfc2544.frame_loss.trial=100ms" },
      }))
      local results = run(plan)
      local row = results.throughput[1]
      assert.same({ "both", "valid", "loss" }, { row.direction, row.validity, row.limited_by })
      -- the weaker way's capacity, and what its buffer swallows of 200 ms
      assert.near(800e3, row.throughput_fps, 1488 + 513 / 0.2)
      assert.equal(1, #results.throughput)
      local seen = {}
      for _, one in ipairs(results.frame_loss) do
         if one.load_percent == 100 then
            local capacity = (one.direction == "a->b" or one.direction == "c->d") and 900e3 or 800e3
            seen[#seen + 1] = one.direction
            assert.equal("valid", one.validity)
            assert.near(100 * (1 - capacity / 1488095), 100 * one.loss_ratio, 100 * 520 / one.tx)
         end
      end
      assert.same({ "a->b", "c->d", "b->a", "d->c" }, seen)
   end)

   it("carry the whole load of a port in turns", function()
      local plan = assert(plans.load_text(WIRES:gsub("capacity: %d+kfps", "latency: 1us"), "turns"))
      local tester = assert(Tester.open(plan))
      -- the engine does not mind that no device joins them: frames of a->d come out at b
      local ok, raw = pcall(tester.trial, tester, {
         frame_size = 64, fps = 1488095, duration = 0.1, directions = { "a->b", "a->d", "c->d" },
         learning_wait = 0.001, drain = 0.01, settle = 0,
      })
      tester:close()
      assert(ok, raw)
      local ab, ad, cd = raw.directions[1], raw.directions[2], raw.directions[3]
      assert.same({ 74405, 74405, 148810 }, { ab.tx, ad.tx, cd.tx })
      assert.same({ 74405, 0, 148810 }, { ab.rx, ad.rx, cd.rx })
      assert.same({ 0.5, 0.5 }, { ab.share, ad.share, cd.share })
      assert.equal(74405, raw.ports[2].misdirected)
      -- evenly spaced on a full line: nobody waited for anybody
      assert.equal(ab.latency.min_ns, ab.latency.max_ns)
   end)
end)

describe("a loopback through the reference device", function()
   it("has the truth of the way there and back, with one wire and with both", function()
      for _, ports in ipairs { "{near: {device: wire0, gateway: 198.18.1.1}}",
         "{a: {device: wire0, gateway: 198.18.1.1}, b: {device: wire1, gateway: 198.18.2.1}}" } do
         local plan, errors = plans.load_text(([[
test: rfc2544
ports: %s
reference_device: {capacity: 600kfps, latency: 35us, loss_every: 1000, reflect: true}
rfc2544: {topology: loopback, frame_sizes: [64], drain: 50ms, learning_wait: 0, settle: 0}
]]):format(ports), "loopback.yaml")
         assert(plan, errors and tostring(errors[1]))
         local tester = assert(Tester.open(plan))
         local directions = topology.directions(plan.ports, "loopback")
         local raw = tester:trial {
            frame_size = 64, fps = 500000, duration = 0.1, directions = directions, learning_wait = 0.01,
            drain = 0.05, settle = 0,
         }
         tester:close()
         assert.equal(#plan.ports, #raw.directions)
         for i, direction in ipairs(raw.directions) do
            assert.equal(plan.ports[i].name .. "->" .. plan.ports[i].name, direction.name)
            -- 64 bytes at 1 Gb/s, and then the latency
            assert.same({ 50000, 50000 - 50, 35512, 35512 }, { direction.tx, direction.rx,
               direction.latency.min_ns, direction.latency.max_ns })
            assert.equal(0, raw.ports[i].misdirected)
         end
      end
   end)
end)
