-- SPDX-License-Identifier: BSD-3-Clause

-- The traffic test against the reference device: every stream of the plan has its own truth.
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local result_schema = require "result_schema"
local scratch = require "scratch"
local uv = require "luv"

local PLAN = debug.getinfo(1, "S").source:match "^@(.*)tests/lua/" .. "configs/traffic-reference.yaml"

local function run(...)
   local path = scratch.path()
   local words = { ("'%s' run '%s' --quick --out '%s'"):format(uv.exepath(), PLAN, path) }
   for _, set in ipairs { ... } do
      words[#words + 1] = ("--set '%s'"):format(set)
   end
   local output, status = scratch.shell(table.concat(words, " ") .. " 2>&1")
   assert.equal(0, status, output)
   return json.decode(scratch.read(path .. "/result.json")), path, output
end

local function by_name(result)
   local rows = {}
   for _, row in ipairs(result.results.traffic) do
      rows[row.stream] = row
   end
   return rows
end

-- What the rules say of a text, joined.
local function problems_of(text)
   local _, errors = plans.load_text(text, "plan.yaml")
   local lines = {}
   for i, err in ipairs(errors or {}) do
      lines[i] = tostring(err)
   end
   return table.concat(lines, "\n")
end

local PORTS = "ports: {a: {device: wire0}, b: {device: wire1}}\ntest: traffic\n"

describe("traffic of one port", function()
   it("comes back from a reflector, and needs its address", function()
      local path, out = scratch.path(), scratch.path()
      local file = assert(io.open(path, "w"))
      file:write "test: traffic\nports: {near: {device: wire0, ipv4: 198.18.1.2/24, gateway: 198.18.1.1}}\n"
      file:write "reference_device: {rate: 1Gbps, reflect: true, loss_every: 100}\n"
      file:write "streams: {a: {rate: 1kfps, size: 128}}\ntraffic: {duration: 1s}\n"
      file:close()
      local command = ("'%s' run '%s' --quick --out '%s' 2>&1"):format(uv.exepath(), path, out)
      local output, status = scratch.shell(command)
      assert.equal(0, status, output)
      local row = json.decode(scratch.read(out .. "/result.json")).results.traffic[1]
      assert.same({ "near->near", 1000, 10 }, { row.direction, row.tx, row.lost })
      local without = "test: traffic\nports: {near: {device: 'memif:/none'}}\nstreams: {a: {rate: 1kfps}}\n"
      assert.matches("ports.near.gateway: missing: a loopback sends to its", problems_of(without), 1, true)
   end)
end)

describe("the traffic test", function()
   teardown(scratch.remove)

   it("sends every stream at its own load, and finds what the device lost", function()
      local result, path = run("reference_device.loss_every=1000")
      local rows = by_name(result)
      assert.equal("valid", result.validity)
      assert.near(2e6 / 8 / 218, rows.voice.offered_fps, 1)
      assert.near(20, rows.video.offered_percent, 1e-3)
      assert.near(40, rows.bulk.offered_percent, 1e-3)
      assert.equal(100000, rows.back.tx)
      -- the device counts the frames of each way, whichever stream they are of
      assert.equal(100, rows.back.lost)
      local sent = rows.voice.tx + rows.video.tx + rows.bulk.tx
      assert.near(sent / 1000, rows.voice.lost + rows.video.lost + rows.bulk.lost, 1)
      for _, row in pairs(rows) do
         assert.equal(row.tx - row.rx, row.lost)
         assert.equal(0, row.duplicates + row.reordered)
      end
      assert.is_true(result_schema.validate(path .. "/result.json"))
      assert.matches("\nback,west%->east,64,", scratch.read(path .. "/traffic.csv"))
   end)

   it("measures the delay of each stream by itself", function()
      -- 50 us in the device and the time to store the frame at 1 Gb/s; alone on its line nothing waits
      local back = by_name(run("reference_device.loss_every=0")).back
      assert.same({ 50512, 50512 }, { back.latency.min_ns, back.latency.max_ns })
      assert.equal(0, back.lost)
   end)

   it("measures what each stream suffered besides", function()
      local path = "reference_device.%s"
      local result, folder = run("reference_device.loss_every=0", path:format "reorder.every=100",
         path:format "reorder.by=3", path:format "corrupt.every=250", path:format "corrupt.skip=42",
         path:format "corrupt.spare=18", path:format "jitter.mean=100ns")
      local rows = by_name(result)
      local corrupted = 0
      for _, row in pairs(rows) do
         local m = row.measured
         assert.equal(row.reordered / row.rx, m.reordered_ratio)
         assert.is_true(m.pdv_p999_ns > 0 and m.jitter_ns > 0 and m.ipdv_min_ns < 0 and m.ipdv_max_ns > 0)
         assert.equal(m.corrupted, m.bit_errors) -- one bit of each
         corrupted = corrupted + m.corrupted
      end
      assert.is_true(corrupted > 0)
      assert.same({ 3, 1000 }, { rows.back.measured.reordering_extent_max_frames, rows.back.reordered })
      assert.is_true(result_schema.validate(folder .. "/result.json"))
   end)

   it("compares payloads of any kind where they arrive", function()
      local kinds = {
         "streams.voice.payload=random", "streams.video.payload={text: abc}", "streams.bulk.payload=0x5aa5",
      }
      for _, row in pairs(by_name(run("reference_device.loss_every=0", unpack(kinds)))) do
         assert.same({ 0, 0 }, { row.measured.corrupted, row.measured.bit_errors })
      end
      local rows = by_name(run("reference_device.loss_every=0", "reference_device.corrupt.every=250",
         "reference_device.corrupt.skip=60", "reference_device.corrupt.spare=18", unpack(kinds)))
      for _, name in ipairs { "video", "bulk" } do
         assert.is_true(rows[name].measured.corrupted > 0)
         assert.equal(rows[name].measured.corrupted, rows[name].measured.bit_errors) -- one bit of each
      end
   end)

   it("finds every wrong bit of a pseudorandom sequence", function()
      local kinds = {
         "streams.voice.payload=prbs9", "streams.video.payload=prbs15", "streams.bulk.payload=prbs31",
         "streams.back={from: west, size: 512, rate: 10kfps, payload: prbs23}",
      }
      local row = by_name(run("reference_device.loss_every=0", "reference_device.corrupt.every=100",
         "reference_device.corrupt.bits=5", "reference_device.corrupt.skip=60",
         "reference_device.corrupt.spare=18", unpack(kinds))).back
      local m = row.measured
      assert.same({ 100, 500 }, { m.corrupted, m.bit_errors })
      assert.is_true(m.byte_errors > 450 and m.byte_errors <= 500)
      assert.near(500 / (8 * 10000 * (512 - 42 - 18 - 4)), m.bit_error_ratio, 1e-15)
   end)

   it("gives the same bytes again", function()
      local _, one = run()
      local _, other = run()
      for _, file in ipairs { "result.json", "traffic.csv", "trials.jsonl" } do
         assert.equal(scratch.read(one .. "/" .. file), scratch.read(other .. "/" .. file))
      end
   end)

   it("says in every report what it found", function()
      local _, path, output = run()
      assert.matches("voice +east%->west +218", output)
      local junit = scratch.read(path .. "/junit.xml")
      assert.matches('classname="framegauge.traffic.streams" name="voice, east%-&gt;west"', junit)
      local page = scratch.read(path .. "/report.html")
      assert.matches("<h2>Loss", page)
      assert.matches("<h2>Latency", page)
   end)

   it("keeps every stream over time, and draws it", function()
      local result, path = run("traffic.duration=2s", "reference_device.loss_every=1000")
      for i, row in ipairs(result.results.traffic) do
         local series, tx, rx = result.trials[1].directions[i].series, 0, 0
         assert.same({ 0.1, 20 }, { series.interval_s, #series.tx })
         for k = 1, #series.tx do
            tx, rx = tx + series.tx[k], rx + series.rx[k]
            assert.near(row.offered_l2_mbps * 1e6, series.ir_mean_bps[k], 0.03 * row.offered_l2_mbps * 1e6)
         end
         -- one may have left when the last interval was over
         assert.near(row.tx, tx, 1)
         assert.near(row.rx, rx, 1)
      end
      assert.is_true(result_schema.validate(path .. "/result.json"))
      local page = scratch.read(path .. "/report.html")
      for _, term in ipairs { "received, layer 2", "loss", "delay", "PDV, 99.9 %%" } do
         assert.matches(term .. " of voice, east → west over time", page)
      end
   end)

   it("wants streams, and lines that can carry them", function()
      assert.matches("plan.yaml:%d+:%d+: streams: .*, and the plan has no stream", problems_of(PORTS))
      assert.matches("streams.y.rate: with it the streams from a are 1.1 Gbit/s at layer 1",
         problems_of(PORTS .. "streams: {x: {rate: 50%}, y: {rate: 60%}}\n"), 1, true)
      assert.equal("", problems_of(PORTS .. "streams: {x: {rate: 50%}, y: {rate: 60%, from: b}}\n"))
   end)
end)
