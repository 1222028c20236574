-- SPDX-License-Identifier: BSD-3-Clause

--- The same test of streams with nobody who looks and with many, and what of it the packet lcore could
-- notice: for web_viewers_spec.lua.
--
-- It is what `framegauge serve --web` does, in one process with its viewers. They follow the stream of
-- states, which come more often than for a person, and one more asks for the state again and again: counts
-- are read all the time that frames fly. Time on the wire runs free, so that what the lcore does depends on
-- the trial alone, whatever the machine. By hand, instructions of its loop in each test can be counted, too:
--
--    valgrind --tool=callgrind --fair-sched=yes --toggle-collect=run_wire --dump-after=run_wire framegauge
--
--    framegauge script viewed.lua FOLDER STREAMS FRAMES VIEWERS...
--
-- Results go to new folders in FOLDER. A line of JSON for each number of viewers: polls = passes of the
-- lcore's loop; states = how often the state was read during the test; answers = to the one who asks; pieces
-- = of the streams of states; inside, outside = calls of the engine from there, and from elsewhere, by name.
local api = require "framegauge.core.api"

local calls, place = nil, "outside"

-- A module that takes the C functions from now on has them counted.
local C = api.C
api.C = setmetatable({}, { __index = function(self, name)
   local value = C[name]
   if not name:find "^fg_engine_" or type(value) ~= "cdata" then
      return value
   end
   local function counted(...)
      calls[place][name] = (calls[place][name] or 0) + 1
      return value(...)
   end
   rawset(self, name, counted)
   return counted
end })

local Control = require "framegauge.control"
local Events = require "framegauge.web.events"
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local State = require "framegauge.web.state"
local uv = require "luv"
local web = require "framegauge.web"

local PLAN = [[
test: traffic
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 100Gbps, latency: 20us, time: free}
host: {huge_pages: never} # valgrind has no room for them where there are any
traffic: {duration: %.6fs, learning_wait: 1ms, drain: 1ms, settle: 0}
streams:
%s]]
local FPS = 1e7 -- of all streams
local SECONDS = 2e-4 -- between two states, for each stream

local function plan_of(streams, frames)
   local list = {}
   for i = 1, streams do
      list[i] = ("  s%d: {size: 64, rate: %.3ffps}\n"):format(i, FPS / streams)
   end
   return assert(plans.load_text(PLAN:format(frames / FPS, table.concat(list)), "viewers"))
end

local function count_anew()
   calls = { states = 0, inside = {}, outside = {}, answers = 0, pieces = 0 }
   return calls
end

local function count_states(new)
   function State.new(...)
      local state = new(...)
      local read = state.read
      function state.read(...)
         calls.states, place = calls.states + 1, "inside"
         local found = read(...)
         place = "outside"
         return found
      end
      return state
   end
end

local function look_often(new, seconds)
   function Events.new(...)
      local events = new(...)
      job.spawn(function()
         while not events.closed do
            events:look()
            job.sleep(seconds)
         end
      end)
      return events
   end
end

-- Ask, and ask again as soon as the answer is there.
-- @param heard  function(a piece of the answer) -> is it the last one?
local function ask(url, path, heard)
   local address, port, token = url:match "http://([%d.]+):(%d+)/#token=(%S+)"
   local request = ("GET %s HTTP/1.1\r\nHost: %s:%s\r\nAuthorization: Bearer %s\r\n\r\n"):format(path,
      address, port, token)
   local socket = uv.new_tcp "inet"
   job.wait(function(wake)
      socket:connect(address, tonumber(port), wake)
   end)
   socket:read_start(function(_, text)
      if text and heard(text) then
         socket:write(request)
      end
   end)
   socket:write(request)
   return socket
end

-- Viewers; each has a state when the test begins.
local function look(url, viewers)
   local sockets, have, count = {}, {}, 0
   for i = 1, viewers do
      sockets[i] = ask(url, "/api/v1/events", function(text)
         calls.pieces = calls.pieces + 1
         count = count + (not have[i] and text:find "data: {" and 1 or 0)
         have[i] = have[i] or text:find "data: {"
      end)
   end
   for _ = 1, 6000 do
      if count == viewers then
         break
      end
      job.sleep(0.01)
   end
   assert(count == viewers, "not all viewers have got a state")
   sockets[viewers + 1] = viewers > 0 and ask(url, "/api/v1/state", function(text)
      local is_all = text:find "}%s*$" ~= nil
      calls.answers = calls.answers + (is_all and 1 or 0)
      return is_all
   end) or nil
   return sockets
end

return job.run(function()
   count_anew()
   count_states(State.new)
   look_often(Events.new, SECONDS * tonumber(arg[2]))
   local control, url = Control.new(plan_of(tonumber(arg[2]), tonumber(arg[3]))), nil
   local server = web.open(control, { web = "127.0.0.1:0" }, function(line)
      url = line:match "^viewer: (%S+)" or url
   end)
   for i = 4, #arg do
      local sockets = look(url, tonumber(arg[i]))
      local found = count_anew()
      local row = control:test("traffic", {}, { out = ("%s/%d"):format(arg[1], i) }):wait().traffic[1]
      found.viewers, found.validity = tonumber(arg[i]), row.validity
      found.polls, found.frames = control.tester.totals.lcores[1].polls, row.tx
      print(json.encode(found))
      for _, socket in ipairs(sockets) do
         socket:close()
      end
   end
   server:close()
   control:close()
   return 0
end)
