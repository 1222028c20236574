-- SPDX-License-Identifier: BSD-3-Clause
local records = require "framegauge.trial.result"
local result = require "framegauge.report.result"
local show = require "framegauge.text.show"
local tables = require "framegauge.core.tables"
local text_verdict = require "framegauge.text.verdict"
local trial = require "framegauge.trial"

local function raw_direction(name, o)
   local direction = {
      name = name, intended_frames = 1000, intended_fps = 1000, tx = 1000, rx = 1000, duplicates = 0,
      reordered = 0, reordering_extent_max_frames = 0, late = 0, refused = 0, no_mbuf = 0,
      tx_duration_ns = 999e6,
   }
   for key, value in pairs(o or {}) do
      direction[key] = value
   end
   return direction
end

local function raw(o)
   return {
      time = "tsc", duration_s = 1,
      directions = { raw_direction("east->west", o.forward), raw_direction("west->east", o.back) },
      ports = { o.east or { name = "east" }, o.west or { name = "west" } },
      lcores = o.lcores or { { id = 1, poll_gap_max_ns = 5000 }, { id = 2, poll_gap_max_ns = 7000 } },
   }
end

local function record(o, any_loss)
   return trial.record(raw(o or {}), {
      number = 3, test = "rfc2544.throughput", phase = "search", frame_size = 64, direction = "both",
      fps = 1000, seconds = 1, line_fps = 2000, any_loss = any_loss,
   })
end

describe("a trial record", function()
   it("sums counts over the directions and keeps rates per direction", function()
      local r = record {
         forward = { rx = 990, duplicates = 1, reordered = 2, refused = 3 }, back = { rx = 995 },
      }
      assert.same({ 3, 2000, 1985, 15 }, { r.trial, r.tx, r.rx, r.lost })
      assert.same({ 1, 2, 3 }, { r.duplicates, r.reordered, r.refused })
      assert.equal(15 / 2000, r.loss_ratio)
      assert.same({ 1000, 50, 1000 }, { r.intended_fps, r.intended_percent, r.offered_fps })
      assert.equal(7000, r.poll_gap_max_ns)
      assert.same({ 10, 5 }, { r.directions[1].lost, r.directions[2].lost })
      assert.equal("valid", r.validity)
      assert.same({}, r.reasons)
   end)

   it("names the worst of many directions that fell short", function()
      local many = raw {}
      for i = 1, 5 do
         local n = 1000 - i % 4
         many.directions[i] = raw_direction("p1->p" .. i, { tx = n, late = i % 4, rx = n })
      end
      local ask = { number = 1, test = "mesh", frame_size = 64, direction = "all", fps = 1000, seconds = 1 }
      assert.same({ "p1->p3: 3 of 1,000 frames were not sent, because the tester was late (the worst of 4 directions)" }, trial.record(many, ask).reasons)
      many.directions[5] = nil
      assert.same(3, #trial.record(many, ask).reasons)
   end)

   it("says which port the device paused, and does not blame the tester for it", function()
      local paused = { name = "east", rx_pause = 12, paused_ns = 98.24e6 }
      local because = "because the device paused port east 12 times, for 98.2 ms in all"
      for _, one in ipairs {
         { { tx = 600, rx = 600, late = 400 }, "400 of 1,000 frames were not sent, " .. because },
         { { tx = 600, rx = 600, unsent = 400 },
            "400 of 1,000 frames were not sent when the trial ended, " .. because },
         { { tx_duration_ns = 1.5e9 }, "at 666 frames per second instead of 1000, " .. because },
         { { rx = 990, off_schedule = 500 },
            "10 frames lost, but 500 frames left off schedule, " .. because },
      } do
         local r = record { forward = one[1], east = paused }
         assert.same({ "tester-limited", { "east->west: " .. one[2] } }, { r.validity, { (r.reasons[1]:gsub(
            "all frames were sent, but ", "")) } })
         assert.same({ { port = "east", times = 12, waited_ns = 98.24e6,
            unsent_frames = 1000 - (one[1].tx or 1000) } }, r.pauses)
      end
      -- the other port did not pause
      local r = record { back = { tx = 600, rx = 600, late = 400 }, east = paused }
      assert.same({ "west->east: 400 of 1,000 frames were not sent, because the tester was late" }, r.reasons)
      assert.equal("valid", record({ east = paused }).validity)
   end)

   it("counts what waits in a port that has to pause as not sent, nor as lost", function()
      local waiting = { name = "east", rx_pause = 1, paused_ns = 0, tx_waiting = 30 }
      local r = record { forward = { tx = 970, unsent = 30, rx = 960 }, east = waiting }
      assert.same({ "tester-limited", { "east->west: 30 of 1,000 frames were not sent when the trial ended, because the device paused port east 1 time" } }, { r.validity, r.reasons })
      assert.equal(30, r.pauses[1].unsent_frames)
      assert.same({ 970, 10, 30 }, { r.directions[1].tx, r.directions[1].lost, r.directions[1].unsent })
      assert.near(969, r.directions[1].offered_fps, 1e-6) -- until the trial ended
   end)

   it("offers a load until the last frame has left a port that had to pause", function()
      local r = record { forward = { tx_wait_ns = 999e6 },
         east = { name = "east", rx_pause = 1, paused_ns = 4e8 } }
      assert.same({ "tester-limited", { "east->west: all frames were sent, but at 500 frames per second instead of 1000, because the device paused port east 1 time, for 400.0 ms in all" } }, { r.validity, r.reasons })
      assert.near(500, r.directions[1].offered_fps, 1e-6)
      assert.near(1000, r.directions[2].offered_fps, 1e-6)
   end)

   it("does not know the order of what came over several queues, nor what came too late", function()
      local r = record { forward = { unordered = true, reordered = 0, substreams = 2 },
         back = { reordered = 5 } }
      assert.same({ nil, nil, 5, 2 }, { r.reordered, r.directions[1].reordered, r.directions[2].reordered,
         r.directions[1].substreams })
      assert.matches('"reordered":null.*"reordered":null', result.trial_line(r, "rfc2544"))
      assert.equal("valid", r.validity)
      r = record {
         forward = { unordered = true, rx = 998, stale = 2 }, east = { name = "east", rx_overflow = 3 },
      }
      assert.equal("tester-limited", r.validity)
      assert.matches("2 frames came over another queue too late", r.reasons[1])
      assert.matches("east: 3 frames arrived over another queue", r.reasons[2])
      assert.equal(3, r.tester_drops)
   end)

   it("knows the loss as an interval where frames came too late to be told from copies", function()
      local late = { rx = 990, lost = 10, stale = 3, duplicates = 2 }
      local r = record { forward = late }
      assert.same({ "tester-limited", 10, 7, 7 },
         { r.validity, r.lost, r.lost_min, r.directions[1].lost_min })
      assert.matches("of 10 frames lost 3 may have come: 3 frames came too late to tell", r.reasons[1])
      local heads = tables.field(show.columns(records.TRIAL, "trials", { r }), 1)
      assert.matches("Lost,At least,", table.concat(heads, ","), 1, true)
      assert.equal("valid", record({ forward = late }, true).validity)
      late.stale = 12 -- perhaps none was lost
      r = record({ forward = late }, true)
      assert.same({ "tester-limited", 0 }, { r.validity, r.lost_min })
      r = record { forward = { stale = 3, duplicates = 2 } } -- all came: these are copies
      assert.same({ "valid", nil, 5, 0 }, { r.validity, r.lost_min, r.duplicates, r.directions[1].stale })
   end)

   it("is not valid where the reference device had no buffer for its copies", function()
      local counts = raw { east = { name = "east", rx_no_mbuf = 7 } }
      counts.time = "wire-free"
      local r = trial.record(counts, { test = "mine", frame_size = 64, fps = 1000, seconds = 1 })
      local why = "east: the reference device had no buffer for 7 frames on the way to it: it holds too many at once"
      assert.same({ "tester-limited", { why } }, { r.validity, r.reasons })
   end)

   it("is the tester's where an lcore began after the traffic and frames are missing", function()
      local late = { id = 2, polls = 1, poll_gap_max_ns = 5, late_ns = 7400 }
      local r = record { forward = { rx = 990, lost = 10 }, lcores = { late } }
      assert.same({ "tester-limited", "lcore 2 began 7 us after the traffic: the host had it elsewhere" },
         { r.validity, r.reasons[1] })
      assert.equal("valid", record({ lcores = { late } }).validity)
   end)

   it("offers the load of its slowest direction", function()
      assert.equal(999 * 1e9 / 1.2e9, record({ back = { tx_duration_ns = 1.2e9 } }).offered_fps)
      local single = { tx = 1, rx = 1, intended_frames = 1, tx_duration_ns = 0 }
      assert.equal(1, record({ back = single }).offered_fps)
   end)

   it("joins latency: extremes and mean of all frames, the worse percentile", function()
      local function latency(n, low, mean, high)
         return {
            count = n, min_ns = low, mean_ns = mean, p50_ns = mean, p99_ns = high, p999_ns = high,
            max_ns = high, source = "tsc", error_bound_ns = low, definition = "FIFO",
         }
      end
      local r = record {
         forward = { latency = latency(30, 5, 10, 20) }, back = { latency = latency(10, 4, 30, 60) },
      }
      assert.same({
         count = 40, min_ns = 4, mean_ns = 15, p50_ns = 30, p99_ns = 60, p999_ns = 60, max_ns = 60,
         source = "tsc", error_bound_ns = 5, definition = "FIFO",
      }, r.latency)
      assert.is_nil(record().latency)
   end)
end)

describe("the verdict", function()
   local function verdict(o)
      local r = record(o)
      return r.validity, table.concat(r.reasons, "; ")
   end

   it("is tester-limited when frames were late, even without loss", function()
      local v, why = verdict { forward = { tx = 999, rx = 999, late = 1 } }
      assert.equal("tester-limited", v)
      assert.equal("east->west: 1 of 1,000 frames were not sent, because the tester was late", why)
   end)

   it("is tester-limited when more than 10 us worth of frames were not sent", function()
      assert.equal("valid", (verdict { forward = { tx = 999, rx = 999, tx_duration_ns = 998e6 } }))
      local v, why = verdict { forward = { tx = 900, rx = 900 } }
      assert.equal("tester-limited", v)
      assert.matches("100 of 1,000 frames were not sent when the trial ended", why, 1, true)
   end)

   it("is tester-limited when all frames were sent, but took longer than they should", function()
      assert.equal("valid", (verdict { forward = { tx_duration_ns = 999.5e6 } }))
      local v, why = verdict { forward = { tx_duration_ns = 1100e6 } }
      assert.equal("tester-limited", v)
      assert.equal("east->west: all frames were sent, but at 908.18 frames per second instead of 1000", why)
   end)

   it("holds loads one after the other and frames of several sizes against whole frames", function()
      local loads = { { fps = 54.9, seconds = 0.25 }, { fps = 103.4, seconds = 0.25 } } -- 14 and 26 frames
      local span = 14 / 54.9 + 25 / 103.4
      local function of(changes, more_s)
         local d = raw_direction("a->b", { tx = 40, rx = 40, intended_frames = 40,
            tx_duration_ns = (span + (more_s or 0)) * 1e9 })
         for key, value in pairs(changes or {}) do
            d[key] = value
         end
         return trial.record({ time = "tsc", directions = { d }, ports = {} },
            { fps = 79.15, seconds = 0.5, loads = loads })
      end
      assert.same({}, of().reasons)
      assert.near(40 / (14 / 54.9 + 26 / 103.4), of().offered_fps, 1e-6)
      assert.same({}, of({ tx = 20, rx = 20, intended_frames = 20, share = 0.5,
         tx_duration_ns = (span - 1 / 54.9) * 1e9 }).reasons)
      assert.matches("at 40.013 frames per second instead of 78.98",
         of({ tx_duration_ns = 990e6 }).reasons[1])
      assert.equal("tester-limited", of({}, 0.001).validity)
      -- 334.37 frames a second by bits: 334 whole ones
      local imix = raw_direction("imix", { uneven = true, intended_frames = 334, intended_fps = 334.37,
         tx = 334, rx = 334, tx_duration_ns = 996e6 })
      local function mixed()
         return trial.record({ time = "tsc", directions = { imix }, ports = {} },
            { fps = 334.37, seconds = 1, streams = {} }).validity
      end
      assert.equal("valid", mixed())
      imix.tx_duration_ns = 1010e6
      assert.equal("tester-limited", mixed())
   end)

   it("lets a short burst last longer by as much as no sender can help", function()
      local short = { tx = 64, intended_frames = 64, rx = 64, intended_fps = 92000 }
      local function lasting(us)
         short.tx_duration_ns = 63 / 92000 * 1e9 + us * 1e3
         return trial.record({ time = "tsc", directions = { raw_direction("a->b", short) }, ports = {} },
            { fps = 92000, seconds = 64 / 92000 }).validity
      end
      assert.equal("valid", lasting(9))
      assert.equal("tester-limited", lasting(11))
   end)

   it("is tester-limited when no more frames are lost than left off schedule", function()
      assert.equal("valid", (verdict { forward = { off_schedule = 50 } }))
      local v, why = verdict { forward = { off_schedule = 50, rx = 950, lag_max_ns = 20e6 } }
      assert.equal("tester-limited", v)
      assert.equal("east->west: 50 frames lost, but 50 frames left off schedule, up to 20.0 ms late and close together", why)
      -- how many are lost is another question
      local counted = { forward = { off_schedule = 3, rx = 500 } }
      v, why = verdict(counted)
      assert.equal("tester-limited", v)
      assert.matches("500 frames lost, but 3 frames left off schedule", why, 1, true)
      assert.equal("valid", trial.record(raw(counted), { fps = 1000, seconds = 1, any_loss = true }).validity)
      -- nor does it matter what the device has held before
      local late = { forward = { off_schedule = 50, rx = 950, lag_max_ns = 1e6 } }
      for held, wanted in pairs { [0.9] = "tester-limited", [1] = "valid" } do
         local one = trial.record(raw(late), { fps = 1000, seconds = 1, any_loss = true, held = held })
         assert.equal(wanted, one.validity)
      end
      -- for so long a moment that the queue of the device may have been fuller than then
      late.forward.lag_max_ns = 20e6
      local one = trial.record(raw(late), { fps = 1000, seconds = 1, any_loss = true, held = 20 })
      assert.equal("tester-limited", one.validity)
      -- both directions may share what the frames meet
      assert.equal("tester-limited", (verdict { forward = { off_schedule = 50 }, back = { rx = 990 } }))
   end)

   it("is tester-limited when frames are lost that may have come while nobody received", function()
      local function held_up(ms, o)
         o.lcores = { { id = 1, poll_gap_max_ns = ms * 1e6 } }
         o.west = { name = "west", rx_ring = 10 }
         return verdict(o)
      end
      assert.equal("valid", (held_up(5, { forward = { rx = 999 } })), "2 x 1,000 fps: ten frames fit")
      assert.equal("valid", (held_up(6, {})), "nothing is missing")
      assert.equal("valid", (held_up(6, { forward = { rx = 900 } })), "more are missing than came")
      -- how many are missing is another question
      assert.equal("tester-limited", (held_up(7, { forward = { rx = 900 } })))
      local many = raw { forward = { rx = 900 }, west = { name = "west", rx_ring = 10 },
         lcores = { { id = 1, poll_gap_max_ns = 7e6 } } }
      assert.equal("valid", trial.record(many, { fps = 1000, seconds = 1, any_loss = true }).validity)
      local v, why = held_up(6, { forward = { rx = 999 } })
      assert.equal("tester-limited", v)
      assert.equal("west: the tester fetched nothing for 6.0 ms, in which up to 12 frames arrive; its ring holds 10", why)
   end)

   it("is tester-limited when frames were fetched after the drain had ended", function()
      local function fetched(ms, drain)
         local one = raw { back = { last_arrival_ns = ms * 1e6, rx = 990 } }
         one.drain_s = drain
         local r = trial.record(one, { fps = 1000, seconds = 1 })
         return r.validity, r.reasons[1]
      end
      assert.equal("valid", (fetched(1100.09, 0.1)))
      assert.equal("valid", (fetched(3001.9, 2)))
      assert.equal("valid", (fetched(9000)), "of two testers")
      local v, why = fetched(1136.3, 0.1)
      assert.equal("tester-limited", v)
      assert.equal("west->east: frames were fetched up to 36.3 ms after the drain had ended, because the tester was late", why)
   end)

   it("is tester-limited when the tester dropped frames and frames are missing", function()
      assert.equal("valid", (verdict { west = { name = "west", rx_missed = 1234 } }))
      local v, why = verdict { west = { name = "west", rx_missed = 1234 }, forward = { rx = 10 } }
      assert.equal("tester-limited", v)
      assert.equal("west: the tester dropped 1,234 frames that arrived (receive ring full)", why)
      v, why = verdict { west = { name = "west", rx_no_mbuf = 1, tx_errors = 2 }, forward = { rx = 10 } }
      assert.equal("tester-limited", v)
      assert.matches("no buffer left", why)
      assert.matches("failed to send 2 frames", why)
   end)

   it("is tester-limited when buffers ran out", function()
      local v, why = verdict { back = { no_mbuf = 7 } }
      assert.equal("tester-limited", v)
      assert.matches("west->east: the tester ran out of frame buffers 7 times", why, 1, true)
   end)

   it("is tester-limited when stamps of a card were not what they should be", function()
      local v, why = verdict { west = { name = "west", rx_unstamped = 3 } }
      assert.equal("tester-limited", v)
      assert.matches("west: 3 frames had no stamp of the card that could be", why, 1, true)
      v, why = verdict { west = { name = "west", rx_stamp_jumps = 1 } }
      assert.equal("tester-limited", v)
      assert.matches("west: the clock of the card was set 1 time", why, 1, true)
   end)

   it("is invalid when the link changed, whatever else happened", function()
      local v, why = verdict {
         east = { name = "east", link_changes = 2 }, back = { late = 1, tx = 999, rx = 999 },
      }
      assert.equal("invalid", v)
      assert.matches("^east: the link changed 2 times", why)
      assert.matches("; west%->east", why)
   end)

   it("is invalid when the card counted faults of a link that was up at every look", function()
      local v, why = verdict { west = { name = "west", link_faults = 1 }, forward = { rx = 998 } }
      assert.equal("invalid", v)
      assert.matches("^west: the card counted 1 fault of its link during the trial", why)
   end)

   it("is invalid when a card was removed, which is not the fault of its peer", function()
      local v, why = verdict {
         west = { name = "west", removed = 1, link_down = 1 }, forward = { late = 900, tx = 100, rx = 90 },
      }
      assert.equal("invalid", v)
      assert.equal("west: the card or interface was removed", why)
   end)

   it("is invalid when another process took what arrived, also where the link may change", function()
      local west = { name = "west", intercepted = 1, link_changes = 1 }
      local v, why = verdict { west = west, forward = { rx = 0 } }
      assert.equal("invalid", v)
      assert.equal("west: another program takes frames from the interface by XDP, or has detached the port's program", why)
      assert.equal(why, text_verdict.link_reason(west, true))
      assert.falsy(text_verdict.link_reason({ name = "west", link_changes = 1 }, true))
   end)

   -- Counters of a card in agreement with ours, but for what is given.
   local function with_card(o)
      local card = {
         port = "east", tx = 1000, card_tx = 1000, card_rx = 900, rx = 900, card_rx_total = 905,
         rx_missed = 2, rx_no_mbuf = 0, rx_errors = 3, tx_unaccounted = 0, rx_unaccounted = 0,
      }
      for key, value in pairs(o) do
         card[key] = value
      end
      return { name = "east", card = card, link_changes = o.link_changes }
   end

   it("has the counters of cards, which explain what was missed and what was damaged", function()
      local r = record { east = with_card {}, forward = { rx = 990 } }
      assert.same({ "valid", 905 }, { r.validity, r.cards[1].card_rx_total })
      assert.matches('"cards":%[{"port":"east","tx":1000,', result.trial_line(r, "rfc2544"))
      assert.falsy(record().cards)
   end)

   it("is invalid where a card and the tester disagree without a reason", function()
      for why, o in pairs {
         ["^east: 2 frames of 1,000 that were handed to the card it never counted as sent$"]
            = { tx_unaccounted = -2 },
         ["^east: the card sent 1 frame more than the 1,000 that were handed to it$"]
            = { tx_unaccounted = 1 },
         ["^east: the card received 3 frames that never came out of it"] = { rx_unaccounted = 3 },
         ["^east: 1 frame came out of the card that it never counted as received$"]
            = { rx_unaccounted = -1 },
      } do
         local r = record { east = with_card(o) }
         assert.equal("invalid", r.validity)
         assert.matches(why, r.reasons[1])
         o.link_changes = 1 -- what was on its way then is lost without a count
         assert.same({ "east: the link changed 1 time during the trial" },
            record({ east = with_card(o) }).reasons)
      end
   end)

   it("is invalid where frames are lost that a card took to no queue", function()
      local swallowed = { card_rx_total = 906 }
      assert.equal("valid", record({ east = with_card(swallowed) }).validity)
      local r = record { east = with_card(swallowed), forward = { rx = 999 } }
      assert.equal("invalid", r.validity)
      assert.matches("^east: 1 frame arrived at the card, reached no queue", r.reasons[1])
      -- a card that does not tell how many arrived
      local silent = with_card { card_rx_total = 0 }
      assert.equal("valid", record({ east = silent, forward = { rx = 999 } }).validity)
   end)

   it("is invalid without a link, and nothing is held against the tester then", function()
      local v, why = verdict {
         west = { name = "west", link_changes = 1, link_down = 1 },
         forward = { late = 900, tx = 100, rx = 90 },
      }
      assert.equal("invalid", v)
      assert.equal("the peer of west is gone: the link was down at the end of the trial", why)
   end)

   it("is invalid when more was received than sent", function()
      local v, why = verdict { forward = { rx = 1001 } }
      assert.equal("invalid", v)
      assert.matches("1,001 and 1,000", why)
      assert.equal(0, record({ forward = { rx = 1001 } }).lost)
   end)

   it("is invalid when frames came back that were never sent", function()
      local v, why = verdict { back = { excess = 3 } }
      assert.equal("invalid", v)
      assert.equal("west->east: frames came back that were never sent", why)
   end)

   it("is invalid when no frame was due", function()
      assert.equal("invalid", (verdict { forward = { intended_frames = 0, tx = 0, rx = 0 } }))
   end)

   it("does not mind refused frames and long gaps that did no harm", function()
      local v = verdict { forward = { refused = 100 }, lcores = { { poll_gap_max_ns = 5e7 } } }
      assert.equal("valid", v)
   end)
end)
