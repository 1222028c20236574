-- SPDX-License-Identifier: BSD-3-Clause

--- Frames that a tester has sent and received in all its trials, including the running one.
--
-- Sums only grow, so that periodic readers (web/metrics.lua, web/state.lua) miss nothing between two reads. A
-- stream is known by its name and its ports: one of several trials is the same stream. Delays are summed up
-- only on request (keeps_delays), because that takes some time after each trial.
local api = require "framegauge.core.api"
local ffi = require "ffi"

local C = api.C

local M = {}

--- Bounds of the delay counts, ns: 1, 2 and 5 of each decade from 1 us to 0.5 s.
M.BOUNDS = {}
for decade = 3, 8 do
   for _, digit in ipairs { 1, 2, 5 } do
      M.BOUNDS[#M.BOUNDS + 1] = digit * 10 ^ decade
   end
end

local N = #M.BOUNDS
local bounds = ffi.new("uint64_t[?]", N, M.BOUNDS)

local Totals = {}
Totals.__index = Totals

function M.new()
   return setmetatable({ streams = {}, by_key = {}, ports = {}, lcores = {} }, Totals)
end

function Totals:entry(stream)
   local key = ("%s %d %d"):format(stream.name, stream.from, stream.to)
   local entry = self.by_key[key]
   if not entry then
      entry = {
         name = stream.name, from = stream.from, to = stream.to, tx = 0, rx = 0, tx_bytes = 0, rx_bytes = 0,
         lost = 0, duplicates = 0, reordered = 0, delay_sum_ns = 0, delays = ffi.new("uint64_t[?]", N + 1),
      }
      self.by_key[key], self.streams[#self.streams + 1] = entry, entry
   end
   return entry
end

--- A trial has begun.
-- @param streams  in the engine's order: list of { place = (tester/counts.lua), name =, from =, to =
--                 (indexes of ports), unmeasured = }
function Totals:begin(engine, streams)
   self.engine, self.current = engine, {}
   for i, stream in ipairs(streams) do
      self.current[i] = { entry = self:entry(stream), unmeasured = stream.unmeasured,
         index = (stream.place or i) - 1 }
   end
end

--- A stream is added to the trial that runs.
-- @param i  its number there
function Totals:join(stream, i)
   self.current[#self.current + 1] = { entry = self:entry(stream), index = i - 1 }
end

local function add(to, from)
   for key, n in pairs(from) do
      to[key] = (to[key] or 0) + n
   end
end

local PORT = { "rx_missed", "rx_no_mbuf", "rx_overflow", "misdirected" }

function Totals:add_port(port)
   local sums = self.ports[port.name] or { foreign = {} }
   self.ports[port.name] = sums
   for _, key in ipairs(PORT) do
      sums[key] = (sums[key] or 0) + (port[key] or 0)
   end
   add(sums.foreign, port.foreign_by_kind or {})
end

--- A trial has ended.
-- @param directions, ports, lcores  its counts (tester/counts.lua)
function Totals:finish(directions, ports, lcores)
   local at = 0
   for _, one in ipairs(self.current) do
      if not one.unmeasured then
         at = at + 1
         local counts, latency = directions[at], directions[at].latency
         add(one.entry, {
            tx = counts.tx, rx = counts.rx, tx_bytes = counts.tx_bytes, rx_bytes = counts.rx_bytes,
            duplicates = counts.duplicates, reordered = counts.reordered,
            lost = math.max(0, counts.tx - (counts.wrong_tx or 0) - counts.rx),
            delay_sum_ns = latency and latency.mean_ns * latency.count or 0,
         })
         if self.keeps_delays then
            C.fg_engine_stream_delay_counts(self.engine, one.index, bounds, N, one.entry.delays)
         end
      end
   end
   for _, port in ipairs(ports) do
      self:add_port(port)
   end
   self.lcores, self.current = lcores, nil
end

local live = ffi.new "struct fg_stream_live"

local function with_live(sum, engine, one, with_delays)
   C.fg_engine_stream_live(engine, one.index, live)
   sum.running, sum.missing = true, (sum.missing or 0) + tonumber(live.missing)
   add(sum, {
      tx = tonumber(live.tx_frames), rx = tonumber(live.rx_frames), tx_bytes = tonumber(live.tx_octets),
      rx_bytes = tonumber(live.rx_octets), delay_sum_ns = tonumber(live.delay_sum_ns),
   })
   if with_delays then
      C.fg_engine_stream_delay_counts(engine, one.index, bounds, N, sum.delays)
   end
end

-- Add its counts so far to the sums.
function Totals:settle(one)
   local entry = one.entry
   C.fg_engine_stream_live(self.engine, one.index, live)
   local tx, rx = tonumber(live.tx_frames), tonumber(live.rx_frames)
   add(entry, {
      tx = tx, rx = rx, tx_bytes = tonumber(live.tx_octets), rx_bytes = tonumber(live.rx_octets),
      duplicates = tonumber(live.duplicates), reordered = tonumber(live.reordered),
      lost = math.max(0, tx - tonumber(live.tx_wrong) - rx), delay_sum_ns = tonumber(live.delay_sum_ns),
   })
   if self.keeps_delays then
      C.fg_engine_stream_delay_counts(self.engine, one.index, bounds, N, entry.delays)
   end
end

--- A stream is taken out of the trial that runs.
function Totals:leave(i)
   for k, one in ipairs(self.current or {}) do
      if one.index == i - 1 then
         self:settle(one)
         return table.remove(self.current, k)
      end
   end
   return nil
end

--- All remaining streams; the trial has ended.
function Totals:leave_all()
   for _, one in ipairs(self.current or {}) do
      self:settle(one)
   end
   self.current = {}
end

--- All streams at this moment.
-- @return list of { name =, from =, to =, tx =, rx =, tx_bytes =, rx_bytes =, delay_sum_ns =, lost =,
--         duplicates =, reordered = (these three of trials that have ended), running = or nil, missing = of
--         the running trial, delays = uint64_t[] (up to each of BOUNDS, then all) }
function Totals:read()
   local list, of_entry = {}, {}
   for i, entry in ipairs(self.streams) do
      local sum = setmetatable({ delays = ffi.new("uint64_t[?]", N + 1) }, { __index = entry })
      ffi.copy(sum.delays, entry.delays, (N + 1) * 8)
      for _, key in ipairs { "tx", "rx", "tx_bytes", "rx_bytes", "delay_sum_ns" } do
         sum[key] = entry[key]
      end
      list[i], of_entry[entry] = sum, sum
   end
   for _, one in ipairs(self.current or {}) do
      with_live(of_entry[one.entry], self.engine, one, self.keeps_delays)
   end
   return list
end

--- The running trial is gone: it was aborted, or its ports are closed.
function Totals:drop()
   self.current, self.engine = nil, nil
end

return M
