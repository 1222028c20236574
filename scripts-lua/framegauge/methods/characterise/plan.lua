-- SPDX-License-Identifier: BSD-3-Clause

--- The test `characterise` in a plan: its keys, what must hold between them, and what it needs of the tester.
-- In the notation of plan/keys.lua and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local shared = require "framegauge.plan.shared_rows"
local shared_rules = require "framegauge.plan.shared_rules"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local ENOUGH_BESIDE = 60 -- seconds of the trials without ageing, about

local function sizes(key, default, help, default_help)
   return { key, "list", help,
      of = { type = "size", min = "64", max = "16128" }, unique = true, least = 1, most = 8,
      default = default, default_help = default_help }
end

local row = keys.group("characterise", "what a device is: its rates, buffer, delays and losses, each with its bounds, and a reference device that behaves like it", {
   sizes("frame_sizes", { "64", "512", "1518" }, "sizes of the frames to which the model is fitted; other sizes are added where these do not tell two models apart"),
   sizes("held_out", nil, "bytes of the frames whose trials the model must predict", "[256, 1024], or others where frame_sizes has one of these"),
   { "bidirectional", "boolean", "the other direction, too, and both at once", default = "true" },
   { "max", "rate", "the load of an overload; less than the line where the tester cannot send that much",
     default = "100%", max = "100%" },
   { "trial", "time", "length of an overload; others are shorter. The longer, the narrower the bounds of rates",
     default = "1s", min = "1ms", max = "300s" },
   { "longest", "time", "an overload that a buffer takes in, or that loses no frame, is made longer up to this",
     default = "10s", min = "1ms", max = "1h" },
   { "rest", "time", "length of a trial at a low load", default = "1s", min = "1ms", max = "300s" },
   { "watch", "time", "how long the device is watched after an overload",
     default = "1s", min = "1ms", max = "1h" },
   { "limit", "time", "with three ports: no trial of the address table after this much load of all trials; what was not tried is not told",
     default = "180s", min = "1s", max = "24h" },
   keys.group("addresses", "of a switch, where the plan has three ports: its table of addresses. The first port asks for addresses behind the second, the third sees what is flooded", {
      { "most", "integer", "addresses that are tried", default = "16384", min = "256", max = "500000" },
      { "ageing", "time", "for how long an address is watched until the switch forgets it; the default of IEEE 802.1D is 300s",
        default = "60s", min = "1s", max = "1h" },
   }),
   shared.learning_wait "2s", shared.drain "2s", shared.settle "1s", shared.retries,
})

local function held_out_is_new(values, found)
   for i, size in ipairs(values.characterise.held_out or {}) do
      if tables.contains(values.characterise.frame_sizes, size) then
         found:add(found:item("characterise.held_out", i), ("%d is among frame_sizes"):format(size),
            "a size that nothing was fitted to")
      end
   end
end

local function two_or_three_ports(values, found)
   if #values.ports > 3 then
      found:add("ports", ("%d ports: the model has two, and a table of addresses takes one more"):format(
         #values.ports), "2 or 3")
   end
end

-- An address must be left alone for this time, so the limit cannot be shorter.
local function ageing_has_time(values, found)
   local o = values.characterise
   if #values.ports > 2 and o.addresses.ageing >= o.limit then
      found:add("characterise.addresses.ageing", ("%s takes that long, and all of it may take %s (characterise.limit)"):format(units.format_time(o.addresses.ageing),
         units.format_time(o.limit)), ("characterise.limit of %s or more"):format(
         units.format_time(2 * o.addresses.ageing + ENOUGH_BESIDE)))
   end
end

--- Frame sizes that may be added: close together where a device carries hardly less than the line.
local MORE = { 72, 80, 96, 112, 128, 192, 256, 384, 512, 768, 1024, 1280 }

-- Held out where the plan does not say: the first two that nothing is fitted to.
local HELD_OUT = tables.joined({ 256, 1024, 768, 384 }, MORE)

local function held_out_of(frame_sizes)
   local list = {}
   for _, size in ipairs(HELD_OUT) do
      if #list < 2 and not tables.contains(frame_sizes, size) then
         list[#list + 1] = size
      end
   end
   table.sort(list)
   return list
end

return {
   name = "characterise", row = row, MORE = MORE, remembers = true,
   rules = {
      held_out_is_new, shared_rules.frames_have_room("characterise", "frame_sizes"),
      shared_rules.frames_have_room("characterise", "held_out"), two_or_three_ports,
      ageing_has_time,
   },
   topology = function(values)
      return #values.ports > 2 and "full-mesh" or "pairs"
   end,
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
      group.held_out = group.held_out or held_out_of(group.frame_sizes)
      group.longest = math.max(group.longest, group.trial)
   end,
   quick = {
      "characterise.trial=200ms", "characterise.longest=2s", "characterise.rest=200ms",
      "characterise.watch=300ms",
      "characterise.learning_wait=10ms", "characterise.drain=100ms", "characterise.settle=0s",
   },
}
