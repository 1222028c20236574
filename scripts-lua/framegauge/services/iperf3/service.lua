-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge iperf3`: a server for ordinary hosts that run `iperf3 -c`.
--
-- A worker of the L4 engine on one port serves them, IPv4 and IPv6, one at a time. This module reads and
-- prints its reports.
local Tester = require "framegauge.tester"
local failure = require "framegauge.core.failure"
local job = require "framegauge.core.job"
local results = require "framegauge.tester.iperf3.results"
local print_nowait = require "framegauge.core.print_nowait"
local settings = require "framegauge.methods.l4.settings"
local trial = require "framegauge.tester.l4.trial"
local uv = require "luv"
local words = require "framegauge.tester.iperf3.output"

local M = {}

local MAC_AND_FCS, TAG = 18, 4
local LOOK_SECONDS, IDLE_SECONDS, LAST_WORDS_SECONDS = 0.001, 0.01, 1
local CONNECTIONS = 4096 -- including those in TIME_WAIT and rejected ones

local function servers(plan)
   local apps, port = {}, plan.ports[1]
   for _, version in ipairs { "ipv4", "ipv6" } do
      apps[#apps + 1] = port[version] and {
         test = "IPERF", server = true, address = port[version], port = plan.iperf3.port,
         tcp = settings.tcp(plan.iperf3.tcp),
      } or nil
   end
   return apps
end

-- Prints a test line by line.
local Screen = {}
Screen.__index = Screen

-- Intervals arrive stream by stream; they are printed when a second is complete.
function Screen:flush()
   for _, text in ipairs(self.second[1] and words.interval(self.second) or {}) do
      print_nowait(text)
   end
   self.second = {}
end

function Screen:interval(r)
   local first = self.second[1]
   if first and first.stream == r.stream then
      self:flush()
   end
   table.insert(self.second, r)
end

function Screen:take(r)
   if r.kind == "interval" then
      self:interval(r)
      return
   end
   self:flush()
   if r.kind == "test" then
      self.heading = words.test(r)
      print_nowait("\n" .. self.heading)
   elseif r.kind == "end" and not self.heading then
      print_nowait("\na client without a test: " .. words.ending(r))
   elseif r.kind == "end" then
      for i, text in ipairs(words.result(self.results, r.ending == "done")) do
         print_nowait((i == 1 and "result:\n" or "") .. text)
      end
      self.results, self.heading = {}, nil
      print_nowait(words.ending(r) or "done")
   else
      table.insert(self.results, r)
   end
end

local function screen()
   return setmetatable({ second = {}, results = {} }, Screen)
end

-- Prints each test as JSON after its end.
local Lines = {}
Lines.__index = Lines

function Lines:take(r)
   table.insert(self.list, r)
   if r.kind == "end" then
      print_nowait(results.text(self.list))
      self.list = {}
   end
end

local Server = {}
Server.__index = Server

-- Print new reports. @return whether a test has ended
function Server:look()
   local ended = false
   for _, r in ipairs(self.control:look()) do
      self.shown:take(r)
      ended = ended or r.kind == "end"
   end
   return ended
end

function Server:attend(seconds, one_off)
   local ends = seconds and uv.hrtime() / 1e9 + seconds
   while self.tester:is_running() and not (ends and uv.hrtime() / 1e9 >= ends) do
      if self:look() and one_off then
         return
      end
      job.sleep(self.control:is_busy() and LOOK_SECONDS or IDLE_SECONDS)
   end
end

-- Send a client with a running test the message that the server ends.
function Server:stop()
   self.control:stop()
   local ends = uv.hrtime() / 1e9 + LAST_WORDS_SECONDS
   repeat
      job.sleep(LOOK_SECONDS)
      self:look()
   until not self.control:is_busy() or uv.hrtime() / 1e9 >= ends
   job.sleep(IDLE_SECONDS)
end

local function announce(plan, tester)
   local addresses, port = {}, plan.ports[1]
   addresses[1] = port.ipv4
   addresses[#addresses + 1] = port.ipv6
   print_nowait(("iperf3: listening on %s, port %d (%s, %s)"):format(table.concat(addresses, " and "),
      plan.iperf3.port, port.name, tester.ports[1].device))
end

local function serve(tester, plan, options)
   local self = setmetatable({ tester = tester }, Server)
   self.shown = options.json and setmetatable({ list = {} }, Lines) or screen()
   if not options.json then
      announce(plan, tester)
   end
   trial.serve(tester, {
      side = { port = 1, apps = servers(plan), capacity = CONNECTIONS }, mtu = plan.iperf3.mtu,
      seed = os.time(),
   }, function(control)
      self.control = control
      failure.finally(function()
         self:stop()
      end, self.attend, self, options.seconds, options.one_off)
   end)
end

local function tester_of(plan)
   local tag = plan.ports[1].vlan and TAG or 0
   return Tester.open(plan, { max_frame = plan.iperf3.mtu + MAC_AND_FCS + tag })
end

--- Serve until the time is over or Ctrl-C. Call it inside a job.
-- @param plan             a loaded plan with test: iperf3
-- @param options.seconds  how long; nil: until Ctrl-C
-- @param options.one_off  only one test
-- @param options.json     show each test as iperf3 does with -J
function M.main(plan, options)
   local tester, err = tester_of(plan)
   if not tester then
      error(err, 0)
   end
   failure.finally(function()
      tester:close()
   end, serve, tester, plan, options)
end

return M
