-- SPDX-License-Identifier: BSD-3-Clause
local Tester = require "framegauge.tester"
local ffi = require "ffi"
local frame = require "framegauge.traffic.frame"
local tests = require "framegauge.methods.rfc2544.tests"
local modifiers = require "framegauge.traffic.modifiers"
local notes = require "framegauge.report.notes"
local plans = require "framegauge.plan"
local topology = require "framegauge.traffic.topology"
local rows = require "framegauge.methods.rfc2544.result"
local Session = require "framegauge.trial.session"
local show = require "framegauge.text.show"

local ROUTED = [[
ports:
  a: {device: wire0, ipv4: 198.18.1.2/24, gateway: 198.18.1.1}
  b: {device: wire1, ipv4: 198.19.1.2/24, gateway: 198.19.1.1}
]]
local ROUTED6 = [[
ports:
  a: {device: wire0, ipv6: '2001:2:0:1::2/64', gateway6: '2001:2:0:1::1'}
  b: {device: wire1, ipv6: '2001:2:0:8000::2/64', gateway6: '2001:2:0:8000::1'}
]]
local BRIDGED = [[
ports:
  a: {device: wire0, ipv4: 198.18.1.2/24}
  b: {device: wire1, ipv4: 198.18.1.3/24}
]]
local REST = [[
test: rfc2544
reference_device: {capacity: 500kfps}
rfc2544:
  frame_sizes: [128]
  modifiers: [%s]
  learning_wait: 10ms
  drain: 50ms
  settle: 0
  throughput: {trial: 200ms, search_trial: 20ms}
  frame_loss: {trial: 20ms}
]]

local function plan_of(ports, list, ...)
   local plan, errors = plans.load_text(ports .. REST:format(list), "x.yaml", { sets = { ... } })
   return plan, errors and tostring(errors[1])
end

local function run(plan)
   local tester, results = assert(Tester.open(plan)), {}
   local session = Session.new { tester = tester, retries = 0, phases = plan.rfc2544, sink = function() end }
   local ok, why = pcall(tests.run, plan, tester, session, results)
   tester:close()
   assert(ok, why)
   return results, session.trials
end

-- One trial with what differs from a plain one both ways.
local function trial_of(plan, o)
   local tester = assert(Tester.open(plan))
   local ok, raw = pcall(function()
      return tester:trial(setmetatable(o, { __index = {
         frame_size = 128, directions = { "a->b", "b->a" }, learning_wait = 0.01, drain = 0.01, settle = 0,
      } }))
   end)
   tester:close()
   assert(ok, raw)
   return raw
end

describe("modifiers", function()
   it("are refused where the ports do not suit them", function()
      local _, wrong = plan_of(BRIDGED, "random-networks")
      assert.matches("rfc2544.modifiers[1]: networks behind a router, and the ports have none; expected a gateway", wrong, 1, true)
      _, wrong = plan_of(ROUTED, "broadcast, random-macs")
      assert.matches("rfc2544.modifiers[2]: a router takes only what is sent to its own address", wrong, 1,
         true)
      _, wrong = plan_of(BRIDGED, "management-frames")
      assert.matches("rfc2544.modifiers[1]: no address of the device to ask: it is asked over IPv4, at the gateway; expected an IPv4 gateway for every port", wrong, 1, true)
      _, wrong = plan_of(ROUTED6, "broadcast, routing-updates")
      assert.matches("rfc2544.modifiers[2]: no router to inform", wrong, 1, true)
   end)

   it("send broadcasts beside bursts", function()
      local turns, own = modifiers.turns("broadcast", { "a->b" }, { frames = 16, interval_frames = 40 })
      assert.same({ 0, 16, 40, 1 }, { turns[1].first, turns[1].take, turns[1].every, turns[1].share })
      assert.same({ { direction = "a->b" }, fps = 1 / 99 }, own)
   end)

   it("share the networks behind routers between the ports of a side", function()
      local places, list = topology.places(4, "pairs"), {}
      for i = 1, 4 do
         local networks = modifiers.networks(places[i], 4)
         list[i] = ("%s %d"):format(networks.first, networks.count)
         assert.equal(tonumber(networks.first:match "^198%.(%d+)") * 65536 + 198 * 2 ^ 24
            + tonumber(networks.first:match "^198%.%d+%.(%d+)") * 256 + 2, networks.number)
      end
      assert.same({ "198.18.65.2 95", "198.19.65.2 95", "198.18.160.2 95", "198.19.160.2 95" }, list)
      assert.equal("2001:2:0:c002::2", modifiers.networks(places[4], 6).first)
   end)

   it("leave every hundredth frame of a port to a broadcast", function()
      local turns, own = modifiers.turns("broadcast", { "a->b", "b->a" })
      for _, turn in ipairs(turns) do
         assert.same({ 0, 99, 100 }, { turn.first, turn.take, turn.every })
      end
      assert.same({
         { direction = "a->b", turn = { first = 99, take = 1, every = 100 } },
         { direction = "b->a", turn = { first = 99, take = 1, every = 100 } },
      }, own)
      assert.same({}, (select(2, modifiers.turns("random-ports", { "a->b" }))))
   end)

   it("change nothing in the bytes of a frame but what they are about", function()
      local places = topology.places(2, "pairs")
      local mac = ("\2"):rep(6)
      local function build(modifier)
         return frame.rfc2544(128, modifiers.change({
            version = 4, src_mac = mac, dst_mac = mac, src = "\1\1\1\1", dst = "\2\2\2\2", vary = {},
         }, modifier, places, 1, 2))
      end
      local plain, networks, ports = build(nil), build "random-networks", build "random-ports"
      assert.same({ 0, 1, 2 }, { plain.varies, networks.varies, ports.varies })
      assert.equal(ffi.string(plain.bytes, 124), ffi.string(ports.bytes, 124))
      -- bytes that differ from the plain frame in some of many: the address, and the checksum that follows
      local function changed(template)
         local list, seen = {}, {}
         for n = 0, 99 do
            local one, other = frame.make(plain, 1, n, 0), frame.make(template, 1, n, 0)
            for i = 1, #one do
               if one:byte(i) ~= other:byte(i) and not seen[i] then
                  seen[i], list[#list + 1] = true, i - 1
               end
            end
         end
         table.sort(list)
         return list
      end
      assert.same({ 24, 25, 30, 31, 32 }, changed(networks))
      assert.same({ 34, 35, 36, 37 }, changed(ports))
   end)
end)

describe("a run with modifiers", function()
   it("makes every test once for each, and its rows and trials say so", function()
      local results, trials = run(assert(plan_of(ROUTED, "broadcast, random-networks, random-ports",
         "rfc2544.tests=[throughput, frame_loss]")))
      local seen = {}
      for i, row in ipairs(results.throughput) do
         seen[i] = row.modifier or "plain"
         assert.same({ "both", "valid" }, { row.direction, row.validity })
         -- the router drops broadcasts at once, so the load may be a hundredth more; the buffer swallows some
         local truth = row.modifier == "broadcast" and 500e3 / 0.99 or 500e3
         assert.near(truth, row.throughput_fps, 845 + 520 / 0.2)
      end
      assert.same({ "plain", "broadcast", "random-networks", "random-ports" }, seen)
      for _, row in ipairs(results.frame_loss) do
         assert.equal(row.modifier, trials[row.trial].modifier)
         if row.load_percent == 100 then
            local fps = row.modifier == "broadcast" and 844594 * 0.99 or 844594
            assert.near(100 * (1 - 500e3 / fps), 100 * row.loss_ratio, 100 * 520 / row.tx)
         end
      end
      local one, other = unpack(results.throughput)
      assert.equal(show.name(rows.THROUGHPUT, one) .. ", broadcast", show.name(rows.THROUGHPUT, other))
   end)

   it("works over IPv6, where the UDP checksum follows the ports and addresses", function()
      local results = run(assert(plan_of(ROUTED6, "broadcast, random-networks, random-ports")))
      for _, row in ipairs(results.throughput) do
         local truth = row.modifier == "broadcast" and 500e3 / 0.99 or 500e3
         assert.near(truth, row.throughput_fps, 845 + 520 / 0.2)
      end
      assert.equal(4, #results.throughput)
   end)

   it("has many stations on each side of a bridge", function()
      local results, trials = run(assert(plan_of(BRIDGED, "random-macs")))
      assert.near(500e3, results.throughput[2].throughput_fps, 845 + 520 / 0.2)
      for _, trial in ipairs(trials) do
         assert.same({ "valid", 0 }, { trial.validity, trial.misdirected })
      end
   end)

   it("asks the device every second, in the place of a test frame, and counts its replies", function()
      local plan = assert(plan_of(ROUTED, "management-frames", "rfc2544.learning_wait=0s"))
      local raw = trial_of(plan, { fps = 1000, duration = 10, modifier = "management-frames" })
      for _, port in ipairs(raw.ports) do
         assert.same({ 10, 10, 0 }, { port.queries, port.replies, port.updates })
      end
      for _, direction in ipairs(raw.directions) do
         assert.same({ 9990, 9990, 0.999 }, { direction.tx, direction.rx, direction.share })
      end
      raw = trial_of(plan, { fps = 1000, duration = 10 })
      assert.same({ 0, 0, 10000 }, { raw.ports[1].queries, raw.ports[1].replies, raw.directions[1].tx })
   end)

   it("asks at the ports that send and at no others", function()
      local plan = assert(plan_of(ROUTED, "management-frames"))
      local raw = trial_of(plan, {
         fps = 1000, duration = 2, modifier = "management-frames", directions = { "b->a" },
      })
      assert.same({ 0, 2, 2 }, { raw.ports[1].queries, raw.ports[2].queries, raw.ports[2].replies })
   end)

   it("tells the device of routes at the start and every 30 seconds", function()
      local plan = assert(plan_of(ROUTED, "routing-updates"))
      local raw = trial_of(plan, { fps = 300, duration = 61, modifier = "routing-updates" })
      for i, port in ipairs(raw.ports) do
         assert.same({ 0, 0, 3 }, { port.queries, port.replies, port.updates })
         assert.equal(math.floor((300 - 1 / 30) * 61 + 0.5), raw.directions[i].tx)
      end
   end)

   it("measures the same throughput beside either, and says what came of them", function()
      local results, trials = run(assert(plan_of(ROUTED, "management-frames, routing-updates")))
      for _, row in ipairs(results.throughput) do
         assert.near(500e3, row.throughput_fps, 845 + 520 / 0.2)
      end
      local list, n = notes.background(trials), 0
      for _, trial in ipairs(trials) do
         n = n + (trial.modifier == "management-frames" and 2 or 0) -- one in each direction: they are short
         assert.equal(trial.modifier == "routing-updates" and 2 or nil, trial.routing_updates)
      end
      assert.equal(("Management queries: %d sent, %d answered and verified."):format(n, n), list[1])
      assert.equal(("Routing updates: %d sent."):format(n), list[2])
   end)

   it("says so where no query was answered", function()
      local list = notes.background { { management = { queries = 4, replies = 0 } }, {} }
      assert.matches("^Management queries: 4 sent, 0 answered and verified%. Nothing shows", list[1])
      assert.is_nil(list[2])
      assert.same({}, notes.background { {} })
   end)

   it("sends a broadcast for every 99 frames of bursts", function()
      local plan = assert(plan_of(ROUTED, "broadcast"))
      local fps = 844594 * 64 / 200
      local raw = trial_of(plan, {
         fps = fps, duration = 200 * 5000 / 844594, modifier = "broadcast",
         burst = { frames = 64, interval_frames = 200 },
      })
      assert.same({ 320000, 320000 }, { raw.directions[1].tx, raw.directions[1].rx })
      assert.near(fps, raw.directions[1].intended_fps, 1e-6)
   end)
end)
