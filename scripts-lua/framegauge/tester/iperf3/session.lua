-- SPDX-License-Identifier: BSD-3-Clause

--- The control connection of a test of iperf3, in both roles: what is said on it, and what follows for the
-- streams of the test, which are the lcore's (lib/apps/fg_l4_iperf.h).
--
-- The client leads: both ends send single bytes for the states that they reach, and exchange parameters and
-- results as JSON with its length in front. What a peer says out of turn, too late or not at all ends its
-- test.
--
-- When the client says that the test is over, some of what it has sent is still on its way. It tells how much
-- that was, so our server waits for all of it, for a second at most, and a stream's time is the time of its
-- last byte. So both sides say the same number, and no goodput is of bytes that have not come. What the peer
-- is told is what is reported: later data do not count.
local ffi = require "ffi"
local messages = require "framegauge.tester.iperf3.messages"
local octets = require "framegauge.core.octets"
local reports = require "framegauge.traffic.l4.iperf3_reports"

local M = {}

local START, RUNNING, TEST_END, PARAMS, CREATE, SERVER_ENDS, CLIENT_ENDS = 1, 2, 4, 9, 10, 11, 12
local EXCHANGE, DISPLAY, ALL_DONE, ERROR, DENIED = 13, 14, 16, 0xfe, 0xff

local COOKIE, NUMBER = 37, 4 -- bytes
local LONGEST = 131072 -- bytes of a text: two of them have room in a session
-- Seconds: for each step of the client; beyond the time of the test; for what is on its way.
local STEP, GRACE, DRAIN = 10, 30, 1

local Session = {}
Session.__index = Session

local function number_text(n)
   return string.char(math.floor(n / 2 ^ 24) % 256, math.floor(n / 2 ^ 16) % 256, math.floor(n / 256) % 256,
      n % 256)
end

local function number_of(text)
   local a, b, c, d = text:byte(1, NUMBER)
   return ((a * 256 + b) * 256 + c) * 256 + d
end

local function report(self, r)
   table.insert(self.reports, r)
end

-- What our own end counted of each stream for the result.
local function rows_of(self, counts)
   local rows = {}
   for i, s in ipairs(counts) do
      local ours = reports.difference(s.all, s.omitted)
      ours.jitter_ms = s.jitter_ms
      if not self.test.udp and s.sends and not (i > 1 and counts[i - 1].sends) then
         ours.retransmits = counts.retransmits
      end
      if s.to > 0 then
         ours.from, ours.to = counts.from, s.to
      end
      rows[i] = { kind = "result", udp = self.test.udp, stream = messages.number(i), sent = s.sends,
         ours = ours, theirs = self.theirs and self.theirs[i] or reports.zero() }
   end
   return rows
end

-- What was counted since the interval before. The omitted time may end a moment before the interval does.
local function interval(self, counts)
   local from = self.shown and self.shown.now or 0
   local omitted = counts.omitting or (from + counts.now) / 2 < counts.from
   for i, s in ipairs(counts) do
      local ours = reports.difference(s.all, self.shown and self.shown[i].all or reports.zero())
      ours.jitter_ms = s.jitter_ms
      ours.from, ours.to = from, counts.now
      report(self, { kind = "interval", udp = self.test.udp, stream = messages.number(i), sent = s.sends,
         omitted = omitted, ours = ours })
   end
   self.shown = counts
end

-- Have the lcore count, and do other orders with it; `use` is called at a later look, with what was counted.
-- What is awaited already is of no use then.
local function count(self, use, ...)
   local orders = { "COUNT", ... }
   local function order()
      self.counted, self.use = self.state.counted + 1, use
      self.link.order(orders)
   end
   if self.counted then
      self.use = order
   else
      order()
   end
end

local function wait(self, step, expects, seconds)
   self.step, self.expects, self.deadline = step, expects, self.now + seconds
end

local function send(self, text)
   self.full = not self.link.send(text) or self.full
end

local function send_state(self, state)
   send(self, string.char(state))
end

local function send_text(self, text)
   send(self, number_text(#text) .. text)
end

local function close(self, rows)
   for _, r in ipairs(rows or {}) do
      report(self, r)
   end
   report(self, { kind = "end", ending = self.ending, refusal = self.refusal or 0 })
   self.over = true
end

-- The test is over, however it ended. What was sent last still leaves.
local function finish(self, ending, ...)
   self.ending, self.expects = ending, nil
   if self.rows or not self.ran then
      self.link.order { "END", ... }
      close(self, self.rows)
   else
      count(self, function(_, counts)
         close(self, rows_of(self, counts))
      end, "HALT", "END", ...)
   end
end

-- iperf3 says what is wrong by two numbers: its own, and errno.
local function fault(self, refusal, ending)
   self.refusal = refusal
   send(self, string.char(ERROR) .. number_text(refusal) .. number_text(0))
   finish(self, ending)
end

local function report_test(self, asked)
   asked.client, asked.port = self.client ~= nil, self.state.remote_port
   asked.address = octets.address_text(ffi.string(self.state.remote, 16))
   report(self, asked)
end

local function wanted_streams(self)
   return self.test.parallel * (self.test.both and 2 or 1)
end

-- --- the server

local function send_results(self, counts)
   interval(self, counts)
   self.rows = rows_of(self, counts)
   send_text(self, messages.results(counts, self.rows, self.test.udp, self.wants_output))
   send_state(self, DISPLAY)
   wait(self, "display", "state", STEP)
end

-- Has everything come that the client reports to have sent?
local function has_all(self, counts)
   for i, s in ipairs(counts) do
      if s.open and not s.sends and s.all.octets < s.omitted.octets + self.theirs[i].octets then
         return false
      end
   end
   return true
end

local on_server, at_server = {}, {} -- for messages; for steps that look at the streams

function on_server.cookie(self, text)
   self.cookie = text
   send_state(self, PARAMS)
   wait(self, "params", "text", STEP)
end

function on_server.text(self, text)
   if self.step == "params" then
      local asked, refusal
      self.test, asked, refusal, self.wants_output = messages.read_params(text, self.longest)
      report_test(self, asked)
      if refusal then
         fault(self, refusal, "refused")
         return
      end
      self.test.cookie = self.cookie
      self.link.order({ "OPEN" }, self.test)
      send_state(self, CREATE)
      wait(self, "open", "state", STEP)
      return
   end
   count(self, function(_, counts)
      self.theirs = messages.read_results(text, counts, self.test)
      if self.theirs then
         wait(self, "drain", nil, DRAIN)
      else
         fault(self, messages.ERRORS.results, "nonsense")
      end
   end, "TRUNCATE")
   wait(self, "results", nil, STEP)
end

function on_server.state(self, state)
   if state == TEST_END and self.step == "run" then
      send_state(self, EXCHANGE)
      wait(self, "exchange", "text", STEP)
   elseif state == ALL_DONE and self.step == "display" then
      finish(self, "done")
   elseif state == CLIENT_ENDS or state == ALL_DONE then -- or it gives up
      finish(self, "terminated")
   else
      fault(self, messages.ERRORS.message, "nonsense")
   end
end

-- All streams may be there, of many that come one after the other.
function at_server.open(self)
   if self.state.streams == wanted_streams(self) then
      self.link.order { "RUN" }
      send(self, string.char(START, RUNNING))
      self.ran, self.interval_at = true, self.now + 1
      local seconds = self.test.time_s + self.test.omit_s + GRACE
      wait(self, "run", "state", self.test.time_s == 0 and math.huge or seconds)
   elseif self.streams ~= self.state.streams then
      self.streams, self.deadline = self.state.streams, self.now + STEP
   end
end

function at_server.run(self)
   if self.now >= self.interval_at then
      self.interval_at = self.interval_at + math.floor(self.now - self.interval_at) + 1
      count(self, interval)
   end
end

function at_server.drain(self)
   count(self, function(_, counts)
      if self.now >= self.deadline or has_all(self, counts) then
         send_results(self, counts)
      end
   end)
end

-- --- the client

local on_client, at_client = {}, {}

-- The states that the server may send, each after one step; what follows.
local STEPS = {
   [PARAMS] = { "begin", function(self)
      report_test(self, self.asked)
      send_text(self, self.client.params)
      self.step = "params"
   end },
   [CREATE] = { "params", function(self)
      self.link.order({ "OPEN" }, self.test)
      self.step = "open"
   end },
   [START] = { "open", function(self)
      self.step = "start"
   end },
   [RUNNING] = { "start", function(self)
      self.link.order { "RUN" }
      self.step, self.ran = "run", true
   end },
   [EXCHANGE] = { "ended", function(self)
      self.step, self.expects = "exchange", nil
      count(self, function(_, counts)
         self.counts, self.rows = counts, rows_of(self, counts)
         send_text(self, messages.results(counts, self.rows, self.test.udp))
         self.expects = "text"
      end)
   end },
   [DISPLAY] = { "results", function(self)
      send_state(self, ALL_DONE)
      finish(self, "done")
   end },
   [ERROR] = { nil, function(self) -- its number follows
      self.expects = "fault"
   end },
   [DENIED] = { nil, function(self)
      self.refusal = messages.ERRORS.busy
      finish(self, "refused", "REFUSED")
   end },
   [SERVER_ENDS] = { nil, function(self)
      finish(self, "terminated")
   end },
}

function on_client.state(self, state)
   local of = STEPS[state]
   local in_turn = of and (not of[1] or of[1] == self.step)
   if in_turn and (state ~= START or self.state.streams == wanted_streams(self)) then
      of[2](self)
   else
      finish(self, "nonsense", "REFUSED")
   end
end

function on_client.fault(self, number)
   self.refusal = number
   finish(self, "refused", "REFUSED")
end

function on_client.text(self, text)
   self.theirs = messages.read_results(text, self.counts, self.test)
   if not self.theirs then
      finish(self, "nonsense", "REFUSED")
      return
   end
   self.rows, self.peer = rows_of(self, self.counts), messages.peer_results(text)
   self.step, self.expects = "results", "state"
end

function at_client.begin(self)
   if self.state.connected and not self.greeted then
      self.greeted, self.expects = true, "state"
      send(self, self.test.cookie)
   end
end

function at_client.run(self)
   if self.state.halted then
      send_state(self, TEST_END)
      self.step = "ended"
   end
end

-- --- both

-- The next whole message of what is expected; nil: it is not here yet.
local function take(self)
   local text, expects = self.buffer, self.expects
   local octets_of = { cookie = COOKIE, state = 1, fault = NUMBER, text = NUMBER }
   local n = octets_of[expects]
   if not n or #text < n then
      return nil
   elseif expects == "state" then
      self.buffer = text:sub(2)
      return text:byte()
   elseif expects == "cookie" then
      self.buffer = text:sub(n + 1)
      return text:sub(1, n)
   end
   local number = number_of(text)
   if expects == "fault" then
      return number
   elseif number > LONGEST then -- longer than any message: as if it were empty
      number = 0
   elseif #text < n + number then
      return nil
   end
   self.buffer = text:sub(n + number + 1)
   return text:sub(n + 1, n + number)
end

local function read_messages(self)
   local message = take(self)
   while message and not self.ending do
      self.on[self.expects](self, message)
      message = take(self)
   end
end

-- Use what the lcore has counted since the order.
local function use_counts(self)
   if self.counted and self.state.counted == self.counted then
      self.counted = nil
      self.use(self, self.link.counts())
   end
end

--- Look at what has come and do what follows.
-- @param state  struct fg_l4_iperf_state, or a table of the same fields
-- @param bytes  that came on the control connection since the look before
-- @param now    seconds, of any clock
function Session:look(state, bytes, now)
   self.state, self.now = state, now
   use_counts(self)
   if self.ending then
      return
   end
   self.buffer = self.buffer .. bytes
   read_messages(self)
   if self.ending then
      return
   elseif self.full then
      finish(self, "nonsense", "ABORT")
   elseif state.gone then
      finish(self, "gone")
   elseif state.over and self.client and not self.ran then
      finish(self, "late", "ABORT")
   elseif now >= self.deadline and self.step ~= "drain" then
      finish(self, "late")
   elseif not self.counted and self.at[self.step] then
      self.at[self.step](self)
   end
end

--- What has been reported since: { kind = "test", … }, { kind = "interval", … } of each second and stream
-- (of a server), { kind = "result", … } of each stream, and always { kind = "end", … }.
function Session:take()
   local list = self.reports
   self.reports = {}
   return list
end

--- The trial is over: what has not ended will not.
function Session:close()
   if not self.over then
      self.ending = self.ending or "late"
      close(self)
   end
end

--- Tell the client that its test is over.
function Session:stop()
   if not self.ending then
      send_state(self, SERVER_ENDS)
      finish(self, "stopped")
   end
end

local function new(link, o)
   o.link, o.buffer, o.reports, o.deadline = link, "", {}, o.deadline or math.huge
   return setmetatable(o, Session)
end

--- A session of our server, from the first bytes of a client on.
-- @param link     { send = function(bytes) -> whether there was room, order = function(list of orders' names,
--                 test of OPEN), counts = function() -> what was counted (tester.iperf3.control) }
-- @param longest  bytes of a datagram's payload that fit into the MTU
-- @param now      seconds
function M.server(link, longest, now)
   return new(link, { on = on_server, at = at_server, longest = longest, step = "cookie", expects = "cookie",
      deadline = now + STEP })
end

--- A session of our client.
-- @param params  what it asks for, JSON
-- @param cookie  36 bytes of text
function M.client(link, params, cookie)
   local test, asked, refusal = messages.read_params(params, 65535)
   assert(not refusal and #cookie == COOKIE - 1, "iperf3 has no such test")
   test.cookie = cookie .. "\0"
   return new(link, { on = on_client, at = at_client, client = { params = params }, test = test,
      asked = asked, step = "begin" })
end

return M
