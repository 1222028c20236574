-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge fleet`: the agents of a plan, for people.
local Tester = require "framegauge.fleet.tester"
local Clock = require "framegauge.clock"
local columns = require "framegauge.text.columns"
local Controller = require "framegauge.fleet.controller"
local failure = require "framegauge.core.failure"
local format = require "framegauge.text.format"
local invitation = require "framegauge.fleet.invitation"
local job = require "framegauge.core.job"
local load_plan = require "framegauge.cli.load_plan"
local mesh = require "framegauge.fleet.mesh"
local names = require "framegauge.fleet.names"
local overview = require "framegauge.fleet.overview"
local parse = require "framegauge.cli.parse"
local plans = require "framegauge.plan"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

local act = {}

function act.ports(plan)
   local rows = { { "Port", "Device", "State", "By", "Trial", "Ends in" } }
   for _, agent in ipairs(overview.ask(plan.fleet.agents, { "ports" })) do
      for _, row in ipairs(agent.ports.ports) do
         local ends = row.remaining_s
         rows[#rows + 1] = { names.port(agent.bus_name, row.port, plan.fleet.agents), row.device,
            row.state == "free" and agent.ports.draining and "draining" or row.state, row.by or "-",
            row.trial and tostring(row.trial) or "-",
            ends and units.format_time(math.ceil(ends)) or row.by and "with its trial" or "-" }
      end
   end
   return rows
end

function act.clocks(plan)
   local rows = { { "Agents", "Sources", "One-way delays" } }
   local list = overview.ask(plan.fleet.agents, { "clock" })
   if Tester.wanted_of(plan, true)[plans.OWN] then
      table.insert(list, 1, { name = names.short(plans.OWN), clock = Clock.new(plan.clock):open():state() })
   end
   if not list[2] then
      local clock = list[1].clock
      rows[2] = { list[1].name, clock.source, clock.synchronised and "a single clock" or clock.finding }
   end
   for _, one in ipairs(overview.clocks(list)) do
      rows[#rows + 1] = { table.concat(one.agents, ", "), table.concat(one.sources, ", "), one.finding }
   end
   return rows
end

local function set_drain(plan, on)
   overview.ask(plan.fleet.agents, { "drain" }, { body = { on = on } })
   return act.ports(plan)
end

function act.drain(plan)
   return set_drain(plan, true)
end

function act.undrain(plan)
   return set_drain(plan, false)
end

--- Keep the ports of the plan for this user.
function act.lease(plan, options)
   local seconds, problem = units.parse_time(options["for"] or "1h")
   if not seconds or seconds < 1 then
      parse.usage_error("fleet", "fleet lease: --for: %s", problem or "less than 1s; 'release' ends a reservation")
   end
   local control = Controller.connect(plan.fleet.agents)
   failure.finally(function() control:close() end, control.reserve, control, Tester.wanted_of(plan), seconds)
   return act.ports(plan)
end

--- Take the ports of the plan from their present user, and give them back.
function act.release(plan)
   local control = Controller.connect(plan.fleet.agents)
   control:lease(Tester.wanted_of(plan), { ttl = plan.fleet.ttl, take = true })
   control:close()
   return act.ports(plan)
end

function act.mesh(plan, options)
   local most = tonumber(options["uplink-pairs"]) or plan.test == "mesh" and plan.mesh.uplink_pairs or nil
   local hosts = tables.map(plan.fleet.agents, function(one)
      return { name = one.name, site = one.site }
   end)
   local rounds, rows = mesh.rounds(hosts, most), { { "Round", "Pairs" } }
   for i, round in ipairs(rounds) do
      rows[#rows + 1] = { tostring(i), table.concat(tables.map(round, function(one)
         return one[1].name .. "-" .. one[2].name
      end), "  ") }
   end
   rows[#rows + 1] = { "", ("%s; no schedule has fewer than %d"):format(format.plural(#rounds, "round"),
      mesh.lower_bound(hosts, most)) }
   return rows
end

local without_plan = {}

function without_plan.invite(name, options)
   if not name or not options.server[1] or not options.users then
      parse.usage_error("fleet", "fleet invite: NAME, --server and --users are needed")
   end
   local line = job.run(invitation.invite, name, { server = options.server, users = options.users,
      ca = options.ca, controller = options.controller, bridge = options.bridge })
   io.stderr:write(("%s is in %s; have the server read it: nats-server --signal reload\n"
      .. "The line is as secret as a key. On the new host, as root:\n"):format(name, options.users))
   io.write("framegauge fleet join ", line, options.controller and "" or " --port NAME=DEVICE", "\n")
end

function without_plan.join(line, options)
   if not line then
      parse.usage_error("fleet", "fleet join: the line of 'fleet invite' is needed")
   end
   local name, role, files = invitation.join(line == "-" and io.read "*a" or line, {
      folder = options.folder, ports = options.port, again = options.again,
      isolated = options["isolated-network"],
   })
   io.write(("%s: %s\n"):format(name, table.concat(files, " ")))
   if role == "agent" then
      io.write "systemctl enable --now framegauge-agent framegauge-bridge\n"
   else
      io.write("systemctl enable --now framegauge-bridge\n"
         .. "# in plans: fleet: {bus: /run/framegauge/bridge/bus}\n")
   end
end

-- Options that belong to one action.
local ONLY = {
   lease = { "for" }, mesh = { "uplink-pairs" },
   invite = { "server", "users", "ca", "controller", "bridge" },
   join = { "port", "folder", "isolated-network", "again" },
}

local function check_options(action, options)
   for _, owner in ipairs(tables.keys(ONLY)) do
      for _, name in ipairs(owner ~= action and ONLY[owner] or {}) do
         local value = options[name]
         if value and (type(value) ~= "table" or value[1]) then
            parse.usage_error("fleet", "fleet %s: --%s is an option of 'fleet %s'", action, name, owner)
         end
      end
   end
end

function M.main(arguments, options, eal)
   if act[arguments[1]] or without_plan[arguments[1]] then
      check_options(arguments[1], options)
   end
   if without_plan[arguments[1]] then
      without_plan[arguments[1]](arguments[2], options)
      return 0
   end
   local fn = act[arguments[1]]
   if not fn then
      parse.usage_error("fleet", "fleet: unknown action '%s'; expected %s", tostring(arguments[1]),
         table.concat(tables.keys(act), ", ") .. ", invite, join")
   elseif not arguments[2] then
      parse.usage_error("fleet", "fleet %s: a plan is needed", arguments[1])
   end
   local plan = load_plan(arguments[2], options, eal)
   if not plan.fleet.agents[1] then
      parse.usage_error("fleet", "fleet: the plan names no agents (fleet.agents)")
   end
   job.ignore_broken_pipes() -- of an agent that ends while it is asked
   io.write(columns.text(job.run(fn, plan, options), { true, true, true, true, true }))
   return 0
end

return M
