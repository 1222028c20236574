-- SPDX-License-Identifier: BSD-3-Clause

--- The flows of a configuration as they run: started, paused, ended; and their counts, which are final when a
-- flow shows as stopped.
--
-- While a flow is active, one endless trial runs (tester/live.lua). It has the flows that are active and room
-- for the others: one that is started while others run is added as a new stream, with counts of 0, and one
-- that has ended is removed. A flow that gets another size while it runs is another stream, which goes on
-- where the one before stopped; their counts are added up. When no flow is active the trial ends and the next
-- start begins another one. A flow ends by itself after its frames or its time; then, as after a stop, it is
-- counted for some time more (drain) before it is shown as stopped.
local failure = require "framegauge.core.failure"
local job = require "framegauge.core.job"
local Live = require "framegauge.tester.live"
local slots_of = require "framegauge.services.otg.slots"
local tables = require "framegauge.core.tables"
local updates = require "framegauge.services.otg.updates"

local LOOK_SECONDS, MANY_LOOK_SECONDS, MANY = 0.05, 0.25, 500
local LEARNING, BUSY_SECONDS = 0.005, 0.005
local WINDOW = 1 -- seconds of a rate
local MAX_LAG = 3600 -- seconds: loads that keep time say less
local GRACE = 0.005 -- seconds by which the end of a load in time is seen late

local NOTHING, sum, is_sending = slots_of.NOTHING, slots_of.sum, updates.is_sending

local Traffic = {}
Traffic.__index = Traffic

--- The flows of a configuration, all stopped.
-- @param tester   the open ports
-- @param streams  of framegauge.services.otg.config
-- @param drain    seconds that counts may still change after the last frame
function Traffic.new(tester, streams, drain)
   local self = setmetatable({
      tester = tester, flows = {}, by_name = {}, drain = #streams > MANY and math.max(drain, 0.6) or drain,
      carried = {}, before = {}, looks = 0,
   }, Traffic)
   self:append(streams)
   return self
end

-- Has a flow frames that are sent or still counted?
local function is_active(flow)
   return flow.state ~= "stopped"
end

local function has_tags(flow)
   return flow.stream.tags ~= nil
end

function Traffic:any_active()
   return tables.any(self.flows, is_active)
end

-- What the trial has counted of streams that belong together.
function Traffic:raw(slots)
   return slots_of.read(self.sampled, slots, self.latest)
end

--- Counts of a flow since its start; made once for each look.
function Traffic:counts(flow)
   if not is_active(flow) or not flow.slots then
      return flow.total
   end
   if flow.look ~= self.looks then
      local counts = self:raw(flow.slots)
      for _, one in ipairs(flow.former) do
         counts = sum(counts, self:raw(one.slots))
      end
      flow.look, flow.counts = self.looks, flow.past == NOTHING and counts or sum(counts, flow.past)
   end
   return flow.counts
end

-- Give a flow streams of its own in the trial that runs; they do not send yet.
function Traffic:enter(flow, load, first, parts)
   return slots_of.make(flow, function(stream)
      return self.live:add(stream) or error("no room for another flow", 0)
   end, { load = load, first = first, parts = parts, running = false })
end

-- Take streams out of the trial.
function Traffic:leave(slots)
   for _, slot in ipairs(self.live and slots or {}) do
      self.live:remove(slot)
   end
end

-- When a flow that has begun now will have sent all: at a number of frames, or at a time of the trial.
function Traffic:note_begin(flow)
   local load = flow.stream.load
   flow.waits, flow.frames = false, load.frames
   flow.ends = load.seconds and self.time + load.seconds + GRACE or nil
end

function Traffic:look_at_counts()
   self.latest, self.looks = self.live, self.looks + 1
   self.sampled, self.time = self.live:sample()
end

-- Start what has a delay when that is over.
function Traffic:start_later(flow)
   local run = flow.run
   job.spawn(function()
      job.sleep(flow.stream.delay)
      if self.live and flow.run == run and flow.state == "started" then
         self:start_streams(flow.slots)
         self.time = self.live:elapsed()
         self:note_begin(flow)
      end
   end)
end

local function begin(self, flow, slots)
   flow.state, flow.ending, flow.paused_at = "started", nil, nil
   flow.slots, flow.former, flow.past, flow.first, flow.look = slots, {}, NOTHING, 0, nil
   flow.run = (flow.run or 0) + 1
   flow.samples = { { time = self.time, counts = NOTHING } }
   if flow.stream.delay > 0 then
      flow.ends, flow.frames, flow.waits = nil, math.huge, true
      self:start_later(flow)
   else
      self:note_begin(flow)
   end
end

-- Begin a trial with these flows.
function Traffic:begin_trial(flows)
   local list, slots = {}, {}
   for i, flow in ipairs(flows) do
      slots[i] = slots_of.make(flow, function(stream)
         list[#list + 1] = stream
         return #list
      end, { load = flow.stream.load, running = flow.stream.delay == 0 })
   end
   self.live = Live.start(self.tester, list, {
      learning = LEARNING, drain = 0, silent = true, max_lag = MAX_LAG,
      spares = slots_of.spares(self.flows, #list), values = tables.any(self.flows, has_tags),
   })
   self:look_at_counts()
   self.time = 0 -- frames may have left since it began
   self.ports = {}
   for i = 1, #self.tester.ports do
      self.ports[i] = { samples = { { time = 0, counts = self:received(i) } } }
   end
   for i, flow in ipairs(flows) do
      begin(self, flow, slots[i])
   end
   job.spawn(self.watch, self)
end

-- Start flows in the trial that runs.
function Traffic:join_trial(flows)
   self.joining = true
   failure.finally(function()
      self.joining = false
   end, function()
      self:stop_now(flows)
      local slots = tables.map(flows, function(flow) return self:enter(flow, flow.stream.load, 0) end)
      for i, flow in ipairs(flows) do
         slots_of.carry(self.carried, self:counts(flow), flow.stream)
         if flow.stream.delay == 0 then
            self:start_streams(slots[i])
         end
      end
      self:look_at_counts()
      for i, flow in ipairs(flows) do
         begin(self, flow, slots[i])
      end
   end)
end

-- Do something that no other start or stop may come between. Call it inside a job.
function Traffic:alone(fn, ...)
   while self.busy do
      job.sleep(BUSY_SECONDS)
   end
   self.busy = true
   failure.finally(function()
      self.busy = false
   end, fn, self, ...)
end

function Traffic:start_now(flows, all)
   if all and self:any_active() then
      self:stop_now(self.flows)
   end
   local clear = all or not self.live and #flows == #self.flows
   if clear then
      self.carried, self.before = {}, {}
   end
   if self.live then
      self:join_trial(flows)
   elseif flows[1] then
      for _, flow in ipairs(clear and {} or flows) do
         slots_of.carry(self.carried, self:counts(flow), flow.stream)
      end
      self:begin_trial(flows)
   end
end

-- Let the sending streams of a flow begin, or go on.
function Traffic:start_streams(slots)
   for _, slot in ipairs(slots.senders) do
      self.live:start_stream(slot)
   end
end

-- Stop streams. @return the time, found by a look at all streams; nil: no stream
function Traffic:stop_streams(flows)
   for _, flow in ipairs(flows) do
      for _, slot in ipairs(flow.slots.senders) do
         self.live:stop_stream(slot)
      end
   end
   return flows[1] and self.live:elapsed()
end

function Traffic:stop_now(flows)
   local sending = tables.map(flows, function(flow)
      return is_sending(flow) and flow or nil
   end)
   local stopped = self:stop_streams(sending)
   for _, flow in ipairs(sending) do
      flow.ending = stopped + self.drain
   end
   for _, flow in ipairs(flows) do
      while is_active(flow) do
         job.sleep(math.max(0.002, math.min(LOOK_SECONDS, flow.ending - self.time)))
         self:look()
      end
   end
end

--- Start flows, each from its beginning. Call it inside a job.
-- @param flows     list; those that run are started again
-- @param all       whether they are all there are: then ports count anew, too
function Traffic:start(flows, all)
   self:alone(self.start_now, flows, all)
end

--- Stop flows; their counts are final when it returns. Call it inside a job.
function Traffic:stop(flows)
   self:alone(self.stop_now, flows)
end

function Traffic:pause_now(flows)
   local sending = tables.map(flows, function(flow)
      return flow.state == "started" and is_sending(flow) and flow or nil
   end)
   local paused = self:stop_streams(sending)
   for _, flow in ipairs(sending) do
      flow.state, flow.paused_at = "paused", paused
   end
   while paused and self.live:elapsed() < paused + self.drain do
      job.sleep(BUSY_SECONDS)
   end
end

function Traffic:resume_now(flows)
   local begins, elapsed = {}, nil
   for _, flow in ipairs(flows) do
      if flow.state == "paused" then
         self:start_streams(flow.slots)
         elapsed = elapsed or self.live:elapsed()
         flow.ends = flow.ends and flow.ends + elapsed - flow.paused_at
         flow.state, flow.samples = "started", { { time = elapsed, counts = self:counts(flow) } }
      elseif not is_active(flow) then
         begins[#begins + 1] = flow
      end
   end
   if begins[1] then
      self:start_now(begins, false)
   end
end

--- Pause flows; when it returns their counts do not change any more. Call it inside a job.
function Traffic:pause(flows)
   self:alone(self.pause_now, flows)
end

--- Let flows that are paused go on where they were, and start the others. Call it inside a job.
function Traffic:resume(flows)
   self:alone(self.resume_now, flows)
end

--- Add flows, stopped.
function Traffic:append(streams)
   for _, stream in ipairs(streams) do
      local flow = { stream = stream, name = stream.name, state = "stopped", total = NOTHING }
      local there = self.by_name[flow.name]
      self.flows[#self.flows + 1] = flow
      if there then
         there.back = flow -- the way back of a bidirectional one
      else
         self.by_name[flow.name] = flow
      end
   end
end

function Traffic:delete_now(flows)
   self:stop_now(flows)
   for _, flow in ipairs(flows) do
      table.remove(self.flows, tables.index_of(self.flows, flow.name))
      self.by_name[flow.name] = nil
   end
end

--- Remove flows; those that run are stopped. Call it inside a job.
function Traffic:delete(flows)
   self:alone(self.delete_now, flows)
end

--- Give a flow another rate or size. Call it inside a job.
function Traffic:update(flow, stream)
   self:alone(updates.apply, flow, stream)
end

-- Has an active flow sent all it is to send?
function Traffic:has_ended(flow, counts)
   if flow.state ~= "started" then
      return false
   elseif flow.frames then
      return counts.tx >= flow.frames
   end
   return flow.ends ~= nil and self.time >= flow.ends
end

-- What the streams before the present one have counted is final some time after they have stopped.
function Traffic:leave_former(flow)
   while flow.former[1] and self.time >= flow.former[1].till do
      local one = table.remove(flow.former, 1)
      flow.past = sum(flow.past, self:raw(one.slots))
      self:leave(one.slots)
   end
end

-- Keep samples of about a second, for rates: of a flow or a port.
local function remember(of, time, counts)
   local samples = of.samples
   samples[#samples + 1] = { time = time, counts = counts }
   while samples[3] and time - samples[2].time >= WINDOW do
      table.remove(samples, 1)
   end
end

-- The counts of a flow that will not change any more.
local function settle(self, flow)
   flow.total, flow.state, flow.ending = self:counts(flow), "stopped", nil
   for _, one in ipairs(flow.former) do
      self:leave(one.slots)
   end
   self:leave(flow.slots)
   flow.slots, flow.former = nil, nil
end

-- Look at the counts: who has ended, who is final, is the trial over?
function Traffic:look()
   if not self.live then
      return
   end
   self.tester:is_running() -- looks at links, too
   self:look_at_counts()
   for i, port in ipairs(self.ports) do
      remember(port, self.time, self:received(i))
   end
   local final, more = {}, self.joining
   for _, flow in ipairs(self.flows) do
      if is_active(flow) then
         local counts = self:counts(flow)
         remember(flow, self.time, counts)
         self:leave_former(flow)
         if not flow.ending and self:has_ended(flow, counts) then
            flow.ending = self.time + self.drain
         end
         if flow.ending and self.time >= flow.ending then
            final[#final + 1] = flow
         else
            more = true
         end
      end
   end
   if not more then
      self:end_trial()
   end
   for _, flow in ipairs(final) do
      settle(self, flow)
   end
end

-- Runs as a job of its own while there is a trial.
function Traffic:watch()
   local seconds = #self.flows > MANY and MANY_LOOK_SECONDS or LOOK_SECONDS
   local live = self.live
   while self.live == live do
      job.rest(self, seconds)
      if self.live == live then
         self:look()
         updates.follow_lags(self)
      end
   end
end

-- End the trial: what it counted is exact now, and no copy of some milliseconds ago.
function Traffic:end_trial()
   local live = self.live
   live:finish()
   self:look_at_counts()
   for i = 1, #self.tester.ports do
      self.before[i] = self:received(i)
   end
   self.live = nil
   if self.wake then
      self.wake()
   end
end

--- End all at once, without waiting for counts.
function Traffic:close()
   if self.live then
      for _, flow in ipairs(self.flows) do
         flow.state, flow.run, flow.slots = "stopped", nil, nil
      end
      self:end_trial()
   end
end

--- Counts of the trial that a port has received, with the counts of the trials before since the ports were
-- cleared.
function Traffic:received(place)
   local before = self.before[place] or { rx = 0, rx_bytes = 0 }
   if not self.live then
      return before
   end
   local live = Live.port(self.tester, place)
   return { rx = before.rx + live.rx, rx_bytes = before.rx_bytes + live.rx_bytes }
end

--- Bring counts up to date before rows are asked for.
function Traffic:refresh()
   if self.live then
      self:look()
   end
end

return Traffic
