-- SPDX-License-Identifier: BSD-3-Clause

--- The results of several agents as results of one trial.
--
-- A stream's sender knows the departures, and its receiver the arrivals: nothing is rounded or estimated. A
-- missing part makes the trial invalid.
local exchange = require "framegauge.fleet.exchange"
local format = require "framegauge.text.format"
local agent_names = require "framegauge.fleet.names"
local share = require "framegauge.fleet.share"
local tables = require "framegauge.core.tables"

local M = {}

-- Fields that only the receiver knows, in addition to the fields of exchange.lua.
local ALSO_RECEIVED = { "unordered", "tags_ns", "first_arrival_ns", "last_arrival_ns", "rx_duration_ns",
   "measured", "wrong_rx", "expired" }

-- What each agent counted of the streams that it was told, by their places among all.
local function by_place(results, body)
   local out, places = {}, share.places(body)
   for name, result in pairs(results) do
      local list, k = {}, 0
      for _, i in ipairs(result.directions and places[name] or {}) do
         if body.described[i] and not body.described[i].unmeasured then
            k = k + 1
            list[i] = result.directions[k]
         end
      end
      out[name] = list
   end
   return out
end

-- @param invalid  gets a sentence where the receiver reckoned with another number of sent frames
local function direction_of(i, one, counted, described, invalid, agents)
   local sender, receiver = counted[one.from.agent], counted[one.to.agent]
   local sent = sender[i] or receiver[i]
   local received = receiver[i] or sent
   if not sent then
      return nil
   elseif received.tx ~= sent.tx then
      invalid[#invalid + 1] = ("%s did not tell %s in time how much it sent of %s: not the %s that were planned but %s"):format(agent_names.agent(one.from.agent, agents),
         agent_names.agent(one.to.agent, agents), sent.name, format.count(received.tx),
         format.plural(sent.tx, "frame"))
   end
   for _, key in ipairs(ALSO_RECEIVED) do
      sent[key] = received[key]
   end
   if not (sent.intervals and received.intervals) then
      described = {}
   end
   return exchange.join_direction(sent, received, described.over_time)
end

-- The names that ports of agents have in the plan of the controller: by agent, by name there.
local function names_of(tester)
   local names = {}
   for i, owner in ipairs(tester.owners) do
      names[owner.agent] = names[owner.agent] or {}
      names[owner.agent][owner.port] = tester.plan.ports[i].name
   end
   return setmetatable(names, { __index = function() return {} end })
end

-- Ports with their names in the plan of the controller. @param names  of the agent's ports
local function named(list, names)
   for _, one in ipairs(list or {}) do
      local key = one.port and "port" or "name"
      one[key] = names[one[key]] or one[key]
      named(one.card and { one.card }, names)
   end
   return list or {}
end

-- Misdirected frames: by the places of their streams, and by the names of the ports.
local function strays_of(results, names)
   local out = {}
   for name, result in pairs(results) do
      for _, one in ipairs(result.strays or {}) do
         local place, port, frames = unpack(one)
         out[place] = out[place] or {}
         out[place][names[name][port] or port] = frames
      end
   end
   return out
end

-- Results of the memberships of all agents; nil without memberships.
local function members_of(results, names)
   local out = { queries = 0, answers = 0, ports = {} }
   for name, result in pairs(results) do
      local members = result.members or { queries = 0, answers = 0 }
      out.queries, out.answers = out.queries + members.queries, out.answers + members.answers
      tables.append(out.ports, named(members.ports, names[name]))
   end
   return out
end

-- What went wrong at an agent, sentences into a list.
local function reasons_of(name, result, list, agents)
   local called = agent_names.agent(name, agents)
   if result.lost then
      list[#list + 1] = ("%s was lost while the trial ran (%s): what it sent and received is not known")
         :format(called, result.lost)
   elseif result.failed then
      list[#list + 1] = ("%s could not make the trial: %s"):format(called,
         agent_names.sentence(name, result.failed, agents))
   elseif result.stopped then
      list[#list + 1] = ("%s ended the trial early: %s"):format(called,
         agent_names.sentence(name, tostring(result.stopped), agents))
   end
end

--- What went wrong at agents, sentences.
-- @param results  by the agent's name
-- @param agents   of the controller
function M.problems(results, agents)
   local list = {}
   for name, result in pairs(results) do
      reasons_of(name, result, list, agents)
   end
   return list
end

-- The state of the clocks at both ends of a stream: { error_ns } or { why }.
local function clock_between(one, results, scale)
   local known = scale == "common" and (results[one.to.agent] or {}).clocks or {}
   return scale == "machine" and { error_ns = 0 } or known[one.from.agent] or {}
end

-- Delays between machines are as exact as the clocks of both, or they are absent with a reason.
-- @return why the trial lacks the delays that it needs, or nil
local function judge_delays(direction, one, results, tester)
   local needs, latency, agents = tester.clocks, direction.latency, tester.control.agents
   if one.from.agent == one.to.agent or not latency or tester.scale == "machine" and not needs then
      return nil
   end
   local unwanted = needs and not needs.delays
   local clock = unwanted and { why = "the plan asks for none" } or clock_between(one, results, tester.scale)
   if tonumber(clock.error_ns) then
      latency.clock_error_ns, latency.error_bound_ns = clock.error_ns, latency.error_bound_ns + clock.error_ns
      return needs and clock.error_ns > needs.within_ns
         and ("the clocks of %s and %s may differ by %s, more than %s"):format(
            agent_names.agent(one.from.agent, agents), agent_names.agent(one.to.agent, agents),
            format.nanoseconds(clock.error_ns), needs.share) or nil
   else
      direction.latency, direction.delays, direction.tags_ns = nil, nil, nil
      direction.no_latency = tostring(clock.why or "the clocks of the agents were not compared")
      for name, list in pairs(direction.series or {}) do
         for i = 1, name:find "^f[td][dv]_" and #list or 0 do
            list[i] = 0
         end
      end
      return needs and needs.delays and direction.no_latency or nil
   end
end

-- How far the first departures of the agents were apart.
local function skew_of(results)
   local least, most
   for _, result in pairs(results) do
      for _, late in ipairs(result.starts_ns or {}) do
         least, most = math.min(least or late, late), math.max(most or late, late)
      end
   end
   return least and most - least
end

-- The agents at both ends of a stream: why its counts mean nothing, and their lcores.
local function ends_of(one, results, agents)
   local out, names = { invalid = {}, lcores = {} }, { one.from.agent, one.to.agent }
   for i = 1, names[1] == names[2] and 1 or 2 do
      local result = results[names[i]] or {}
      reasons_of(names[i], result, out.invalid, agents)
      out.lcores = tables.joined(out.lcores, result.lcores or {})
   end
   out.told = #out.invalid
   return out
end

-- The counts of a stream, with the fields that only its end points know.
-- @return it, and why its counts mean nothing, apart from its agents
local function joined_direction(i, one, results, counted, described, seconds, agents)
   local own = ends_of(one, results, agents)
   local direction = direction_of(i, one, counted, described, own.invalid, agents)
      or { name = described.name, tx = 0, rx = 0, -- nobody counted what was to be sent
         intended_frames = math.max(1, math.floor((described.fps or 0) * (described.share or 1)
            * (seconds or 0) + 0.5)) }
   direction.lcores, direction.invalid = own.lcores, own.invalid
   return direction, { unpack(own.invalid, own.told + 1) }
end

--- @param results  by the agent's name: what each counted
-- @param body     what they were told
-- @param tester   framegauge.fleet.tester
-- @param before   what went wrong before the trial, sentences
-- @return as framegauge.tester's trial()
function M.results(results, body, tester, before)
   local names = names_of(tester)
   local raw = { time = "tsc", duration_s = body.seconds, drain_s = body.drain, directions = {}, ports = {},
      lcores = {}, members = body.members and members_of(results, names) }
   local invalid = tables.joined({}, before or {})
   for _, name in ipairs(tester.names) do
      local result = results[name] or {}
      reasons_of(name, result, invalid, tester.control.agents)
      tables.append(raw.ports, named(result.ports, names[name]))
      tables.append(raw.lcores, result.lcores or {})
      if result.queues then
         raw.queues = raw.queues or {}
         tables.append(raw.queues, named(result.queues, names[name]))
      end
   end
   local counted, strays = by_place(results, body), strays_of(results, names)
   for i, one in ipairs(body.streams) do
      local described = body.described[i]
      if not described then
         break
      elseif not described.unmeasured then
         local direction, why = joined_direction(i, one, results, counted, described, body.seconds,
            tester.control.agents)
         direction.from = names[one.from.agent][one.from.port]
         if described.measure then
            direction.measured = direction.measured or {}
            direction.measured.misdirected = strays[i]
         end
         invalid[#invalid + 1] = judge_delays(direction, one, results, tester)
         raw.directions[#raw.directions + 1] = direction
         tables.append(invalid, why)
      end
   end
   raw.invalid = invalid[1] and invalid or nil
   raw.start_skew_ns = skew_of(results)
   return raw
end

return M
