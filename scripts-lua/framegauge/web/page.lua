-- SPDX-License-Identifier: BSD-3-Clause

--- The page, what it asks for, and what it may do: routes of the server (web/server.lua).
local Access = require "framegauge.web.access"
local api = require "framegauge.web.api"
local Events = require "framegauge.web.events"
local Fleet = require "framegauge.web.fleet"
local json = require "framegauge.text.json"
local runs = require "framegauge.web.runs"
local Server = require "framegauge.web.server"
local source = require "framegauge.source"
local State = require "framegauge.web.state"
local uv = require "luv"

local M = {}

local RUNS = "framegauge-runs"
local MAX_TRIALS = 500 -- of one answer

local HTML, PLAIN = "text/html; charset=utf-8", "text/plain; charset=utf-8"
local SCRIPT, STYLE = "text/javascript; charset=utf-8", "text/css; charset=utf-8"
local FILES = {
   ["GET /"] = { "index", HTML }, ["GET /app.js"] = { "app", SCRIPT },
   ["GET /chart.js"] = { "chart", SCRIPT }, ["GET /style.css"] = { "style", STYLE },
   ["GET /common.js"] = { "common", SCRIPT }, ["GET /history.js"] = { "history", SCRIPT },
   ["GET /runs.js"] = { "runs", SCRIPT }, ["GET /compare.js"] = { "compare", SCRIPT },
   ["GET /fleet.js"] = { "fleet", SCRIPT },
   ["GET /htm-preact.js"] = { "htm", SCRIPT },
   ["GET /uplot.js"] = { "uplot", SCRIPT }, ["GET /uplot.css"] = { "uplot_style", STYLE },
}

-- Files of a run that are shown; reports run no script and fetch nothing.
local TYPES = {
   html = HTML, json = "application/json", jsonl = PLAIN, csv = PLAIN, xml = PLAIN, yaml = PLAIN,
}
local SANDBOX = {
   ["Content-Security-Policy"] = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
}

local function answer(object)
   return { type = "application/json", body = json.encode(object) }
end

local function body_of(request)
   local ok, object = pcall(json.decode, request.body)
   if not ok or type(object) ~= "table" then
      Server.refuse(400, "the body must be a JSON object")
   end
   return object
end

-- Mistakes of who asks are raised as errors of users (core/user_error.lua).
local function attempt(fn, ...)
   local results = { pcall(fn, ...) }
   if results[1] then
      return results[2]
   end
   local err = results[2]
   if type(err) == "table" and err.status then
      Server.refuse(409, "%s", tostring(err))
   end
   error(err, 0)
end

-- Folder of a run: a job's, or one in the usual place.
local function folder_of(control, name)
   for _, task in ipairs(control.tasks.list) do
      if task.folder and task.folder:match "([^/]+)/*$" == name then
         return task.folder
      end
   end
   return RUNS .. "/" .. name
end

local function read_file(control, rest)
   local run, name = rest:match "^([%w._-]+)/([%w_-]+%.%l+)$"
   local kind = name and TYPES[name:match "%.(%l+)$"]
   if not kind or run:sub(1, 1) == "." then
      Server.refuse(404, "there is no such file of a run")
   end
   local path = folder_of(control, run) .. "/" .. name
   local stat = uv.fs_lstat(path)
   local file = stat and stat.type == "file" and io.open(path, "rb")
   if not file then
      Server.refuse(404, "there is no such file of a run")
   end
   local text = file:read "*a"
   file:close()
   return { type = kind, body = text, headers = SANDBOX }
end

local function trials(control, request)
   local task = attempt(control.tasks.get, control.tasks, request.query.job or "?")
   local after = tonumber(request.query.after) or 0
   local list = {}
   for i = after + 1, math.min(#task.trials, after + MAX_TRIALS) do
      list[#list + 1] = task.trials[i]
   end
   return answer(list)
end

local STREAM_ACTIONS = {
   start = function(traffic, o)
      traffic:start(o.target)
   end,
   stop = function(traffic, o)
      traffic:stop(o.target)
   end,
   rate = function(traffic, o)
      traffic:set_rate(o.target, tostring(o.rate))
   end,
}
local JOB_ACTIONS = { stop = "stop", pause = "pause", resume = "resume" }

-- What an action may have, each as api.lua describes it.
local ACTION_KEYS = {
   stream = { stream = "string", target = "string", rate = "string or number" },
   job = { job = "string", id = "number" }, test = { test = "string", quick = "boolean" },
}

-- An action with a key that it has no use for, or of another type, does nothing.
local function check_action(o)
   local keys = ACTION_KEYS[o.stream and "stream" or o.job and "job" or "test"]
   for key, value in pairs(o) do
      local types = keys[key]
      if not types then
         Server.refuse(400, "%s: not a key of this action", tostring(key))
      elseif not types:find(type(value), 1, true) then
         Server.refuse(400, "%s: expected %s", key, types)
      end
   end
end

local function act(control, request)
   local o = body_of(request)
   check_action(o)
   local on_stream, on_job = STREAM_ACTIONS[o.stream or ""], JOB_ACTIONS[o.job or ""]
   if on_stream then
      attempt(on_stream, control.traffic, o)
   elseif on_job then
      local task = attempt(control.tasks.get, control.tasks, tonumber(o.id) or -1)
      attempt(task[on_job], task)
   elseif o.test then
      attempt(control.test, control, tostring(o.test), {}, { quick = o.quick == true })
   else
      Server.refuse(400, "expected stream: start, stop or rate; job: stop, pause or resume; or test: METHOD")
   end
   return answer { done = true }
end

--- Routes, and the rules of who may use them.
-- @param o.address, o.read_only, o.names  as Access.new takes them
-- @param o.is_secure  whether TLS is spoken
-- @return a table for Server.new, the rules, and a function that ends all
function M.routes(control, o)
   local access, state = Access.new(o), State.new(control)
   local events, fleet = Events.new(state), Fleet.new(control.plan.fleet.agents)
   local routes = {
      ["POST /api/v1/login"] = function(request)
         return access:login(body_of(request).token, o.is_secure)
      end,
      ["GET /api/v1/me"] = function(request)
         return answer { role = request.role, test = control.plan.test, agents = #control.plan.fleet.agents }
      end,
      ["GET /api/v1/state"] = function()
         return answer(state:read())
      end,
      ["GET /api/v1/series"] = function()
         return answer(events:series())
      end,
      ["GET /api/v1/events"] = function()
         return events:answer()
      end,
      ["GET /api/v1/trials"] = function(request)
         return trials(control, request)
      end,
      ["GET /api/v1/runs"] = function()
         return answer(attempt(runs.list, RUNS))
      end,
      ["GET /api/v1/devices"] = function()
         return answer(attempt(runs.devices, RUNS))
      end,
      ["GET /api/v1/fleet"] = function()
         return answer(fleet:read())
      end,
      ["GET /api/v1/history"] = function(request)
         return answer(attempt(runs.history, RUNS, request.query.plan or ""))
      end,
      ["GET /api/v1/compare"] = function(request)
         return answer(attempt(runs.compare, RUNS, request.query.before or "", request.query.after or ""))
      end,
      ["GET /runs/*"] = function(request)
         return read_file(control, request.rest)
      end,
      ["GET /api/v1/openapi.json"] = function()
         return { type = "application/json", body = api.text() }
      end,
      ["POST /api/v1/actions"] = function(request)
         return act(control, request)
      end,
      ["GET /healthz"] = function()
         return "ok\n"
      end,
   }
   for key, file in pairs(FILES) do
      routes[key] = function()
         return { type = file[2], body = source.read("framegauge.web.page." .. file[1]) }
      end
   end
   return {
      routes = routes, headers = Access.HEADERS,
      guard = function(request)
         return access:guard(request)
      end,
   }, access, function()
      events:close()
   end
end

M.is_local = Access.is_local

return M
