-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of the relay and of the reflector, in the notation of plan/rows.lua.
local path = require "framegauge.plan.path_rows"

local one_way = {
   { key = "delay", type = "time", default = "0s", max = "100s",
     help = "of every frame, besides the time in a queue" },
   { key = "rate", type = "bits", min = "1kbps", max = "800Gbps", default_help = "no limit",
     help = "bits of frames with FCS that pass; more waits" },
   { key = "burst", type = "size", default = "1518", min = "64", max = "1GiB",
     help = "rate: bytes that may pass at once after a pause (the size of its token bucket)" },
   { key = "queue", type = "size", default = "64KiB", max = "1GiB",
     help = "rate: bytes that may wait; more is lost" },
   { key = "room", type = "integer", min = "64", max = "1000000",
     default_help = "what the line brings in the longest delay in frames of 512 bytes; a line of unknown "
        .. "rate as one of 1 Gb/s",
     help = "frames that may be on their way; more is lost" },
}
for _, row in ipairs(path) do
   one_way[#one_way + 1] = row
end

-- The same keys for the other direction; what is left out there is as it is here.
local function inherited(fields)
   local list = {}
   for i, field in ipairs(fields) do
      list[i] = {}
      for name, value in pairs(field) do
         list[i][name] = value
      end
      list[i].default, list[i].default_help = nil, "as the first way"
   end
   return list
end

local relay_fields = {
   { key = "seed", type = "integer", default = "1", min = "0", max = "4294967295",
     help = "of its random numbers" },
   { key = "max_frame", type = "size", default = "1518", min = "64", max = "16128",
     help = "the longest frame that must pass; a kernel interface has its MTU" },
}
for _, row in ipairs(one_way) do
   relay_fields[#relay_fields + 1] = row
end
table.insert(relay_fields, {
   key = "reverse", type = "group", optional = true, fields = inherited(one_way),
   help = "what it does otherwise to frames from the second port to the first, from the fourth to the third, "
      .. "and so on",
})

return {
   inherited = inherited,
   one_way = one_way, -- the rows that relay and its reverse share
   relay = {
      key = "relay", type = "group",
      help = "frames go from the first port to the second and back, from the third to the fourth, and so on: "
         .. "what is done to them, each way (framegauge relay)",
      fields = relay_fields,
   },
   reflect = {
      key = "reflect", type = "group",
      help = "test frames go back to the port they came from, with their source and destination swapped "
         .. "(MAC, IP, ports) (framegauge reflect)",
      fields = {
         { key = "filter", type = "string", longest = 10000,
           default_help = "what has the signature of a test frame",
           help = "other frames to send back in their place, in the language of pcap-filter(7)" },
         { key = "restamp", type = "boolean", default = "false",
           help = "writes its own time into the signature, so that the tester sees the way back only; "
              .. "for a tester on the same machine, which has the same clock" },
         { key = "max_frame", type = "size", default = "1518", min = "64", max = "16128",
           help = "the longest frame that is sent back; a kernel interface has its MTU" },
      },
   },
}
