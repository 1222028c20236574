-- SPDX-License-Identifier: BSD-3-Clause

--- Viewers of the stream of states: many, and one who never reads.
local curl = require "curl"
local Events = require "framegauge.web.events"
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local Server = require "framegauge.web.server"
local uv = require "luv"

local STATE = 1024 * 1024 -- bytes: one is more than the kernel keeps for a reader with a small buffer
local ROOM = 4096
local MANY = 20 -- viewers

-- States with a name; reads is their number.
local function states(name)
   local self = { reads = 0 }
   function self.read()
      self.reads = self.reads + 1
      return { time_ms = self.reads, ports = {}, plan = name }
   end
   return self
end

-- Ask for a stream and read nothing of it.
local function never_read(port)
   local socket = uv.new_tcp "inet"
   uv.recv_buffer_size(socket, ROOM)
   job.wait(function(wake)
      socket:connect("127.0.0.1", port, wake)
   end)
   socket:write "GET /deaf HTTP/1.1\r\nHost: tester\r\n\r\n"
   return socket
end

describe("the stream of states", function()
   local events, server, listener
   local unread, ended = {}, {} -- by path: the most bytes that were not read; the state at which it ended

   -- The route, which notes what becomes of a viewer.
   local function noted(request)
      local answer, path = events:answer(), request.path
      local serve = answer.stream
      unread[path] = 0
      function answer.stream(stream)
         serve { push = function(_, text)
            local bytes = stream:push(text)
            unread[path] = math.max(unread[path], bytes or 0)
            return bytes
         end }
         ended[path] = events.number
      end
      return answer
   end

   local function wait_for(is_so)
      for _ = 1, 600 do
         if is_so() then
            return true
         end
         job.sleep(0.1)
      end
   end

   it("keeps one state for who does not read, drops it, and goes on with the others", function()
      events = Events.new(states(("x"):rep(STATE)))
      server = Server.new { body_ms = 1000, routes = { ["GET /deaf"] = noted, ["GET /reader"] = noted } }
      listener = server:listen { address = "127.0.0.1:0" }
      local socket = never_read(listener.port)
      local reader = job.spawn(curl, "--no-buffer", "--max-time", "60", listener.url .. "/reader")
      assert.is_true(wait_for(function()
         return ended["/deaf"]
      end))
      assert.is_nil(ended["/reader"])
      assert.equal(1, events.count)
      assert.is_true(unread["/deaf"] > STATE and unread["/deaf"] < 1.1 * STATE, unread["/deaf"])
      assert.is_true(wait_for(function()
         return events.number >= ended["/deaf"] + 4
      end))
      events:close()
      local last = tonumber(reader:join():match ".*\nid: (%d+)\n")
      assert.is_true(last > ended["/deaf"], last)
      socket:close()
      server:close()
   end)

   it("is made once for all who look, and begins with the next state", function()
      local source, written, began = states "short", 0, {}
      local encode = json.encode
      json.encode = function(...)
         written = written + 1
         return encode(...)
      end
      events = Events.new(source)
      server = Server.new { routes = { ["GET /"] = function()
         began[#began + 1] = events.number
         return events:answer()
      end } }
      local url, viewers = server:listen({ address = "127.0.0.1:0" }).url, {}
      for i = 1, MANY do
         viewers[i] = job.spawn(curl, "--no-buffer", "--max-time", "60", url)
      end
      assert.is_true(wait_for(function()
         return events.count == MANY and events.number >= began[MANY] + 2
      end))
      events:close()
      local firsts = {}
      for i, viewer in ipairs(viewers) do
         firsts[i] = tonumber(viewer:join():match "id: (%d+)\n")
      end
      json.encode = encode
      server:close()
      assert.equal(source.reads, events.number)
      assert.is_true(written <= events.number)
      table.sort(firsts)
      for i, id in ipairs(firsts) do
         assert.is_true(id <= began[i] + 1, id)
      end
   end)

   it("has room for 64 viewers", function()
      local viewers = {}
      events = Events.new(states "short")
      local function look()
         return job.spawn(events:answer().stream, { push = function() return 0 end })
      end
      for i = 1, 64 do
         viewers[i] = look()
      end
      local ok, refused = pcall(look)
      assert.same({ false, 503 }, { ok, refused.http_status })
      events:close()
      for _, viewer in ipairs(viewers) do
         viewer:join()
      end
      assert.equal(0, events.count)
   end)
end)
