-- SPDX-License-Identifier: BSD-3-Clause

--- Notifies programs and HTTP servers of the plan that a run has ended.
--
-- All files of the run exist by then. A hook gets one message, as JSON; an error of a hook is a line for the
-- person, never a part of the result.
local address_of = require("framegauge.plan.hooks").address
local Index = require "framegauge.history.index"
local job = require "framegauge.core.job"
local json = require "framegauge.text.json"
local tables = require "framegauge.core.tables"
local trend = require "framegauge.history.trend"
local uv = require "luv"

local M = {}

-- Figures of this plan in the folder beside its other runs that have become worse.
local function regressions(plan, folder)
   local parent = uv.fs_realpath(folder .. "/..")
   local index = Index.open(parent)
   local ok, found = pcall(function()
      return trend.regressions(trend.of(index:points(plan.name)))
   end)
   index:close()
   if not ok then
      error(found, 0)
   end
   return tables.map(found, function(one)
      return {
         table = one.series.title, row = one.series.name, figure = one.series.figure,
         before = one.change.before, after = one.change.after, since = one.change.started,
         change_percent = one.change.change_percent, device = one.change.device,
      }
   end)
end

-- The events, for hooks that select them.
local function events_of(result, worse)
   return {
      ["end"] = true, pass = result.outcome == "pass", fail = result.outcome == "fail",
      ["tester-limited"] = result.validity == "tester-limited", invalid = result.validity == "invalid",
      interrupted = result.interrupted, regression = worse ~= nil and #worse > 0,
   }
end

local function message_of(plan, result, folder, worse)
   return json.encode {
      plan = plan.name, test = plan.test, folder = uv.fs_realpath(folder) or folder,
      validity = result.validity, outcome = result.outcome or json.null, interrupted = result.interrupted,
      device = plan.device_under_test and plan.device_under_test.name or json.null,
      firmware = plan.device_under_test and plan.device_under_test.firmware or json.null,
      regressions = worse or json.null,
   }
end

-- Wait for start(done), which calls done(what is wrong or nil) once; at most for a time.
-- @param start  returns a function that aborts
local function wait(seconds, start)
   return job.wait(function(wake)
      local timer, over = uv.new_timer(), false
      local give_up
      local function done(problem)
         over = over or wake(problem) or true
      end
      timer:start(math.ceil(seconds * 1000), 0, function()
         give_up()
         done(("it took longer than %g s"):format(seconds))
      end)
      give_up = start(done)
      return function()
         timer:close()
      end
   end)
end

local function run_command(hook, message)
   return wait(hook.timeout, function(done)
      local input, pipes = uv.new_pipe(), job.ignore_broken_pipes() -- it need not read its input
      local handle, why
      handle, why = uv.spawn(hook.command[1], { args = { unpack(hook.command, 2) }, stdio = { input, 2, 2 } },
         function(status, signal)
            handle:close()
            input:close()
            pipes:close()
            done(signal ~= 0 and "it was ended by signal " .. signal
               or status ~= 0 and "it failed with status " .. status or nil)
         end)
      if not handle then
         input:close()
         pipes:close()
         done("it cannot be run: " .. why)
         return nil
      end
      input:write(message, function()
         if not input:is_closing() then
            input:shutdown()
         end
      end)
      return function()
         handle:kill "sigkill"
      end
   end)
end

local REQUEST = "POST %s HTTP/1.1\r\nHost: %s:%d\r\nUser-Agent: framegauge\r\n"
   .. "Content-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"

-- Send the message over a connection, and read the status of the answer.
local function exchange(tcp, address, message, done)
   local answer = ""
   tcp:write(REQUEST:format(address.path, address.host, address.port, #message, message))
   tcp:read_start(function(err, piece)
      answer = answer .. (piece or "")
      local status = answer:match "^HTTP/1%.%d (%d%d%d)"
      if status then
         done(status:sub(1, 1) ~= "2" and "it answered with status " .. status or nil)
      elseif err or not piece then
         done("it did not answer: " .. (err or "the connection was closed"))
      end
   end)
end

local function post(hook, message)
   local address = address_of(hook.webhook)
   return wait(hook.timeout, function(done)
      local tcp = uv.new_tcp()
      local function finish(problem)
         if not tcp:is_closing() then
            tcp:close()
            done(problem)
         end
      end
      uv.getaddrinfo(address.host, nil, { socktype = "stream" }, function(failed, found)
         if failed or not found[1] then
            finish("its name is not known: " .. (failed or address.host))
         elseif not tcp:is_closing() then
            tcp:connect(found[1].addr, address.port, function(refused)
               if refused then
                  finish("it cannot be reached: " .. refused)
               else
                  exchange(tcp, address, message, finish)
               end
            end)
         end
      end)
      return finish
   end)
end

local function is_wanted(hook, events)
   return tables.any(hook.on, function(event) return events[event] end)
end

local function wants_regressions(hooks)
   return tables.any(hooks, function(hook) return tables.contains(hook.on, "regression") end)
end

--- Notify the plan's programs and servers. Call it inside a job.
-- @param result  of the run
-- @param folder  path of its folder, complete
-- @param say     function(text), for what is wrong with hooks
function M.tell(plan, result, folder, say)
   local hooks, worse = plan.hooks or {}, nil
   if wants_regressions(hooks) and not result.interrupted then
      local ok, found = pcall(regressions, plan, folder)
      worse = ok and found or nil
      if not ok then
         say(("Earlier runs could not be looked at: %s\n"):format(tostring(found)))
      end
   end
   local events = events_of(result, worse)
   local message = message_of(plan, result, folder, worse)
   for _, hook in ipairs(hooks) do
      local problem = is_wanted(hook, events) and (hook.command and run_command or post)(hook, message)
      if problem then
         say(("Hook %s: %s\n"):format(hook.name, problem))
      end
   end
end

return M
