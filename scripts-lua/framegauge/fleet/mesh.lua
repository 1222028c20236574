-- SPDX-License-Identifier: BSD-3-Clause

--- Rounds of a mesh: every host with every other one, both ways at once, no host twice in a round.
--
-- Without sites this is the circle method: N - 1 rounds, N where N is odd. Where hosts share the uplink of a
-- site, at most k pairs of a round may cross it. Pairs inside a site need no uplink, pairs between two sites
-- need both. They are dealt greedily, pairs of the busiest sites and hosts first.
local M = {}

local function circle(hosts)
   local n = #hosts + #hosts % 2 -- with a place where a host rests
   local rounds = {}
   for r = 1, n - 1 do
      local pairs_of = {}
      local function add(i, j)
         local a, b = hosts[i], hosts[j]
         pairs_of[#pairs_of + 1] = a and b and { a, b } or nil
      end
      add(n, r)
      for k = 1, n / 2 - 1 do
         add((r + k - 1) % (n - 1) + 1, (r - k - 1) % (n - 1) + 1)
      end
      rounds[r] = pairs_of
   end
   return rounds
end

local function sites_of(hosts)
   local members, list = {}, {}
   for _, host in ipairs(hosts) do
      if host.site then
         if not members[host.site] then
            members[host.site] = 0
            list[#list + 1] = host.site
         end
         members[host.site] = members[host.site] + 1
      end
   end
   return members, list
end

--- The least possible number of rounds: each host has N - 1 others, and each site's pairs share its uplink.
-- @param hosts  list of { name =, site = or nil }
-- @param most   pairs of a site's uplink in a round; nil: any number
function M.lower_bound(hosts, most)
   local n = #hosts
   local least = n < 2 and 0 or n - 1 + n % 2
   local members, list = sites_of(hosts)
   for _, site in ipairs(most and list or {}) do
      local m = members[site]
      least = math.max(least, math.ceil(m * (n - m) / most))
   end
   return least
end

local function crosses(pair)
   return pair[1].site ~= pair[2].site
end

-- Pairs in an order in which the greedy choice does well: of the circle, those between sites first, dealt by
-- the load of their sites.
local function ordered(hosts, members)
   local list, n = {}, #hosts
   local function load(host)
      local m = members[host.site]
      return m and m * (n - m) or 0
   end
   for _, round in ipairs(circle(hosts)) do
      for _, pair in ipairs(round) do
         list[#list + 1] = { pair = pair, rank = #list,
            load = crosses(pair) and math.max(load(pair[1]), load(pair[2])) or -1 }
      end
   end
   table.sort(list, function(a, b)
      if a.load ~= b.load then
         return a.load > b.load
      end
      return a.rank < b.rank
   end)
   return list
end

-- Fill a round with pairs that still fit; the others remain.
local function fill(left, most)
   local round, busy, used, rest = {}, {}, {}, {}
   for _, one in ipairs(left) do
      local a, b = one.pair[1], one.pair[2]
      local fits = not busy[a] and not busy[b]
      if fits and crosses(one.pair) then
         fits = (not a.site or (used[a.site] or 0) < most) and (not b.site or (used[b.site] or 0) < most)
      end
      if fits then
         busy[a], busy[b] = true, true
         for _, host in ipairs(crosses(one.pair) and one.pair or {}) do
            if host.site then
               used[host.site] = (used[host.site] or 0) + 1
            end
         end
         round[#round + 1] = one.pair
      else
         rest[#rest + 1] = one
      end
   end
   return round, rest
end

local function greedy(hosts, most)
   local left, rounds = ordered(hosts, (sites_of(hosts))), {}
   while left[1] do
      rounds[#rounds + 1], left = fill(left, most)
   end
   return rounds
end

--- The rounds.
-- @param hosts  list of { name =, site = or nil }, each name once
-- @param most   pairs of a site's uplink in a round; nil: any number
-- @return list of rounds, each a list of { host, host }
function M.rounds(hosts, most)
   if #hosts < 2 then
      return {}
   elseif not most or not next((sites_of(hosts))) then
      return circle(hosts)
   end
   return greedy(hosts, most)
end

return M
