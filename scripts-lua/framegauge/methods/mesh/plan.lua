-- SPDX-License-Identifier: BSD-3-Clause

--- A mesh in a plan: its keys, what must hold between them, and what it needs of the tester. In the notation
-- of plan/keys.lua and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local shared = require "framegauge.plan.shared_rows"
local shared_rules = require "framegauge.plan.shared_rules"

local EXCLUSIVE, LIGHT = 1, 0.01 -- shares of the line

local row = keys.group("mesh", "every port with every other one: loss, delay and throughput of each pair, each way", {
   { "class", { "exclusive", "light" }, "exclusive: pairs in rounds, each port in one pair of a round; light: all pairs at once, with at most 1 % of the line of each port",
     default = "exclusive" },
   { "throughput", "boolean", "exclusive: true searches for the highest load of each way without loss, all pairs of a round at the same time",
     default = "false" },
   { "load", "ratio", "what a port sends, as a share of the slower line of its pair; of light divided among all others. With throughput the highest load that is tried",
     min = "0.0001%", max = "100%", default_help = "100%, of light 1%" },
   { "resolution", "ratio", "of the throughput, as a share of the line",
     default = "1%", min = "0.01%", max = "50%" },
   { "frame_size", "size", "bytes from the destination address to the FCS",
     default = "512", min = "64", max = "16128" },
   shared.trial("10s", "how long each pair sends", "24h"),
   { "uplink_pairs", "integer", "exclusive: most pairs in a round over the uplink of a site (fleet.agents.NAME.site)",
     min = "1", max = "1000", default_help = "any number" },
   { "again", "boolean", "whether pairs without a valid figure are measured again at the end",
     default = "true" },
   shared.learning_wait "1s", shared.drain "1s", shared.settle "0s",
})

local KEY = "mesh."

local function classes_keep_to_their_keys(values, found)
   local o = values.mesh
   if o.class ~= "light" then
      return
   elseif o.load and o.load > LIGHT * (1 + 1e-9) then
      found:add(KEY .. "load", "more than 1 % of the line, while all pairs send at once",
         "at most 1%, or class: exclusive")
   elseif o.throughput then
      found:add(KEY .. "throughput", "not with all pairs at once", "class: exclusive")
   elseif o.uplink_pairs then
      found:add(KEY .. "uplink_pairs", "all pairs send at once, so there are no rounds", "class: exclusive")
   end
end

local function frames_have_room(values, found)
   local six = values.ports[1] and not values.ports[1].ipv4
   if six and values.mesh.frame_size < shared_rules.SHORTEST_IPV6 then
      found:add(KEY .. "frame_size", "does not hold a test frame over IPv6",
         "at least " .. shared_rules.SHORTEST_IPV6)
   end
end

return {
   name = "mesh", fleet = true, row = row,
   rules = { classes_keep_to_their_keys, frames_have_room },
   topology = "full-mesh",
   frame_sizes = function(plan)
      return { plan.mesh.frame_size }
   end,
   shape = function(group)
      group.load = group.load or group.class == "light" and LIGHT or EXCLUSIVE
   end,
   quick = { "mesh.trial=1s", "mesh.learning_wait=100ms", "mesh.drain=200ms" },
}
