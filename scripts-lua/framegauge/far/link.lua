-- SPDX-License-Identifier: BSD-3-Clause

--- The control connection between two testers: JSON objects, one a line, over TCP or a Unix socket.
--
-- The near tester says, in this order:
--
--    {"op": "clock?"}                      answered by "clock!" with the state of the clock (far.clock)
--    {"op": "hello", "version":, "port":, "max_frame":, "scale":}
--                                          open your port, with these addresses; answered by
--                                          {"op": "hello", "version":, "port":, "gateways":}
--    {"op": "trial", "trial":}             make ready for it (far.exchange); answered by {"op": "ready"}
--    {"op": "start", "at":}                its traffic begins then, ns of the common time; answered at its
--                                          end by {"op": "result", "raw":}
--    {"op": "stop"}                        give the trial up; not answered
--
-- In place of any answer may come {"op": "failed", "message":, "status":}. Both say {"op": "sent", "frames":}
-- at the end of a trial, by streams, and while it runs {"op": "clock", ...} (far.standing).
--
-- Nobody is asked for a name or a password: the far tester listens on a loopback address or a socket of its
-- user, and who can reach those is trusted. From another machine one comes through ssh -L.
local ffi = require "ffi"
local job = require "framegauge.job"
local protocol = require "framegauge.console.protocol"
local refusal = require "framegauge.refusal"
local uv = require "luv"

ffi.cdef "unsigned umask(unsigned mask);"

local M = {}

--- Raised when one side would no longer understand the other.
M.VERSION = 1

local LONGEST = 256 * 1024 * 1024 -- octets of a line: a day second by second, of many streams
local PATIENCE = 20 -- seconds for an answer
local PRIVATE = tonumber("177", 8) -- of a socket's file: its owner reads and writes

local Link = {}
Link.__index = Link

--- Read an address: "127.0.0.1:5564", "[::1]:5564" or the path of a socket.
-- @return { path = } or { host =, port = }, or nil
function M.address(text)
   if text:sub(1, 1) == "/" then
      return { path = text }
   end
   local host, port = text:match "^%[(.+)%]:(%d+)$"
   if not host then
      host, port = text:match "^([%d.]+):(%d+)$"
   end
   port = tonumber(port)
   return port and port >= 1 and port <= 65535 and { host = host, port = port } or nil
end

--- Whether nobody but this machine can connect to an address.
function M.is_local(address)
   return address.path ~= nil or address.host == "::1" or address.host:match "^127%.%d+%.%d+%.%d+$" ~= nil
end

--- A link over a handle that is connected.
-- @param heard  called with each object by its op, before anybody waits for it: table of functions(object)
function M.over(handle, heard)
   local self = setmetatable({ handle = handle, heard = heard or {}, objects = {} }, Link)
   local reader = protocol.reader(function(object) self:take(object) end, LONGEST)
   handle:read_start(function(err, piece)
      local ok, wrong = true, nil
      if piece then
         ok, wrong = reader:feed(piece)
      end
      if not piece or not ok then
         self:lose(err or wrong or "it has hung up")
      end
   end)
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

-- The connection is over.
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
      self.handle:write(protocol.line(object))
   end
end

--- Wait for the next object of an op. Raises when the other side has failed, or is gone.
-- @param op        the one that is expected; nil: any
-- @param patience  seconds; false: as long as it takes
function Link:receive(op, patience)
   local deadline = patience ~= false and uv.hrtime() / 1e9 + (patience or PATIENCE)
   while not self.objects[1] do
      if self.lost then
         refusal.raise("run", 4, "the other tester is gone: %s", self.lost)
      elseif deadline and uv.hrtime() / 1e9 > deadline then
         refusal.raise("run", 4, "the other tester does not answer (%s is missing)", op)
      end
      job.wait(function(wake)
         local timer = uv.new_timer()
         timer:start(1000, 0, function() wake() end)
         self.wake = wake
         return function()
            self.wake = nil
            timer:close()
         end
      end)
   end
   local object = table.remove(self.objects, 1)
   if object.op == "failed" then
      refusal.raise("run", tonumber(object.status) or 4, "the far tester: %s", tostring(object.message))
   elseif op and object.op ~= op then
      refusal.raise("run", 4, "the other tester says %s instead of %s", tostring(object.op), op)
   end
   return object
end

--- Whether the next object is there, and has something by that name.
function Link:next_has(key)
   return self.objects[1] ~= nil and self.objects[1][key] ~= nil
end

--- Whether nothing good will come of it any more.
function Link:has_failed()
   return self.lost ~= nil or self.objects[1] ~= nil and self.objects[1].op == "failed"
end

--- Send an object, and wait for what answers it.
function Link:ask(object, op, patience)
   self:send(object)
   return self:receive(op, patience)
end

local function new_handle(address)
   return address.path and uv.new_pipe() or uv.new_tcp()
end

--- Connect to a far tester. Raises when nobody is there.
function M.connect(text, heard)
   local address = M.address(text)
   local handle = new_handle(address)
   local err = job.wait(function(wake)
      if address.path then
         handle:connect(address.path, wake)
      else
         handle:connect(address.host, address.port, wake)
      end
   end)
   if err then
      handle:close()
      refusal.raise("run", 4, "no far tester listens on %s (%s); 'framegauge far PLAN.yaml' is one, and "
         .. "'ssh -L' brings its address here", text, err)
   end
   return M.over(handle, heard)
end

--- Listen for near testers.
-- @param come  called with the handle of each that connects
-- @return what close() ends it, or nil and why not
function M.listen(text, come)
   local address = M.address(text)
   local handle = new_handle(address)
   local ok, err
   if address.path then
      local before = uv.fs_stat(address.path)
      if before and before.type == "socket" then
         uv.fs_unlink(address.path)
      end
      local mask = ffi.C.umask(PRIVATE)
      ok, err = handle:bind(address.path)
      ffi.C.umask(mask)
   else
      ok, err = handle:bind(address.host, address.port)
   end
   if ok then
      ok, err = handle:listen(4, function()
         local other = new_handle(address)
         handle:accept(other)
         come(other)
      end)
   end
   if not ok then
      handle:close()
      return nil, err
   end
   return handle
end

return M
