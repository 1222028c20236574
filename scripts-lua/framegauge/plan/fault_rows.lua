-- SPDX-License-Identifier: BSD-3-Clause

--- The errors that a stream makes on purpose, in the notation of plan/rows.lua.
local COUNT = "4294967295"

-- Which frames it concerns, and the keys that say how.
local function kind(key, what, ...)
   return {
      key = key, type = "group", optional = true, help = what,
      fields = {
         { key = "every", type = "integer", default = "0", min = "0", max = COUNT,
           help = "every n-th frame; 0: none" },
         { key = "random", type = "ratio", default = "0%", max = "100%",
           help = "and this share of the frames at random" },
         { key = "run", type = "integer", default = "1", min = "1", max = "1024",
           help = "so many in a row each time: of every n the last ones, at random as many as follow" },
         { key = "most", type = "integer", default = "0", min = "0", max = COUNT,
           help = "no more than so many frames in all; 0: without end" },
         ...
      },
   }
end

local BY = { key = "by", type = "integer", default = "1", min = "-32768", max = "32767",
   help = "how much too large the length is; below 0: too small" }

return {
   key = "errors", type = "group", optional = true,
   help = "errors on purpose. None of them is held against the device: what is left out, sent twice or sent "
      .. "late is no loss, copy or reordering in the results, and wrong frames are counted by themselves",
   fields = {
      { key = "seed", type = "integer", default = "1", min = "0", max = COUNT,
        help = "of what is random" },
      kind("skip", "sequence numbers left out; the next frame departs in their place"),
      kind("duplicate", "frames sent again right away, with the same number"),
      kind("reorder", "frames sent later than their turn, behind others",
         { key = "by", type = "integer", default = "1", min = "1", max = "1024",
           help = "how many frames later" }),
      kind("delay", "frames sent later than their time; frames due meanwhile go before them",
         { key = "late", type = "time", default = "1ms", min = "1ns", max = "1h",
           help = "how much, by the mean load of the stream; at most 1024 frames" }),
      kind("ip_checksum", "frames with a wrong IPv4 header checksum"),
      kind("l4_checksum", "frames with a wrong checksum behind IP: UDP, TCP, ICMP, SCTP and the like"),
      kind("ip_length", "frames with a wrong length in their IP header, whose checksum is right", BY),
      kind("l4_length", "frames with a wrong length in their UDP header", BY),
      kind("payload", "frames with inverted bits between headers and signature, which no checksum knows of",
         { key = "bits", type = "integer", default = "1", min = "1", max = "65535",
           help = "how many of them" }),
      kind("fcs", "frames with a wrong FCS, on a virtual wire; other ports write it themselves"),
      kind("runt", "frames of less than 64 bytes, where the port does not fill them up: on virtual wires, "
            .. "memif and capture files. What is cut off is missing before the signature",
         { key = "size", type = "size", default = "60", min = "36", max = "63",
           help = "octets with FCS" }),
      kind("oversize", "frames that are longer than the others",
         { key = "size", type = "size", default = "1600", min = "65", max = "16128",
           help = "octets with FCS" }),
   },
}
