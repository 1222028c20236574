-- SPDX-License-Identifier: BSD-3-Clause

-- Percentiles of several streams together: of one tester, and of several whose counts travel as text.
local Tester = require "framegauge.tester"
local delays = require "framegauge.tester.delays"
local exchange = require "framegauge.fleet.exchange"
local frame = require "framegauge.traffic.frame"
local job = require "framegauge.core.job"
local join = require "framegauge.fleet.join"
local json = require "cjson"
local octets = require "framegauge.core.octets"
local plans = require "framegauge.plan"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.trial"

local PLAN = [[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {latency: 20us, jitter: 300us}
rfc2544: {frame_sizes: [128]}
]]

-- Streams with different delays, because few frames in a row wait for each other where many do.
local STREAMS = {
   { name = "many", from = "east", to = "west", fps = 90000 },
   { name = "few", from = "west", to = "east", fps = 500 },
   { name = "some", from = "west", to = "east", fps = 4000 },
}
local SECONDS, ALL = 0.1, 10000

local function stream(tester, o)
   local made = frame.rfc2544(128, { version = 4, src_mac = octets.mac(tester.ports[1].mac),
      dst_mac = octets.mac(tester.ports[2].mac), src = octets.ipv4 "198.18.1.2",
      dst = octets.ipv4 "198.19.1.2", vary = {} })
   return { name = o.name, from = o.from, to = o.to, frame = made,
      tags = { first = 0, every = 0, count = ALL }, loads = { { fps = o.fps, seconds = SECONDS } },
   }
end

-- A trial of all streams; every frame is tagged.
local function counts()
   return job.run(function()
      local tester = assert(Tester.open(assert(plans.load_text(PLAN, "delays.yaml"))))
      local raw = tester:trial { drain = 0.1, tags = { first = 0, every = 0, count = ALL },
         streams = tables.map(STREAMS, function(one) return stream(tester, one) end) }
      tester:close()
      return raw
   end)
end

local function latency_of(raw)
   return trial.record(raw, { test = "mine", streams = true, seconds = SECONDS }).latency
end

describe("the latency of several streams", function()
   local raw = counts()
   local latency = latency_of(raw)

   it("is that of all their frames", function()
      local all, sum = {}, 0
      for _, direction in ipairs(raw.directions) do
         all = tables.joined(all, direction.tags_ns)
      end
      table.sort(all)
      for _, one in ipairs(all) do
         sum = sum + one
      end
      assert.equal(9450, #all)
      assert.same({ #all, all[1], all[#all], sum / #all },
         { latency.count, latency.min_ns, latency.max_ns, latency.mean_ns })
      for key, p in pairs { p50_ns = 0.5, p99_ns = 0.99, p999_ns = 0.999 } do
         local truth = all[math.ceil(p * #all)]
         assert.is_true(latency[key] >= truth and latency[key] <= truth * (1 + 2 / 2048), key)
      end
      -- which the largest of theirs would not be
      assert.is_true(latency.p50_ns < math.max(unpack(tables.map(raw.directions, function(one)
         return one.latency.p50_ns
      end))))
   end)

   it("is the same where each stream is counted by an agent of its own", function()
      local body, results = { streams = {}, described = {}, seconds = SECONDS, drain = 0.1 }, {}
      local packed = json.decode(json.encode(exchange.pack_counts(counts())))
      for i, direction in ipairs(packed.directions) do
         local from, to = "sender" .. i, "receiver" .. i
         local sent = tables.copy(direction)
         sent.latency, sent.delays, sent.rx = nil, nil, 0
         body.streams[i] = { from = { agent = from }, to = { agent = to } }
         body.described[i] = { name = direction.name }
         results[from], results[to] = { directions = { sent } }, { directions = { direction } }
      end
      local joined = join.results(results, body, { names = tables.keys(results), owners = {}, control = {},
         plan = { ports = {} }, scale = "machine" })
      joined.ports = raw.ports
      assert.same(latency, latency_of(joined))
      assert.equal(raw.directions[1].delays, joined.directions[1].delays)
   end)

   it("is the largest of theirs where only their figures are known", function()
      local kept = tables.map(raw.directions, function(one) return { latency = one.latency } end)
      local largest = trial.merge_latency(kept)
      for _, key in ipairs { "p50_ns", "p99_ns", "p999_ns" } do
         assert.is_true(largest[key] >= latency[key])
      end
      assert.same({ latency.count, latency.min_ns, latency.max_ns },
         { largest.count, largest.min_ns, largest.max_ns })
   end)

   it("is not had from bytes that are no histogram", function()
      assert.has_error(function() delays.merge { "no histogram" } end)
   end)
end)

describe("the error of a delay", function()
   -- of a sender whose frames waited up to 100 ns for each other, and were stamped 3 ns early
   local function bound(source, late)
      local direction = { off_schedule = late or 0, lag_max_ns = 40, stamp_held_ns = 3,
         own_queue_max_ns = 100, latency = { source = source, error_bound_ns = 5 } }
      delays.add_sender_error(direction)
      return direction.latency.error_bound_ns
   end

   it("contains the wait in the tester's port where the stamp is not the departure", function()
      assert.equal(5 + 3 + 100, bound "tsc")
      assert.equal(5 + 3 + 40 + 100, bound("tsc", 1))
   end)

   it("does not where the stamp is the departure", function()
      assert.equal(5 + 3, bound "wire")
   end)
end)
