-- SPDX-License-Identifier: BSD-3-Clause

--- One half of a trial of two testers.
local C = require("framegauge.core.api").C
local exchange = require "framegauge.tester.remote.exchange"
local ffi = require "ffi"
local time = require "framegauge.clock.time"

local ETIME = 62 -- of fg_engine_prepare(): too late

local M = {}

-- Frames sent of our streams; 0 of the others.
local function sent(engine, streams)
   local list, result = {}, ffi.new "struct fg_stream_result"
   for i, stream in ipairs(streams) do
      C.fg_engine_stream_result(engine, i - 1, result)
      list[i] = stream.idle and 0 or tonumber(result.tx)
   end
   return list
end

local function learn_of_others(engine, streams, frames)
   for i, stream in ipairs(streams) do
      if stream.idle then
         C.fg_engine_peer_sent(engine, i - 1, frames[i])
      end
   end
end

-- The agreed start had passed before the preparation was complete. The other half stops when it receives
-- this.
local function miss(o, why)
   o.link:send { op = "sent", frames = {}, missed = why }
   o.link:receive "sent"
   return nil, why
end

--- Run it.
-- @param o.tester    ours
-- @param o.link, o.offset  to the other tester
-- @param o.trial     { first_id =, streams = (packed), learning_wait =, drain =, settle = }
-- @param o.ours      name of our port in both plans
-- @param o.at        when its traffic starts, int64 nanoseconds of the common time
-- @param o.stopped   function() -> whether to end early, or nil
-- @return packed counts; or nil and a sentence, when one half missed the start
function M.trial(o)
   local streams = exchange.unpack_streams(o.trial.streams, o.tester.ports[1].name, o.ours)
   local ok, raw = pcall(o.tester.trial, o.tester, {
      streams = streams, directions = {}, learning_wait = o.trial.learning_wait, drain = o.trial.drain,
      settle = o.trial.settle,
      joint = {
         first_id = o.trial.first_id,
         start = function()
            return ffi.cast("uint64_t", o.at - o.offset.ours)
         end,
         look = function()
            for i, stream in ipairs(streams) do
               if stream.idle then
                  C.fg_engine_peer_clock(o.tester.engine, i - 1, o.offset:ahead())
               end
            end
            return o.stopped and o.stopped() or o.link:next_has "missed"
         end,
         finish = function()
            o.link:send { op = "sent", frames = sent(o.tester.engine, streams) }
            local other = o.link:receive "sent"
            if other.missed then
               error({ missed = other.missed }, 0)
            end
            learn_of_others(o.tester.engine, streams, other.frames)
         end,
      },
   })
   if ok then
      return exchange.pack_counts(raw)
   elseif type(raw) == "table" and raw.missed then
      return nil, raw.missed
   elseif type(raw) == "table" and raw.code == ETIME then
      return miss(o, raw.message)
   end
   error(raw, 0)
end

--- A time at which traffic can start in both halves.
-- @param seconds  from now
function M.moment(offset, seconds)
   return time.raw() + offset.ours + ffi.cast("int64_t", seconds * 1e9)
end

return M
