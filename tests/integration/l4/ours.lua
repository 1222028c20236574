-- SPDX-License-Identifier: BSD-3-Clause

-- What our side of the tests against other programs on Linux begins with: the tester at both veth of a
-- namespace that linux_host.bash made, which of the other programs are there, applications on one port until
-- they have done, and the key log.
local Tester = require "framegauge.tester"
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local tables = require "framegauge.core.tables"
local trial = require "framegauge.tester.l4.trial"

local PLAN = [[
test: l4
isolated_network: true
ports:
  east: {device: 'kernel:%s-east,af_packet', ipv4: 198.18.1.2/24, gateway: 198.18.1.1%s}
  west: {device: 'kernel:%s-west,af_packet', ipv4: 198.19.1.2/24, gateway: 198.19.1.1%s}
host: {max_lag: 1s}
l4: {tests: [%s]}
]]

local IPV6 = ', ipv6: "2001:2:0:%s::2/64", gateway6: "2001:2:0:%s::1"'

local M = {}
M.__index = M

--- Print a test's result; what follows, joined, says why not.
function M.check(name, ok, ...)
   print(ok and "ok - " .. name or ("not ok - %s: %s"):format(name, table.concat({ ... }, " ")))
end

function M.skip(name, program)
   print(("ok - %s # SKIP %s is missing"):format(name, program))
end

--- A set of words.
function M.set(...)
   local out = {}
   for i = 1, select("#", ...) do
      out[select(i, ...)] = true
   end
   return out
end

--- @param name      as linux_host has it
-- @param test      a test of l4, for what its keys are by default: self.l4
-- @param o.folder  for files; `keys` there gets the secrets
-- @param o.ipv6    the ends have addresses of IPv6, too
-- @param o.seconds a trial takes no longer, on a machine that is very busy
function M.open(name, test, o)
   local east, west = o.ipv6 and IPV6:format("1", "1") or "", o.ipv6 and IPV6:format("8000", "8000") or ""
   local plan, problems = plans.load_text(PLAN:format(name, east, name, west, test), "l4-" .. name, {})
   assert(plan, problems and tostring(problems[1]))
   local self = setmetatable({ l4 = plan.l4, seconds = o.seconds, folder = o.folder, runs = 0 }, M)
   self.keys = assert(io.open(o.folder .. "/keys", "a"))
   self.tester = assert(Tester.open(plan))
   return self
end

function M:close()
   self.tester:close()
   self.keys:close()
end

local function keep_keys(file, one)
   if one then
      file:write(one.key_log)
      one.key_log = nil
   end
end

--- Applications of one port until a function says that it is over. @return their results, counters
-- @param seed  of the trial; nil: another one each time, so that tshark has seen no connection ID before
function M:run(port, apps, look, seed)
   self.runs = self.runs + 1
   local side = trial.run(self.tester, {
      sides = { { port = port, apps = apps } }, seconds = self.seconds, learning_wait = 0.05, drain = 5,
      mtu = 1500, look = look, seed = seed or self.runs,
   })[1]
   for _, result in ipairs(side.apps) do
      keep_keys(self.keys, result.tls)
      keep_keys(self.keys, result.quic)
   end
   self.keys:flush()
   return side.apps, side.counters
end

--- A group of keys with some changed.
function M.changed(group, by)
   local out = tables.copy(group)
   for key, value in pairs(by or {}) do
      out[key] = value
   end
   return out
end

--- Have there been connections, and are all of them over?
function M.all_have_closed()
   local begun
   return function(open)
      begun = begun or open[1] > 0
      return begun and open[1] == 0
   end
end

--- Until a file is there, and no connection is open.
function M.until_written(path)
   local done
   return function(open)
      local file = not done and io.open(path)
      if file then
         done = true
         file:close()
      end
      return done and open[1] == 0
   end
end

--- A client of the programs on Linux, number @p i of all, with ports of its own; @p common: what all have.
function M:client(i, o, common)
   local out = { address = "198.18.1.2", remote = "198.18.1.1", next_hop = self.tester:gateway_mac(1, 4),
      port_first = 30000 + 1000 * i, port_last = 30999 + 1000 * i }
   for _, part in ipairs { common, o } do
      for key, value in pairs(part) do
         out[key] = value
      end
   end
   return out
end

function M.write(path, text)
   local file = assert(io.open(path, "w"))
   file:write(text)
   file:close()
end

--- What the other programs printed.
function M.print_lines(path)
   for line in io.lines(path) do
      print(line)
   end
end

M.encode = json.encode

return M
