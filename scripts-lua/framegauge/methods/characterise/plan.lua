-- SPDX-License-Identifier: BSD-3-Clause

--- The test `characterise` in a plan: its keys, what must hold between them, and what it needs of the tester.
-- In the notation of plan/rows.lua and plan/registry.lua.
local shared = require "framegauge.plan.shared_rows"
local tables = require "framegauge.core.tables"

local function sizes(key, default, help)
   return {
      key = key, type = "list", of = { type = "size", min = "64", max = "16128" }, unique = true, least = 1,
      most = 8, default = default, help = help,
   }
end

local row = {
   key = "characterise", type = "group",
   help = "what a device is: its rates, buffer, delays and losses, each with its bounds, and a reference "
      .. "device "
      .. "that behaves like it",
   fields = {
      sizes("frame_sizes", { "64", "512", "1518" }, "bytes of the frames that the model is fitted to; where "
         .. "these do not tell two models apart, others are added"),
      sizes("held_out", { "256", "1024" }, "bytes of the frames whose trials the model must predict"),
      { key = "bidirectional", type = "boolean", default = "true",
        help = "the other direction, too, and both at once" },
      { key = "max", type = "rate", default = "100%",
        help = "the load of an overload; less than the line where the tester cannot send that much" },
      { key = "trial", type = "time", default = "1s", min = "1ms", max = "300s",
        help = "length of an overload; others are shorter. The longer, the narrower the bounds of rates" },
      { key = "longest", type = "time", default = "10s", min = "1ms", max = "1h",
        help = "an overload that a buffer takes in whole is made longer up to this" },
      { key = "rest", type = "time", default = "1s", min = "1ms", max = "300s",
        help = "length of a trial at a low load" },
      { key = "watch", type = "time", default = "1s", min = "1ms", max = "1h",
        help = "how long the device is watched after an overload" },
      shared.learning_wait "2s", shared.drain "2s", shared.settle "1s", shared.retries,
   },
}

local function held_out_is_new(values, found)
   for i, size in ipairs(values.characterise.held_out) do
      if tables.contains(values.characterise.frame_sizes, size) then
         found:add(found:item("characterise.held_out", i), ("%d is among frame_sizes"):format(size),
            "a size that nothing was fitted to")
      end
   end
end

local function frames_have_room(values, found)
   local six = values.ports[1] and not values.ports[1].ipv4
   for _, key in ipairs { "frame_sizes", "held_out" } do
      for i, size in ipairs(values.characterise[key]) do
         if six and size < 84 then
            found:add(found:item("characterise." .. key, i), ("%d bytes do not hold a test frame over "
               .. "IPv6"):format(size), "at least 84")
         end
      end
   end
end

local function two_ports(values, found)
   if #values.ports > 2 then
      found:add("ports", ("%d ports: the model has two"):format(#values.ports), "2")
   elseif values.reference_switch then
      found:add("reference_switch", "the model is of a device between two ports", "reference_device")
   end
end

--- Frame sizes that may be added: close together where a device carries hardly less than the line.
local MORE = { 72, 80, 96, 112, 128, 192, 256, 384, 512, 768, 1024, 1280 }

return {
   name = "characterise", row = row, MORE = MORE,
   rules = { held_out_is_new, frames_have_room, two_ports },
   one_way = function(plan)
      return not plan.characterise.bidirectional
   end,
   frame_sizes = function(plan)
      local o, most = plan.characterise, math.max(unpack(plan.characterise.frame_sizes))
      return tables.joined(o.frame_sizes, o.held_out, tables.map(MORE, function(size)
         return size <= most and size or nil
      end))
   end,
   shape = function(group)
      table.sort(group.frame_sizes)
      group.longest = math.max(group.longest, group.trial)
   end,
   quick = {
      "characterise.trial=200ms", "characterise.rest=200ms", "characterise.watch=300ms",
      "characterise.learning_wait=10ms", "characterise.drain=100ms", "characterise.settle=0s",
   },
}
