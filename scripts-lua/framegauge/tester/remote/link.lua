-- SPDX-License-Identifier: BSD-3-Clause

--- The control connection between a local tester and a remote agent (core/connection.lua).
--
-- The local tester sends, in this order:
--
--    {"op": "clock?"}                      answered by "clock!" with its state (framegauge.clock)
--    {"op": "hello", "version":, "port":, "max_frame":, "scale":}
--                                          open your port, with these addresses; answered by
--                                          {"op": "hello", "version":, "port":, "gateways":}
--    {"op": "trial", "trial":}             prepare it (exchange.lua); answered by {"op": "ready"}
--    {"op": "start", "at":}                its traffic starts then, ns of the common time; answered at its
--                                          end by {"op": "result", "raw":}
--    {"op": "stop"}                        abandon the trial; not answered
--
-- Instead of any answer, {"op": "failed", "message":, "status":} may come. Both send {"op": "sent",
-- "frames":}, by streams, at the end of a trial, and {"op": "clock", ...} while it runs
-- (tester/remote/clock_offset.lua).
--
-- There are no names or passwords: the agent listens on a loopback address or on a socket of its user, and
-- trusts all who can reach them. Other machines connect through ssh -L.
local address = require "framegauge.plan.address"
local connection = require "framegauge.core.connection"
local job = require "framegauge.core.job"
local undo = require "framegauge.core.undo"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

--- Changes when the two sides would no longer understand each other.
M.VERSION = 2

local LONGEST = 256 * 1024 * 1024 -- bytes of a line: a day second by second, of many streams
local PATIENCE = 20 -- seconds for an answer

local Link = {}
Link.__index = Link

--- A link over a connected handle.
-- @param heard  functions(object) by op, called as soon as such an object arrives
function M.over(handle, heard)
   local self = setmetatable({ handle = handle, heard = heard or {}, objects = {} }, Link)
   connection.read(handle, function(object)
      self:take(object)
   end, function(reason)
      self:lose(reason or "it has disconnected")
   end, LONGEST)
   return self
end

function Link:take(object)
   local hear = self.heard[object.op]
   if hear then
      hear(object)
   else
      self.objects[#self.objects + 1] = object
   end
   if self.wake then
      self.wake()
   end
end

-- The connection has ended.
function Link:lose(why)
   if self.lost then
      return
   end
   self.lost = why
   self.handle:close()
   if self.on_loss then
      self.on_loss()
   end
   if self.wake then
      self.wake()
   end
end

function Link:close()
   self:lose "closed"
end

--- Send an object.
function Link:send(object)
   if not self.lost then
      self.handle:write(connection.line(object))
   end
end

--- Wait for the next object of an op. Raises an error when the other side has failed or disconnected.
-- @param op        the expected one; nil: any
-- @param patience  seconds; false: no limit
function Link:receive(op, patience)
   local deadline = patience ~= false and uv.hrtime() / 1e9 + (patience or PATIENCE)
   while not self.objects[1] do
      if self.lost then
         user_error.raise("run", 4, "the connection to the other tester is lost: %s", self.lost)
      elseif deadline and uv.hrtime() / 1e9 > deadline then
         user_error.raise("run", 4, "the other tester does not answer (%s is missing)", op)
      end
      job.rest(self, 1)
   end
   local object = table.remove(self.objects, 1)
   if object.op == "failed" then
      user_error.raise("run", tonumber(object.status) or 4, "the remote agent: %s", tostring(object.message))
   elseif op and object.op ~= op then
      user_error.raise("run", 4, "the other tester sent %s instead of %s", tostring(object.op), op)
   end
   return object
end

--- Whether the next object has arrived and has a key.
function Link:next_has(key)
   return self.objects[1] ~= nil and self.objects[1][key] ~= nil
end

--- Whether the connection is lost, or the other tester has failed.
function Link:has_failed()
   return self.lost ~= nil or self.objects[1] ~= nil and self.objects[1].op == "failed"
end

--- Send an object, and wait for its answer.
function Link:ask(object, op, patience)
   self:send(object)
   return self:receive(op, patience)
end

--- Connect to an agent. Raises an error when no agent answers.
function M.connect(text, heard)
   local handle
   local err = job.wait(function(wake)
      handle = connection.connect(address.of_service(text), wake)
   end)
   if err then
      handle:close()
      user_error.raise("run", 4, "no agent listens on %s (%s); start 'framegauge agent PLAN.yaml' there, and forward its address by 'ssh -L'", text, err)
   end
   return M.over(handle, heard)
end

--- Listen for local testers.
-- @param come  called with the handle of each that connects
-- @return a handle to close at the end, or nil and what is wrong
function M.listen(text, come)
   local where = address.of_service(text)
   local before = where.path and uv.fs_stat(where.path)
   if before and before.type == "socket" then
      uv.fs_unlink(where.path)
   end
   if where.path then
      undo.group():step("socket", { path = where.path, folder = uv.cwd() })
   end
   return connection.listen(where, come)
end

return M
