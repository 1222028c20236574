-- SPDX-License-Identifier: BSD-3-Clause

--- The keys of what a path does to frames of one direction, in the notation of plan/rows.lua. The reference
-- device has them, and the relay.
local COUNT = "4294967295"

-- How often something happens, and the keys that say what.
local function chance(what, ...)
   return {
      { key = "every", type = "integer", default = "0", min = "0", max = COUNT,
        help = what .. " every n-th frame; 0: none" },
      { key = "random", type = "ratio", default = "0%", max = "100%",
        help = what .. " this share of the frames at random" },
      ...
   }
end

local loss_bursts = {
   key = "loss_bursts", type = "group", optional = true,
   help = "loses frames in bursts, by the model of Gilbert and Elliott: the path is good or bad, and may "
      .. "change with each frame",
   fields = {
      { key = "begin", type = "ratio", required = true, max = "100%", default = "0%",
        help = "chance that a good path is bad for the next frame" },
      { key = "end", type = "ratio", required = true, max = "100%", default = "100%",
        help = "chance that a bad path is good for the next frame; 1/end is the mean length of a burst" },
      { key = "loss", type = "ratio", max = "100%", default = "100%", help = "loss while it is bad" },
      { key = "between", type = "ratio", max = "100%", default = "0%", help = "loss while it is good" },
   },
}

local jitter = {
   key = "jitter", type = "group", optional = true, short = "mean",
   expected = "a time, or keys such as {mean: 100us, distribution: normal}",
   help = "further delay, another for each frame",
   fields = {
      { key = "mean", type = "time", required = true, max = "10s", default = "0s", help = "the mean of it" },
      { key = "distribution", type = "enum", default = "uniform",
        values = { "uniform", "normal", "exponential", "pareto" },
        help = "uniform: from 0 to twice the mean; normal: none below 0; pareto: of the second kind (Lomax), "
           .. "from 0 on" },
      { key = "deviation", type = "time", max = "10s", default_help = "a quarter of the mean",
        help = "normal: the standard deviation" },
      { key = "shape", type = "number", min = "1.1", max = "100", default = "3",
        help = "pareto: the exponent; the smaller, the heavier the tail" },
      { key = "max", type = "time", min = "1ns", max = "10s",
        default_help = "twice the mean; normal: the mean and six deviations; exponential and pareto: 20 "
           .. "times the mean",
        help = "what would be longer is cut to this" },
      { key = "reorders", type = "boolean", default = "false",
        help = "whether frames may pass each other; if not, one waits for those before it" },
   },
}

return {
   { key = "loss_every", type = "integer", default = "0", min = "0", max = COUNT,
     help = "loses every n-th frame; 0: none" },
   { key = "loss_run", type = "integer", min = "1", max = COUNT, default_help = "1",
     help = "and so many in a row then: the last ones of each n" },
   { key = "loss_random", type = "ratio", default = "0%", max = "100%",
     help = "loses this share of the frames at random" },
   { key = "loss_pattern", type = "string", longest = 64, match = "^[.x]+$", default_help = "none",
     expected = "dots and x's, such as ...x.xx, at most 64",
     help = "loses by a pattern, over and over: x is lost, . is not" },
   loss_bursts,
   jitter,
   {
      key = "reorder", type = "group", optional = true,
      help = "frames that others may pass",
      fields = chance("holds back",
         { key = "by", type = "integer", default = "1", min = "0", max = "65535",
           help = "until so many later ones have passed; 0: for a time" },
         { key = "late", type = "time", default = "10ms", min = "1ns", max = "10s",
           help = "for so long; with by: at most" }),
   },
   {
      key = "duplicate", type = "group", optional = true,
      help = "frames that arrive twice",
      fields = chance("copies",
         { key = "late", type = "time", default = "0s", max = "10s",
           help = "how long after the frame its copy comes" }),
   },
   {
      key = "corrupt", type = "group", optional = true,
      help = "frames that are changed, with an FCS that fits again",
      fields = chance("corrupts",
         { key = "bits", type = "integer", default = "1", min = "1", max = "64",
           help = "how many of its bits are inverted" },
         { key = "skip", type = "size", default = "14", max = "65535",
           help = "bytes at the front that are spared; 14 is the Ethernet header" },
         { key = "spare", type = "size", default = "0", max = "65535",
           help = "bytes at the end that are spared, without the FCS; 18 is the signature of a test frame" }),
   },
}
