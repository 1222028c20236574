-- SPDX-License-Identifier: BSD-3-Clause

--- A tester without ports: counts made by arithmetic, for tests of everything that stands on the tester.
local ethernet = require "framegauge.core.ethernet"

local Tester = {}
Tester.__index = Tester

local function port(name, device, rate, declared)
   return { name = name, device = device, driver = "wire", mode = "virtual", line_rate = rate,
      serial_rate = not declared and rate or nil, notes = {} }
end

local function port_counts(name)
   return {
      name = name, rx_missed = 0, rx_no_mbuf = 0, rx_errors = 0, tx_errors = 0, link_changes = 0,
      misdirected = 0, unsolicited = 0,
   }
end

--- Open it.
-- @param o.rate      bits per second of the line; nil: not known
-- @param o.declared  whether that is the plan's alone
-- @param o.capacity  frames per second the device carries in each direction, or a table of them by direction
-- @param o.buffer    frames it can hold back
-- @param o.tester    frames per second the tester itself can send
-- @param o.meddle    function(raw, ask, n), called with the n-th trial's counts before they are handed over
function Tester.new(o)
   return setmetatable({
      o = o,
      asked = {},
      ports = { port("east", "wire0", o.rate, o.declared), port("west", "wire1", o.rate, o.declared) },
   }, Tester)
end

function Tester:max_fps(frame_size)
   return self.o.rate and ethernet.max_fps(self.o.rate, frame_size)
end

function Tester:snapshot()
   return self.running
end

function Tester:close()
   self.closed = true
end

local function latency(tx)
   return {
      count = tx, min_ns = 20000, mean_ns = 20512.5, p50_ns = 20479, p99_ns = 20991, p999_ns = 21250,
      max_ns = 21250,
      source = "wire", error_bound_ns = 0, definition = "first bit to first bit (FIFO)",
   }
end

local function counts(o, name, ask)
   local intended = math.floor(ask.fps * ask.duration + 0.5)
   local capacity = type(o.capacity) == "table" and o.capacity[name] or o.capacity
   local tx = o.tester and math.min(intended, math.floor(o.tester * ask.duration)) or intended
   local pause = 1 -- behind the last frame or burst, in frames of the load
   if ask.burst then
      local interval = ask.burst.interval_frames
      pause = ask.burst.frames * (interval - ask.burst.frames + 1) / interval
   end
   local carried = math.floor(capacity * ask.duration + 0.5) + (o.buffer or 0)
   return {
      name = name, intended_frames = intended, intended_fps = ask.fps, tx = tx, rx = math.min(tx, carried),
      duplicates = 0, reordered = 0, reordering_extent_max_frames = 0, late = intended - tx, unsent = 0,
      refused = 0,
      no_mbuf = 0, stale = 0, excess = 0, loss_bursts = tx > carried and 1 or 0,
      loss_burst_max_frames = math.max(0, tx - carried),
      lag_max_ns = 300,
      tx_duration_ns = (tx - pause) * 1e9 / ask.fps, latency = latency(math.min(tx, carried)),
   }
end

function Tester:trial(ask)
   self.asked[#self.asked + 1] = ask
   local raw = {
      time = "wire-free", duration_s = ask.duration, directions = {},
      ports = { port_counts "east", port_counts "west" },
      lcores = { { id = 1, poll_gap_max_ns = 12000, polls = 1000 } },
   }
   for i, name in ipairs(ask.directions) do
      raw.directions[i] = counts(self.o, name, ask)
   end
   if self.o.meddle then
      self.o.meddle(raw, ask, #self.asked)
   end
   return raw
end

return Tester
