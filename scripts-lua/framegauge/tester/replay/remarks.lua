-- SPDX-License-Identifier: BSD-3-Clause

--- What one should know of a capture's content before believing its replay, in words.
local format = require "framegauge.text.format"
local units = require "framegauge.text.units"

local plural = format.plural

local M = {}

-- A gap is worth a word when it is long, and most of the recording or longer than anybody waits.
local LONG_NS, ENDLESS_NS = 60e9, 3600e9

--- The longest time without a frame, in words; nil where it is nothing to speak of.
function M.pause(facts)
   local gap = facts.gap_max_ns
   if gap >= ENDLESS_NS or gap >= LONG_NS and gap > facts.duration_ns / 2 then
      return ("nothing recorded for %s before frame %s"):format(units.format_time(gap / 1e9),
         format.count(facts.gap_frame))
   end
end

local function times(facts, add)
   if facts.times_back > 0 then
      add("%s with a time before the time of an earlier frame", plural(facts.times_back, "frame"))
   end
   if facts.times_anew > 0 then
      add("the clock goes back by 128 ms or more %s; the frames behind keep their recorded distances",
         plural(facts.times_anew, "time"))
   end
   local pause = M.pause(facts)
   if pause then
      add("%s", pause)
   end
end

local function networks(facts, add)
   if facts.unmoved > 0 then
      add("%s without an address that moves", plural(facts.unmoved, "frame"))
   end
   for _, one in ipairs(facts.networks) do
      if one.addresses == 0 then
         add("no address of %s is in the capture", one.network)
      end
   end
end

--- Remarks on a capture.
-- @param facts      of a replay (framegauge.tester.replay)
-- @param max_frame  the largest frame that is sent, bytes with FCS
-- @return a list of texts, empty when there is nothing to say
function M.of(facts, max_frame)
   local list = {}
   local function add(...)
      list[#list + 1] = string.format(...)
   end
   local function count(key, text)
      if facts[key] > 0 then
         add("%s %s", plural(facts[key], "frame"), text)
      end
   end
   count("oversize", ("skipped: larger than %d bytes (max-frame)"):format(max_frame))
   count("too_short", "skipped: shorter than 14 bytes")
   count("wrong_length", "skipped: the file holds more bytes than the frame had")
   count("truncated", "truncated in the file, and padded with zeros")
   count("fcs_removed", "sent without the FCS that the file holds")
   networks(facts, add)
   times(facts, add)
   return list
end

return M
