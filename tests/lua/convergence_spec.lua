-- SPDX-License-Identifier: BSD-3-Clause

-- Convergence: the arithmetic against worked examples, and devices whose outages are known.
local address = require "framegauge.plan.address"
local event = require "framegauge.methods.convergence.event"
local figures = require "framegauge.methods.convergence.figures"
local held = require "held"
local interrupted = require "interrupted"
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local result_schema = require "result_schema"
local scratch = require "scratch"
local page = require "convergence_page"
local truth = require "convergence_truth"
local uv = require "luv"

local CONFIG = scratch.PROJECT .. "configs/convergence-reference.yaml"
local MS = 1e6 -- ns

-- Counts of a route whose frames leave at phase, phase + tau ...; all in ms. Lost at the awaited egress are
-- those that leave within one of the periods { from, to }; `old` of these came at the other egress.
local function counts(o)
   local d, inside = { tx = 0, rx = 0, lost = 0, loss_bursts = 0, duplicates = 0, reordered = 0, expired = 0,
      measured = {} }, false
   for k = 0, math.floor((o.seconds * 1e3 - o.phase) / o.tau - 1e-9) do
      local t, lost = o.phase + k * o.tau, false
      for _, period in ipairs(o.away) do
         lost = lost or (t >= period[1] and t < period[2])
      end
      d.tx, d.lost, d.rx = d.tx + 1, d.lost + (lost and 1 or 0), d.rx + (lost and 0 or 1)
      d.loss_bursts = d.loss_bursts + (lost and not inside and 1 or 0)
      d.last_lost_ns, inside = lost and t * MS or d.last_lost_ns, lost
      local is_old = o.old and t < o.old
      d.old = (d.old or 0) + (is_old and 1 or 0)
   end
   return d
end

-- The row of n routes; away(i) is the list of periods of a route.
local function rows_of(o)
   local tau, directions = o.n / o.fps * 1e3, {}
   local samples = { interval_s = 0.01, tx = {}, rx = {} }
   for i = 1, o.n do
      local d = counts {
         tau = tau, phase = (i - 1) / o.n * tau, seconds = o.seconds, away = o.away(i),
         old = o.old and o.old(i),
      }
      d.measured.misdirected = o.old and { old = d.old } or nil
      directions[i] = d
   end
   for k = 1, o.seconds * 100 do
      samples.tx[k], samples.rx[k] = o.fps / 100, o.fps / 100
   end
   local plan = {
      ports = { { name = "east", ipv4 = "198.18.1.2" }, { name = "west" } },
      convergence = {
         case = "local-link", size = 128, routes = { count = o.n }, validation = o.validation or 0.1,
         sampling = 0.01, limit = { loss_of_connectivity = o.limit },
      },
   }
   return event.rows(plan, {
      event = "failure", repetition = 1, old = o.old and "old",
      record = {
         trial = 1, intended_fps = o.fps, duration_s = o.seconds, directions = directions, sampled = samples,
         event = o.event or { by = "outage", began_s = o.at, ended_s = o.at }, validity = "valid",
         reasons = {}, direction = "east->west", tx = o.fps * o.seconds, duplicates = 0, reordered = 0,
      },
   })
end

describe("the arithmetic of convergence", function()
   it("tells which route lost when, which global counts cannot", function()
      for _, case in ipairs { { { 0, 3 }, { 1, 5 }, 3, 4 }, { { 0, 5 }, { 1, 3 }, 5, 2 } } do
         local row, routes = rows_of { n = 2, fps = 2000, seconds = 0.2, at = 0.01, away = function(i)
            return { { case[i][1] + 10, case[i][2] + 10 } }
         end }
         assert.same({ case[3] * MS, case[4] * MS }, { routes[1].connectivity_ns, routes[2].connectivity_ns })
         assert.is_true(row.connectivity_loss == case[3] + case[4])
      end
   end)

   -- 50 ms to detect, 20 ms to compute, 100 us for each of 1000 routes one after the other
   local function moved(i)
      return 70 + 0.1 * i
   end

   it("finds every route of a thousand that move one after the other", function()
      local at = 123.4567
      local row, routes = rows_of { n = 1000, fps = 1e6, seconds = 0.6, at = at / 1e3, away = function(i)
         return { { at, at + moved(i) } }
      end }
      assert.near(70.1 * MS, row.first_route_ns, MS)
      assert.near(170.0 * MS, row.full_ns, MS)
      assert.near(120.05 * MS, row.loss_derived_ns, 1 * MS)
      assert.near(120050, row.connectivity_loss, 1000)
      assert.is_true(row.instantaneous)
      assert.near(at * MS, row.loss_begin_ns, row.loss_begin_error_ns + 1)
      for i, route in ipairs(routes) do
         assert.near(moved(i) * MS, route.route_ns, MS)
         assert.near((at + moved(i)) * MS, route.end_ns, 0.5 * MS + 1)
      end
   end)

   it("measures at the next-best egress alone where the old way forwards for a while", function()
      local row, routes = rows_of { n = 1000, fps = 1e6, seconds = 1.5, at = 1, away = function(i)
         return { { 0, 1000 + moved(i) } }
      end, old = function(i) return 1000 + moved(i) end }
      assert.equal(0, row.connectivity_loss)
      assert.equal(0, row.connectivity.max_ns)
      assert.is_false(row.instantaneous)
      for i, route in ipairs(routes) do
         assert.near(moved(i) * MS, route.route_ns, 0.5 * MS + 1)
      end
      assert.near(120.05 * MS, row.loss_derived_ns, MS)
      -- V of route 5 is 70 or 71 frames more than left before the event
      local fifth = rows_of { n = 1000, fps = 1e6, seconds = 1.5, at = 1, away = function()
         return { { 0, 1070.5 } }
      end, old = function() return 1070.5 end }
      assert.near(70.5 * MS, fifth.full_ns, MS)
   end)

   it("takes no difference of the paths' delays for an outage", function()
      -- 500 frames at 10 kfps; 20 us before, 5 ms after: the gap is 55.08 ms
      assert.near(4.98 * MS, figures.path_change(55.08 * MS, 500, 0.1 * MS), 1)
      local row = rows_of { n = 1, fps = 10000, seconds = 0.6, at = 0.2, away = function()
         return { { 200, 250 } }
      end }
      assert.near(50 * MS, row.full_ns, 0.1 * MS)
   end)

   it("divides by what failed, not by all, where one of four links fails", function()
      local row = rows_of { n = 1000, fps = 1e6, seconds = 0.4, at = 0.1, away = function(i)
         return i % 4 == 0 and { { 100, 180 } } or {}
      end }
      assert.equal(250, row.routes_affected)
      assert.near(20 * MS, row.loss_derived_ns, 0.25 * MS + 1)
      assert.near(80 * MS, row.full_ns, MS)
      assert.near(80 * MS, row.first_route_ns, MS)
   end)

   it("holds losses against a limit that is known to one frame interval", function()
      for measured, word in pairs { [50] = "undecided", [52] = "fail", [48] = "pass" } do
         assert.equal(word, figures.judge(measured * MS, MS, 50 * MS))
         local row = rows_of { n = 1, fps = 1000, seconds = 0.6, at = 0.2, limit = 0.05, away = function()
            return { { 200, 200 + measured } }
         end }
         assert.equal(word ~= "undecided" and word or nil, row.outcome)
         assert.equal(word == "pass", #row.reasons == 0)
      end
   end)

   it("bounds what the rate gives by two intervals", function()
      local low, high = figures.rate_bounds(180 * MS, 10 * MS, MS, 1e3)
      assert.same({ 160 * MS, 181.001 * MS }, { low, high })
      local tx, rx = {}, {}
      for i = 1, 100 do
         tx[i], rx[i] = 10, (i >= 11 and i <= 28) and 3 or 10
      end
      assert.equal(180 * MS, figures.by_rate(tx, rx, 10 * MS, nil, 700 * MS))
      assert.equal(190 * MS, figures.by_rate(tx, rx, 10 * MS, 100 * MS, 700 * MS))
      assert.is_nil(figures.by_rate(tx, rx, 10 * MS, nil, 730 * MS))
      assert.is_nil(figures.by_rate(tx, tx, 10 * MS, nil, 0))
   end)

   it("counts the outages of a route, and gives no begin where there were several", function()
      local row, routes = rows_of { n = 2, fps = 2000, seconds = 0.5, at = 0.1, away = function(i)
         return i == 1 and { { 100, 110 }, { 150, 160 } } or { { 100, 110 } }
      end }
      assert.equal(2, row.loss_periods_max)
      assert.is_nil(routes[1].begin_ns)
      assert.is_false(row.instantaneous)
      assert.near(160 * MS, routes[1].end_ns, 0.5 * MS)
   end)

   it("adds up the outages of a link that flaps", function()
      local periods = {}
      for k = 1, 10 do
         periods[k] = { 200 * k, 200 * k + 50 }
      end
      local row, routes = rows_of { n = 1, fps = 1e4, seconds = 2.5, at = 0.2,
         away = function() return periods end }
      assert.equal(10, row.loss_periods_max)
      assert.near(10 * 50 * MS, routes[1].connectivity_ns, 10 * 0.1 * MS)
      assert.near(2050 * MS, routes[1].end_ns, 0.1 * MS)
   end)

   it("names the routes that did not come back", function()
      local row = rows_of { n = 2, fps = 2000, seconds = 0.5, at = 0.1, limit = 1, away = function(i)
         return { { 100, i == 1 and 500 or 150 } }
      end }
      assert.same({ 1, "fail" }, { row.not_converged, row.outcome })
      assert.is_nil(row.full_ns)
      assert.matches("1 route not back for the whole validation time at the end: flow from port 49152",
         row.reasons[1], 1, true)
      -- back, but the old way
      row = rows_of { n = 1, fps = 1000, seconds = 0.5, at = 0.1, away = function() return { { 0, 500 } } end,
         old = function() return 450 end }
      assert.matches("1 route not at the port where they should move", row.reasons[1], 1, true)
   end)

   it("says nothing where the traffic was not steady before, or the command failed", function()
      local row = rows_of { n = 1, fps = 1000, seconds = 0.6, at = 0.2, event = {
         by = "command", began_s = 0.2, ended_s = 0.205, problem = "the command x failed with status 1",
      }, away = function() return {} end }
      assert.same({ "invalid", { "the command x failed with status 1" } }, { row.validity, row.reasons })
      assert.near(5 * MS + MS, row.bound_ns, 1)
   end)
end)

describe("the destination of a route", function()
   it("is a network further than that of the one before", function()
      local first = "\198\19\255\1"
      assert.equal(first, address.after(first, 0, 24))
      assert.equal("\198\20\1\1", address.after(first, 2, 24))
      assert.equal("\198\19\255\5", address.after(first, 1, 30))
      assert.equal("\198\20\0\1", address.after("\198\19\255\255", 2, 32))
      assert.equal("\255\255\255\1", address.after("\255\255\254\1", 1, 24))
      assert.is_nil(address.after("\255\255\254\1", 2, 24))
   end)
end)

describe("what is expected of convergence", function()
   local plan = { test = "convergence", ports = { { name = "a" }, { name = "b" } },
      convergence = { revert_command = { "true" }, at = 0, watch = 1, validation = 1 } }
   local row = { validity = "valid", event = "failure", full_ns = 80 * MS, first_route_ns = 10 * MS,
      loss_derived_ns = 40 * MS, connectivity = { max_ns = 70 * MS } }

   it("is one of the times, of all events or of one kind", function()
      for text, met in pairs {
         ["full<=80ms"] = true, ["full<=79ms"] = false, ["first<=10ms@failure"] = true,
         ["loss_of_connectivity<=70ms"] = true, ["loss_of_connectivity<=60ms"] = false, ["mean<=40ms"] = true,
      } do
         assert.equal(met, (held.met(text, plan, { convergence = { row } })), text)
      end
      assert.is_nil((held.met("full<=1s@reversion", plan, { convergence = { row } })))
      local never = { convergence = { { event = "failure", validity = "valid", outcome = "fail" } } }
      assert.is_false((held.met("full<=1s", plan, never)))
      assert.matches("subject 'somewhen'", held.refusal("full<=1s@somewhen", plan), 1, true)
   end)
end)

describe("a plan of convergence", function()
   local function problems(...)
      local _, errors = plans.load(CONFIG, { sets = { ... } })
      local lines = {}
      for i, err in ipairs(errors or {}) do
         lines[i] = tostring(err)
      end
      return table.concat(lines, "\n")
   end

   it("is told what does not fit", function()
      for settings, expected in pairs {
         ["convergence.rate=50kfps"] = "rate: each of 100 routes has a frame every 2 ms only, and the resolution is 1 ms; expected at least 100000fps",
         ["convergence.rate=1Mfps"] = "rate: more than the line of east carries",
         ["convergence.next_best=south"] = "next_best: there is no port 'south'",
         ["convergence.preferred=east"] = "preferred: east is also from",
         ["convergence.link=west"] = "link: a wire has no link to take down",
         ["convergence.command=true"] = "command: no program can meet time that runs free",
         ["convergence.routes.prefix=33"] = "prefix: longer than the 32 bits of 198.19.64.1; expected at most 32",
         -- on into 224/4, whose addresses are groups
         ["convergence.routes.first=223.255.0.1 convergence.routes.prefix=16"] = "routes.count: only 1 network of /16 from 223.255.0.1 on can have addresses of hosts; expected at most 1, or a lower first address",
         ["convergence.routes.first=126.255.250.1"] = "routes.count: only 6 networks of /24",
         ["convergence.routes.first=2001:2::1"] = "routes.first: the port east has no IPv6 address",
         ["convergence.watch=1h convergence.sampling=1ms"] = "sampling: 100 routes with this sampling need 361,000,000 counters; expected at most 2,000,000: fewer routes",
         ["convergence.resolution=20ms convergence.rate=8kfps"] = "sampling: shorter than the 12.5 ms",
      } do
         local sets = {}
         for one in settings:gmatch "%S+" do
            sets[#sets + 1] = one
         end
         local found = problems(unpack(sets))
         assert.truthy(found:find(expected, 1, true), settings .. ": " .. found)
      end
      assert.equal("", problems())
   end)
end)

for _, device in ipairs(truth.DEVICES) do
   describe("the outage of a " .. device.name, function()
      local results

      setup(function()
         results = truth.measure(device)
      end)

      it("stands in docs/explanation/truth.md as it was measured", function()
         local text = page.section(device, results, {})
         assert.matches(text, scratch.read(scratch.PROJECT .. "docs/explanation/truth.md"), 1, true)
      end)

      it("is found where it was, to the frame", function()
         assert.equal(2, #results.convergence)
         for i, row in ipairs(results.convergence) do
            assert.same({ "valid", 0, {} }, { row.validity, row.not_converged, row.reasons })
            assert.is_true(row.instantaneous)
            local n = device.routes
            local routes = { unpack(results.convergence_routes, (i - 1) * n + 1, i * n) }
            for _, check in ipairs(truth.checks(device, row, routes)) do
               assert.is_true(check.measured >= check.low and check.measured <= check.high,
                  ("%s: %s is not within %s and %s (truth %s)"):format(check.what, tostring(check.measured),
                  check.low, check.high, check.truth))
            end
         end
      end)
   end)
end

describe("a run of convergence", function()
   teardown(scratch.remove)

   local function run(...)
      local path, words = scratch.path(), {}
      words[1] = ("'%s' run '%s' --quick --out '%s'"):format(uv.exepath(), CONFIG, path)
      for _, word in ipairs { ... } do
         words[#words + 1] = ("'%s'"):format(word)
      end
      local output, status = scratch.shell(table.concat(words, " ") .. " 2>&1")
      return status, output, path
   end

   it("writes what the schema says, a line for each route, and the rate around the event", function()
      local status, output, path = run()
      assert.equal(0, status, output)
      assert.is_true(result_schema.validate(path .. "/result.json"))
      assert.matches("\nfailure,1,198.19.64.1/24,true,true,", scratch.read(path .. "/routes.csv"), 1, true)
      assert.matches("Received rate around the failure, no. 1", scratch.read(path .. "/report.html"), 1, true)
      assert.matches('classname="framegauge.convergence.convergence" name="failure, 1"',
         scratch.read(path .. "/junit.xml"), 1, true)
      local _, _, again = run()
      assert.is_true(scratch.read(path .. "/result.json") == scratch.read(again .. "/result.json"))
   end)

   it("fails where the device keeps to no limit", function()
      local status, output = run("--expect", "full<=20ms")
      assert.equal(1, status, output)
      status, output = run("--set", "convergence.limit.loss_of_connectivity=20ms")
      assert.equal(1, status, output)
      assert.matches("100 routes without traffic for longer than 20 ms: 198.19.64.1/24", output, 1, true)
   end)

   it("goes on where it ended", function()
      local _, _, path = run("--set", "convergence.repetitions=3")
      local half = interrupted(path, 1)
      local output, status = scratch.shell(("'%s' run --resume '%s' 2>&1"):format(uv.exepath(), half))
      assert.equal(0, status, output)
      assert.is_true(scratch.read(path .. "/result.json") == scratch.read(half .. "/result.json"))
   end)

   it("causes the event by a command of the plan, and knows when that was", function()
      local function causing(command)
         return run("--set", "reference_device.time=real", "--set", "convergence.command=" .. command,
            "--set", "convergence.rate=10kfps", "--set", "convergence.routes.count=10",
            "--set", "host.max_lag=1s")
      end
      local _, output, path = causing "[sleep, 0.05]"
      local row = json.decode(scratch.read(path .. "/result.json")).results.convergence[1]
      assert.equal("command", row.by)
      assert.not_equal("invalid", row.validity, output) -- where others keep the processors, tester-limited
      assert.is_true(row.cei_ns >= 200 * MS)
      assert.is_true(row.event_error_ns > 0) -- by the wire's clock, which waits on a busy machine
      assert.is_true(row.cei_ns + row.event_error_ns <= 1000 * MS) -- before the load ended
      assert.is_true(row.bound_ns >= row.tau_ns + row.event_error_ns)
      assert.same({ 0, 0 }, { row.routes_affected, row.full_ns })
      local status
      status, output = causing "[false]"
      assert.equal(3, status, output)
      assert.matches("the command false failed with status 1", output, 1, true)
   end)
end)
