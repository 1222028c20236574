-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge agent`: an agent (framegauge.fleet.agent) that listens for controllers.
--
-- There are no names or passwords: it listens on a loopback address or on a socket of its user, and trusts
-- all who can reach them. Other machines connect through ssh -L.
local address = require "framegauge.plan.address"
local Agent = require "framegauge.fleet.agent"
local connection = require "framegauge.core.connection"
local failure = require "framegauge.core.failure"
local job = require "framegauge.core.job"
local service = require "framegauge.core.service"
local tables = require "framegauge.core.tables"
local undo = require "framegauge.core.undo"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local LOOK_SECONDS = 0.1 -- at leases that end

-- @return a handle to close at the end, or nil and what is wrong
local function listen(text, accept)
   local where = address.of_service(text)
   local before = where.path and uv.fs_stat(where.path)
   if before and before.type == "socket" then
      uv.fs_unlink(where.path)
   end
   if where.path then
      undo.group():step("socket", { path = where.path, folder = uv.cwd() })
   end
   return connection.listen(where, accept)
end

--- Serve controllers until interrupted. Call it inside a job.
-- @param plan             a loaded plan with test: agent
-- @param options.seconds  how long; nil: until Ctrl-C
function M.main(plan, options)
   job.ignore_broken_pipes()
   local agent = Agent.new(plan)
   local listener, err = listen(plan.agent.listen, function(handle)
      agent.bus:attach(handle)
   end)
   if not listener then
      user_error.raise("agent", 4, "cannot listen on %s (agent.listen): %s", plan.agent.listen, tostring(err))
   end
   io.stdout:write(("agent%s: listening on %s, ports %s\n"):format(
      plan.agent.name and " " .. plan.agent.name or "", plan.agent.listen,
      table.concat(tables.field(plan.ports, "name"), ", ")))
   io.stdout:flush()
   service.notify "READY=1"
   local ends = options.seconds and os.time() + options.seconds
   failure.finally(function()
      service.notify "STOPPING=1"
      listener:close()
      agent:close()
   end, function()
      while not (ends and os.time() >= ends) do
         agent:look()
         job.sleep(LOOK_SECONDS)
      end
   end)
end

return M
