-- SPDX-License-Identifier: BSD-3-Clause

--- What a path does to frames of one direction, in the reference device and in the network emulator: its
-- keys, and what must hold between them.
local M = {}

local COUNT = "4294967295"

-- A group of how often something happens to frames, and the keys that say what.
local function triggered(key, help, what, ...)
   return {
      key = key, type = "group", optional = true, trigger = true, help = help,
      fields = {
         { key = "every", type = "integer", default = "0", min = "0", max = COUNT, into = key .. ".every",
           help = what .. " every n-th frame; 0: none" },
         { key = "random", type = "ratio", default = "0%", max = "100%", into = key .. ".random",
           help = what .. " this share of the frames at random" },
         ...
      },
   }
end

local loss_bursts = {
   key = "loss_bursts", type = "group", optional = true,
   help = "loses frames in bursts, by the model of Gilbert and Elliott: the path is good or bad, and may change with each frame",
   fields = {
      { key = "begin", type = "ratio", required = true, into = "burst_begin", max = "100%", default = "0%",
        help = "chance that a good path is bad for the next frame" },
      { key = "end", type = "ratio", required = true, into = "burst_end", max = "100%", default = "100%",
        help = "chance that a bad path is good for the next frame; 1/end is the mean length of a burst" },
      { key = "loss", type = "ratio", max = "100%", default = "100%", into = "burst_loss",
        help = "loss while it is bad" },
      { key = "between", type = "ratio", max = "100%", default = "0%", into = "burst_between",
        help = "loss while it is good" },
   },
}

local jitter = {
   key = "jitter", type = "group", optional = true, short = "mean",
   expected = "a time, or keys such as {mean: 100us, distribution: normal}",
   help = "further delay, another for each frame",
   fields = {
      { key = "mean", type = "time", required = true, max = "10s", default = "0s",
        into = "jitter_mean_ns", help = "the mean of it" },
      { key = "distribution", type = "enum", default = "uniform", into = "jitter",
        -- in the order of enum fg_jitter
        values = { "uniform", "normal", "exponential", "pareto" },
        help = "uniform: from 0 to twice the mean; normal: none below 0; pareto: of the second kind (Lomax), from 0 on" },
      { key = "deviation", type = "time", max = "10s", default_help = "a quarter of the mean",
        into = "jitter_deviation_ns", help = "normal: the standard deviation" },
      { key = "shape", type = "number", into = "jitter_shape", min = "1.1", max = "100", default = "3",
        help = "pareto: the exponent; the smaller, the heavier the tail" },
      { key = "max", type = "time", min = "1ns", max = "10s", into = "jitter_max_ns",
        default_help = "twice the mean; normal: the mean and six deviations; exponential and pareto: 20 times the mean",
        help = "what would be longer is cut to this" },
      { key = "reorders", type = "boolean", default = "false", into = "jitter_reorders",
        help = "whether frames may pass each other; if not, one waits for those before it" },
   },
}

M.rows = {
   { key = "loss_every", type = "integer", default = "0", min = "0", max = COUNT, into = "loss.every",
     help = "loses every n-th frame; 0: none" },
   { key = "loss_run", type = "integer", min = "1", max = COUNT, into = "loss_run", default_help = "1",
     help = "frames lost in a row each time: the last ones of each n" },
   { key = "loss_random", type = "ratio", default = "0%", max = "100%", into = "loss.random",
     help = "loses this share of the frames at random" },
   { key = "loss_pattern", type = "string", longest = 64, match = "^[.x]+$", default_help = "none",
     expected = "dots and x's, such as ...x.xx, at most 64",
     help = "loses by a pattern, over and over: x is lost, . is not" },
   loss_bursts,
   jitter,
   triggered("reorder", "frames that others may pass", "holds back",
      { key = "by", type = "integer", default = "1", min = "0", max = "65535", into = "reorder_places",
        help = "until this many later frames have passed; 0: for a time" },
      { key = "late", type = "time", default = "10ms", min = "1ns", max = "10s", into = "reorder_ns",
        help = "for so long; with by: at most" }),
   triggered("duplicate", "frames that arrive twice", "copies",
      { key = "late", type = "time", default = "0s", max = "10s", into = "duplicate_ns",
        help = "how long after the frame its copy comes" }),
   triggered("corrupt", "frames that are changed, with an FCS that fits again", "corrupts",
      { key = "bits", type = "integer", default = "1", min = "1", max = "64", into = "corrupt_bits",
        help = "how many of its bits are inverted" },
      { key = "skip", type = "size", default = "14", max = "65535", into = "corrupt_skip",
        help = "bytes at the front that are spared; 14 is the Ethernet header" },
      { key = "spare", type = "size", default = "0", max = "65535", into = "corrupt_spare",
        help = "bytes at the end that are spared, without the FCS; 18 is the signature of a test frame" }),
}

-- A group that says how, but not how often, is a mistake; for a second way it may say never.
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
-- @param first  the way whose keys hold where this one says nothing; nil: no first way
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
