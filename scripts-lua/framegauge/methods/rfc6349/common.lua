-- SPDX-License-Identifier: BSD-3-Clause

--- What the tests of RFC 6349 have in common: a trial of the L4 engine with settings, one way or both.
local ethernet = require "framegauge.core.ethernet"
local records = require "framegauge.tester.l4.record"
local settings = require "framegauge.methods.l4.settings"
local trial = require "framegauge.tester.l4.trial"

local M = {}

local BACK_PORT = 1 -- the server of the other direction listens this much further on

--- Name of a direction: 1 is from the first port to the second.
function M.direction(plan, from)
   return plan.ports[from].name .. "->" .. plan.ports[3 - from].name
end

-- A client at one port and a server at the other, for each direction.
-- @param o.from  list of the clients' ports
local function sides_of(plan, tester, test, o)
   local capacity = settings.capacity(test, o)
   local sides = { { port = 1, apps = {}, capacity = capacity }, { port = 2, apps = {},
      capacity = capacity } }
   for _, from in ipairs(o.from) do
      local own = settings.copy(o, { port = o.port + (from == 2 and BACK_PORT or 0) })
      for key, value in pairs(o.by_port and o.by_port[from] or {}) do
         own[key] = value
      end
      local client, server = settings.apps(plan, tester, test, own, from)
      table.insert(sides[from].apps, 1, client) -- so that the client of a side is its first
      table.insert(sides[3 - from].apps, server)
   end
   return sides
end

--- Settings of a trial, in addition to its own.
function M.settings(plan, path)
   local o = plan.rfc6349
   return {
      ip = settings.versions(plan)[1], tags = plan.ports[1].vlan and 1 or 0, port = o.port, mtu = path.mtu,
      tcp = settings.copy(o.tcp), connections = 1, from = { 1 }, http = {}, load = { addresses = 1 },
   }
end

--- Make a trial.
-- @param session  of the run
-- @param ask      test, title, phase, direction, seconds, setting, drain, seed, interval; outcome
-- @param test     of the L4 engine: "TCP_STREAM"
-- @param o        settings (M.settings)
-- @param came     function(sides): whether anything came through
-- @return its record
function M.trial(plan, tester, session, ask, test, o, came)
   local phases = plan.rfc6349
   function ask.make(asked)
      local sides, engine = trial.run(tester, {
         sides = sides_of(plan, tester, test, o), seconds = ask.seconds, drain = ask.drain or phases.drain,
         learning_wait = phases.learning_wait, settle = phases.settle, mtu = o.mtu, seed = phases.seed,
         interval = ask.interval,
      })
      sides[1].role, sides[2].role = plan.ports[1].name, plan.ports[2].name
      return records.of(asked, tester, sides, engine, not came(sides))
   end
   return session:trial(ask)
end

-- The arithmetic of RFC 6349: what a path allows, and the three metrics of what it did. Rates are bits per
-- second, times seconds, sizes bytes.

local LARGEST_UNSCALED = 65535

--- Bytes that are under way when the path is full (RFC 6349, 3.3.1: the bandwidth-delay product, over 8).
-- @usage formulas.bdp(500e6, 5e-3) --> 312500
function M.bdp(bandwidth, rtt)
   return bandwidth * rtt / 8
end

--- Connections that fill the path with windows of a size.
function M.connections(bandwidth, rtt, window)
   return math.ceil(M.bdp(bandwidth, rtt) / window - 1e-9)
end

--- The goodput that windows of a total size allow (RFC 6349, 3.3.1).
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
   local headers = ethernet.header_octets(o.ip, kind)
   local ack = both and ethernet.wire_octets(headers, o.tags) / ACK_EVERY or 0
   return bandwidth * (o.mtu - headers) / (ethernet.wire_octets(o.mtu, o.tags) + ack)
end

--- TCP transfer time ratio (RFC 6349, 4.1).
-- @param octets      payload of all connections
-- @param achievable  most payload that TCP can have
function M.transfer_time_ratio(actual_s, octets, achievable)
   return actual_s / (octets * 8 / achievable)
end

--- TCP efficiency in percent (RFC 6349, 4.2); bytes that were transmitted include those that were so again.
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
      or "the limit is the window or the end systems"
end

return M
