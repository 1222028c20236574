-- SPDX-License-Identifier: BSD-3-Clause

--- One trial of the L4 engine: workers behind ports of a tester, each with its applications, for so long; and
-- streams of test frames beside them, where a test wants both.
local api = require "framegauge.core.api"
local tables = require "framegauge.core.tables"
local app = require "framegauge.traffic.l4.app"
local counts = require "framegauge.tester.counts"
local ffi = require "ffi"
local iperf = require "framegauge.tester.iperf3.control"
local octets = require "framegauge.core.octets"
local uv = require "luv"

local C, nanoseconds = api.C, api.nanoseconds
local M = {}

local STEP_SECONDS = 100e-9 -- on the wire: how exactly an answer follows what it answers
local MAC_AND_FCS = 18
local TAG = 4
local RESET_SECONDS, LINGER = 1, 0.1 -- at most, to reset what is open; and of it, to answer what peers ask
local ENDLESS, FOREVER = 0xffffffffffffffffULL, 1e9 -- of the engine, ns; of the applications, seconds

-- A number that lasts as long as the clock of the time stamps, so that a host that remembers connections of
-- an earlier trial, or program, finds our numbers later than theirs. The wire's hosts remember nothing.
local function secret_of(tester, port)
   local file = not tester.wires and io.open "/proc/sys/kernel/random/boot_id"
   if not file then
      return 0 -- the seed
   end
   local high, low = file:read("*l"):gsub("-", ""):match "^(%x%x%x%x%x%x%x%x)(%x%x%x%x%x%x%x%x)"
   file:close()
   return tonumber(high, 16) * 0x100000000ULL + tonumber(low, 16) + port
end

-- Where the turn of an application through its ports goes on, on a tester whose peers remember them.
local function next_flows(tester, side)
   tester.next_flows = tester.next_flows or {}
   tester.next_flows[side.port] = tester.next_flows[side.port] or {}
   return tester.next_flows[side.port]
end

local function create_worker(tester, side, o)
   local out, err = ffi.new("struct fg_l4 *[1]"), api.error()
   local apps = ffi.new("struct fg_l4_app[?]", #side.apps)
   local config = ffi.new("struct fg_l4_config", {
      connections = side.capacity or 65536, seed = o.seed + side.port, mtu = o.mtu,
      secret = secret_of(tester, side.port), epoch_s = tester.wires and 0 or os.time(),
      max_lag_ns = nanoseconds(tester.plan.host.max_lag),
   })
   ffi.copy(config.mac, octets.mac(tester.ports[side.port].mac), 6)
   local kept = {}
   for i, one in ipairs(side.apps) do
      kept[i] = app.fill(apps[i - 1], one) or false
      apps[i - 1].first_flow = not tester.wires and next_flows(tester, side)[i] or 0
   end
   api.check(C.fg_l4_create(config, #side.apps, apps, out, err), err)
   return out[0], kept
end

local function create_station(tester, side, l4, o)
   local out, err = ffi.new("struct fg_endpoint_port *[1]"), api.error()
   local vlan = tester.plan.ports[side.port].vlan
   local config = ffi.new("struct fg_endpoint_port_config", {
      port = tester.handles[side.port], endpoint = C.fg_l4_endpoint(l4),
      max_frame = o.mtu + MAC_AND_FCS + (vlan and TAG or 0), vlan = vlan or 0,
      line_rate_bps = tester.wires and tester.ports[side.port].line_rate or 0,
   })
   api.check(C.fg_endpoint_port_create(config, out, err), err)
   return out[0]
end

-- Control of a side's applications of iperf3, by their number; of two servers the first has it.
local function iperf_of(side, l4, mtu)
   local controls = {}
   for i, one in ipairs(side.apps) do
      if one.test == "IPERF" and (not one.server or not next(controls)) then
         controls[i] = { control = iperf.new(l4, i - 1, one, mtu), reports = {} }
      end
   end
   return controls
end

-- Have all applications of iperf3 go on. @param act  method of their control: look or close
local function go_on(sides, act)
   for _, side in ipairs(sides) do
      for _, one in pairs(side.iperf) do
         tables.append(one.reports, one.control[act](one.control))
      end
   end
end

local function open_sides(tester, o, sides)
   for i, side in ipairs(o.sides) do
      sides[i] = { port = side.port, apps = side.apps }
      sides[i].l4, sides[i].kept = create_worker(tester, side, o)
      sides[i].station = create_station(tester, side, sides[i].l4, o)
      sides[i].iperf = iperf_of(side, sides[i].l4, o.mtu)
   end
end

-- What a trial left on the way is dropped before the buffers go.
local function close_sides(tester, sides)
   if tester.wires then
      tester.wires:reset()
   end
   for _, side in ipairs(sides) do
      for i = 1, side.l4 and #side.apps or 0 do
         next_flows(tester, side)[i] = C.fg_l4_next_flow(side.l4, i - 1)
      end
      C.fg_endpoint_port_free(side.station)
      C.fg_l4_free(side.l4)
   end
end

-- For how many addresses the port has to answer: its applications' addresses begin with its own.
local function addresses_of(side)
   local most = 1
   for _, one in ipairs(side.apps) do
      most = math.max(most, one.addresses or 1)
   end
   return most
end

-- A task and a sink of each side, in a trial's config.
local function place_sides(trial, tasks, sides)
   for i, side in ipairs(sides) do
      tasks[i - 1].task, tasks[i - 1].port = C.fg_endpoint_port_task(side.station), side.port - 1
      tasks[i - 1].at_receive = true
      trial.sink[side.port - 1] = C.fg_endpoint_port_sink(side.station)
      trial.addresses[side.port - 1] = addresses_of(side)
   end
end

-- Start it; it lasts o.seconds, or until it is stopped.
-- @return the streams, as Tester:streams_of() made them; nil without any
local function start_trial(tester, o, sides)
   local tasks = ffi.new("struct fg_trial_task[?]", #sides)
   local list, described
   if o.streams then
      list, described = tester:streams_of { streams = o.streams }
   end
   local trial = ffi.new("struct fg_trial_config", {
      tasks = #sides, task = tasks, streams = list and list.count or 0, stream = list and list.array,
      learn_ns = nanoseconds(o.learning_wait or 0),
      traffic_ns = o.seconds and nanoseconds(o.seconds) or ENDLESS,
      drain_ns = nanoseconds(o.drain or 0), settle_ns = nanoseconds(o.settle or 0),
      step_ns = nanoseconds(STEP_SECONDS), max_lag_ns = nanoseconds(tester.plan.host.max_lag),
      start_ns = o.joint and o.joint.start() or 0,
   })
   place_sides(trial, tasks, sides)
   tester.trials = tester.trials + 1
   tester:start(trial, function(start)
      local clock = ffi.new "struct fg_clock"
      C.fg_engine_clock(tester.engine, clock)
      for _, side in ipairs(sides) do
         local err, at = api.error(), C.fg_endpoint_port_align(side.station, start, clock)
         side.ends_at = at + nanoseconds(o.seconds or FOREVER) + nanoseconds(o.drain or 0)
         api.check(C.fg_l4_schedule(side.l4, at, at + nanoseconds(o.seconds or FOREVER),
            nanoseconds(o.omit or 0), nanoseconds(o.interval or 0), err), err)
      end
      if o.joint then
         o.joint.armed()
      end
   end, nil, o.draw)
   tester.running = { duration = o.seconds, streams = list } -- the templates live as long
   return described
end

-- @return the streams beside the workers, as they are described for counts.directions(); nil without any
local function run(tester, o, sides)
   local described, early = start_trial(tester, o, sides), nil
   tester:await(function()
      go_on(sides, "look")
      if o.look then
         local open = tables.map(sides, function(side) return C.fg_l4_open(side.l4) end)
         early = o.look(open)
      end
      return early
   end)
   go_on(sides, "close")
   for _, side in ipairs(sides) do
      C.fg_l4_finish(side.l4, early and 0 or side.ends_at)
   end
   return described
end

-- Have all sides reset what is open, in a trial of its own.
local function send_resets(tester, sides)
   local tasks, quiet = ffi.new("struct fg_trial_task[?]", #sides), nil
   local trial = ffi.new("struct fg_trial_config", {
      tasks = #sides, task = tasks, drain_ns = nanoseconds(RESET_SECONDS), silent = true,
   })
   place_sides(trial, tasks, sides)
   tester:start(trial, nil, true)
   tester:await(function()
      local done = true
      for _, side in ipairs(sides) do
         done = done and C.fg_l4_has_reset(side.l4)
      end
      quiet = done and (quiet or uv.hrtime()) or nil
      return quiet and uv.hrtime() - quiet > LINGER * 1e9
   end)
end

-- Reset what is still open, however the trial ended: peers, and a firewall between, would remember it. On the
-- wire there is nobody who could.
-- @return true, or false and why that failed
local function reset_sides(tester, sides)
   local open = 0
   for _, side in ipairs(not tester.wires and sides or {}) do
      open = open + (side.l4 and C.fg_l4_reset(side.l4) or 0)
   end
   if open == 0 then
      return true
   end
   return pcall(send_resets, tester, sides)
end

-- To a thousandth: how often the port is looked at may differ by one from a trial to the same one made again.
local function busy_share(busy, polls)
   return polls > 0 and math.floor(1000 * busy / polls + 0.5) / 1000 or 0
end

local function read_side(side)
   local out, station = { apps = {} }, ffi.new "struct fg_endpoint_port_result"
   for i, one in ipairs(side.apps) do
      out.apps[i] = app.read(side.l4, i - 1, one.test)
      local of = side.iperf[i]
      if of then
         out.apps[i].iperf, out.apps[i].peer = of.reports, of.control:peer_results()
      end
   end
   out.counters, out.severities = app.counters(side.l4)
   out.open = C.fg_l4_open(side.l4)
   local memory = ffi.new "struct fg_l4_memory"
   C.fg_l4_read_memory(side.l4, memory)
   out.memory = { octets = tonumber(memory.octets), connections = memory.connections }
   C.fg_endpoint_port_read(side.station, station)
   out.station = api.numbers(station, { "tx_frames", "rx_frames", "refused", "no_mbuf" })
   out.station.busy = busy_share(tonumber(station.busy_polls), tonumber(station.polls))
   out.station.busy_s = station.busy_ns > 0 and tonumber(station.busy_ns) / 1e9 or nil
   return out
end

-- What the engine counted in the trial that was the last.
local function read_engine(tester, o, described)
   return {
      time = tester.clock, duration_s = o.seconds, ports = counts.ports(tester.engine, tester.ports),
      lcores = counts.lcores(tester.engine, tester.lcores),
      directions = described and counts.directions(tester.engine, described, {
         duration = o.seconds, ports = tester.ports, tags = 0, on_wire = tester.wires ~= nil,
      }),
   }
end

-- The end of a trial that went well or not.
-- @param results  of its sides, which get what was left open; or nil
-- @return whether all went well, and why it did not
local function end_sides(tester, sides, ok, err, results)
   local all_reset, why = reset_sides(tester, sides)
   for i, result in ipairs(results or {}) do
      result.counters.left_open = app.counters(sides[i].l4).left_open
   end
   close_sides(tester, sides)
   return ok and all_reset, ok and why or err
end

--- Run workers on a tester and wait for their end. Call it inside a job.
-- @param o.sides          list of { port = index of the tester's port, apps = list as traffic.l4.app takes
--                         them, capacity = connections at a time, TIME_WAIT included (65536) }
-- @param o.seconds        from start to stop; o.omit: of these, before anything is measured
-- @param o.learning_wait, o.drain, o.settle  before and after, seconds
-- @param o.interval       of the series, seconds; nil: none
-- @param o.mtu            bytes
-- @param o.seed           of all that is random
-- @param o.draw           number of the random draws of the reference device; default: the trial's number
-- @param o.look           called now and then with the list of how many connections each side has, TIME_WAIT
--                         included; once it returns true, all ends at once. May be nil
-- @param o.streams        of test frames (framegauge.tester.streams), from ports without a worker; may be nil
-- @param o.joint          a trial together with other testers: start and armed as of Tester:run(); or nil
-- @return list of { apps = list of results, counters, severities, open, station,
-- memory = { octets =, connections = at a time } }, and what the engine
-- counted: { ports =, lcores = }, with streams as Tester:trial() has it
function M.run(tester, o)
   if tester.run_l4 then -- of several agents, who run a side each
      return tester:run_l4(o)
   end
   local sides, results, engine = {}, {}, nil
   local ok, err = pcall(function()
      open_sides(tester, o, sides)
      local described = run(tester, o, sides)
      for i, side in ipairs(sides) do
         results[i] = read_side(side)
      end
      engine = read_engine(tester, o, described)
   end)
   ok, err = end_sides(tester, sides, ok, err, results)
   if not ok then
      error(err, 0)
   end
   return results, engine
end

--- Run a worker on a tester until somebody has had enough of it. Call it inside a job.
-- @param o.side  as one of the sides of run(); o.mtu, o.seed: the same
-- @param attend  called with the control of its server of iperf3 (tester.iperf3.control), or nil, once it
-- runs; when it returns or raises, the worker is gone. While it waits it has to look at tester:is_running()
-- now and then.
function M.serve(tester, o, attend)
   local sides = {}
   o.sides = { o.side }
   local ok, err = pcall(function()
      open_sides(tester, o, sides)
      start_trial(tester, o, sides)
      attend(sides[1].iperf[1] and sides[1].iperf[1].control)
   end)
   C.fg_engine_stop(tester.engine)
   tester:await()
   ok, err = end_sides(tester, sides, ok, err)
   if not ok then
      error(err, 0)
   end
end

return M
