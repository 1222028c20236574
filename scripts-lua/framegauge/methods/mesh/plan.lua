-- SPDX-License-Identifier: BSD-3-Clause

--- A mesh in a plan: its keys, what must hold between them, and what it needs of the tester. In the notation
-- of plan/rows.lua and plan/registry.lua.
local shared = require "framegauge.plan.shared_rows"
local shared_rules = require "framegauge.plan.shared_rules"

local EXCLUSIVE, LIGHT = 1, 0.01 -- shares of the line

local row = {
   key = "mesh", type = "group",
   help = "every port with every other one: loss, delay and throughput of each pair, each way",
   fields = {
      { key = "class", type = "enum", values = { "exclusive", "light" }, default = "exclusive",
        help = "exclusive: pairs in rounds, each port in one pair of a round; light: all pairs at once, with at most 1 % of the line of each port" },
      { key = "throughput", type = "boolean", default = "false",
        help = "exclusive: true searches for the highest load of each way without loss, all pairs of a round at the same time" },
      { key = "load", type = "ratio", min = "0.0001%", max = "100%", default_help = "100%, of light 1%",
        help = "what a port sends, as a share of the slower line of its pair; of light divided among all others. With throughput the highest load that is tried" },
      { key = "resolution", type = "ratio", default = "1%", min = "0.01%", max = "50%",
        help = "of the throughput, as a share of the line" },
      { key = "frame_size", type = "size", default = "512", min = "64", max = "16128",
        help = "bytes from the destination address to the FCS" },
      shared.trial("10s", "how long each pair sends", "24h"),
      { key = "uplink_pairs", type = "integer", min = "1", max = "1000", default_help = "any number",
        help = "exclusive: most pairs in a round over the uplink of a site (fleet.agents.NAME.site)" },
      { key = "again", type = "boolean", default = "true",
        help = "whether pairs without a valid figure are asked once more, at the end" },
      shared.learning_wait "1s", shared.drain "1s", shared.settle "0s",
   },
}

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
   topology = function()
      return "full-mesh"
   end,
   frame_sizes = function(plan)
      return { plan.mesh.frame_size }
   end,
   shape = function(group)
      group.load = group.load or group.class == "light" and LIGHT or EXCLUSIVE
   end,
   quick = { "mesh.trial=1s", "mesh.learning_wait=100ms", "mesh.drain=200ms" },
}
