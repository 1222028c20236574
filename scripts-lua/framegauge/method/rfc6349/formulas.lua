-- SPDX-License-Identifier: BSD-3-Clause

--- The arithmetic of RFC 6349: what a path allows, and the three metrics of what it did. Rates are bits per
-- second, times seconds, sizes octets.
local line = require "framegauge.line"

local M = {}

local LARGEST_UNSCALED = 65535

--- Octets that are under way when the path is full (RFC 6349, 3.3.1: the bandwidth-delay product, over 8).
-- @usage formulas.bdp(500e6, 5e-3) --> 312500
function M.bdp(bandwidth, rtt)
   return bandwidth * rtt / 8
end

--- Connections that fill the path with windows of a size.
function M.connections(bandwidth, rtt, window)
   return math.ceil(M.bdp(bandwidth, rtt) / window - 1e-9)
end

--- What windows of so many octets in all allow (RFC 6349, 3.3.1).
function M.window_limited(windows, rtt)
   return windows * 8 / rtt
end

--- Window scale that a receive window needs (RFC 7323).
function M.window_scale(window)
   return math.max(0, math.ceil(math.log(window / LARGEST_UNSCALED) / math.log(2) - 1e-12))
end

local ACK_EVERY = 2 -- segments to an acknowledgement

--- Most payload that TCP can have of a bottleneck at layer 1 (RFC 6349, 3.3.1, with the preamble and the
-- options).
-- @param o.mtu, o.ip, o.timestamps, o.tags
-- @param both  whether the other direction is as busy, so that its acknowledgements take room, too
function M.achievable(bandwidth, o, both)
   local kind = o.timestamps and "tcp+ts" or "tcp"
   local headers = line.header_octets(o.ip, kind)
   local ack = both and line.wire_octets(headers, o.tags) / ACK_EVERY or 0
   return bandwidth * (o.mtu - headers) / (line.wire_octets(o.mtu, o.tags) + ack)
end

--- TCP transfer time ratio (RFC 6349, 4.1).
-- @param octets      payload of all connections
-- @param achievable  most payload that TCP can have
function M.transfer_time_ratio(actual_s, octets, achievable)
   return actual_s / (octets * 8 / achievable)
end

--- TCP efficiency in percent (RFC 6349, 4.2); octets that were transmitted include those that were so again.
function M.efficiency(transmitted, retransmitted)
   return transmitted > 0 and (transmitted - retransmitted) / transmitted * 100 or 100
end

--- Buffer delay in percent (RFC 6349, 4.3).
function M.buffer_delay(mean_rtt, baseline_rtt)
   return (mean_rtt - baseline_rtt) / baseline_rtt * 100
end

-- From where on a metric is conspicuous.
local RATIO, EFFICIENCY, DELAY = 1.05, 99.5, 10

--- What the three metrics together hint at (RFC 6349, 5).
function M.hint(ratio, efficiency, delay)
   local slow, lossy, queued = ratio >= RATIO, efficiency < EFFICIENCY, delay >= DELAY
   if not slow then
      return queued and "the path is full, and frames wait in it" or "the path is fine"
   elseif lossy then
      return queued and "congestion" or "policing, loss, or small buffers in the path"
   end
   return queued and "shaping, or too deep a buffer"
      or "the windows are the limit, or the end systems"
end

return M
