-- SPDX-License-Identifier: BSD-3-Clause

--- The properties of a path that RFC 6349 needs before the transfers: its MTU, its round trip without load
-- and its bottleneck.
local common = require "framegauge.methods.rfc6349.common"
local ethernet = require "framegauge.core.ethernet"
local search = require "framegauge.search"
local units = require "framegauge.text.units"
local verdict = require "framegauge.text.verdict"

local M = {}

-- --- The path MTU (RFC 6349, 3.1)
--
-- It is found by packets that return or not (packetization layer path MTU discovery, RFC 4821): no router has
-- to report anything. Datagrams with DF set go there and back at the same size, so it is the MTU of both
-- ways. First the usual sizes of links are tried from the largest on, then the interval between the largest
-- that passed and the smallest that did not is halved.

M.PATH_MTU = "rfc6349.path_mtu"

local USUAL = { 9000, 4470, 1500, 1492, 1480, 1400, 1280, 1024, 576 }
local SMALLEST = { ipv4 = 576, ipv6 = 1280 }

local function answered(sides)
   return sides[1].apps[1].total.transactions > 0
end

--- Sizes that are tried first, from the largest on.
-- @param most  the MTU of the tester's own link
function M.first_sizes(most, ip)
   local list = { most }
   for _, size in ipairs(USUAL) do
      list[#list + 1] = size < most and size >= SMALLEST[ip] and size or nil
   end
   return list
end

-- Whether packets of a size return. A lost packet is sent again: congestion may be the reason.
local function passes(plan, tester, session, size)
   local o, most = common.settings(plan, { mtu = plan.rfc6349.mtu }), plan.rfc6349.probe
   o.request = size - ethernet.header_octets(o.ip, "udp")
   o.response, o.timeout = o.request, most.timeout
   for _ = 1, most.tries do
      local record = common.trial(plan, tester, session, {
         test = M.PATH_MTU, title = ("path MTU, %d bytes"):format(size), phase = "search", direction = "both",
         seconds = most.timeout, drain = 0, setting = { mtu = size },
         outcome = function(record)
            return answered(record.sides) and "passes" or "does not pass"
         end,
      }, "UDP_RR", o, function() return true end)
      if answered(record.sides) then
         return true, record
      end
   end
   return false
end

--- Find it.
-- @return { mtu =, probes = how many, validity =, reasons = }; mtu is nil when nothing came back
function M.find_path_mtu(plan, tester, session)
   local before, ip = #session.trials, common.settings(plan, {}).ip
   local passed, failed
   local function try(size)
      if passes(plan, tester, session, size) then
         passed = size
      else
         failed = size
      end
   end
   for _, size in ipairs(M.first_sizes(plan.rfc6349.mtu, ip)) do
      if not passed then
         try(size)
      end
   end
   while passed and failed and failed - passed > 1 do
      try(math.floor((passed + failed) / 2))
   end
   return {
      mtu = passed, tested_up_to = plan.rfc6349.mtu, probes = #session.trials - before,
      validity = passed and "valid" or "invalid",
      reasons = passed and {} or { "no probe came back" },
   }
end

-- --- The baseline round trip (RFC 6349, 3.2)
--
-- The shortest of many small segments of an established connection, at so little load that none waits for
-- another.

M.BASELINE = "rfc6349.baseline"

local CONNECTIONS = 16
local ROUNDS = 20 -- pauses of each: they are drawn, so that segments of several seldom meet

local function rtt_of(record)
   return record.sides[1].apps[1].transaction
end

--- Measure it.
-- @param path  what is known of the path: mtu
-- @return { rtt_min_ns, rtt_mean_ns, rtt_max_ns, rtt_samples, validity, reasons, trial }
function M.find_baseline(plan, tester, session, path)
   local o, seconds = common.settings(plan, path), plan.rfc6349.baseline
   o.tcp.receive_buffer, o.tcp.send_buffer = 65535, 65535
   o.request, o.response = 1, 1
   o.connections, o.load.think_max = CONNECTIONS, 2 * seconds / ROUNDS
   local record = common.trial(plan, tester, session, {
      test = M.BASELINE, title = "baseline round trip", phase = "measure", seconds = seconds,
      direction = common.direction(plan, 1), setting = { mtu = path.mtu },
      outcome = function(record)
         local times = rtt_of(record)
         return times and units.format_time(times.min_ns / 1e9) or "no answer"
      end,
   }, "TCP_RR", o, function(sides)
      return sides[1].apps[1].total.transactions > 0
   end)
   local times = rtt_of(record) or {}
   return {
      rtt_min_ns = times.min_ns, rtt_mean_ns = times.mean_ns, rtt_max_ns = times.max_ns,
      rtt_samples = times.count or 0,
      validity = record.validity, reasons = record.reasons, trial = record.trial,
   }
end

-- --- The bottleneck bandwidth (RFC 6349, 3.2.2)
--
-- The most of a stateless stream of full packets that arrives, each direction by itself, with the search and
-- the evidence of RFC 2544's throughput and a loss that is tolerated.

M.BANDWIDTH = "rfc6349.bandwidth"

local MAC_AND_FCS, TAG = 18, 4
local LEAST_SHARE = 1e-5 -- of the line; a narrower bottleneck is not found

--- Bytes with FCS of a full packet's frame.
function M.frame_size(path, tags)
   return path.mtu + MAC_AND_FCS + TAG * tags
end

-- @param o  settings of a trial, for common.achievable
local function bandwidth_row(direction, size, o, result, trials)
   local fps, found = result.load, verdict.of_search(result.limited_by)
   return {
      direction = direction, frame_size = size, bandwidth_fps = fps, trials = trials,
      bandwidth_l1_bps = fps and ethernet.l1_bps(fps, size), bandwidth_l2_bps = fps and ethernet.l2_bps(fps,
         size),
      bandwidth_l3_bps = fps and ethernet.l3_bps(fps, size, o.tags),
      achievable_bps = fps and common.achievable(ethernet.l1_bps(fps, size), o),
      lower_trial = result.lower_trial and result.lower_trial.trial,
      upper_trial = result.upper_trial and result.upper_trial.trial, limited_by = result.limited_by,
      validity = fps and found or verdict.worse(found, "invalid"),
      reasons = found ~= "valid" and (result.upper_trial and result.upper_trial.reasons
         or { ("the tester itself carries no more than %.0f frames per second (calibration)"):format(fps) })
         or fps and {} or { "nothing passed" },
   }
end

--- Measure one direction.
-- @param from  number of the port that sends
-- @return its row
function M.find_bandwidth(plan, tester, session, path, from)
   local settings, o, before = common.settings(plan, path), plan.rfc6349.bandwidth, #session.trials
   settings.timestamps = settings.tcp.timestamps
   local size, direction = M.frame_size(path, settings.tags), common.direction(plan, from)
   local most = tester:max_fps(size)
   local result = search.run("binary", search.goal(o, {
      min = LEAST_SHARE * most, max = most, carried = plan.tester_limits and plan.tester_limits[size],
      resolution = o.resolution, relative = true,
      trial = function(fps, seconds, phase)
         return session:trial {
            test = M.BANDWIDTH, phase = phase, frame_size = size, direction = direction,
            directions = { direction },
            fps = fps, seconds = seconds, line_fps = most,
         }
      end,
   }))
   return bandwidth_row(direction, size, settings, result, #session.trials - before)
end

return M
