-- SPDX-License-Identifier: BSD-3-Clause

-- What did not arrive as it was sent: in records, in the tables and in words.
local cjson = require "cjson"
local exchange = require "framegauge.fleet.exchange"
local notes_of = require "framegauge.report.notes"
local scratch = require "scratch"
local trial = require "framegauge.trial"
local uv = require "luv"
local view = require "framegauge.methods.traffic.report"

local function record(forward, back)
   local directions = {}
   for i, o in ipairs { forward, back } do
      directions[i] = {
         name = i == 1 and "east->west" or "west->east", intended_frames = 100, intended_fps = 100, tx = 100,
         rx = 100, tx_duration_ns = 99e7, reordering_extent_max_frames = 0,
      }
      for key, value in pairs(o) do
         directions[i][key] = value
      end
   end
   return trial.record({ time = "tsc", directions = directions, ports = {}, lcores = {} },
      { number = 1, test = "mine", frame_size = 64, fps = 100, seconds = 1 })
end

describe("what did not arrive as it was sent", function()
   it("is in the record by kind, and lost", function()
      local r = record({ rx = 0, altered = { quoted = 60, fragments = 40 } }, { altered = { quoted = 2 } })
      assert.same({ quoted = 62, fragments = 40 }, r.altered)
      assert.same({ quoted = 2 }, r.directions[2].altered)
      assert.same({ 100, 0, "valid" }, { r.directions[1].lost, r.directions[1].rx, r.validity })
      assert.is_nil(record({}, {}).altered)
   end)

   it("is counted as lost where a payload has changed, and is found in each trial from then on", function()
      local folder = scratch.path()
      local output, status = scratch.shell(("'%s' run '%sconfigs/rfc2544-reference.yaml' --quick --out '%s' --set 'reference_device={rate: 100Mbps, corrupt: {every: 20, skip: 42, spare: 18}}' --set 'rfc2544={tests: [frame_loss], frame_sizes: [512], bidirectional: false, frame_loss: {trial: 5s}}' 2>&1"):format(uv.exepath(), scratch.PROJECT, folder))
      assert.equal(0, status, output)
      local checked = output:match "Payload: ([%d,]+) frames compared"
      assert.is_true(checked ~= nil and output:find "frames with another payload" ~= nil, output)
      local trials = 0
      for line in scratch.read(folder .. "/trials.jsonl"):gmatch "[^\n]+" do
         local t = cjson.decode(line)
         trials = trials + 1
         assert.equal(t.lost, t.altered.wrong_payload)
         if trials > 1 then
            assert.near(t.tx / 20, t.lost, 1)
            assert.equal(t.tx, t.payload_checked)
         end
      end
      assert.is_true(trials > 2)
   end)

   it("is told of once for each direction", function()
      local list = notes_of.altered {
         record({ altered = { quoted = 1 } }, {}),
         record({ altered = { quoted = 1, wrong_length = 3 } }, { translated = { source = "198.19.1.1:7" } }),
      }
      assert.equal(2, #list)
      assert.matches("^east%->west: 2 frames quoted in ICMP errors, 3 frames longer or shorter", list[1])
      assert.matches("^west%->east: translated on the way %(NAT%): its source .* 198%.19%.1%.1:7;", list[2])
      assert.same({}, notes_of.altered { record({}, {}) })
   end)

   it("comes from both of two testers: errors come back to the sender", function()
      local joined = exchange.join_direction({ tx = 5, rx = 0, altered = { quoted = 3 } },
         { tx = 0, rx = 1, altered = { fragments = 1 }, reordering_extent_unknown_frames = 2 })
      assert.same({ quoted = 3, fragments = 1 }, joined.altered)
      assert.same({ 5, 1, 2 }, { joined.tx, joined.rx, joined.reordering_extent_unknown_frames })
   end)
end)

describe("the table of streams", function()
   local function result(o)
      local row = {
         stream = "s", direction = "east->west", frame_size = 64, offered_fps = 1, offered_l1_mbps = 1,
         tx = 10, rx = 10, lost = 0, loss_ratio = 0, validity = "valid", reasons = {}, trial = 1,
      }
      for key, value in pairs(o) do
         row[key] = value
      end
      return { results = { traffic = { row } }, trials = { { directions = { {
         direction = "s", availability = o.availability,
      } } } } }
   end
   local function notes(o)
      local list = {}
      view.notes(result(o), function(text) list[#list + 1] = text end)
      return table.concat(list, "\n")
   end

   it("has a second one of those that lost frames or got others", function()
      assert.equal(1, #view.terminal(result {}))
      for _, o in ipairs {
         { lost = 1 }, { altered = { quoted = 4 } }, { measured = { corrupted = 4 } },
         { measured = { misdirected = { north = 3, south = 1 } } },
      } do
         local one = view.terminal(result(o))[2]
         assert.equal("Lost or not as sent", one.title)
         local text = {}
         for i, column in ipairs(one.columns) do
            text[i] = column[3](one.rows[1]) or "-"
         end
         assert.matches(o.lost and "0 0" or "%f[%d]4%f[%D]", table.concat(text, " "))
      end
      local lost = view.terminal(result { lost = 5, measured = {
         outage_max_ns = 8.19e9, outage_max_begin_ns = 1e6,
      } })[2]
      assert.equal("8,190.000 1.000",
         lost.columns[3][3](lost.rows[1]) .. " " .. lost.columns[4][3](lost.rows[1]))
   end)

   it("calls what is beyond the tester's memory a lower bound", function()
      assert.matches("s: reordering extent of at least 281: of 6 late frames it is not known",
         notes { reordering_extent_max_frames = 281, reordering_extent_unknown_frames = 6 })
      assert.matches("IPDV without 248 pairs", notes { measured = { ipdv_unknown = 248 } })
      assert.equal("", notes { reordering_extent_max_frames = 281, measured = { ipdv_unknown = 0 } })
   end)

   it("says why seconds of loss leave the availability as it was", function()
      assert.matches("s: 8 seconds with more than half of the frames lost, 0 s of unavailability", notes {
         availability = { percent = 100, severely_errored_s = 8, unavailable_s = 0 },
      })
      assert.equal("", notes { availability = { percent = 100, severely_errored_s = 0, unavailable_s = 0 } })
   end)
end)
