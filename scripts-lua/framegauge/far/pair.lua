-- SPDX-License-Identifier: BSD-3-Clause

--- A bench of two testers: our port, and that of a far tester which does what we say. To a method it is a
-- bench like any other (framegauge.bench); what differs is that the frames of a stream are not made here but
-- described, for each tester makes them itself.
local Bench = require "framegauge.bench"
local Link = require "framegauge.far.link"
local Standing = require "framegauge.far.standing"
local clock = require "framegauge.far.clock"
local exchange = require "framegauge.far.exchange"
local format = require "framegauge.report.format"
local job = require "framegauge.job"
local line = require "framegauge.line"
local methods = require "framegauge.method"
local octets = require "framegauge.octets"
local refusal = require "framegauge.refusal"
local side = require "framegauge.far.side"

local Pair = {}
Pair.__index = Pair

local LEAD = 0.3 -- seconds from telling the far tester when to start, besides learning; then twice as many
local ATTEMPTS = 5
local OPENING = 120 -- seconds in which it must have its port open
local SETTLING = 3 -- answers about its clock before anything is measured
local MOST_IDS = 60000

-- The plan of one of the ports alone.
local function plan_of(plan, index)
   local copy = {}
   for key, value in pairs(plan) do
      copy[key] = value
   end
   copy.ports = { plan.ports[index] }
   return copy
end

-- The numbers of our port and of the far tester's.
local function ends(plan)
   for i, port in ipairs(plan.ports) do
      if port.kind == "far" then
         return 3 - i, i
      end
   end
end

function Pair:scale_of(near, far, asked, heard)
   if clock.same(near, far, asked, heard) then
      return "machine"
   end
   return self.plan.y1564.delays and "realtime" or "control"
end

-- Most that the clocks may be apart, nanoseconds: a share of the least delay that is to be kept.
local function tolerance(plan)
   local least = math.huge
   for _, service in ipairs(plan.y1564.services) do
      local reverse = service.reverse and service.reverse.acceptance or {}
      least = math.min(least, service.acceptance.ftd, reverse.ftd or math.huge)
   end
   return plan.y1564.clock_error * least * 1e9
end

local function percent(plan)
   return ("%g %%"):format(plan.y1564.clock_error * 100)
end

function Pair:greet()
   local port, asked = self.plan.ports[self.far], clock.raw()
   self.link:send { op = "clock?" }
   local state = self.link:receive "clock!"
   local near, heard = clock.state(), clock.raw()
   local scale = self:scale_of(near, state, asked, heard)
   local problem = scale == "realtime"
      and clock.problem(near, state, tolerance(self.plan), percent(self.plan))
   if problem then
      refusal.raise("run", 2, "%s", problem)
   end
   self.standing = Standing.new(scale, self.link)
   return self.link:ask({
      op = "hello", version = Link.VERSION, port = port, scale = scale,
      max_frame = math.max(unpack(methods.of(self.plan).frame_sizes(self.plan))),
   }, "hello", OPENING)
end

-- Until we know how the far clock stands.
function Pair:settle_clock()
   local stop = self.standing:watch()
   while self.standing.heard < SETTLING do
      job.sleep(0.01)
      if self.link.lost then
         break
      end
   end
   stop()
end

function Pair:open_near()
   local err
   self.bench, err = Bench.open(plan_of(self.plan, self.near), {
      max_frame = math.max(unpack(methods.of(self.plan).frame_sizes(self.plan))),
   })
   if not self.bench then
      error(err, 0)
   end
end

-- Both ports, in the order of the plan, the far one as it says.
function Pair:describe(hello)
   local theirs = hello.port
   theirs.name, theirs.notes = self.plan.ports[self.far].name, { "of the far tester" }
   theirs.line_rate = self.plan.ports[self.far].line_rate or theirs.line_rate
   self.gateways = hello.gateways
   self.ports = {}
   self.ports[self.near], self.ports[self.far] = self.bench.ports[1], theirs
end

--- Connect to the far tester of a plan and open both ports. Refuses where the clocks do not agree.
-- @return the bench, or nil and an error object
function Pair.open(plan)
   local self = setmetatable({ plan = plan, next_id = 1 }, Pair)
   self.near, self.far = ends(plan)
   local ok, err = pcall(function()
      self.link = Link.connect(plan.ports[self.far].device:match "^far:(.*)$", {
         clock = function(object)
            self.standing:hear(object, true)
         end,
      })
      local hello = self:greet()
      if hello.version ~= Link.VERSION then
         refusal.raise("run", 4, "the far tester is of another version of Framegauge")
      end
      self:open_near()
      self:describe(hello)
      self:settle_clock()
   end)
   if not ok then
      self:close()
      return nil, err
   end
   return self
end

function Pair:close()
   if self.link then
      self.link:close()
   end
   if self.bench then
      self.bench:close()
   end
end

function Pair:gateway_mac(i, version)
   if i == self.near then
      return self.bench:gateway_mac(1, version)
   end
   local text = self.gateways["gateway" .. version]
   return text and octets.mac(text) or nil
end

function Pair:max_fps(frame_size)
   return line.slowest_fps(self.ports, frame_size)
end

Pair.port_index = Bench.port_index

--- A frame as both testers can be told of it.
function Pair.template(size, stack)
   return { size = size, stack = stack }
end

-- Ids of streams that both use; never 0.
function Pair:take_ids(n)
   if self.next_id + n > MOST_IDS then
      self.next_id = 1
   end
   local first = self.next_id
   self.next_id = first + n
   return first
end

-- What is wrong with the clocks, as sentences; empty when nothing is.
-- @param off       nanoseconds that they may be apart
-- @param negative  delays that came out so
function Pair:doubts(off, negative)
   local list = {}
   list[1] = self.standing.lost and "the clock of the far tester lost its synchronisation" or nil
   if off > tolerance(self.plan) then
      list[#list + 1] = ("the clocks of the two testers may be %s apart, more than %s of the least "
         .. "FTD"):format(format.nanoseconds(off), percent(self.plan))
   end
   if negative > 0 then
      list[#list + 1] = ("%s came out negative: the clocks of the two testers are farther apart than their "
         .. "kernels say"):format(format.plural(negative, "delay"))
   end
   return list
end

-- One-way delays are as good as the clocks.
function Pair:judge_clocks(raw)
   local off, negative = self.standing:error(), 0
   for _, direction in ipairs(raw.directions) do
      local latency = direction.latency
      negative = negative + direction.negative
      if not off then
         direction.latency = nil
      elseif latency then
         latency.clock_error_ns = off
         latency.error_bound_ns = latency.error_bound_ns + off
      end
   end
   raw.invalid = off and self:doubts(off, negative) or nil
   return raw
end

-- Make a trial that starts so many seconds from now, besides learning.
-- @return its counts, or nil and a sentence: one of both was not ready in time
function Pair:attempt(trial, ours, lead)
   self.link:ask({ op = "trial", trial = trial }, "ready")
   local at = side.moment(self.standing, lead + trial.learning_wait)
   self.link:send { op = "start", at = clock.text(at) }
   local near, missed = side.trial {
      bench = self.bench, link = self.link, standing = self.standing, trial = trial, ours = ours, at = at,
      stopped = function() return self.link:has_failed() end,
   }
   local far = self.link:receive "result"
   if not near then
      return nil, missed
   end
   far.raw.ports[1].name = self.plan.ports[self.far].name
   return self:judge_clocks(exchange.join(trial.streams, ours, near, far.raw))
end

--- Run one trial at both ends, see Bench:trial; only streams of the method's own making. A host that is busy
-- may not be ready when it was to start: then they agree on a later moment.
function Pair:trial(o)
   local ours = self.plan.ports[self.near].name
   local trial = {
      first_id = self:take_ids(#o.streams), streams = exchange.pack_streams(o.streams),
      learning_wait = o.learning_wait, drain = o.drain, settle = o.settle,
   }
   local watching = self.standing:watch()
   local ok, result = pcall(function()
      local reason
      for i = 1, ATTEMPTS do
         local raw, missed = self:attempt(trial, ours, LEAD * 2 ^ (i - 1))
         if raw then
            return raw
         end
         reason = missed
      end
      return refusal.raise("run", 4, "the two testers were not ready in time, %d times in a row: %s",
         ATTEMPTS, reason)
   end)
   watching()
   if not ok then
      self.link:send { op = "stop" }
      error(result, 0)
   end
   return result
end

function Pair:snapshot()
   return self.bench:snapshot()
end

--- There are no captures.
function Pair.tap()
   refusal.raise("run", 2, "two testers keep no captures of a run; 'framegauge capture' does, at either")
end

return Pair
