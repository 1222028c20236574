-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge otg`: a server of the Open Traffic Generator API over HTTP and gRPC.
--
-- Over HTTP a call (services.otg.calls) is a method at a path; requests and answers are JSON. Over gRPC
-- they are protobuf (framegauge.services.otg.grpc).
local body = require "framegauge.services.otg.body"
local Calls = require "framegauge.services.otg.calls"
local failure = require "framegauge.core.failure"
local grpc = require "framegauge.services.otg.grpc"
local Grpc = require "framegauge.web.grpc"
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local named_file = require "framegauge.core.named_file"
local refusal = require "framegauge.services.otg.refusal"
local print_nowait = require "framegauge.core.print_nowait"
local Web = require "framegauge.web.server"

local M = {}

local MAX_BODY = 32 * 1024 * 1024
local JSON, OCTETS = "application/json", "application/octet-stream"

local function answer(value)
   return { type = JSON, body = json.encode(value) }
end

local function problem(status, message)
   local errors = type(message) == "table" and message or { message }
   return { status = status, type = JSON, body = refusal.text(refusal.as_error(status, errors)) }
end

-- A route: the body is decoded, errors of the request become an answer.
local function route(calls, name, raw)
   return function(request)
      local value, wrong
      if request.method ~= "GET" and request.method ~= "HEAD" then
         value, wrong = body.decode(request.body)
         if not value then
            return problem(400, wrong)
         end
      end
      local result, refused = refusal.caught(calls[name], calls, value)
      if refused then
         return problem(refused.code, refused.errors)
      end
      return raw and { type = OCTETS, body = result } or answer(result)
   end
end

-- Paths of clients from before version 1.0 of the API, and what they are now.
local FORMER = {
   ["/control/transmit"] = "POST /control/state", ["/control/link"] = "POST /control/state",
   ["/control/capture"] = "POST /control/state", ["/control/routes"] = "POST /control/state",
   ["/control/protocols"] = "POST /control/state", ["/control/devices"] = "POST /control/state",
   ["/control/flows"] = "PATCH /config", ["/control/ping"] = "POST /control/action",
   ["/results/metrics"] = "POST /monitor/metrics", ["/results/states"] = "POST /monitor/states",
   ["/results/capture"] = "POST /monitor/capture",
}

local function add_former(routes)
   for path, now in pairs(FORMER) do
      routes["POST " .. path] = function()
         return problem(404, ("there is nothing at %s; since version 1.0 of the API it is %s, and the client is older"):format(path, now))
      end
   end
   return routes
end

--- The routes of the calls, for framegauge.web.server.
function M.routes(calls)
   local function sized(name)
      return { route(calls, name), max_body = MAX_BODY }
   end
   return add_former {
      ["POST /config"] = sized "set_config", ["GET /config"] = route(calls, "get_config"),
      ["PATCH /config"] = sized "update_config", ["PATCH /config/append"] = sized "append_config",
      ["PATCH /config/delete"] = sized "delete_config",
      ["POST /control/state"] = sized "set_control_state",
      ["POST /control/action"] = sized "set_control_action",
      ["POST /monitor/metrics"] = sized "get_metrics", ["POST /monitor/states"] = sized "get_states",
      ["POST /monitor/capture"] = route(calls, "get_capture", true),
      ["GET /capabilities/version"] = route(calls, "get_version"),
   }
end

local Server = {}
Server.__index = Server

local function read_file(path)
   local text, why = named_file.read(path)
   return text or error(why, 0)
end

-- Listen at a place of the plan. @return its address as it is
function Server:listen(text, o)
   local scheme, address = text:match "^(%w+)://(.*)$"
   local certificate, key
   if scheme == "grpc" then
      local listener = Grpc.listen {
         address = address, methods = grpc.methods(self.calls), max_body = MAX_BODY,
      }
      self.listeners[#self.listeners + 1] = listener
      return listener.url
   end
   if scheme == "https" and o.certificate then
      certificate, key = read_file(o.certificate), read_file(o.key)
   elseif scheme == "https" then
      certificate, key = Web.self_signed()
   end
   return self.web:listen({ address = address, certificate = certificate, key = key }).url
end

--- Close the ports, and all connections.
function Server:close()
   for _, listener in ipairs(self.listeners) do
      listener:close()
   end
   self.web:close()
   self.calls:close()
end

--- Open the ports of a plan and listen. Raises what keeps it from that.
-- @param plan  a loaded plan with test: otg
-- @return the server: urls, close()
function M.open(plan)
   local calls = Calls.new(plan)
   local self = setmetatable({ calls = calls, urls = {}, listeners = {},
      web = Web.new { routes = M.routes(calls), problem = problem } }, Server)
   local ok, err = xpcall(function()
      for i, text in ipairs(plan.otg.listen) do
         self.urls[i] = self:listen(text, plan.otg)
      end
   end, failure.keep_stack)
   if not ok then
      self:close()
      error(err, 0)
   end
   return self
end

--- Serve until the time is over or Ctrl-C. Call it inside a job.
-- @param plan             a loaded plan with test: otg
-- @param options.seconds  how long; nil: until Ctrl-C
function M.main(plan, options)
   local server = M.open(plan)
   failure.finally(function()
      server:close()
   end, function()
      for _, url in ipairs(server.urls) do
         print_nowait(("otg: listening on %s, without authentication"):format(url))
      end
      repeat
         job.sleep(options.seconds or 3600)
      until options.seconds
   end)
end

return M
