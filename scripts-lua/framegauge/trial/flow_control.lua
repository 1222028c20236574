-- SPDX-License-Identifier: BSD-3-Clause

--- Ports that the device paused (IEEE 802.3, annex 31B).
--
-- A port that obeys PAUSE sends later than scheduled, or less. Then the load is not the intended one, but the
-- tester was not late: the reason names the port, the number of pauses, and the time that due frames waited.
-- Where a method lets frames wait (`patient`), only frames that have not left when the trial ends are
-- missing. Only frames that have left count as sent.
local format = require "framegauge.text.format"
local tables = require "framegauge.core.tables"

local M = {}

--- Rows of a method's result for figures().
M.ROWS = {
   { "pause_received", "count", "how often the device paused ports, in the trial in which frames waited longest", optional = true, hidden = true, col = "Pauses", at = "terminal html",
      better = false },
   { "paused_ns", "count", "how long frames that were due waited for that, of all ports together",
      optional = true, hidden = true, col = "Paused", as = "time", at = "terminal html", better = false },
}

--- The ports whose frames waited for the end of a pause, by name.
-- @param ports  their counts in the trial: rx_pause, paused_ns
function M.held_back(ports)
   local by_name = {}
   for _, port in ipairs(ports) do
      local waits = (port.rx_pause or 0) > 0 and (port.tx_waiting or 0) > 0 -- its pause has no end yet
      by_name[port.name] = (waits or (port.paused_ns or 0) > 0) and port or nil
   end
   return by_name
end

-- The name of the port that sends a direction, in the tester's counts.
local function sender_of(direction)
   return direction.from or direction.name:match "^(.-)%->"
end

--- The port that sends a direction; nil: it was not paused.
-- @param direction  of the tester's counts
-- @param held_back  as held_back() has them
function M.sender(direction, held_back)
   return held_back[sender_of(direction) or ""]
end

--- What the device did to a port, as the end of a sentence.
-- @usage flow_control.cause { name = "a", rx_pause = 3, paused_ns = 2.5e6 }
-- --> the device paused port a 3 times, for 2.5 ms in all
function M.cause(port)
   local waited = port.paused_ns or 0
   return ("the device paused port %s %s"):format(port.name, format.plural(port.rx_pause or 0, "time"))
      .. (waited > 0 and (", for %s ms in all"):format(format.decimal(waited / 1e6, 1)) or "")
end

--- The port that waited longest, or nil.
function M.longest(held_back)
   local most
   for _, port in pairs(held_back) do
      local more = (port.paused_ns or 0) - (most and most.paused_ns or 0)
      if not most or more > 0 or more == 0 and port.name < most.name then
         most = port
      end
   end
   return most
end

-- The directions that a port sends.
local function sent_by(directions, port)
   return tables.map(directions, function(direction)
      return sender_of(direction) == port.name and direction or nil
   end)
end

--- How long the load lasted. A frame that waits in a port for the end of a pause does not count as sent: a
-- stream with such frames lasts until the end of the trial, any other stream until its last waiting frame.
-- @param raw        what the tester counted
-- @param held_back  as held_back() has them
-- @return directions, as the tester counts them
function M.left(raw, held_back)
   local now = {}
   for _, port in pairs(held_back) do
      for _, d in ipairs(sent_by(raw.directions, port)) do
         now[d] = setmetatable({ tx_duration_ns = (port.tx_waiting or 0) > 0 and (d.unsent or 0) > 0
            and (raw.duration_s + (raw.drain_s or 0)) * 1e9
            or (d.tx_duration_ns or 0) + (d.tx_wait_ns or 0) }, { __index = d })
      end
   end
   return tables.map(raw.directions, function(d) return now[d] or d end)
end

-- Frames that were due at a port and had not left when the trial ended.
local function unsent(directions, port)
   local n = 0
   for _, d in ipairs(sent_by(directions, port)) do
      n = n + math.max(0, d.intended_frames - d.tx)
   end
   return n
end

--- Number and duration of the ports' pauses, for the record of a trial; nil without pauses.
-- @param ports       their counts
-- @param directions  the frames that had left, from left()
function M.pauses(ports, directions)
   local list = {}
   for _, port in ipairs(ports) do
      list[#list + 1] = (port.rx_pause or 0) > 0 and { port = port.name, times = port.rx_pause,
         waited_ns = port.paused_ns, unsent_frames = unsent(directions, port) } or nil
   end
   return list[1] and list
end

--- Figures of a row: the sums over all ports in the trial in which they waited longest.
-- @param records  of trials
-- @return number of pauses, waiting time; nil without pauses
-- @usage flow_control.figures { { pauses = { { times = 2, waited_ns = 70 } } }, {} } --> 2 70
function M.figures(records)
   local times, waited_ns
   for _, record in ipairs(records) do
      local n, ns = 0, 0
      for _, pause in ipairs(record.pauses or {}) do
         n, ns = n + pause.times, ns + pause.waited_ns
      end
      if n > 0 and ns >= (waited_ns or 0) then
         times, waited_ns = n, ns
      end
   end
   return times, waited_ns
end

return M
