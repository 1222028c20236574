-- SPDX-License-Identifier: BSD-3-Clause

--- What must hold before flows start: the trial that runs has room for them, the lines of their ports carry
-- them, and it is known where their frames go.
local refusal = require "framegauge.services.otg.refusal"
local slots = require "framegauge.services.otg.slots"
local spread = require "framegauge.services.otg.spread"

local M = {}

local START_SECONDS = 5 -- that a flow waits for its LAG

-- The first flow of a list for which the trial that runs has no room; nil: it has room for all.
local function excess(traffic, flows)
   local room = traffic.live and traffic.live:room() or math.huge
   for _, flow in ipairs(flows) do
      room = room - (flow.state == "stopped" and slots.count(flow) or 0)
      if room < 0 then
         return flow
      end
   end
   return nil
end

-- Frames are told apart by tags where the trial that runs began with such flows.
local function check_tags(traffic, flows)
   for _, flow in ipairs(traffic.live and not traffic.live.phases.values and flows or {}) do
      if flow.stream.tags then
         refusal.raise { ("%s: its metric tags were added while others run; it can start when these have stopped"):format(
            flow.stream.path) }
      end
   end
end

-- A trial that runs has room for a limited number of flows that were added since it began.
local function check_room(traffic, flows)
   local late = excess(traffic, flows)
   if late then
      refusal.raise { ("%s: there is no room for this many flows that were added while others run; it can start when these have stopped"):format(late.stream.path) }
   end
end

-- The LAGs of flows that have too few ports in use: sentences.
local function lags_down(flows)
   local list = {}
   spread.refresh(flows)
   for _, flow in ipairs(flows) do
      local lag = flow.stream.tx
      if lag.members and not lag.now[1] then
         list[#list + 1] = ('%s: LAG "%s" is down: %d of its %d ports are in use, min_links is %d'):format(
            flow.stream.path, lag.name, lag.ready, #lag.members, lag.min_links)
      end
   end
   return list
end

-- Flows over a LAG wait for a while until it is up.
local function check_lags(link, flows)
   local errors = lags_down(flows)
   if errors[1] then
      link:pass(START_SECONDS, function()
         errors = lags_down(flows)
         return errors[1] == nil
      end)
   end
   if errors[1] then
      refusal.raise(errors)
   end
end

-- Flows that run together may not have more than the line of a port carries.
local function check_lines(traffic, flows)
   local sums, runs = {}, {}
   for _, flow in ipairs(flows) do
      runs[flow] = true
   end
   for _, flow in ipairs(traffic.flows) do
      if runs[flow] or flow.state == "started" then
         for _, share in ipairs(spread.shares(flow.stream)) do
            sums[share.port] = (sums[share.port] or 0) + share.bps
         end
      end
   end
   local errors = {}
   for port, sum in pairs(sums) do
      if sum > port.line_rate * 1.0001 then
         errors[#errors + 1] = ("%s: its flows together have %.1f %% of the line's rate"):format(port.path,
            100 * sum / port.line_rate)
      end
   end
   table.sort(errors)
   if errors[1] then
      refusal.raise(errors)
   end
end

--- Refuse what cannot start.
-- @param o.traffic     framegauge.services.otg.traffic
-- @param o.link        framegauge.tester.link
-- @param o.neighbours  framegauge.services.otg.neighbours
-- @param flows         that are to start
-- @param anew          whether a trial begins with them, which has all flows
function M.check(o, flows, anew)
   if not anew then
      check_room(o.traffic, flows)
      check_tags(o.traffic, flows)
   end
   check_lags(o.link, flows)
   check_lines(o.traffic, flows)
   o.neighbours:aim(flows)
end

return M
