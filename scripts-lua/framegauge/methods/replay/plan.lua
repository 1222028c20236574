-- SPDX-License-Identifier: BSD-3-Clause

--- The test `replay` in a plan: its keys, what must hold between them, and what it needs of the tester. In
-- the notation of plan/keys.lua and plan/registry.lua.
local keys = require "framegauge.plan.keys"
local address = require "framegauge.plan.address"
local shared = require "framegauge.plan.shared_rows"

local rewrite = keys.group("rewrite", "what is changed in every frame before it is sent; checksums follow", {
   { "source_mac", "mac", "where every frame comes from", default_help = "as recorded" },
   { "destination_mac", "mac", "where every frame goes", default_help = "as recorded" },
   { "vlan", "string", "1 to 4094: number of the outermost tag, which is added to untagged frames; none: it is taken away",
     longest = 4, default_help = "as recorded" },
   { "networks", "list", "move addresses from one network to another: 10.0.0.0/8=198.18.0.0/8; the first that fits",
     of = { type = "string", longest = 100 }, most = 8, default = {}, default_help = "none" },
})

local row = keys.group("replay", "a capture replayed from one port, and whether all of it arrives at the other one", {
   { "file", "string", "pcap or pcapng, of Ethernet; a relative path begins at the plan's folder",
     longest = 4096, does = "reads the file", always = true, default_help = "none; it must be given" },
   { "from", "string", "the port that sends", default_help = "the first port" },
   { "speed", "string", "how much faster than it was recorded: 2x, 0.5x",
     longest = 16, default_help = "1x: as recorded" },
   { "rate", "rate", "instead: frames evenly spaced (10kfps), bits (1Gbps L2), or a share of the line",
     default_help = "none: by speed" },
   { "loops", "integer", "times it is sent; 0: until the duration is over",
     default = "1", min = "0", max = "1000000000" },
   { "duration", "time", "nothing is sent that is due later",
     min = "1us", max = "1000h", default_help = "none: all of it" },
   shared.repetitions("1", "how often all of that is done, a row each", "1000"),
   { "verify", "boolean", "compares what the other port receives with what was sent; false: through a device that changes frames, such as a router",
     default = "true" },
   rewrite,
   { "fcs", { "auto", "strip", "keep" }, "the FCS of the frames in the file (the port sends its own): auto: dropped where the file says that the frames have one; strip: dropped from all frames; keep: sent as payload",
     default = "auto" },
   shared.max_frame("1522", "larger frames are dropped and counted"),
   { "memory", "size", "a larger file is read while it is sent",
     default = "256MiB", min = "1MiB", max = "1024GiB" },
   shared.learning_wait "0s", shared.drain "500ms", shared.settle "0s", shared.retries,
})

local function vlan_is_one(values, found)
   local text = values.replay.rewrite.vlan
   local id = tonumber(text)
   if text and text ~= "none" and not (id and id >= 1 and id <= 4094 and id % 1 == 0) then
      found:add("replay.rewrite.vlan", ("'%s' is no VLAN"):format(text), "1 to 4094, or none")
   end
end

local function networks_fit(values, found)
   for i, text in ipairs(values.replay.rewrite.networks or {}) do
      local from, to = text:match "^([^=]+)=([^=]+)$"
      local fits = false
      for family = 4, from and 6 or 0, 2 do
         local a, b = address.parse_prefix(from, family), address.parse_prefix(to, family)
         fits = fits or a and b and a.prefix == b.prefix
      end
      if not fits then
         found:add(found:item("replay.rewrite.networks", i),
            ("'%s' is not two networks of one size"):format(text), "such as 10.0.0.0/8=198.18.0.0/8")
      end
   end
end

local function has_a_file(values, found)
   if not values.replay.file then
      found:add("replay.file", "missing", "a capture, such as site.pcap")
   end
end

local function port_is_there(values, found)
   local from = values.replay.from
   for _, port in ipairs(values.ports) do
      if not from or port.name == from then
         return
      end
   end
   found:add("replay.from", ("there is no port '%s'"):format(from), "one of the names in ports")
end

local function one_pace(values, found)
   local o = values.replay
   local factor = o.speed and tonumber((o.speed:gsub("x$", "")))
   if o.speed and not (factor and factor > 0 and factor < math.huge) then
      found:add("replay.speed", ("'%s' is no factor above 0"):format(o.speed), "such as 2x or 0.5x")
   elseif o.speed and o.rate then
      found:add("replay.rate", "a rate and a speed", "one of them")
   elseif o.loops == 0 and not o.duration then
      found:add("replay.loops", "it would never end", "a duration in addition")
   end
end

local SMALLEST_FRAME = 64

local rules = { has_a_file, port_is_there, one_pace, vlan_is_one, networks_fit }

return {
   name = "replay", row = row, rules = rules,
   frame_sizes = function(plan)
      return { SMALLEST_FRAME, plan.replay.max_frame }
   end,
   quick = { "replay.repetitions=1" },
}
