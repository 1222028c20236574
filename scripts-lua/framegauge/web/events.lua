-- SPDX-License-Identifier: BSD-3-Clause

--- The state of a tester twice a second, for all viewers.
--
-- It is made and written as JSON once for all. A client that has not read the last state gets no other until
-- it has, so a slow reader sees fewer states and never old ones. The last 15 minutes of the ports' rates are
-- kept for later viewers.
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local Server = require "framegauge.web.server"

local M = {}

local SECONDS = 0.5
local MAX_POINTS = 15 * 60 / SECONDS
local MAX_VIEWERS = 64

local Events = {}
Events.__index = Events

--- @param state  web/state.lua
function M.new(state)
   local self = setmetatable({ state = state, viewers = {}, count = 0, number = 0, points = {} }, Events)
   self.job = job.spawn(self.run, self)
   return self
end

-- Time, and of each port what it sends and receives, bits per second; null: no rate is known.
local function point(state)
   local list = { state.time_ms / 1000 }
   for _, port in ipairs(state.ports) do
      list[#list + 1] = port.tx_bps or json.null
      list[#list + 1] = port.rx_bps or json.null
   end
   return list
end

function Events:look()
   local state = self.state:read()
   self.number = self.number + 1
   self.points[#self.points + 1] = point(state)
   if #self.points > MAX_POINTS then
      table.remove(self.points, 1)
   end
   self.text = nil -- nobody who comes later gets this one
   if self.count > 0 then
      self.text = ("id: %d\ndata: %s\n\n"):format(self.number, json.encode(state))
      for viewer in pairs(self.viewers) do
         viewer.wake()
      end
   end
end

function Events:run()
   while not self.closed do
      self:look()
      pcall(job.rest, self, SECONDS)
   end
end

--- Rates of the last 15 minutes: list of { time, sent and received of each port }.
function Events:series()
   return self.points
end

-- One viewer, until it is gone.
function Events:serve(stream)
   local viewer = {}
   self.viewers[viewer], self.count = true, self.count + 1
   local sent
   repeat
      local unread = stream:push "" -- also shows whether it is still there
      if unread == 0 and self.text ~= sent then
         sent = self.text
         unread = stream:push(sent or ": hello\n\n")
      end
      if unread then
         pcall(job.rest, viewer, 5)
      end
   until not unread or self.closed
   self.viewers[viewer], self.count = nil, self.count - 1
end

--- The route of the stream.
function Events:answer()
   if self.count >= MAX_VIEWERS then
      Server.refuse(503, "%d viewers look already", MAX_VIEWERS)
   end
   return { type = "text/event-stream", headers = { ["X-Accel-Buffering"] = "no" }, stream = function(stream)
      self:serve(stream)
   end }
end

function Events:close()
   self.closed = true
   for viewer in pairs(self.viewers) do
      viewer.wake()
   end
   if self.wake then
      self.wake()
   end
end

return M
