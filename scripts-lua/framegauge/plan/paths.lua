-- SPDX-License-Identifier: BSD-3-Clause

--- The effects of a path on the frames of one direction, in the reference device and in the network emulator:
-- its keys, and what must hold between them.
local keys = require "framegauge.plan.keys"

local M = {}

local COUNT = "4294967295"

-- A group for one effect: how often it happens, and the keys of its kind.
local function triggered(key, help, what, ...)
   return keys.group(key, help, {
      { "every", "integer", what .. " every n-th frame; 0: none",
        default = "0", min = "0", max = COUNT, into = key .. ".every" },
      { "random", "ratio", what .. " this share of the frames at random",
        default = "0%", max = "100%", into = key .. ".random" },
      ...
   }, { optional = true, trigger = true })
end

local loss_bursts = keys.group("loss_bursts", "loses frames in bursts, by the model of Gilbert and Elliott: the path is good or bad, and may change with each frame", {
   { "begin", "ratio", "chance that a good path is bad for the next frame",
     required = true, into = "burst_begin", max = "100%", default = "0%" },
   { "end", "ratio", "chance that a bad path is good for the next frame; 1/end is the mean length of a burst",
     required = true, into = "burst_end", max = "100%", default = "100%" },
   { "loss", "ratio", "loss while it is bad", max = "100%", default = "100%", into = "burst_loss" },
   { "between", "ratio", "loss while it is good", max = "100%", default = "0%", into = "burst_between" },
}, { optional = true })

local jitter = keys.group("jitter", "further delay, another for each frame", {
   { "mean", "time", "the mean of it",
     required = true, max = "10s", default = "0s", into = "jitter_mean_ns" },
   -- in the order of enum fg_jitter
   { "distribution", { "uniform", "normal", "exponential", "pareto" }, "uniform: from 0 to twice the mean; normal: none below 0; pareto: of the second kind (Lomax), from 0 on",
     default = "uniform", into = "jitter" },
   { "deviation", "time", "normal: the standard deviation",
     max = "10s", default_help = "a quarter of the mean", into = "jitter_deviation_ns" },
   { "shape", "number", "pareto: the exponent; the smaller, the heavier the tail",
     into = "jitter_shape", min = "1.1", max = "100", default = "3" },
   { "max", "time", "what would be longer is cut to this",
     min = "1ns", max = "10s", into = "jitter_max_ns",
     default_help = "twice the mean; normal: the mean and six deviations; exponential and pareto: 20 times the mean" },
   { "reorders", "boolean", "whether frames may pass each other; if not, one waits for those before it",
     default = "false", into = "jitter_reorders" },
}, {
   optional = true, short = "mean", expected = "a time, or keys such as {mean: 100us, distribution: normal}",
})

M.rows = {
   { "loss_every", "integer", "loses every n-th frame; 0: none",
     default = "0", min = "0", max = COUNT, into = "loss.every" },
   { "loss_run", "integer", "frames lost in a row each time: the last ones of each n",
     min = "1", max = COUNT, into = "loss_run", default_help = "1" },
   { "loss_random", "ratio", "loses this share of the frames at random",
     default = "0%", max = "100%", into = "loss.random" },
   { "loss_pattern", "string", "loses by a pattern, over and over: x is lost, . is not",
     longest = 64, match = "^[.x]+$", default_help = "none",
     expected = "dots and x's, such as ...x.xx, at most 64" },
   loss_bursts,
   jitter,
   triggered("reorder", "frames that others may pass", "holds back",
      { "by", "integer", "until this many later frames have passed; 0: for a time",
        default = "1", min = "0", max = "65535", into = "reorder_places" },
      { "late", "time", "for so long; with by: at most",
        default = "10ms", min = "1ns", max = "10s", into = "reorder_ns" }),
   triggered("duplicate", "frames that arrive twice", "copies",
      { "late", "time", "how long after the frame its copy comes",
        default = "0s", max = "10s", into = "duplicate_ns" }),
   triggered("corrupt", "frames that are changed, with an FCS that fits again", "corrupts",
      { "bits", "integer", "how many of its bits are inverted",
        default = "1", min = "1", max = "64", into = "corrupt_bits" },
      { "skip", "size", "bytes at the front that are spared; 14 is the Ethernet header",
        default = "14", max = "65535", into = "corrupt_skip" },
      { "spare", "size", "bytes at the end that are spared, without the FCS; 18 is the signature of a test frame",
        default = "0", max = "65535", into = "corrupt_spare" }),
   triggered("mark_ce", "packets of a transport with ECN (RFC 3168) that get CE, as from a congested queue", "marks"),
   triggered("bleach", "packets of a transport with ECN that lose their code point", "bleaches"),
}

-- A group with a kind but no frequency is an error; a second way may set the frequency to 0.
local function happens(way, key, path, found)
   local group = way[key]
   if group and group.every == 0 and group.random == 0 then
      found:add(path .. "." .. key, "never happens", "every or random with it")
   end
end

--- Check the keys of one way.
-- @param way    its values
-- @param path   where they stand in the plan
-- @param found  takes the problems (plan/problems.lua)
-- @param first  the way whose keys are the defaults of this one; nil: no first way
function M.check(way, path, found, first)
   local run, every = way.loss_run, way.loss_every or first and first.loss_every or 0
   if run and every == 0 then
      found:add(path .. ".loss_run", "says how many, but not when", "loss_every in addition")
   elseif run and run > every then
      found:add(path .. ".loss_run", ("%d of every %d frames"):format(run, every), "at most loss_every")
   end
   for _, row in ipairs(first and {} or M.rows) do
      if row.trigger then
         happens(way, row.key, path, found)
      end
   end
   if way.jitter and way.jitter.deviation and way.jitter.distribution ~= "normal" then
      found:add(path .. ".jitter.deviation", ("not for a %s distribution"):format(way.jitter.distribution),
         "distribution: normal in addition")
   end
end

--- A rule for both ways of a group.
function M.both(key)
   return function(values, found)
      local group = values[key]
      M.check(group, key, found)
      if group.reverse then
         M.check(group.reverse, key .. ".reverse", found, group)
      end
   end
end

-- With addresses it is a router, and one that reflects sends everything back.
local function table_is_a_bridges(values, found)
   local device = values.reference_device
   if not device.mac_table then
      return
   elseif device.reflect then
      found:add("reference_device.mac_table", "a loopback has no table", "reflect: false")
   end
   for _, port in ipairs(values.ports) do
      if port.gateway or port.gateway6 then
         found:add("reference_device.mac_table", "with gateways the device is a router",
            "ports without them")
         return
      end
   end
end

M.rules = { M.both "reference_device", table_is_a_bridges }

return M
