-- SPDX-License-Identifier: BSD-3-Clause

--- What a trial of the L4 engine showed, as one record: the object that trials.jsonl keeps, that result.json
-- repeats, and that every figure of a row follows from. A run that is resumed has nothing else.
local counts = require "framegauge.tester.counts"
local json = require "framegauge.text.json"
local verdict = require "framegauge.text.verdict"

local M = {}

local TESTER_FAULT = 3 -- severity of a counter that says the tester was short of something
-- Share of the time that all workers together may be held up. A client that waits for an answer waits for
-- them, too, so that a rate may be as much too low.
local HELD_UP = 0.05

--- A counter of a side; those that stayed at 0 are not written down.
function M.count(side, name)
   return side.counters[name] or 0
end

local function tester_reasons(sides, engine, add)
   for _, side in ipairs(sides) do
      for name, severity in pairs(side.severities) do
         if severity == TESTER_FAULT and side.counters[name] > 0 then
            add("%s: %s %d", side.role, name, side.counters[name])
         end
      end
      if side.station.no_mbuf > 0 then
         add("%s: out of buffers %d times", side.role, side.station.no_mbuf)
      end
   end
   for _, port in ipairs(engine.ports) do
      local drops = port.rx_missed + port.rx_no_mbuf + port.tx_errors
      if drops > 0 then
         add("port %s: the tester dropped %d frames", port.name, drops)
      end
   end
end

local function total(list, ...)
   local sum = 0
   for _, item in ipairs(list) do
      for _, key in ipairs { ... } do
         sum = sum + item[key]
      end
   end
   return sum
end

local function held_up_reason(record, engine, add)
   local share = total(engine.lcores, "stalled_ns") / 1e9 / record.duration_s
   if share > HELD_UP then
      add("the host held the tester up for %.0f %% of the time", math.min(1, share) * 100)
   end
end

local function link_reasons(engine, add)
   for _, port in ipairs(engine.ports) do
      local lost = verdict.link_reason(port)
      if lost then
         add("%s", lost)
      end
   end
end

local function wrong_octets(sides)
   local wrong = 0
   for _, side in ipairs(sides) do
      wrong = wrong + side.counters.wrong_octets
   end
   return wrong
end

local function lister()
   local list = {}
   return list, function(...)
      list[#list + 1] = string.format(...)
   end
end

local function judge(record, sides, engine, nothing, limits)
   local invalid, add_invalid = lister()
   local limited, add_limited = lister()
   local wrong = wrong_octets(sides)
   if nothing then
      add_invalid("%s", nothing == true and "nothing came through" or nothing)
   end
   if wrong > 0 then
      add_invalid("%d bytes arrived other than they were sent", wrong)
   end
   link_reasons(engine, add_invalid)
   for _, reason in ipairs(verdict.card_reasons(engine.ports, true)) do
      add_invalid("%s", reason)
   end
   tester_reasons(sides, engine, add_limited)
   held_up_reason(record, engine, add_limited)
   for _, limit in ipairs(limits) do
      add_limited("%s", limit)
   end
   table.sort(limited)
   verdict.settle(record, invalid, limited)
end

-- Counters that counted something.
local function counted(counters)
   local out = json.object {}
   for name, value in pairs(counters) do
      out[name] = value > 0 and value or nil
   end
   return out
end

local function longest(lcores)
   local gap
   for _, lcore in ipairs(lcores) do
      gap = math.max(gap or 0, lcore.poll_gap_max_ns)
   end
   return gap
end

--- Make the record of a trial.
-- @param ask      of the session: number, test, title, phase, direction, seconds, setting
-- @param tester   on which it was made
-- @param sides    what framegauge.tester.l4.trial gave, each with its role in words
-- @param engine   the same
-- @param nothing  whether nothing came through that a figure could be made of; or why, a sentence
-- @param limits   sentences on what the tester did not do of what it was asked for, or nil
function M.of(ask, tester, sides, engine, nothing, limits)
   local record = {
      trial = ask.number, test = ask.test, title = ask.title, phase = ask.phase, direction = ask.direction,
      duration_s = ask.seconds, time = tester.clock, setting = ask.setting, sides = {},
      tester_drops = total(engine.ports, "rx_missed", "rx_no_mbuf", "tx_errors"),
      poll_gap_max_ns = longest(engine.lcores), cards = counts.cards(engine.ports),
   }
   judge(record, sides, engine, nothing, limits or {})
   for i, side in ipairs(sides) do
      record.sides[i] = {
         role = side.role, apps = side.apps, counters = counted(side.counters), open = side.open,
         station = side.station, memory = side.memory,
      }
   end
   return record
end

return M
