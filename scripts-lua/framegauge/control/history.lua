-- SPDX-License-Identifier: BSD-3-Clause

--- Recent rates of streams and ports, and totals.
--
-- Rates are differences of counts over at least a second of the tester's time. The receiver's counts are
-- slightly older copies: only the share of received frames is taken from them, and multiplied by the transmit
-- rate. Rates are limited to the line rate, because copies of different age could show more.
local ethernet = require "framegauge.core.ethernet"
local ffi = require "ffi"

local WINDOW = 1 -- seconds between two samples of a rate
local MOST_POINTS = 120

local NO_RATES = { tx_fps = 0, rx_fps = 0, tx_bps = 0, rx_bps = 0 }

local History = {}
History.__index = History

local function new_array(n)
   return ffi.new("struct fg_stream_live[?]", n)
end

--- For the streams of some traffic (framegauge.control.traffic).
-- @param live  framegauge.tester.live, for the delays of those that are looked at
function History.new(traffic, live)
   local n = #traffic.list
   local self = setmetatable({
      streams = traffic.list, n = n, live = live, ports = traffic.control.plan.ports, line_rates = {},
      now = new_array(n), before = new_array(n), base = new_array(n),
      time = 0, before_time = 0, base_time = 0, points = {}, running = true,
   }, History)
   for i = 1, #self.ports do
      self.line_rates[i] = traffic:line_rate(i)
      self.points[i] = {}
   end
   return self
end

local function copy(to, from, n)
   ffi.copy(to, from, n * ffi.sizeof "struct fg_stream_live")
end

--- Add a sample.
-- @param sample  array of struct fg_stream_live
-- @param time    of it, seconds
function History:add(sample, time)
   copy(self.now, sample, self.n)
   self.time = time
   if time - self.before_time >= WINDOW then
      self:make_rates()
      copy(self.before, sample, self.n)
      self.before_time = time
   end
end

--- Clear the counts.
function History:clear()
   copy(self.base, self.now, self.n)
   self.base_time = self.time
end

-- Bits per second at layer 1 that frames of a size make, at most the line's.
local function l1(self, port, fps, size)
   local bps, most = ethernet.l1_bps(fps, size), self.line_rates[port]
   return most and math.min(bps, most) or bps
end

-- Of the frames up to the highest received number, the share that was received.
local function arrived(now, before)
   local rx = tonumber(now.rx_frames - before.rx_frames)
   local missing = tonumber(now.missing) - tonumber(before.missing)
   return rx > 0 and math.min(1, rx / math.max(1, rx + missing)) or 0
end

function History:make_rates()
   local seconds = self.time - self.before_time
   self.rates, self.port_rates = {}, {}
   for i = 1, #self.ports do
      self.port_rates[i] = { tx_fps = 0, rx_fps = 0, tx_bps = 0, rx_bps = 0 }
   end
   for i, stream in ipairs(self.streams) do
      local now, before = self.now[i - 1], self.before[i - 1]
      local tx = tonumber(now.tx_frames - before.tx_frames) / seconds
      local rx = tx * arrived(now, before)
      self.rates[i] = {
         tx_fps = tx, rx_fps = rx, tx_bps = l1(self, stream.from, tx, stream.size),
         rx_bps = l1(self, stream.to, rx, stream.size),
      }
      local from, to = self.port_rates[stream.from], self.port_rates[stream.to]
      from.tx_fps, from.tx_bps = from.tx_fps + tx, from.tx_bps + self.rates[i].tx_bps
      to.rx_fps, to.rx_bps = to.rx_fps + rx, to.rx_bps + self.rates[i].rx_bps
   end
   for i, rates in ipairs(self.port_rates) do
      local most = self.line_rates[i] or math.huge
      rates.tx_bps, rates.rx_bps = math.min(rates.tx_bps, most), math.min(rates.rx_bps, most)
      local points = self.points[i]
      points[#points + 1] = rates
      if #points > MOST_POINTS then
         table.remove(points, 1)
      end
   end
end

-- Percentiles and jitter of a stream, of all the traffic.
function History:delays(i)
   if not self.final then
      return self.live:delays(i)
   end
   local counts = self.final.streams[i]
   local latency = counts.latency or {}
   return {
      p50_ns = latency.p50_ns, p99_ns = latency.p99_ns, p999_ns = latency.p999_ns,
      jitter_ns = counts.jitter_ns,
   }
end

function History:latency(i, rx)
   local now, base, latency = self.now[i - 1], self.base[i - 1], self:delays(i)
   latency.min_ns, latency.max_ns = tonumber(now.delay_min_ns), tonumber(now.delay_max_ns)
   latency.mean_ns = tonumber(now.delay_sum_ns - base.delay_sum_ns) / rx
   latency.own_queue_max_ns = now.own_queue_max_ns > 0 and tonumber(now.own_queue_max_ns) or nil
   return latency
end

--- Counts of a stream since the last clear(), and its rates.
function History:stream(i)
   local now, base = self.now[i - 1], self.base[i - 1]
   local rx = tonumber(now.rx_frames - base.rx_frames)
   local tx = tonumber(now.tx_frames - base.tx_frames)
   local rates = self.running and self.rates and self.rates[i] or NO_RATES
   local missing = math.max(0, tonumber(now.missing) - tonumber(base.missing))
   if self.final then
      missing = math.max(0, tx - tonumber(now.tx_wrong - base.tx_wrong) - rx)
   end
   return {
      tx = tx, rx = rx, lost = missing, loss_ratio = tx > 0 and missing / tx or 0,
      tx_fps = rates.tx_fps, rx_fps = rates.rx_fps, tx_bps = rates.tx_bps, rx_bps = rates.rx_bps,
      latency = rx > 0 and self:latency(i, rx) or nil,
   }
end

--- Sums over the streams that a port sends and over those that it receives.
function History:port(index)
   local sums = { tx = 0, rx = 0, lost = 0 }
   for i, stream in ipairs(self.streams) do
      local now, base = self.now[i - 1], self.base[i - 1]
      if stream.from == index then
         sums.tx = sums.tx + tonumber(now.tx_frames - base.tx_frames)
      end
      if stream.to == index then
         sums.rx = sums.rx + tonumber(now.rx_frames - base.rx_frames)
         sums.lost = sums.lost + (self.final and self:stream(i).lost
            or math.max(0, tonumber(now.missing) - tonumber(base.missing)))
      end
   end
   local rates = self.running and self.port_rates and self.port_rates[index] or NO_RATES
   for key in pairs(NO_RATES) do
      sums[key] = rates[key]
   end
   return sums
end

--- The end: the counts are now those after the drain.
-- @param final  of Live:finish()
function History:finish(final)
   for i, counts in ipairs(final.streams) do
      local now = self.now[i - 1]
      now.tx_frames, now.tx_wrong, now.rx_frames = counts.tx, counts.wrong_tx, counts.rx
      now.own_queue_max_ns = counts.own_queue_max_ns or 0
      if counts.latency then
         now.delay_sum_ns = counts.latency.mean_ns * counts.latency.count
         now.delay_min_ns, now.delay_max_ns = counts.latency.min_ns, counts.latency.max_ns
      end
   end
   self.final, self.running, self.time, self.live = final, false, final.seconds, nil
end

--- The longest wait of a frame in its port. @return ns, number of its stream; nil: no frame had to wait
function History:own_queue()
   local longest, of = 0, nil
   for i in ipairs(self.streams) do
      local waited = tonumber(self.now[i - 1].own_queue_max_ns)
      if waited > longest then
         longest, of = waited, i
      end
   end
   return of and longest, of
end

--- All of it, as an event of progress (run/progress.lua).
function History:progress()
   local e = { test = "traffic", sent = 0, missing = 0, tx_bps_l1 = 0, elapsed_s = self.time,
      own_queue_max_ns = (self:own_queue()) }
   for i = 1, #self.ports do
      local sums = self:port(i)
      e.sent, e.missing, e.tx_bps_l1 = e.sent + sums.tx, e.missing + sums.lost, e.tx_bps_l1 + sums.tx_bps
   end
   return e
end

return History
