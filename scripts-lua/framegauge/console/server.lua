-- SPDX-License-Identifier: BSD-3-Clause

--- The tester's side of `framegauge attach`: a Unix socket, and a session for each client.
--
-- A client can harm neither the others nor the jobs: its buffers are bounded, Lua that never waits is stopped
-- (console/watchdog.lua), and a client that disconnects at any moment is removed.
local connection = require "framegauge.core.connection"
local job = require "framegauge.core.job"
local paths = require "framegauge.core.paths"
local protocol = require "framegauge.console.protocol"
local Session = require "framegauge.console.session"
local undo = require "framegauge.core.undo"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local MOST_CLIENTS = 32
local MOST_WAITING = 100 -- lines of one client
local MOST_UNREAD = 8 * 1024 * 1024 -- bytes for one client
local MOST_TEXT = 1024 * 1024 -- bytes of one message to it
local MOST_CELLS = 500 -- columns and rows of its terminal

local Client = {}
Client.__index = Client

local Server = {}
Server.__index = Server

function Client:send(object)
   if self.gone then
      return
   end
   self.handle:write(connection.line(object))
   if self.handle:get_write_queue_size() > MOST_UNREAD then
      self:drop "it does not read its messages"
   end
end

function Client:send_text(key, text)
   for first = 1, #text, MOST_TEXT do
      self:send { [key] = text:sub(first, first + MOST_TEXT - 1) }
   end
end

--- Disconnect a client. Its command is interrupted; jobs that it started continue.
function Client:drop(reason)
   if self.gone then
      return
   end
   self.gone = true
   self.server.clients[self] = nil
   self.waiting = {}
   if reason then
      self.handle:try_write(connection.line { bye = reason })
   end
   self.handle:close()
   if self.stop_listening then
      self.stop_listening()
   end
   if self.session then
      self.session:interrupt()
   end
end

function Client:work()
   while self.waiting[1] and not self.gone do
      local outcome = self.session:execute(table.remove(self.waiting, 1))
      self:send { done = outcome }
      if outcome == "quit" then
         self:drop()
      end
   end
   self.working = false
end

local function bounded(number)
   number = tonumber(number)
   return number and number >= 1 and math.min(number, MOST_CELLS) or nil
end

-- The terminal of a client, as far as a session needs one.
local function terminal_of(client, hello)
   local columns, rows = bounded(hello.columns), bounded(hello.rows)
   if not columns or not rows then
      return nil
   end
   return {
      size = function()
         return bounded(client.columns) or columns, bounded(client.rows) or rows
      end,
      utf8 = hello.utf8 == true, read_only = hello.read_only == true,
      show_progress = function(_, event)
         client:send { progress = event or false }
      end,
      begin_screen = function(_, on_key)
         client.on_key = on_key
      end,
      show_screen = function(_, lines)
         if not client.gone and client.handle:get_write_queue_size() == 0 then
            client:send { screen = lines }
         end
      end,
      end_screen = function()
         client.on_key = nil
         client:send { screen = false }
      end,
   }
end

local take = {}

function take.hello(client, object)
   if client.session or object.hello ~= protocol.VERSION then
      return client:drop "it is a different version of Framegauge"
   end
   client.session = Session.new {
      control = client.server.control, attached = true, read_only = object.read_only == true,
      terminal = terminal_of(client, object),
      out = function(text)
         client:send_text("out", text)
      end,
      err = function(text)
         client:send_text("err", text)
      end,
   }
   client.stop_listening = client.server.control:listen(function(text, task)
      if task.watched ~= client.session then
         client:send { out = text }
      end
   end)
   client:send { welcome = client.server.welcome }
end

function take.line(client, object)
   client.waiting[#client.waiting + 1] = tostring(object.line)
   if #client.waiting > MOST_WAITING then
      return client:drop "too many of its lines are waiting"
   end
   if not client.working then
      client.working = true
      job.spawn(client.work, client)
   end
end

function take.complete(client, object)
   local insert, candidates = client.session:complete(tostring(object.complete))
   client:send { completion = insert, candidates = candidates }
end

function take.key(client, object)
   if client.on_key then
      client.on_key(tostring(object.key))
   end
end

function take.columns(client, object)
   client.columns, client.rows = object.columns, object.rows
end

function take.interrupt(client)
   client.waiting = {}
   client.session:interrupt()
end

local KINDS = { "hello", "line", "complete", "interrupt", "key", "columns" }

function Client:take(object)
   for _, key in ipairs(KINDS) do
      if object[key] ~= nil then
         if key ~= "hello" and not self.session then
            return self:drop "its first message is not hello"
         end
         return take[key](self, object)
      end
   end
   self:drop "its message is not in the protocol"
end

function Server:accept(handle)
   local client = setmetatable({ handle = handle, server = self, waiting = {} }, Client)
   self.clients[client] = true
   connection.read(handle, function(object)
      if not client.gone then
         client:take(object)
      end
   end, function(reason)
      client:drop(reason)
   end)
   if self:count() > MOST_CLIENTS then
      client:drop(("%d clients are attached already"):format(MOST_CLIENTS))
   end
end

--- Number of attached clients.
function Server:count()
   local n = 0
   for _ in pairs(self.clients) do
      n = n + 1
   end
   return n
end

-- Whether a socket is left over from a tester that has ended.
local function is_stale(path)
   local stat = uv.fs_lstat(path)
   if not stat or stat.type ~= "socket" then
      return false
   end
   local stale, probe
   probe = connection.connect({ path = path }, function(err)
      stale = err ~= nil and err:find "ECONNREFUSED" ~= nil
      probe:close()
   end)
   job.turn(function()
      return stale ~= nil
   end)
   return stale
end

--- Listen.
-- @param o.control   framegauge.control, which the clients share
-- @param o.path     of the socket; default: one in the user's runtime folder
-- @param o.welcome  text for each client
-- @return the server: path, clients, close(). Raises what keeps it from listening.
function Server.listen(o)
   local path, err = o.path, nil
   if not path then
      path, err = paths.runtime()
      path = path and ("%s/%d.sock"):format(path, uv.os_getpid())
   end
   if not path then
      user_error.raise("serve", 4, "%s", err)
   end
   local problem = connection.path_problem(path)
   if problem then
      user_error.raise("serve", 2, "%s", problem)
   elseif is_stale(path) then
      uv.fs_unlink(path)
   end
   local changes = undo.group()
   changes:step("socket", { path = path, folder = uv.cwd() })
   local self = setmetatable({
      control = o.control, welcome = o.welcome, path = path, clients = {}, changes = changes,
      pipes = job.ignore_broken_pipes(),
   }, Server)
   self.handle, err = connection.listen({ path = path }, function(handle)
      self:accept(handle)
   end)
   if not self.handle then
      self.pipes:close()
      changes:forget()
      user_error.raise("serve", 4, "cannot listen on %s: %s", path, err)
   end
   return self
end

--- Disconnect all clients and remove the socket.
function Server:close(reason)
   for client in pairs(self.clients) do
      client:drop(reason)
   end
   self.handle:close()
   self.pipes:close()
   uv.fs_unlink(self.path)
   self.changes:forget()
end

return Server
