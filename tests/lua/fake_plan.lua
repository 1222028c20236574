-- SPDX-License-Identifier: BSD-3-Clause

--- A loaded plan as framegauge.plan hands it over, without a file.
local function ratio(value)
   return { unit = "ratio", value = value, text = value * 100 .. "%" }
end

--- Short groups of the tests beside throughput, as a plan might have them.
local GROUPS = {
   latency = { trial = 1, tag_after = 0.5, tags = 1, repetitions = 2 },
   frame_loss = { max = ratio(1), step = 0.1, trial = 1 },
   back_to_back = { search = "binary", limit = 0.1, step = 1, repetitions = 2 },
   system_recovery = { overload = 1, watch = 1, repetitions = 1 },
   reset = { after = 0.01, watch = 0.1, outage = 0.01, repetitions = 1, command = { "true" } },
   management = { community = "public", interface = 1 },
   bursty_traffic = {
      burst_frames = { 16, 64 }, search = "binary", limit = 0.1, resolution = 0.001, trial = 1,
      search_trial = 0.1,
   },
}

--- @param o  keys of rfc2544; o.throughput: keys of rfc2544.throughput
return function(o)
   local plan = {
      name = "fake",
      isolated_network = false,
      ports = {
         { name = "east", device = "wire0", ipv4 = "198.18.1.2", prefix4 = 24, gateway4 = "198.18.1.1" },
         { name = "west", device = "wire1", ipv4 = "198.19.1.2", prefix4 = 24, gateway4 = "198.19.1.1" },
      },
      host = { huge_pages = "auto", eal = {} },
      test = "rfc2544",
      rfc2544 = {
         tests = { "throughput" }, frame_sizes = { 64, 512, 1518 }, bidirectional = true, learning_wait = 2,
         drain = 2, settle = 5, retries = 2,
         throughput = {
            search = "binary", min = ratio(0), max = ratio(1), resolution = ratio(0.001), trial = 60,
            search_trial = 1, loss_tolerance = 0, max_trials = 100,
         },
      },
      quick = false,
   }
   for key, group in pairs(GROUPS) do
      plan.rfc2544[key] = group
   end
   for key, value in pairs(o or {}) do
      if key ~= "throughput" then
         plan.rfc2544[key] = value
      end
   end
   for key, value in pairs(o and o.throughput or {}) do
      plan.rfc2544.throughput[key] = value
   end
   plan.needs = {
      topology = plan.rfc2544.topology or "pairs", one_way = not plan.rfc2544.bidirectional,
      frame_sizes = plan.rfc2544.frame_sizes,
   }
   return plan
end
