-- SPDX-License-Identifier: BSD-3-Clause

--- A flow gets another rate or size while it runs: its counts, numbers and header values go on, and it sends
-- what is left to send.
local slots_of = require "framegauge.services.otg.slots"
local spread = require "framegauge.services.otg.spread"
local tables = require "framegauge.core.tables"

local M = {}

--- Does a flow still send, or will it when it is resumed?
function M.is_sending(flow)
   return flow.state ~= "stopped" and not flow.ending
end

local is_sending = M.is_sending

-- What of a load is left to send of a flow that runs; nil: nothing.
local function rest_of(traffic, flow, load)
   local rest, now = tables.copy(load), flow.paused_at or traffic.time
   if flow.waits then
      return rest
   end
   rest.frames = load.frames and load.frames - traffic:counts(flow).tx
   rest.seconds = load.seconds and flow.ends and flow.ends - now
   return (rest.frames or 1) > 0 and (rest.seconds or 1) > 0 and rest or nil
end

--- Let other streams go on for the streams of a flow that runs, from the frame on that would have been the
-- next. Where other ports send them, the last ones had not all come as far, and some values may come again.
function M.replace(traffic, flow)
   local before, sent = flow.slots, 0
   local sent_by = tables.map(before.senders, function(slot)
      return traffic.live:retire(slot)
   end)
   for _, frames in ipairs(sent_by) do
      sent = sent + frames
   end
   traffic:look_at_counts()
   local rest = is_sending(flow) and rest_of(traffic, flow, flow.stream.load)
   local parts = rest and not spread.has_moved(flow) and spread.continued(before.parts, rest, sent_by) or nil
   local slots = rest and traffic:enter(flow, rest, flow.first + sent, parts)
   if slots and is_sending(flow) then
      flow.former[#flow.former + 1] = { slots = flow.slots, till = traffic.time + traffic.drain }
      flow.slots, flow.first = slots, flow.first + sent
      if flow.state == "started" and not flow.waits then
         traffic:start_streams(slots)
      end
   elseif slots then
      traffic:leave(slots)
   end
end

-- Must another stream go on for the stream of a flow, if this becomes its stream? A load of a number of
-- frames could be changed, too, but what is left of it is known only when nothing of it is sent any more.
local function is_other(flow, stream)
   return stream.load.frames ~= nil or not tables.same(flow.stream.cycle, stream.cycle)
end

--- Whether there is room for flows to get other streams.
-- @param list  of { flow =, stream = }
function M.have_room(traffic, list)
   local n = 0
   for _, one in ipairs(list) do
      n = n + (is_sending(one.flow) and is_other(one.flow, one.stream) and slots_of.count(one.flow) or 0)
   end
   return not traffic.live or n <= traffic.live:room()
end

--- Give a flow another stream; while it runs it may differ in its load and the sizes of its frames. Nothing
-- may start or stop meanwhile.
function M.apply(traffic, flow, stream)
   local other = is_other(flow, stream)
   flow.stream = stream
   if not is_sending(flow) then
      return
   elseif other then
      M.replace(traffic, flow)
   else
      traffic:look_at_counts()
      local rest = rest_of(traffic, flow, stream.load)
      if rest then
         for i, slot in ipairs(flow.slots.senders) do
            traffic.live:set_load(slot, spread.share(rest, i, #flow.slots.senders))
         end
      end
   end
end

--- Flows over a LAG leave over its ports that are in use now. Call it inside a job.
function M.follow_lags(traffic)
   local flows = traffic.live and traffic.flows or {}
   spread.refresh(flows)
   for _, flow in ipairs(flows) do
      if spread.has_moved(flow) and traffic.live and slots_of.count(flow) <= traffic.live:room() then
         traffic:alone(function()
            if traffic.live and is_sending(flow) then
               M.replace(traffic, flow)
            end
         end)
      end
   end
end

return M
