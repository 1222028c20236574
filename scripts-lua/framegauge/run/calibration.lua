-- SPDX-License-Identifier: BSD-3-Clause

--- The tester's own limits: the load it carries and the latency it adds, looped to itself.
--
-- `framegauge calibrate` measures them and keeps a file for each set of machine and ports. A run looks for
-- that file. A current one bounds the loads that are tried, because the tester cannot offer more; and its
-- latency is subtracted next to every figure that contains it. A calibration of another machine, of other
-- ports or versions, or an old one is stale: it is not used, only mentioned. The clock of the virtual wire is
-- not the machine's, so there the tester has neither bound nor latency.
local bit = require "bit"
local cycles = require "framegauge.traffic.sizes"
local format = require "framegauge.text.format"
local json = require "framegauge.text.json"
local named_file = require "framegauge.core.named_file"
local mixes = require "framegauge.core.mixes"
local paths = require "framegauge.methods.y1564.plan.paths"
local stack = require "framegauge.traffic.stack"
local tables = require "framegauge.core.tables"
local uv = require "luv"

local M = {}

M.SCHEMA_VERSION = 1

local OLDEST = 30 * 24 * 3600 -- seconds
local ORDER = {
   "schema_version", "date", "generator", "name", "version", "machine", "host", "cpu", "kernel", "ports",
   "device", "driver", "mode", "line_rate", "time", "pattern", "frame_sizes", "frame_size",
   "theoretical_fps", "load_fps", "percent", "limited_by", "trial_s", "latency_low", "latency_at_load",
   "fps", "count", "min_ns", "mean_ns", "p50_ns", "p99_ns", "p999_ns", "max_ns", "source", "error_bound_ns",
   "definition", "precision", "departures", "pattern", "intended_ns", "error_p50_ns", "error_p99_ns",
   "error_p999_ns", "error_max_ns", "late", "host", "seconds", "rounds", "stalls", "longest_ns", "away_ppm",
   "probe", "sent", "unstamped",
}

-- FNV-1a, eight hexadecimal digits: names files, and tells hosts apart without naming them.
local function digest(text)
   local hash = 0x811c9dc5
   for i = 1, #text do
      hash = bit.bxor(hash, text:byte(i))
      -- times 16777619, modulo 2^32, in parts that a double holds
      hash = bit.tobit(hash * 403 + bit.lshift(bit.band(hash, 0xff), 24))
   end
   return bit.tohex(hash)
end

--- The machine this is.
function M.machine()
   local system, cpus = uv.os_uname(), uv.cpu_info()
   return {
      host = digest(uv.os_gethostname()),
      cpu = cpus[1] and cpus[1].model or "unknown",
      kernel = system.sysname .. " " .. system.release,
   }
end

--- The identity of ports. How a memif joins its peer makes no difference.
-- @param ports  of a tester
function M.ports(ports)
   local list = {}
   for i, port in ipairs(ports) do
      list[i] = {
         device = port.device:gsub(",server$", ""), driver = port.driver,
         mode = port.mode and not port.mode:find "^memif" and port.mode or json.null,
         line_rate = port.line_rate or json.null,
      }
   end
   return list
end

--- Which ports send to which.
function M.pattern(plan)
   return (plan.needs.one_way and "one way, " or "both ways, ") .. plan.needs.topology
end

local function folder()
   local data = os.getenv "XDG_DATA_HOME"
   return (data and data ~= "" and data or uv.os_homedir() .. "/.local/share") .. "/framegauge/calibration"
end

--- Where the calibration of a machine and its ports is kept.
function M.path(machine, ports)
   local parts = { machine.host, machine.cpu }
   for _, port in ipairs(ports) do
      parts[#parts + 1] = port.device .. " " .. port.driver
   end
   return ("%s/%s.json"):format(folder(), digest(table.concat(parts, "\n")))
end

--- Text of a calibration.
function M.text(calibration)
   return json.encode(calibration, { order = ORDER, pretty = true }) .. "\n"
end

local LONGEST = 16 * 1024 * 1024

local function read(path)
   local text, message = named_file.read(path, LONGEST)
   if not text then
      return nil, message
   end
   local decoded, calibration = pcall(json.decode, text)
   if not decoded or type(calibration) ~= "table" or calibration.schema_version ~= M.SCHEMA_VERSION
      or type(calibration.frame_sizes) ~= "table" then
      return nil, path .. " is no calibration"
   end
   return calibration
end

local function sizes_of(calibration)
   local sizes = {}
   for _, row in ipairs(calibration.frame_sizes) do
      sizes[row.frame_size] = row
   end
   return sizes
end

local function in_words(value)
   return type(value) == "string" and value or json.encode(value)
end

-- Why a calibration is stale, in sentences.
local function staleness(calibration, here, plan, now)
   local reasons = {}
   local function hold(what, one, other)
      if json.encode(one) ~= json.encode(other) then
         local text = "it is of another %s (%s; now %s)"
         reasons[#reasons + 1] = text:format(what, in_words(one), in_words(other))
      end
   end
   hold("host", calibration.machine.host, here.machine.host)
   hold("processor", calibration.machine.cpu, here.machine.cpu)
   hold("kernel", calibration.machine.kernel, here.machine.kernel)
   hold("version of the program", calibration.generator.version, here.generator.version)
   hold("version of DPDK", calibration.generator.dpdk, here.generator.dpdk)
   hold("set of ports", calibration.ports, here.ports)
   hold("pattern of traffic", calibration.pattern, M.pattern(plan))
   local made = format.epoch(tostring(calibration.date))
   if not made or now - made > OLDEST then
      reasons[#reasons + 1] = "it is older than 30 days"
   end
   local sizes = sizes_of(calibration)
   for _, frame_size in ipairs(plan.needs.frame_sizes) do
      if not sizes[frame_size] then
         reasons[#reasons + 1] = ("it has no frames of %d bytes"):format(frame_size)
      end
   end
   return reasons
end

-- The part that a run needs.
local function digested(calibration, plan)
   local sizes, list = sizes_of(calibration), {}
   for i, frame_size in ipairs(plan.needs.frame_sizes) do
      local row = sizes[frame_size]
      local low = row.latency_low ~= json.null and row.latency_low or nil
      list[i] = {
         frame_size = frame_size, load_fps = row.load_fps, latency_min_ns = low and low.min_ns or json.null,
         latency_mean_ns = low and low.mean_ns or json.null,
      }
   end
   return list
end

--- The state of the calibration for a run.
-- @param ports      of the tester
-- @param generator  framegauge.report.generator
-- @param now        seconds since 1970
-- @return { state = "not-needed", "missing", "stale" or "current", date =, reasons =, frame_sizes = of a
-- current one: list of { frame_size =, load_fps =, latency_min_ns = } }, as result.json has it; or nil and a
-- message when the file that the plan names cannot be read
function M.find(plan, ports, generator, now)
   if plan.reference_device or plan.reference_switch then
      return { state = "not-needed", date = json.null, reasons = {}, frame_sizes = {} }
   end
   local here = { machine = M.machine(), ports = M.ports(ports), generator = generator }
   local calibration, message = read(plan.calibration or M.path(here.machine, here.ports))
   if not calibration then
      if plan.calibration then
         return nil, "calibration: " .. message
      end
      return { state = "missing", date = json.null, reasons = {}, frame_sizes = {} }
   end
   local reasons = staleness(calibration, here, plan, now)
   local stale = #reasons > 0
   return {
      state = stale and "stale" or "current", date = calibration.date, reasons = reasons,
      frame_sizes = stale and {} or digested(calibration, plan),
   }
end

--- The loads the tester carries, by frame size; nil when nothing is known.
function M.limits(state)
   local limits = {}
   for _, row in ipairs(state.frame_sizes) do
      limits[row.frame_size] = row.load_fps ~= json.null and row.load_fps or nil
   end
   return next(limits) and limits
end

local FIGURES = { "min_ns", "mean_ns", "p50_ns", "p99_ns", "p999_ns", "max_ns" }

local function correct(latency, state, tester)
   latency.calibration = state.state
   if tester then
      latency.tester_min_ns, latency.corrected = tester, {}
      for _, key in ipairs(FIGURES) do
         latency.corrected[key] = latency[key] and latency[key] - tester
      end
   end
end

-- The least that frames of all these sizes take through the tester; nil where one size's is not known.
local function least(own, sizes)
   local found
   for _, size in ipairs(sizes) do
      if not own[size] then
         return nil
      end
      found = math.min(found or math.huge, own[size])
   end
   return found
end

-- Frame transfer delays of services.
local function correct_services(plan, services, own)
   for i, service in ipairs(services) do
      local tester = least(own, (paths.sizes(plan.y1564.services[i])))
      for _, rows in ipairs { service.configuration, service.performance } do
         for _, step in ipairs(tester and rows or {}) do
            for _, row in pairs { step, step.green, step.yellow } do
               local ftd = row.ftd
               row.ftd_corrected = ftd and {
                  min_ns = ftd.min_ns - tester, mean_ns = ftd.mean_ns - tester, max_ns = ftd.max_ns - tester,
               }
            end
         end
      end
   end
end

--- Add the tester's own latency to every latency of the results, and subtract it.
-- @param results  rows by test; they are changed
-- @param plan     of the run
function M.apply(state, results, plan)
   local own = {}
   for _, row in ipairs(state.frame_sizes) do
      own[row.frame_size] = row.latency_min_ns ~= json.null and row.latency_min_ns or nil
   end
   correct_services(plan, results.y1564 and results.y1564.services or {}, own)
   for test, rows in pairs(results) do
      for i, row in ipairs(rows) do
         local sizes = test == "traffic" and cycles.of(plan.streams[i]) or mixes.cycle(row.frame_size)
         for _, key in ipairs { "latency", "every_frame_latency" } do
            if row[key] then
               row[key] = tables.copy(row[key]) -- the trials keep theirs as it was measured
               correct(row[key], state, least(own, sizes))
            end
         end
      end
   end
   for _, row in ipairs(results.latency or {}) do
      local tester = own[row.frame_size]
      row.calibration, row.tester_min_ns = state.state, tester
      row.latency_corrected_mean_ns = tester and row.latency_mean_ns and row.latency_mean_ns - tester
   end
end

-- The greatest share of the tester's calibrated load that the trials of a run asked for.
--
-- Searches stay below that load. A load that the plan itself gives, a service's rate or a burst at line rate,
-- is sent as it is, and the report says where it was more than the calibration found. The streams of one port
-- share its capacity: each takes its frames per second divided by the rate of a tester that sends nothing
-- else.

local ROUNDING = 1 + 1e-6

-- The frames of streams that have names: { from =, sizes = }.
local function named(plan)
   local streams = {}
   if plan.test == "y1564" then
      for _, path in ipairs(paths.of(plan)) do
         for _, colour in ipairs { "green", "yellow" } do
            streams[("%s %s %s"):format(path.name, path.direction, colour)] =
               { from = path.from, sizes = (paths.sizes(path.service)) }
         end
      end
   elseif plan.test == "traffic" then
      for _, stream in ipairs(plan.streams) do
         streams[stream.name] = { from = stack.ends(plan.ports, stream), sizes = (cycles.of(stream)) }
      end
   end
   return streams
end

-- Seconds of the tester that a frame takes in the mean; 0 where one of the sizes is not known.
local function cost(sizes, limits)
   local sum = 0
   for _, size in ipairs(sizes) do
      if not limits[size] then
         return 0
      end
      sum = sum + 1 / limits[size]
   end
   return sum / #sizes
end

local function share(record, streams, limits)
   local ports, most = {}, 0
   for _, direction in ipairs(record.directions or {}) do
      local one = streams[direction.direction]
         or { from = direction.direction:match "^(.-)%->", sizes = mixes.cycle(record.frame_size) }
      local port = one.from or ""
      local fps = direction.intended_fps or record.intended_fps
      ports[port] = (ports[port] or 0) + fps * cost(one.sizes, limits)
      most = math.max(most, ports[port])
   end
   return most
end

--- Trials that asked for more.
-- @param plan    of the run
-- @param limits  loads that the tester carries, by frame size (framegauge.run.calibration's limits), or nil
-- @param trials  records
-- @return nil without trials; else { trials = how many, load_max_ratio = the greatest load over that
-- which the tester carries, trial = the number of that trial }
function M.beyond(plan, limits, trials)
   local streams, found = limits and named(plan), nil
   for _, record in ipairs(limits and trials or {}) do
      local load = share(record, streams, limits)
      if load > ROUNDING then
         found = found or { trials = 0, load_max_ratio = 0 }
         found.trials = found.trials + 1
         if load > found.load_max_ratio then
            found.load_max_ratio, found.trial = load, record.trial
         end
      end
   end
   return found
end

return M
