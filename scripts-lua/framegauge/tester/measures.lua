-- SPDX-License-Identifier: BSD-3-Clause

--- Measurements of a stream in addition to loss, order and delay, as one flat table with units in its keys.
--
-- A method selects them stream by stream. The selectable names, which cost the receiver time, are "variation"
-- and "payload"; an empty list gives the free ones. Everything is of different frames: further copies of a
-- frame are counted, and enter nothing else (RFC 5560).
local api = require "framegauge.core.api"
local ffi = require "ffi"

local M = {}

local C = api.C

--- Values behind a 99.9th percentile: ten times the number it needs to be defined.
M.ENOUGH_FOR_P999 = 10000

local FLAGS = { variation = C.FG_MEASURE_VARIATION, payload = C.FG_MEASURE_PAYLOAD }

--- The engine's flags for a list of names. An unknown one raises.
function M.flags(names)
   local flags = 0
   for _, name in ipairs(names) do
      flags = flags + (FLAGS[name] or error("nothing to measure is called " .. name))
   end
   return flags
end

-- Counts by magnitude: item i is of 2^(i-1) and more, below 2^i; trailing zeros are left out. Nil without
-- any.
local function classes(array, n)
   local list = {}
   for i = n, 1, -1 do
      local count = tonumber(array[i - 1])
      if count > 0 or list[i + 1] then
         list[i] = count
      end
   end
   return list[1] and list
end

local function mean(sum, n)
   n = tonumber(n)
   return n > 0 and tonumber(sum) / n or nil
end

local function put_loss(out, result)
   local lost = tonumber(result.lost)
   out.duplicated = tonumber(result.duplicated)
   out.loss_burst_lengths = classes(result.loss.lengths, C.FG_LOSS_CLASSES)
   out.loss_burst_distances = classes(result.loss.distances, C.FG_LOSS_CLASSES)
   out.loss_burst_mean_frames = result.loss_bursts > 0 and lost / tonumber(result.loss_bursts) or nil
   out.outage_max_ns = tonumber(result.loss.longest_outage_ns)
   out.outage_max_begin_ns = out.outage_max_ns > 0 and tonumber(result.loss.outage_begin_ns) or nil
   local interval_ns = mean(result.tx_duration_ns, tonumber(result.tx) - 1)
   out.outage_by_loss_ns = interval_ns and lost * interval_ns
end

-- RFC 4737; the fields about late frames only if there were late frames.
local function put_order(out, result)
   local order, late = result.order, tonumber(result.reordered)
   out.reordered_ratio = mean(late, result.rx)
   if late == 0 then
      return
   end
   out.reordering_extent_max_frames = tonumber(order.extent_max)
   out.reordering_extent_mean_frames = mean(order.extent_sum, result.reordered - order.extent_beyond)
   out.reordering_extent_unknown_frames = tonumber(order.extent_beyond)
   out.reordering_late_max_ns = tonumber(order.late_max)
   out.reordering_offset_max_frames = tonumber(order.offset_max)
   out.reordering_offset_mean_frames = mean(order.offset_sum, late)
   out.reordering_run_mean_frames = mean(order.in_order, order.runs)
   out.reordering_run_squares = tonumber(order.run_squares)
   out.reordering_gap_min_frames = order.gaps > 0 and tonumber(order.gap_min) or nil
   out.reordering_gap_mean_frames = mean(order.gap_sum, order.gaps)
   out.reordering_gap_max_frames = order.gaps > 0 and tonumber(order.gap_max) or nil
   out.reordering_gap_mean_ns = mean(order.gap_time_sum, order.gaps)
   out.n_reordered = {}
   for n = 1, C.FG_ORDER_DEGREES do
      out.n_reordered[n] = tonumber(order.n_reordered[n - 1])
   end
end

-- Delay less the minimum (RFC 5481), from the summary of the delays.
local function put_pdv(out, latency)
   if latency.count == 0 then
      return
   end
   local least = tonumber(latency.min_ns)
   out.pdv_mean_ns = latency.mean_ns - least
   out.pdv_p999_ns = tonumber(latency.p999_ns) - least
   out.pdv_max_ns = tonumber(latency.max_ns) - least
   out.pdv_enough_for_p999 = latency.count >= M.ENOUGH_FOR_P999
end

-- IPDV (RFC 3393) in the order of sending, jitter (RFC 3550) in the order of arrival.
local function put_variation(out, v)
   out.ipdv_count, out.ipdv_unknown = tonumber(v.pairs), tonumber(v.unknown)
   if v.pairs > 0 then
      out.ipdv_min_ns, out.ipdv_max_ns = tonumber(v.min), tonumber(v.max)
      out.ipdv_p50_ns, out.ipdv_mean_ns = v.median, v.mean
      out.ipdv_mean_magnitude_ns = v.mean_magnitude
      out.ipdv_p001_ns, out.ipdv_p999_ns = tonumber(v.p001), tonumber(v.p999)
   end
   out.jitter_ns, out.jitter_max_ns = v.jitter, v.jitter_max
end

-- Frames that arrived on wrong ports, by the port's name; nil without any.
local function misdirected(engine, stream, ports)
   local by_port
   for i, port in ipairs(ports) do
      local frames = tonumber(C.fg_engine_misdirected(engine, stream, i - 1))
      if frames > 0 then
         by_port = by_port or {}
         by_port[port.name] = frames
      end
   end
   return by_port
end

-- Bit error ratio: wrong bits over compared bits of received frames.
local function put_payload(out, result)
   out.corrupted = tonumber(result.corrupted)
   out.byte_errors, out.bit_errors = tonumber(result.octet_errors), tonumber(result.bit_errors)
   out.bit_error_ratio = mean(result.bit_errors, result.payload_octets * 8)
end

--- The measurements of a stream.
-- @param names   what was asked for, as M.flags took it
-- @param result  its struct fg_stream_result
-- @param ports   of the tester, in the engine's order
function M.read(engine, stream, names, result, ports)
   local out = { misdirected = misdirected(engine, stream, ports) }
   put_loss(out, result)
   if not result.unordered then
      put_order(out, result)
   end
   put_pdv(out, result.latency)
   for _, name in ipairs(names) do
      if name == "variation" then
         put_variation(out, result.variation)
      elseif name == "payload" then
         put_payload(out, result)
      end
   end
   return out
end

--- Foreign frames of a port by kind: { arp = 3, ... }, without kinds whose count is 0.
-- @param result  struct fg_port_result
function M.foreign(result)
   local kinds = {}
   for kind = 0, C.FG_NET_KINDS - 1 do
      local frames = tonumber(result.unsolicited_kind[kind])
      if frames > 0 then
         kinds[ffi.string(C.fg_net_kind_name(kind))] = frames
      end
   end
   return kinds
end

-- The marks that the frames of a stream arrived with: PCP and DEI of the outermost tag, DSCP of the IP
-- header.

--- Read them after a trial.
-- @return list of { pcp =, dei = (0 or 1), dscp =, frames = }, the first two nil without a tag, dscp without
-- IP
function M.read_marks(engine, stream)
   local n = C.fg_engine_codepoints(engine, stream, nil, 0)
   local found, list = ffi.new("struct fg_codepoints[?]", n), {}
   C.fg_engine_codepoints(engine, stream, found, n)
   for i = 1, n do
      local one = found[i - 1]
      list[i] = {
         pcp = one.tagged and one.pcp or nil, dei = one.tagged and (one.dei and 1 or 0) or nil,
         dscp = one.ip and one.dscp or nil, frames = tonumber(one.frames),
      }
   end
   return list
end

return M
