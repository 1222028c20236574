-- SPDX-License-Identifier: BSD-3-Clause

--- The tester's side of `framegauge attach`: a Unix socket, and a session for each who is attached.
--
-- Whatever one of them does harms neither the others nor the jobs: lines that wait, their length and what
-- waits to be read are bounded, Lua that never waits is stopped (framegauge.console.watchdog), and who
-- breaks off in the middle is forgotten.
local Session = require "framegauge.console.session"
local ffi = require "ffi"
local job = require "framegauge.job"
local paths = require "framegauge.console.paths"
local protocol = require "framegauge.console.protocol"
local refusal = require "framegauge.refusal"
local uv = require "luv"

ffi.cdef "unsigned umask(unsigned mask);"

local MOST_CLIENTS = 32
local MOST_WAITING = 100 -- lines of one client
local MOST_UNREAD = 8 * 1024 * 1024 -- octets for one client
local MOST_TEXT = 1024 * 1024 -- octets of one message to it
local MOST_CELLS = 500 -- columns and rows of its terminal
local BACKLOG = 16

local Client = {}
Client.__index = Client

local Server = {}
Server.__index = Server

function Client:send(object)
   if self.gone then
      return
   end
   self.handle:write(protocol.line(object))
   if self.handle:get_write_queue_size() > MOST_UNREAD then
      self:drop "it does not read"
   end
end

function Client:send_text(key, text)
   for first = 1, #text, MOST_TEXT do
      self:send { [key] = text:sub(first, first + MOST_TEXT - 1) }
   end
end

--- Forget a client; what it was doing is interrupted, jobs it began go on.
function Client:drop(reason)
   if self.gone then
      return
   end
   self.gone = true
   self.server.clients[self] = nil
   self.waiting = {}
   if reason then
      self.handle:try_write(protocol.line { bye = reason })
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
      show_status = function(_, text)
         client:send { status = text or false }
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
      return client:drop "its version of Framegauge is another"
   end
   client.session = Session.new {
      tester = client.server.tester, attached = true, read_only = object.read_only == true,
      terminal = terminal_of(client, object),
      out = function(text)
         client:send_text("out", text)
      end,
      err = function(text)
         client:send_text("err", text)
      end,
   }
   client.stop_listening = client.server.tester:listen(function(text, task)
      if task.watched ~= client.session then
         client:send { out = text }
      end
   end)
   client:send { welcome = client.server.welcome }
end

function take.line(client, object)
   client.waiting[#client.waiting + 1] = tostring(object.line)
   if #client.waiting > MOST_WAITING then
      return client:drop "it sends faster than the tester works"
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
            return self:drop "it does not say hello"
         end
         return take[key](self, object)
      end
   end
   self:drop "it sends what is not in the protocol"
end

function Server:accept()
   local handle = uv.new_pipe()
   self.handle:accept(handle)
   local client = setmetatable({ handle = handle, server = self, waiting = {} }, Client)
   self.clients[client] = true
   local reader = protocol.reader(function(object)
      if not client.gone then
         client:take(object)
      end
   end)
   handle:read_start(function(err, piece)
      if err or not piece then
         return client:drop()
      end
      local ok, reason = reader:feed(piece)
      if not ok then
         client:drop(reason)
      end
   end)
   if self:count() > MOST_CLIENTS then
      client:drop(("%d are attached already"):format(MOST_CLIENTS))
   end
end

--- How many are attached.
function Server:count()
   local n = 0
   for _ in pairs(self.clients) do
      n = n + 1
   end
   return n
end

local function bind(handle, path)
   local before = ffi.C.umask(tonumber("177", 8)) -- nobody else can connect, not even for a moment
   local bound, err = handle:bind(path)
   ffi.C.umask(before)
   return bound, err
end

-- Nobody listens there any more.
local function is_stale(path)
   local stat = uv.fs_lstat(path)
   if not stat or stat.type ~= "socket" then
      return false
   end
   local stale
   local probe = uv.new_pipe()
   probe:connect(path, function(err)
      stale = err ~= nil and err:find "ECONNREFUSED" ~= nil
      probe:close()
   end)
   job.turn(function()
      return stale ~= nil
   end)
   return stale
end

--- Listen.
-- @param o.tester   what is attached to
-- @param o.path     of the socket; default: one of its own in the user's runtime folder
-- @param o.welcome  text for whoever comes
-- @return the server: path, clients, close(). Raises what keeps it from listening.
function Server.listen(o)
   local path, err = o.path, nil
   if not path then
      path, err = paths.runtime()
      path = path and ("%s/%d.sock"):format(path, uv.os_getpid())
   end
   if not path then
      refusal.raise("serve", 4, "%s", err)
   end
   local fits, wrong = paths.is_for_socket(path)
   if not fits then
      refusal.raise("serve", 2, "%s", wrong)
   elseif is_stale(path) then
      uv.fs_unlink(path)
   end
   local self = setmetatable({
      tester = o.tester, welcome = o.welcome, path = path, clients = {}, handle = uv.new_pipe(),
      pipes = job.ignore_broken_pipes(),
   }, Server)
   local bound, message = bind(self.handle, path)
   if bound then
      bound, message = self.handle:listen(BACKLOG, function(failed)
         if not failed then
            self:accept()
         end
      end)
   end
   if not bound then
      self.handle:close()
      self.pipes:close()
      refusal.raise("serve", 4, "cannot listen on %s: %s", path, message)
   end
   return self
end

--- Let all go and take the socket away.
function Server:close(reason)
   for client in pairs(self.clients) do
      client:drop(reason)
   end
   self.handle:close()
   self.pipes:close()
   uv.fs_unlink(self.path)
end

return Server
