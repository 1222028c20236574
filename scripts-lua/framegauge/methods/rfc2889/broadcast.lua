-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2889 section 5.10: what becomes of broadcasts, which a switch has to copy to every port but one.
--
-- The first port sends. Each of the others is the receiver of its own stream, and the streams take turns, but
-- every frame is for all of them. So each port's copies of every stream are counted separately: a port's
-- extra copies do not hide another port's loss. The delay of the copies at a port is its own stream's delay.
local tables = require "framegauge.core.tables"

local M = {}

local INTERVAL = 0.1 -- seconds between the broadcasts whose delay is measured

local function receiver_of(direction)
   return direction.direction:match "%->(.+)$"
end

-- Copies of the frames of a direction that came out at a port.
local function arrived(direction, port)
   if port == receiver_of(direction) then
      return direction.rx + (direction.duplicates or 0)
   end
   return direction.measured.misdirected and direction.measured.misdirected[port] or 0
end

--- A trial with broadcasts as one whose frames are their copies.
-- @param record  of the trial
-- @param pattern  of the traffic (framegauge.traffic.patterns)
-- @return the record, with other counts: tx, rx and lost, and lost by direction, are of copies; misdirected
-- is the number of extra copies, and of copies that came back to the sending port
-- @usage local one = broadcast.of_copies({ tx = 2, directions = {
--    { direction = "a->b", tx = 2, rx = 2, measured = { misdirected = { c = 1 } } },
--    { direction = "a->c", tx = 0, rx = 0, measured = {} },
-- } }, { copies = 2, senders = { { name = "a" } } })
-- return one.tx, one.lost, one.directions[2].lost --> 4 1 1
function M.of_copies(record, pattern)
   local out = { tx = record.tx * pattern.copies, lost = 0, misdirected = 0 }
   out.directions = tables.map(record.directions, function(direction)
      local lost, port = 0, receiver_of(direction)
      for _, one in ipairs(record.directions) do
         local missing = one.tx - arrived(one, port)
         lost = lost + math.max(0, missing)
         out.misdirected = out.misdirected + math.max(0, -missing)
      end
      out.lost = out.lost + lost
      return setmetatable({ lost = lost, loss_ratio = record.tx > 0 and lost / record.tx or 0 },
         { __index = direction })
   end)
   for _, direction in ipairs(record.directions) do
      out.misdirected = out.misdirected + arrived(direction, pattern.senders[1].name)
   end
   out.rx = out.tx - out.lost
   out.loss_ratio = out.tx > 0 and out.lost / out.tx or 0
   return setmetatable(out, { __index = record })
end

--- How long single broadcasts take.
function M.latency_seconds(frames, receivers)
   return frames * receivers * INTERVAL
end

--- Each port that receives: the delay of single broadcasts, and what it lost at the maximum offered load.
-- @param c       of the row (mesh.lua)
-- @param frames  of the broadcasts, for each port
-- @param mol     trial at the maximum offered load
-- @return list, and how far the least mean delay of a port and the greatest are apart; nil without a delay
function M.receivers(c, frames, mol)
   local record = c.trial(1 / INTERVAL, M.latency_seconds(frames, c.pattern.copies), "latency")
   local least, greatest
   local list = tables.map(record.directions, function(direction, i)
      local latency = direction.latency
      least = latency and math.min(least or latency.mean_ns, latency.mean_ns) or least
      greatest = latency and math.max(greatest or latency.mean_ns, latency.mean_ns) or greatest
      return {
         port = receiver_of(direction), mol_loss_ratio = mol.directions[i].loss_ratio, latency = latency,
      }
   end)
   return list, least and greatest - least
end

return M
