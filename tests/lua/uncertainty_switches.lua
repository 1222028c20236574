-- SPDX-License-Identifier: BSD-3-Clause

--- Reference switches drawn at random, for uncertainty_truth.lua: METHODS as it has them.
local draws = require "uncertainty_draws"
local ethernet = require "framegauge.core.ethernet"

local figure, log_between, size_of = draws.figure, draws.log_between, draws.size_of

local METHODS = {}

local SWITCH = [[
name: uncertainty
ports: {%s}
test: %s
reference_switch: {rate: 100Mbps, %s}
%s: {learning_wait: 1ms, drain: 100ms, settle: 0, %s}
]]

-- A plan with a reference switch.
local function of_switch(test, ports, switch, keys)
   local list = {}
   for i = 1, ports do
      list[i] = ("p%d: {device: wire%d}"):format(i, i - 1)
   end
   return SWITCH:format(table.concat(list, ", "), test, switch, test, keys)
end

--- The buffer before an egress; its load is the line's but for 100 ppm.
function METHODS.rfc8239_buffer(draw)
   local size, frames = size_of(draw), math.floor(log_between(draw, 8, 500))
   local text = of_switch("rfc8239", 3, ("buffer: %d, latency: %.3fus"):format(frames, draw(1, 100)),
      ("tests: [buffer], frame_sizes: [%d], iterations: 1, trial: 1s, buffer: {procedures: [port], trial_max: 16s}"):format(size))
   return text, function(results)
      local row = results.rfc8239.buffer[1]
      return { figure("buffer before an egress", row, "buffer_frames", frames) }
   end
end

--- The share that a port loses to which one and a half times its line are sent.
function METHODS.rfc8239_losses(draw)
   local size, line = size_of(draw), draw(0.8, 1)
   local text = of_switch("rfc8239", 4, ("buffer: %d"):format(log_between(draw, 4, 500)),
      ("tests: [head_of_line], line: %.6f%%, frame_sizes: [%d], iterations: 2, trial: 300ms"):format(
      line * 100, size))
   return text, function(results)
      local row = results.rfc8239.head_of_line[1]
      return {
         figure("loss ratio of a congested port", row, "congested_loss_ratio", 1 - 1 / (1.5 * line)),
         figure("loss ratio beside it", row, "innocent_loss_ratio", 0),
      }
   end
end

local ADDRESSES = "tests: [%s], address_table: {%s, ageing: 10s, test_rate: 5kfps, learning_rate: 1kfps, order: [sequential]}"

--- The table of addresses, which holds the test port's, too.
function METHODS.rfc2889_addresses(draw)
   local size = math.floor(log_between(draw, 8, 2000))
   local text = of_switch("rfc2889", 3, ("mac_table: {size: %d, ageing: 10s}"):format(size),
      ADDRESSES:format("address_caching", "max: 2048"))
   return text, function(results)
      return { figure("addresses", results.rfc2889.address_caching[1], "addresses", size - 1) }
   end
end

--- How fast it learns.
function METHODS.rfc2889_learning(draw)
   local rate = math.floor(log_between(draw, 200, 4000))
   local text = of_switch("rfc2889", 3, ("mac_table: {ageing: 10s, learning_rate: %dfps}"):format(rate),
      ADDRESSES:format("learning_rate", "addresses: 500"))
   return text, function(results)
      return { figure("rate of learning", results.rfc2889.learning_rate[1], "learning_fps", rate) }
   end
end

-- Of a switch whose engine serves some frames a second, what each of them is sent for: the load of a port.
local function engine(draw, line_fps, shares)
   local capacity = math.floor(line_fps * shares * draw(0.1, 0.9))
   return capacity / shares, ("capacity: %dfps, buffer: %d"):format(capacity, log_between(draw, 4, 200))
end

local SEARCH = "frame_sizes: [%d], trial: %dms, search_trial: 20ms, resolution: %.2f%%"

--- The load that each port of a mesh carries.
function METHODS.rfc2889_mesh(draw)
   local size, ports = size_of(draw), 2 + math.floor(draw(0, 3))
   local carried, switch = engine(draw, ethernet.max_fps(1e8, size), ports)
   local text = of_switch("rfc2889", ports, switch, ("tests: [fully_meshed], " .. SEARCH):format(size,
      draw(100, 400), draw(0.1, 2)))
   return text, function(results)
      return { figure("load of a port in a mesh", results.rfc2889.fully_meshed[1], "throughput_fps",
         carried) }
   end
end

local GROUPS = "report_rate: 20kfps, probe_rate: 20kfps, join_wait: 10ms, forget: 10ms, tests: [%s], "

--- The load of a source; an engine copies its frames for each receiver.
function METHODS.rfc3918_throughput(draw)
   local size, receivers = size_of(draw), 1 + math.floor(draw(0, 3))
   local carried, switch = engine(draw, ethernet.max_fps(1e8, size), receivers)
   local text = of_switch("rfc3918", 1 + receivers, switch .. ", snooping: {unregistered: drop}",
      (GROUPS .. SEARCH):format("aggregated", size, draw(100, 400), draw(0.1, 2)))
   return text, function(results)
      return { figure("load of a multicast source", results.rfc3918.aggregated[1], "throughput_fps",
         carried) }
   end
end

-- How many groups a switch has room for, which makes `copies` a second.
local function group_capacity(draw, copies)
   local groups = math.floor(log_between(draw, 4, 200))
   local snooping = ("snooping: {groups: %d, unregistered: drop}"):format(groups)
   local text = of_switch("rfc3918", 3, copies .. snooping,
      (GROUPS .. "frame_sizes: [64], trial: 50ms, search_trial: 10ms, capacity_max: 256"):format(
         "group_capacity"))
   return text, function(results)
      return { figure("multicast groups", results.rfc3918.group_capacity[1], "groups", groups) }
   end
end

--- As many as there are frames.
function METHODS.rfc3918_groups(draw)
   return group_capacity(draw, "")
end

--- Fewer than come, mostly: it may be found that there is no figure, but no other than the right one.
function METHODS.rfc3918_groups_slowly(draw)
   return group_capacity(draw, ("capacity: %dfps, buffer: %d,"):format(log_between(draw, 5, 60000),
      log_between(draw, 4, 500)))
end

return METHODS
