-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of a stream of one's own, in the notation of plan/rows.lua.
local stack = require "framegauge.plan.stack"

local stream = {
   type = "group",
   fields = {
      { key = "from", type = "string", longest = 31, default_help = "the first port",
        help = "the port that sends it" },
      { key = "to", type = "string", longest = 31, default_help = "the next port",
        help = "the port that should receive it" },
      { key = "frame", type = "stack", expected = stack.expected, default_help = "[ethernet, ipv4, udp]",
        help = "its protocols from the outside in, each a name, a name with its fields, or a name with the "
           .. "value of its main field; addresses left out are those of the ports and gateways; see "
           .. "docs/protocols.md" },
      { key = "size", type = "size", min = "64", max = "16128", default = "64",
        help = "octets from the destination address to the FCS" },
      { key = "rate", type = "rate", max = "100%", default = "10%",
        help = "the load" },
   },
}

return {
   key = "streams", type = "map", of = stream, name = "name", most = 16384,
   names = { longest = 64, match = "^%w[%w_.-]*$", expected = "letters, digits, '_', '.' and '-'" },
   expected = "streams by name, such as voice: {frame: [ethernet, ipv4, udp], rate: 10Mbps L2}",
   help = "streams of one's own, by names of your choice; `framegauge frames` shows what they would send",
}
