-- SPDX-License-Identifier: BSD-3-Clause

--- The campaigns that search for a maximum: connections per second, transactions per second, or concurrent
-- connections. The search is RFC 2544's throughput search (framegauge.search); whether a load passes is
-- judged by RFC 9411's rules for the sustain phase (7.1.3.4 and the like).
--
-- Rates are offered in an open loop: connections are opened when they are due, however slow the device is, so
-- that a device that stalls does not get a lower load. Each connection makes a number of transactions; the
-- load is their rate.
local cases = require "framegauge.methods.l4.test"
local kinds = require "framegauge.methods.l4.plan.kinds"
local search = require "framegauge.search"
local settings = require "framegauge.methods.l4.settings"
local verdict = require "framegauge.text.verdict"

local M = {}

local INTERVALS = 10 -- of a trial: the rate must be the same in each
local LEAST_EVENTS = 100 -- in an interval; with fewer, one more or less would be too large a deviation
local AT_A_TIME = 65536 -- connections of an open loop that may wait for a slow device
local GETS = 10 -- of each connection that is held (RFC 9411, 7.5)

-- Sum of the failures of the client's side (RFC 9411: failed transactions, and connections that were reset).
-- Where TLS fails, the client ends the connection.
local function failures(client)
   local ended = client.total.ended
   local resets = ended.refused + ended.reset
   return resets + ended.no_answer + ended.lost + client.total.expired + client.total.refused
      + (client.tls and ended.aborted or 0), resets
end

-- Largest deviation of the intervals from their mean, as a share of it.
local function deviation(series, key)
   local sum, most = 0, 0
   for _, interval in ipairs(series) do
      sum = sum + interval[key]
   end
   local mean = sum / math.max(1, #series)
   if mean == 0 or key == "transactions" and mean < LEAST_EVENTS then
      return 0
   end
   for _, interval in ipairs(series) do
      most = math.max(most, math.abs(interval[key] - mean) / mean)
   end
   return most
end

local function percent(share)
   return ("%.3g %%"):format(100 * share)
end

--- Why a trial fell short, in sentences; none: the load passes.
-- @param o       the group l4.search
-- @param wanted  { rate = intended transactions per second, or connections = concurrent connections }
function M.short(o, client, wanted)
   local list, failed, resets = {}, failures(client)
   local function add(...)
      list[#list + 1] = string.format(...)
   end
   local tried = math.max(1, client.total.transactions + failed)
   if failed / tried > o.failures then
      add("%s of the transactions failed", percent(failed / tried))
   end
   if resets / math.max(1, client.total.opened) > o.failures then
      add("%s of the connections were reset", percent(resets / client.total.opened))
   end
   if wanted.rate then
      local rate = client.measured.transactions / client.measured_s
      if rate < wanted.rate * (1 - o.shortfall) then
         add("%.6g a second instead of %.6g", rate, wanted.rate)
      end
      local off = deviation(client.series, "transactions")
      if off > o.deviation then
         add("the rate deviates by %s from its mean", percent(off))
      end
   else
      local answered = math.min(client.total.established, client.total.transactions)
      if answered < wanted.connections then
         add("%d connections with a transaction instead of %d", answered, wanted.connections)
      end
      for _, interval in ipairs(client.series) do
         if interval.open < wanted.connections * (1 - o.shortfall) then
            add("only %d connections were open at the end of an interval", interval.open)
            break
         end
      end
   end
   if list[1] and client.tls and client.tls.deferred > 0 then
      add("connections waited because l4.tls.handshakes_at_once handshakes were under way")
   end
   return list
end

-- A load as settings of the test.
local of = {}

local function open_loop(o, load, seconds, requests)
   return {
      load = settings.copy(o.load, { rate = load / requests, requests = requests }),
      http = settings.copy(o.http, { requests = requests }), duration = seconds,
      omit = math.min(o.omit, seconds / 2), connections = math.max(o.connections, AT_A_TIME),
   }, { rate = load }
end

of["connection-rate"] = function(_, o, load, seconds)
   return open_loop(o, load, seconds, 1)
end

of["transaction-rate"] = function(test, o, load, seconds)
   local own = kinds.of(test).requests
   local requests = own and own(o) or o.load.requests
   return open_loop(o, load, seconds, requests > 0 and requests or GETS)
end

-- Opened at a rate that is not the limit, then held: the transactions of each are spread over the whole time.
of.concurrency = function(_, o, load, seconds)
   local rate = o.search.ramp
   local ramp = load / rate
   local think = (ramp + seconds) / GETS
   return { connections = load, omit = ramp, duration = ramp + seconds,
      load = settings.copy(o.load, { per_second = rate, hold = true, requests = GETS, think = think }),
      http = settings.copy(o.http, { requests = GETS }) }, { connections = load }
end

--- Trials that a search usually has: from the highest load down to the resolution, and the first and last
-- one. A device that carries much less has more, because the resolution is relative.
-- @param o  l4 of the plan
function M.usual_trials(o)
   return math.min(o.search.max_trials, 3 + math.ceil(math.log(1 / o.search.resolution) / math.log(2)))
end

--- The time of its trials, without the waits.
function M.seconds(o)
   local most = o.campaign == "concurrency" and (o.search.max or o.connections) or 0
   local trials = M.usual_trials(o)
   return (trials - 1) * o.search.search_trial + o.duration + trials * most / o.search.ramp
end

--- Whether a campaign is a search.
function M.is_one(campaign)
   return of[campaign] ~= nil
end

-- The highest load that is tried: the plan's, else the line's limit.
local function most_of(plan, tester, test)
   local campaign, o = plan.l4.campaign, plan.l4.search
   local rate = settings.line_rate(tester)
   if o.max or campaign == "concurrency" then
      return o.max or plan.l4.connections
   elseif not rate then
      return nil
   end
   return cases.theoretical(plan, tester, test, settings.of(plan, (of[campaign](test, settings.of(plan), 1,
      1))), rate)
end

local NO_LINE_RATE = "the line rate of these ports is not known; expected the highest load that is tried, or the ports' line_rate"
local NO_THEORY = "what a line allows of %s is not known, because certificates decide how many bytes a handshake takes; expected the highest load that is tried"

--- What keeps a plan from being run; nil: nothing.
function M.check(plan, tester)
   for _, test in ipairs(M.is_one(plan.l4.campaign) and plan.l4.tests or {}) do
      if not most_of(plan, tester, test) then
         return "l4.search.max: missing, and "
            .. (kinds.of(test).theory and NO_LINE_RATE or NO_THEORY:format(test))
      end
   end
   return nil
end

local function reasons_of(plan, result)
   if result.limited_by == "max_trials" then
      local text = "the search was not done after %d trials (l4.search.max_trials)"
      return { text:format(plan.l4.search.max_trials) }
   elseif verdict.of_search(result.limited_by) ~= "valid" and result.upper_trial then
      return result.upper_trial.reasons
   elseif not result.load then
      return { "no load passed" }
   end
   return {}
end

-- A search needs lost and sent frames: here, the number of points in which a trial fell short.
local function as_asked(record, short)
   return setmetatable({ tx = math.max(2, #short), lost = #short }, { __index = record })
end

--- Search for the maximum of a test.
-- @return its row of results.l4 (docs/reference/results.md)
function M.run(plan, tester, session, test)
   local campaign, o, before = plan.l4.campaign, plan.l4.search, #session.trials
   local last = {}
   local function try(load, seconds, phase)
      load = campaign == "concurrency" and math.floor(load + 0.5) or load
      local set, wanted = of[campaign](test, settings.of(plan), load, seconds)
      set.interval = (set.duration - set.omit) / INTERVALS
      local case = { test = test, name = ("%s of %.6g"):format(campaign, load), set = set }
      local record = cases.trial(plan, tester, session, case, {
         phase = phase,
         finish = function(made)
            local short = M.short(o, made.sides[1].apps[1], wanted)
            made.fell_short = #short > 0 and short or nil
         end,
      })
      last[record.trial] = case
      return as_asked(record, record.fell_short or {})
   end
   local max = most_of(plan, tester, test)
   local result = search.run("binary", search.goal(o, {
      min = math.max(max * o.resolution / 100, campaign == "concurrency" and 1 or 0), max = max,
      resolution = o.resolution, relative = true, final_trial = plan.l4.duration, trial = try,
   }))
   local decided = result.lower_trial or result.upper_trial
   local case = last[decided.trial]
   local row = cases.row(plan, tester, { test = test, name = campaign, set = case.set },
      { getmetatable(decided).__index })
   row.load, row.upper_load, row.limited_by = result.load, result.upper, result.limited_by
   row.trials_made, row.upper_trial = #session.trials - before,
   result.upper_trial and result.upper_trial.trial
   row.validity = verdict.worse(verdict.of_search(result.limited_by), result.load and row.validity
      or "invalid")
   row.reasons = reasons_of(plan, result)
   row.fell_short = result.upper_trial and result.upper_trial.fell_short
   if campaign == "concurrency" then
      row.concurrent_connections, row.theoretical, row.theoretical_percent = result.load, nil, nil
   end
   return row
end

return M
