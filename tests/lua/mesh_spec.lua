-- SPDX-License-Identifier: BSD-3-Clause

-- The rounds of a mesh of hosts, with and without sites.
local mesh = require "framegauge.fleet.mesh"

local function hosts_of(n, sites)
   local list = {}
   for i = 1, n do
      list[i] = { name = "host" .. i, number = i, site = sites and "site" .. math.random(sites) or nil }
   end
   return list
end

local function must(holds, what) -- there are too many for assert
   if not holds then
      error(what)
   end
end

-- Every pair once, no host twice in a round, no uplink with more pairs than it may have.
local function check(hosts, rounds, most)
   local seen, count = {}, 0
   for _, round in ipairs(rounds) do
      local busy, used = {}, {}
      for _, pair in ipairs(round) do
         for _, host in ipairs(pair) do
            must(not busy[host.name], "a host twice in a round")
            busy[host.name] = true
            if pair[1].site ~= pair[2].site then
               used[host.site] = (used[host.site] or 0) + 1
               must(used[host.site] <= most, "an uplink with too many pairs")
            end
         end
         local one, other = math.min(pair[1].number, pair[2].number), math.max(pair[1].number, pair[2].number)
         local key = one * 1000 + other
         must(not seen[key], "a pair twice")
         seen[key], count = true, count + 1
      end
   end
   assert.equal(#hosts * (#hosts - 1) / 2, count)
end

describe("the rounds of a mesh", function()
   it("are as few as can be without sites, for 2 to 200 hosts", function()
      for n = 2, 200 do
         local hosts = hosts_of(n)
         local rounds = mesh.rounds(hosts)
         check(hosts, rounds)
         assert.equal(n - 1 + n % 2, #rounds)
         assert.equal(#rounds, mesh.lower_bound(hosts))
      end
      assert.same({ {}, {} }, { mesh.rounds {}, mesh.rounds(hosts_of(1)) })
   end)

   it("keep to the uplinks of sites, in at most twice the rounds that any schedule needs", function()
      math.randomseed(3)
      local worst = 0
      for _ = 1, 60 do
         local hosts, most = hosts_of(math.random(2, 80), math.random(1, 10)), math.random(1, 8)
         local rounds = mesh.rounds(hosts, most)
         check(hosts, rounds, most)
         worst = math.max(worst, #rounds / mesh.lower_bound(hosts, most))
      end
      assert.is_true(worst <= 2, worst)
   end)
end)
