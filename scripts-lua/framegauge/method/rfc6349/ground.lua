-- SPDX-License-Identifier: BSD-3-Clause

--- What the tests of RFC 6349 have in common: a trial of the L4 engine with settings, one way or both.
local records = require "framegauge.l4.record"
local settings = require "framegauge.method.l4.settings"
local trial = require "framegauge.l4.trial"

local M = {}

local BACK_PORT = 1 -- the server of the other direction listens so much further on

--- Name of a direction: 1 is from the first port to the second.
function M.direction(plan, from)
   return plan.ports[from].name .. "->" .. plan.ports[3 - from].name
end

-- A client at one port and a server at the other, for each direction.
-- @param o.from  list of the clients' ports
local function sides_of(plan, bench, test, o)
   local capacity = settings.capacity(test, o)
   local sides = { { port = 1, apps = {}, capacity = capacity }, { port = 2, apps = {},
      capacity = capacity } }
   for _, from in ipairs(o.from) do
      local own = settings.copy(o, { port = o.port + (from == 2 and BACK_PORT or 0) })
      for key, value in pairs(o.by_port and o.by_port[from] or {}) do
         own[key] = value
      end
      local client, server = settings.apps(plan, bench, test, own, from)
      table.insert(sides[from].apps, 1, client) -- so that the client of a side is its first
      table.insert(sides[3 - from].apps, server)
   end
   return sides
end

--- Settings of a trial, beside those that it says.
function M.settings(plan, path)
   local o = plan.rfc6349
   return {
      ip = settings.versions(plan)[1], tags = plan.ports[1].vlan and 1 or 0, port = o.port, mtu = path.mtu,
      tcp = settings.copy(o.tcp), connections = 1, from = { 1 }, http = {}, load = { addresses = 1 },
   }
end

--- Make a trial.
-- @param session  of the run
-- @param ask      test, title, phase, direction, seconds, setting, drain, seed, interval; outcome
-- @param test     of the L4 engine: "TCP_STREAM"
-- @param o        settings (M.settings)
-- @param came     function(sides): whether anything came through
-- @return its record
function M.trial(plan, bench, session, ask, test, o, came)
   local phases = plan.rfc6349
   function ask.make(asked)
      local sides, engine = trial.run(bench, {
         sides = sides_of(plan, bench, test, o), seconds = ask.seconds, drain = ask.drain or phases.drain,
         learning_wait = phases.learning_wait, settle = phases.settle, mtu = o.mtu, seed = phases.seed,
         interval = ask.interval,
      })
      sides[1].role, sides[2].role = plan.ports[1].name, plan.ports[2].name
      return records.of(asked, bench, sides, engine, not came(sides))
   end
   return session:trial(ask)
end

return M
