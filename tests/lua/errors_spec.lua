-- SPDX-License-Identifier: BSD-3-Clause

-- Errors on purpose beside the reference device's, whose truth is known: each count is of the one who
-- made it.
local files = require "framegauge.text.json"
local plans = require "framegauge.plan"
local result_schema = require "result_schema"
local scratch = require "scratch"
local uv = require "luv"

local HEAD = [[
test: traffic
ports: {a: {device: wire0, ipv4: 198.18.1.2/24}, b: {device: wire1, ipv4: 198.18.1.3/24}}
traffic: {duration: 1s, learning_wait: 10ms, drain: 200ms%s}
reference_device: {rate: 10Gbps, latency: 20us%s}
streams:
]]

-- Runs a plan. @return rows by the name of the stream, the folder, what was printed
local function run(streams, device, traffic)
   local path, plan = scratch.path(), scratch.path() .. ".yaml"
   local file = assert(io.open(plan, "w"))
   file:write(HEAD:format(traffic or "", device or ""), streams)
   file:close()
   local output, status = scratch.shell(("'%s' run '%s' --out '%s' 2>&1"):format(uv.exepath(), plan, path))
   assert.equal(0, status, output)
   assert.is_true(result_schema.validate(path .. "/result.json"))
   local rows = {}
   for _, row in ipairs(files.decode(scratch.read(path .. "/result.json")).results.traffic) do
      rows[row.stream] = row
   end
   return rows, path, output
end

local function errors_of(row)
   local by_kind = {}
   for _, one in ipairs(row.errors) do
      by_kind[one.kind] = one
   end
   return by_kind
end

local function problems_of(errors, more)
   local text = HEAD:format("", "") .. ("  s: {%s, errors: {%s}}\n"):format(more or "size: 128", errors)
   local _, found = plans.load_text(text, "plan.yaml")
   local lines = {}
   for i, one in ipairs(found or {}) do
      lines[i] = tostring(one)
   end
   return table.concat(lines, "\n")
end

describe("errors on purpose", function()
   teardown(scratch.remove)

   it("are told from what the device does, to the frame", function()
      local rows, folder = run("  s: {size: 128, rate: 20kfps, errors: {skip: {every: 7}, duplicate: {every: 10}, reorder: {every: 50, by: 4}, delay: {every: 70, late: 1ms}}}\n",
         ", loss_every: 100, duplicate: {every: 80}, reorder: {every: 90, by: 2}")
      local row = rows.s
      assert.same({ 20000, 200, 247, 220 }, { row.tx, row.lost, row.duplicates, row.reordered })
      assert.same({ "valid", 200, 2 }, { row.validity, row.loss_bursts, row.reordering_extent_max_frames })
      local kinds = errors_of(row)
      -- of n numbers every seventh is left out, and of the others every tenth of all comes twice
      assert.near(20000 / (6 / 7 + 6 / 70) / 7, kinds.skip.sent, 20)
      assert.near(20000 / (6 / 7 + 6 / 70) * 6 / 70, kinds.duplicate.sent, 20)
      assert.is_nil(kinds.skip.received)
      local _, lines = scratch.read(folder .. "/errors.csv"):gsub("\n", "")
      assert.equal(5, lines)
   end)

   it("are of each stream by itself, of a hundred", function()
      local text = {}
      for i = 1, 100 do
         local made = "  s%d: {size: 128, rate: 1kfps, errors: {skip: {every: %d}, l4_checksum: {every: %d}}}\n"
         text[i] = made:format(i, i + 1, i + 2)
      end
      local rows = run(table.concat(text), ", loss_every: 100")
      local lost, wrong_lost = 0, 0
      for i = 1, 100 do
         local row, kinds = rows["s" .. i], errors_of(rows["s" .. i])
         assert.equal(1000, row.tx)
         assert.equal(kinds.l4_checksum.sent, row.wrong_tx)
         assert.equal(math.floor((1000 + kinds.skip.sent) / (i + 1)), kinds.skip.sent)
         assert.equal(row.tx - row.wrong_tx - row.rx, row.lost)
         assert.equal(0, row.reordered + row.duplicates + row.stale)
         lost, wrong_lost = lost + row.lost, wrong_lost + row.wrong_tx - row.wrong_rx
      end
      assert.equal(1000, lost + wrong_lost) -- what the device lost in all
   end)

   it("of content are lost by a device that checks, and that is no loss", function()
      local rows = run("  s: {size: 128, rate: 10kfps, errors: {fcs: {every: 5}, runt: {every: 7}, oversize: {every: 11}, ip_checksum: {every: 13}, payload: {random: 10%, run: 3}}}\n",
         ", max_frame: 1518")
      local row, kinds = rows.s, errors_of(rows.s)
      assert.same({ 0, 0, 0 }, { row.lost, row.measured.corrupted, row.loss_bursts })
      assert.same({ 2000, 1428 }, { kinds.fcs.sent, kinds.runt.sent })
      for _, kind in ipairs { "fcs", "runt", "oversize" } do
         assert.equal(0, kinds[kind].received)
      end
      assert.is_true(kinds.ip_checksum.received > 400)
      -- three of every 1/0.1 + 2 frames, but for runts
      assert.near(10000 * 3 / 12 * 6 / 7, kinds.payload.sent, 4 * 3 * math.sqrt(10000 / 12))
   end)

   it("are seen by who reads the frames", function()
      local plan = scratch.path() .. ".yaml"
      local file = assert(io.open(plan, "w"))
      file:write(HEAD:format("", ""), "  s: {size: 128, errors: {skip: {every: 3}, duplicate: {every: 4}}}\n")
      file:close()
      local output = scratch.shell(("'%s' frames '%s' --count 6"):format(uv.exepath(), plan))
      local numbers = {}
      for number, again in output:gmatch "sequence (%d+)  time %d+ ns(%s*%a*)" do
         numbers[#numbers + 1] = number .. (again:find "again" and "=" or "")
      end
      assert.same({ "0", "1", "3", "3=", "4", "6" }, numbers)
      assert.matches("frame 3 at %d+ ns, on purpose: duplicate", output)
   end)

   it("give the same bytes again", function()
      local streams = "  s: {size: 128, rate: 5kfps, errors: {skip: {random: 5%}, reorder: {random: 3%, by: 9}}}\n"
      local _, one = run(streams)
      local _, other = run(streams)
      assert.equal(scratch.read(one .. "/errors.csv"), scratch.read(other .. "/errors.csv"))
      assert.equal(scratch.read(one .. "/trials.jsonl"), scratch.read(other .. "/trials.jsonl"))
   end)

   it("are refused where frames or ports cannot have them", function()
      assert.equal("", problems_of "skip: {every: 2}")
      assert.matches("streams.s.errors.skip: never happens", problems_of "skip: {run: 2}", 1, true)
      assert.matches("streams.s.errors.skip: leaves no frame", problems_of "skip: {every: 1}", 1, true)
      assert.matches("streams.s.errors.payload: there is nothing between headers and signature",
         problems_of("payload: {every: 2}", "size: 64"), 1, true)
      assert.matches("streams.s.errors.l4_length: the frames have no UDP header",
         problems_of("l4_length: {every: 2}", "size: 128, frame: [ethernet, ipv4, tcp]"), 1, true)
      assert.matches("streams.s.errors.ip_checksum: the frames have no IPv4 header",
         problems_of("ip_checksum: {every: 2}", "size: 128, frame: [ethernet, {raw: \"00\"}]"), 1, true)
   end)
end)

describe("frames later than T_max", function()
   it("are lost, and counted as what came too late", function()
      local held = ", reorder: {every: 100, by: 0, late: 30ms}"
      local streams = "  s: {size: 128, rate: 10kfps}\n"
      local row = run(streams, held, ", t_max: 20ms").s
      assert.same({ 100, 100, 0 }, { row.lost, row.expired, row.reordered })
      assert.is_true(row.latency.max_ns < 20e6)
      row = run(streams, held, ", t_max: 40ms").s
      assert.same({ 0, 0, 100 }, { row.lost, row.expired, row.reordered })
   end)
end)
