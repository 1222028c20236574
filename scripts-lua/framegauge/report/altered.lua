-- SPDX-License-Identifier: BSD-3-Clause

--- What arrived of frames otherwise than they were sent, in sentences.
local format = require "framegauge.report.format"

local M = {}

local plural = format.plural

local MOST = 10 -- directions and streams that are told of, each

-- In the order of bench.altered's kinds.
local WORDS = {
   { "quoted", "%s quoted in ICMP errors" }, { "fragments", "%s of which only the last fragment is known" },
   { "wrong_length", "%s longer or shorter than they were sent" },
   { "wrong_protocol", "%s with another protocol in IP" },
}

--- Frames by kind, in words.
function M.in_words(altered)
   local list = {}
   for _, kind in ipairs(WORDS) do
      local frames = altered[kind[1]]
      list[#list + 1] = frames and kind[2]:format(plural(frames, "frame")) or nil
   end
   return table.concat(list, ", ")
end

--- Frames of all kinds; 0 without any.
function M.total(altered)
   local sum = 0
   for _, frames in pairs(altered or {}) do
      sum = sum + frames
   end
   return sum
end

-- What each direction of all trials has come to, in the order in which they first occur.
local function by_direction(trials, add)
   local order, sums = {}, {}
   for _, trial in ipairs(trials) do
      for _, d in ipairs(trial.directions or {}) do
         if add(d) and not sums[d.direction] then
            order[#order + 1], sums[d.direction] = d.direction, {}
         end
         if add(d) then
            add(d, sums[d.direction])
         end
      end
   end
   return order, sums
end

local function add_altered(d, sum)
   for kind, frames in pairs(sum and d.altered or {}) do
      sum[kind] = (sum[kind] or 0) + frames
   end
   return d.altered
end

local function add_translated(d, sum)
   for side, text in pairs(sum and d.translated or {}) do
      sum[side] = text
   end
   return d.translated
end

--- The sentences; none where every frame arrived as it was sent.
-- @param trials  of a result
function M.of(trials)
   local list = {}
   local order, sums = by_direction(trials, add_altered)
   for i = 1, math.min(#order, MOST) do
      list[i] = ("%s: %s came back or arrived; they count as lost, not as received."):format(order[i],
         M.in_words(sums[order[i]]))
   end
   order, sums = by_direction(trials, add_translated)
   for i = 1, math.min(#order, MOST) do
      local one, sides = sums[order[i]], {}
      sides[1] = one.source and "its source address or port arrived as " .. one.source
      sides[#sides + 1] = one.destination and "its destination as " .. one.destination
      list[#list + 1] = ("%s: translated on the way (NAT): %s%s."):format(order[i],
         table.concat(sides, ", "), one.source and "; what goes back has to be sent there" or "")
   end
   return list
end

return M
