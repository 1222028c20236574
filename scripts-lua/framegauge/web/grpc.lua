-- SPDX-License-Identifier: BSD-3-Clause

--- The gRPC server: methods by their path, and a job for each call.
--
--    local server = require("framegauge.web.grpc").listen { address = "127.0.0.1:0", methods = {
--       ["/package.Service/Echo"] = function(messages) return messages end,
--    } }
--    server:close() -- server.url, server.port
--
-- lib/web speaks HTTP/2 on libuv's loop. A method gets the messages of a call, whose request is whole, as a
-- list of bytes, and returns the messages of the answer; so a stream is a list with other than one item.
local api = require "framegauge.core.api"
local failure = require "framegauge.core.failure"
local ffi = require "ffi"
local job = require "framegauge.core.job"
local uv = require "luv"

local C = api.C

local M = {
   -- statuses that a method may refuse with
   INVALID_ARGUMENT = 3, UNIMPLEMENTED = 12, INTERNAL = 13,
}

local MAX_CONNECTIONS = 256
local BEGIN_MS, BODY_MS, IDLE_MS = 10000, 60000, 60000
local MAX_BODY = 32 * 1024 * 1024
local PREFIX = 5 -- bytes before a message: whether it is compressed, and its length

local Server = {}
Server.__index = Server

local Refusal = {}
Refusal.__index = Refusal
function Refusal:__tostring()
   return self.message
end

--- Answer the present call with an error.
-- @param status   of gRPC
-- @param message  text of any length and content
function M.refuse(status, message)
   error(setmetatable({ grpc_status = status, message = message }, Refusal), 0)
end

-- As the header of a message can carry it.
function M.encoded(text)
   return (text:gsub("[^ -$&-~]", function(byte)
      return ("%%%02X"):format(byte:byte())
   end))
end

-- The messages of a body.
local function split(body)
   local list, at = {}, 1
   while at <= #body do
      local compressed, a, b, c, d = body:byte(at, at + PREFIX - 1)
      local length = d and ((a * 256 + b) * 256 + c) * 256 + d
      at = at + PREFIX
      if compressed ~= 0 then
         M.refuse(M.UNIMPLEMENTED, "messages may not be compressed")
      elseif not length or at + length - 1 > #body then
         M.refuse(M.INTERNAL, "the last message is cut")
      end
      list[#list + 1] = body:sub(at, at + length - 1)
      at = at + length
   end
   return list
end

local function joined(messages)
   local parts = {}
   for i, message in ipairs(messages) do
      local n = #message
      parts[2 * i - 1] = string.char(0, math.floor(n / 2 ^ 24), math.floor(n / 2 ^ 16) % 256,
         math.floor(n / 256) % 256, n % 256)
      parts[2 * i] = message
   end
   return table.concat(parts)
end

local function ask(self, path, body, is_awaited)
   local method = self.methods[path] or M.refuse(M.UNIMPLEMENTED, "there is no method " .. path)
   return joined(method(split(body), is_awaited))
end

local function handle_call(self, handle, path, body)
   local ok, answer = xpcall(ask, failure.keep_stack, self, path, body, function()
      return C.fg_grpc_is_awaited(handle)
   end)
   if ok then
      C.fg_grpc_answer(handle, 0, "", answer, #answer)
   else
      local refusal = type(answer) == "table" and answer.grpc_status and answer
      if not refusal then
         self.log(("%s: %s"):format(path, tostring(answer)))
         refusal = { grpc_status = M.INTERNAL, message = "an error inside the program" }
      end
      C.fg_grpc_answer(handle, refusal.grpc_status, M.encoded(refusal.message), nil, 0)
   end
   C.fg_grpc_release(handle)
end

local about = ffi.new "struct fg_grpc_about"

local function turn(self)
   local wait, taken
   repeat -- what was answered at once may let its client ask again
      wait, taken = self.closed and -1 or C.fg_grpc_poll(self.listener), false
      while not self.closed do
         local handle = C.fg_grpc_next(self.listener, about)
         if handle == nil then
            break
         end
         taken = true
         job.spawn(handle_call, self, handle, ffi.string(about.path), ffi.string(about.body, about.size))
      end
   until not taken
   if not self.closed and wait >= 0 then
      self.timer:start(math.max(wait, 1), 0, self.turn)
   end
end

--- Stop listening and close all connections. Jobs that wait end normally.
function Server:close()
   self.closed = true
   self.poll:close()
   self.timer:close()
   C.fg_grpc_close(self.listener)
end

--- Listen.
-- @param o.address  "HOST:PORT" (port 0: any), "[IPV6]:PORT" or "unix:PATH"
-- @param o.methods  path -> function(messages, is_awaited) -> messages; is_awaited() tells whether the client
--                   still waits
-- @param o.max_body           bytes of a request
-- @param o.begin_ms, o.body_ms  how long a connection may take to begin; a request to come, or an answer to
--                             be read
-- @param o.idle_ms  how long a client may be silent before it is asked whether it is there; it has body_ms to
--                   answer that
-- @param o.log      function(text) for errors inside of methods
-- @return the server: url, port, close(). Raises what keeps it from listening.
function M.listen(o)
   local config = ffi.new("struct fg_grpc_config", {
      address = o.address, max_connections = o.max_connections or MAX_CONNECTIONS,
      begin_ms = o.begin_ms or BEGIN_MS, body_ms = o.body_ms or BODY_MS, idle_ms = o.idle_ms or IDLE_MS,
      max_body = o.max_body or MAX_BODY,
   })
   local out, err = ffi.new "struct fg_grpc *[1]", api.error()
   api.check(C.fg_grpc_open(config, out, err), err)
   local self = setmetatable({
      listener = out[0], port = C.fg_grpc_port(out[0]), timer = uv.new_timer(), methods = o.methods,
      log = o.log or function(text)
         io.stderr:write("framegauge: ", text, "\n")
      end,
   }, Server)
   self.url = o.address:find "^unix:" and o.address
      or ("grpc://%s:%d"):format(o.address:match "^(.*):", self.port)
   self.turn = function()
      turn(self)
   end
   self.poll = uv.new_poll(C.fg_grpc_descriptor(out[0]))
   self.poll:start("r", self.turn)
   return self
end

return M
