-- SPDX-License-Identifier: BSD-3-Clause

--- The HTTP server: routes, and a job for each request.
--
--    local server = require("framegauge.web.server").new {
--       routes = {
--          ["GET /healthz"] = function() return "ok\n" end,
--          ["GET /runs/*"] = function(request) return { type = "text/html", body = page(request.rest) } end,
--          ["POST /config"] = { max_body = 32 * 1024 * 1024, function(request) ... end },
--          ["GET /events"] = function() return { type = "text/event-stream", stream = function(stream)
--             repeat job.sleep(0.5) until not stream:push "data: 1\n\n"
--          end } end,
--       },
--    }
--    local listener = server:listen { address = "127.0.0.1:0" } -- listener.url
--    server:listen { address = "0.0.0.0:8443", certificate = pem, key = pem }
--    server:close()
--
-- lib/web speaks HTTP on libuv's loop; a handler is a job, so it may wait (core/job.lua) while others are
-- answered. An error in a handler is answered with 500 and reported; it ends nothing else.
local api = require "framegauge.core.api"
local failure = require "framegauge.core.failure"
local ffi = require "ffi"
local job = require "framegauge.core.job"
local tables = require "framegauge.core.tables"
local undo = require "framegauge.core.undo"
local uv = require "luv"

local C = api.C

local M = {}

local MAX_CONNECTIONS = 256
local HEAD_MS, BODY_MS = 10000, 60000
local MAX_BODY = 1024 * 1024
local MAX_VALUES = 100 -- headers, or arguments of a query
local PLAIN = "text/plain; charset=utf-8"
local TURN_NS = 5e6 -- as long a turn may take while clients go on to send, or to read

local Server = {}
Server.__index = Server

local Stream = {}
Stream.__index = Stream

local Refusal = {}
Refusal.__index = Refusal
function Refusal:__tostring()
   return self.message
end

--- Answer the present request with an error.
-- @param status  of HTTP
-- @param ...     a format and its values
function M.refuse(status, ...)
   error(setmetatable({ http_status = status, message = string.format(...) }, Refusal), 0)
end

local function values(handle, kind, change)
   local out, map = ffi.new("struct fg_web_value[?]", MAX_VALUES), {}
   for i = 0, tonumber(C.fg_web_values(handle, kind, out, MAX_VALUES)) - 1 do
      map[change(ffi.string(out[i].name))] = ffi.string(out[i].value)
   end
   return map
end

local function same(text)
   return text
end

local function read_request(handle, about, listener)
   return {
      method = ffi.string(about.method), path = ffi.string(about.path), peer = ffi.string(about.peer),
      body = ffi.string(about.body, about.size), listener = listener,
      headers = values(handle, C.FG_WEB_HEADERS, string.lower), query = values(handle, C.FG_WEB_QUERY, same),
   }
end

-- Headers of several tables, the later ones first.
local function header_list(...)
   local all, names, texts = {}, {}, {}
   for i = 1, select("#", ...) do
      for name, value in pairs((select(i, ...)) or {}) do
         all[name] = tostring(value)
      end
   end
   for name, text in pairs(all) do
      names[#names + 1], texts[#texts + 1] = name, text
   end
   local list = ffi.new("struct fg_web_value[?]", #names)
   for i, name in ipairs(names) do
      list[i - 1].name, list[i - 1].value = name, texts[i]
   end
   return list, #names, { names, texts } -- the last keeps the texts alive
end

--- Append to a stream. @return bytes that the client has not read yet; nil: it is gone, or the server closes
function Stream:push(text)
   local unread = self.server.closing and -1 or tonumber(C.fg_web_push(self.handle, text, #text))
   if unread > 0 then
      self.listener.timer:start(1, 0, self.listener.turn) -- a connection that did not rest is not woken
   end
   return unread >= 0 and unread or nil
end

local function plain_problem(status, message)
   return { status = status, body = message .. "\n" }
end

-- Longest prefix first.
local function compile(routes)
   local exact, prefixes = {}, {}
   for key, route in pairs(routes) do
      local method, path = key:match "^(%u+) (/%S*)$"
      assert(method, key)
      route = type(route) == "table" and route or { route }
      local prefix = path:match "^(.*/)%*$"
      exact[path] = exact[path] or { methods = {}, prefix = prefix }
      exact[path].methods[method] = route
      if prefix and not exact[path].listed then
         exact[path].listed = true
         prefixes[#prefixes + 1] = exact[path]
      end
   end
   table.sort(prefixes, function(a, b)
      return #a.prefix > #b.prefix
   end)
   return exact, prefixes
end

-- As RFC 9110, 15.5.6 has it: what could have been done at this place.
local function refuse_method(request, place)
   local methods = tables.keys(place.methods)
   methods[#methods + 1] = place.methods.GET and not place.methods.HEAD and "HEAD" or nil
   error(setmetatable({
      http_status = 405, headers = { Allow = table.concat(methods, ", ") },
      message = ("%s cannot be done at %s"):format(request.method, request.path),
   }, Refusal), 0)
end

function Server:find(request)
   local place = self.exact[request.path]
   for _, candidate in ipairs(place and not place.prefix and {} or self.prefixes) do
      if request.path:sub(1, #candidate.prefix) == candidate.prefix then
         place, request.rest = candidate, request.path:sub(#candidate.prefix + 1)
         break
      end
   end
   if not place then
      M.refuse(404, "there is nothing at %s", request.path)
   end
   local route = place.methods[request.method] or request.method == "HEAD" and place.methods.GET
   if not route then
      refuse_method(request, place)
   end
   return route[1]
end

-- What the routes say; an error becomes an answer.
function Server:ask(request)
   local results = failure.pack(xpcall(function()
      return self.guard and self.guard(request) or self:find(request)(request)
   end, failure.keep_stack))
   local answer = results[2]
   if not results[1] then
      local refusal = type(answer) == "table" and answer.http_status and answer
      if not refusal then
         self.log(("%s %s: %s"):format(request.method, request.path, tostring(answer)))
         refusal = { http_status = 500, message = "an error inside the program" }
      end
      answer = self.problem(refusal.http_status, refusal.message)
      answer.headers = answer.headers or refusal.headers
   end
   return type(answer) == "table" and answer or { body = tostring(answer or "") }
end

function Server:run_stream(handle, answer, listener)
   local stream = setmetatable({ handle = handle, server = self, listener = listener }, Stream)
   local ok, err = xpcall(answer.stream, failure.keep_stack, stream)
   if not ok and not job.is_interrupt(err) then
      self.log("stream: " .. tostring(err))
   end
end

function Server:handle(handle, request)
   local answer = self:ask(request)
   local headers, n, alive = header_list(self.headers,
      { ["Content-Type"] = answer.type or PLAIN }, answer.headers)
   local status = answer.status or 200
   if answer.stream then
      if C.fg_web_stream(handle, status, headers, n) == 0 then
         self:run_stream(handle, answer, request.listener)
      end
   else
      local body = answer.body or ""
      C.fg_web_answer(handle, status, headers, n, body, #body)
   end
   C.fg_web_release(handle)
   local listener = request.listener
   if not listener.closed then
      listener.timer:start(0, 0, listener.turn) -- a connection that goes on makes no descriptor readable
   end
   return alive
end

local about = ffi.new "struct fg_web_about"

local function turn(self, listener)
   if listener.closed then
      return
   end
   local till = uv.hrtime() + TURN_NS
   local wait, taken
   -- What was answered at once has left when it is polled again; of a body it takes a piece each time.
   repeat
      wait, taken = C.fg_web_poll(listener.web), false
      while not listener.closed do
         local handle = C.fg_web_next(listener.web, about)
         if handle == nil then
            break
         end
         taken = true
         job.spawn(self.handle, self, handle, read_request(handle, about, listener))
      end
   until listener.closed or not taken and (wait ~= 0 or uv.hrtime() > till)
   if not listener.closed and wait >= 0 then
      listener.timer:start(math.max(wait, 1), 0, listener.turn)
   end
end

local function url_of(o, port)
   local path = o.address:match "^unix:(.*)$"
   return path and "unix:" .. path
      or ("%s://%s:%d"):format(o.certificate and "https" or "http", o.address:match "^(.*):", port)
end

--- A certificate that nobody vouches for.
-- @return its PEM text and its key's, for listen()
function M.self_signed()
   local out, err = ffi.new "struct fg_web_pem", api.error()
   api.check(C.fg_web_self_signed(out, err), err)
   return ffi.string(out.certificate), ffi.string(out.key)
end

--- Listen, at as many addresses as wanted.
-- @param o.address      "HOST:PORT" (port 0: any), "[IPV6]:PORT" or "unix:PATH"
-- @param o.certificate  PEM text; with it, TLS is spoken
-- @param o.key          PEM text
-- @return the listener: url, port, close(). Raises what keeps it from listening.
function Server:listen(o)
   local too_large = self.problem(413, "the body of the request is too large")
   too_large.type = too_large.type or PLAIN
   local config = ffi.new("struct fg_web_config", {
      address = o.address, certificate = o.certificate, key = o.key, max_body = MAX_BODY,
      max_connections = self.max_connections, head_ms = self.head_ms, body_ms = self.body_ms,
      too_large = too_large.body, too_large_type = too_large.type,
   })
   local out, err, path = ffi.new "struct fg_web *[1]", api.error(), o.address:match "^unix:(.*)$"
   if path then
      undo.group():step("socket", { path = path, folder = uv.cwd() })
   end
   api.check(C.fg_web_open(config, out, err), err)
   local listener = { web = out[0], port = C.fg_web_port(out[0]), timer = uv.new_timer(),
      kept = too_large } -- the listener has its texts
   listener.url = url_of(o, listener.port)
   for exact, place in pairs(self.exact) do
      for _, route in pairs(place.methods) do
         if route.max_body then
            assert(C.fg_web_limit(listener.web, place.prefix or exact, route.max_body) == 0)
         end
      end
   end
   listener.turn = function()
      turn(self, listener)
   end
   listener.poll = uv.new_poll(C.fg_web_descriptor(listener.web))
   listener.poll:start("r", listener.turn)
   self.listeners[#self.listeners + 1] = listener
   return listener
end

--- Stop listening and close all connections. Jobs that wait end normally; streams notice by push().
function Server:close()
   self.closing = true
   for _, listener in ipairs(self.listeners) do
      listener.closed = true
      listener.poll:close()
      listener.timer:close()
      C.fg_web_close(listener.web)
   end
   self.listeners = {}
   self.pipes:close()
end

--- Make a server; it listens nowhere yet.
-- @param o.routes   "METHOD /path" or "METHOD /folder/*" -> function(request), or { function, max_body = }.
--    A request has method, path, rest (what * stands for), query, headers (lower case), body, peer, listener.
--    A handler returns text, or { status, type, headers, body }, or { type, stream = function(stream) }.
-- @param o.guard    function(request) -> an answer in place of the route's; nil: go on
-- @param o.headers  of every answer
-- @param o.problem  function(status, message) -> answer; default: the message as text
-- @param o.log      function(text) for errors inside of handlers
-- @param o.max_connections  of each listener
-- @param o.head_ms, o.body_ms  how long a head may take; how long a body, or an answer that is not read
-- @return the server: listen(), close()
function M.new(o)
   local exact, prefixes = compile(o.routes)
   return setmetatable({ exact = exact, prefixes = prefixes, guard = o.guard, headers = o.headers,
      problem = o.problem or plain_problem, listeners = {}, pipes = job.ignore_broken_pipes(),
      max_connections = o.max_connections or MAX_CONNECTIONS, head_ms = o.head_ms or HEAD_MS,
      body_ms = o.body_ms or BODY_MS, log = o.log or function(text)
         io.stderr:write("framegauge: ", text, "\n")
      end }, Server)
end

return M
