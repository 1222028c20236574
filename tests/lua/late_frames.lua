-- SPDX-License-Identifier: BSD-3-Clause

--- What became of the streams of a trial, by a capture of the port that received them: each figure by its
-- definition, from a list of all frames, and nothing of the tester's.
local M = {}

local SIGNATURE, MAGIC = 18, "Fg"
local HEAD, RECORD, FCS = 24, 16, 4

local function little(text, at)
   local a, b, c, d = text:byte(at, at + 3)
   return a + 256 * (b + 256 * (c + 256 * d))
end

local function big(text, at, n)
   local value = 0
   for i = at, at + n - 1 do
      value = value * 256 + text:byte(i)
   end
   return value
end

--- Test frames of a pcap file with times in nanoseconds, in the order of arrival.
-- @return a list for each stream, in the order of their numbers, of { number =, stamp =, at = (ns), size = }
function M.read(path)
   local file = assert(io.open(path, "rb"))
   local text = file:read "*a"
   file:close()
   local by_id, ids, at = {}, {}, HEAD + 1
   while at <= #text do
      local length = little(text, at + 8)
      local signature = at + RECORD + length - SIGNATURE
      if length > SIGNATURE and text:sub(signature, signature + 1) == MAGIC then
         local id = big(text, signature + 2, 2)
         if not by_id[id] then
            by_id[id], ids[#ids + 1] = {}, id
         end
         table.insert(by_id[id], { number = big(text, signature + 4, 6), stamp = big(text, signature + 10, 6),
            size = length + FCS, at = little(text, at) * 1e9 + little(text, at + 4) })
      end
      at = at + RECORD + length
   end
   table.sort(ids)
   for i, id in ipairs(ids) do
      ids[i] = by_id[id]
   end
   return ids
end

--- Figures of a stream by the definitions: RFC 7680 (loss), 4737 (reordering), 5560 (copies), 3393 (IPDV, of
-- neighbours in the order of sending), 3550 (jitter, in the order of arrival).
-- @param frames  as M.read gave them
-- @param sent    how many there were
-- @param t_max   seconds after which a frame is lost; nil: never
function M.figures(frames, sent, t_max)
   local f = { rx = 0, duplicates = 0, reordered = 0, expired = 0, jitter_ns = 0, pairs = 0, magnitude = 0 }
   local delay, sum, highest, transit = {}, 0, -1, nil
   for _, frame in ipairs(frames) do
      local own = frame.at - frame.stamp
      if t_max and own > t_max * 1e9 then
         f.expired = f.expired + 1
      elseif delay[frame.number] then
         f.duplicates = f.duplicates + 1
      else
         delay[frame.number], f.rx, sum = own, f.rx + 1, sum + own
         f.min_ns, f.max_ns = math.min(f.min_ns or own, own), math.max(f.max_ns or own, own)
         f.reordered = f.reordered + (frame.number < highest and 1 or 0)
         highest = math.max(highest, frame.number)
         f.jitter_ns = f.jitter_ns + (transit and (math.abs(own - transit) - f.jitter_ns) / 16 or 0)
         transit = own
      end
   end
   for number, own in pairs(delay) do
      if delay[number - 1] then
         f.pairs, f.magnitude = f.pairs + 1, f.magnitude + math.abs(own - delay[number - 1])
      end
   end
   f.lost, f.mean_ns = sent - f.rx, f.rx > 0 and sum / f.rx
   return f
end

--- How many devices a campaign draws: FRAMEGAUGE_DRAWS in the environment, 100 in long tests, else a few.
function M.count()
   return tonumber(os.getenv "FRAMEGAUGE_DRAWS") or (os.getenv "FRAMEGAUGE_LONG" and 100) or 4
end

--- The numbers of a campaign. FRAMEGAUGE_SEED in the environment has another sequence.
-- @return function(least, most) -> a whole number
function M.draws()
   local state = tonumber(os.getenv "FRAMEGAUGE_SEED") or 1
   return function(least, most)
      state = (state * 16807) % 2147483647
      return least + state % (most - least + 1)
   end
end

return M
