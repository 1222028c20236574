-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge calibrate`: the tester looped to itself.
--
-- With only a cable between two ports, all losses and delays are the tester's own. So the search of the
-- plan's throughput test (or, in a plan of another test, the usual search for its frame sizes) over the cable
-- finds the load that the tester carries. The latency is the tester's own share: at a tenth of that load,
-- where nothing queues, and at the load. The person plugs the cable; two memif ends are joined here, and the
-- virtual wire is used without its device. The result is kept where a run finds it
-- (framegauge.run.calibration). Then the departures of the smallest frames, and the host's interruptions of
-- an lcore, are measured (tester/precision.lua).
local ansi = require "framegauge.text.ansi"
local calibration = require "framegauge.run.calibration"
local Folder = require "framegauge.report.folder"
local format = require "framegauge.text.format"
local generator = require "framegauge.report.generator"
local grid = require "framegauge.text.grid"
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local precision = require "framegauge.tester.precision"
local Session = require "framegauge.trial.session"
local tables = require "framegauge.core.tables"
local throughput = require "framegauge.methods.rfc2544.throughput"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local CALIBRATED = { rfc2544 = true, y1564 = true, traffic = true }
local SUCCESS, BAD_PLAN, ENVIRONMENT = 0, 2, 4
local LOW_SHARE = 0.1

local function refuse(status, ...)
   user_error.raise("calibrate", status, ...)
end

-- Two memif ends of a socket that is nobody else's.
local function join_memifs(ports)
   for i = 1, #ports, 2 do
      if ports[i].kind == "memif" then
         local path = os.tmpname() -- which makes a file of that name
         os.remove(path)
         local socket = path .. ".sock"
         ports[i].device, ports[i + 1].device = "memif:" .. socket .. ",server", "memif:" .. socket
      end
   end
end

-- The settings of the search: the keys of rfc2544 in the plan, or the usual ones in a plan of another test.
-- @return the keys of rfc2544.throughput, the keys of rfc2544, and the frame sizes
local function settings(plan)
   local group, sizes = plan.rfc2544 or plans.defaults("rfc2544", plan.quick), {}
   local o = tables.copy(group.throughput)
   o.search, o.goals, o.loss_tolerance = "binary", nil, 0
   for _, size in ipairs(plan.needs.frame_sizes) do
      table.insert(sizes, not tables.contains(sizes, size) and size or nil)
   end
   table.sort(sizes)
   return o, group, sizes
end

--- The ports to be opened: the plan's, with a cable in place of the device, and no streams.
function M.looped(plan, frame_sizes)
   local looped = tables.copy(plan)
   looped.streams, looped.ports, looped.needs = {}, {}, tables.copy(plan.needs)
   looped.needs.frame_sizes = frame_sizes
   for i, port in ipairs(plan.ports) do
      looped.ports[i] = tables.copy(port)
      looped.ports[i].gateway4, looped.ports[i].gateway6 = nil, nil
   end
   join_memifs(looped.ports)
   local device = plan.reference_device or plan.reference_switch
   looped.reference_switch = nil
   looped.reference_device = device and {
      time = device.time, rate = device.rate, seed = device.seed or 1, buffer = 512, buffer_unit = "frames",
      latency = 0, latency_per_byte = 0, switching = "cut-through", loss_every = 0, loss_random = 0,
   }
   return looped
end

-- Latency at a load, from a trial of it; nil when none came back.
local function latency_at(record, fps)
   local latency = record and record.latency and tables.copy(record.latency)
   if latency then
      latency.fps = fps
   end
   return latency
end

local function measure(plan, tester, o, group, frame_sizes)
   local directions, name = throughput.directions(plan)
   local session = Session.new {
      tester = tester, retries = group.retries, phases = group, sink = function() end,
   }
   local list = {}
   for i, frame_size in ipairs(frame_sizes) do
      local line_fps, record, fps = tester:max_fps(frame_size), nil, nil
      local row = throughput.rows(o, session, directions, name, frame_size, line_fps)[1]
      if row.throughput_fps then
         fps = LOW_SHARE * row.throughput_fps
         record = session:trial {
            test = "calibration", phase = "latency", frame_size = frame_size, direction = name,
            directions = directions, fps = fps, seconds = o.search_trial, line_fps = line_fps,
         }
      end
      list[i] = {
         frame_size = row.frame_size, theoretical_fps = row.theoretical_fps or json.null,
         load_fps = row.throughput_fps or json.null, percent = row.throughput_percent or json.null,
         limited_by = row.limited_by, trial_s = row.trial_s,
         latency_low = latency_at(record, fps) or json.null,
         latency_at_load = latency_at(row, row.throughput_fps) or json.null,
      }
   end
   return list, session.trials
end

local function microseconds(key, at)
   return function(row)
      return row[at] ~= json.null and format.decimal(row[at][key] / 1e3, 2) or "-"
   end
end

local function figure(key, show)
   return function(row)
      return row[key] ~= json.null and show(row[key]) or "-"
   end
end

local COLUMNS = {
   { "frame", "size", function(row) return tostring(row.frame_size) end },
   { "carries", "fps", figure("load_fps", format.count) },
   { "of line", "%", figure("percent", function(p) return format.decimal(p, 2) end) },
   { "own min", "us", microseconds("min_ns", "latency_low") },
   { "mean", "us", microseconds("mean_ns", "latency_low") },
   { "p99", "us", microseconds("p99_ns", "latency_low") },
   { "at load", "mean us", microseconds("mean_ns", "latency_at_load") },
   { "", "p99", microseconds("p99_ns", "latency_at_load") },
   { "", "bounded by", function(row) return row.limited_by end, left = true },
}

-- How exactly frames of the smallest size leave; nil when the tester carries none.
local function precision_of(tester, direction, row, seconds)
   if row.load_fps == json.null then
      return json.null
   end
   return {
      frame_size = row.frame_size, load_fps = row.load_fps, trial_s = seconds,
      departures = precision.departures(tester, {
         direction = direction, frame_size = row.frame_size, load_fps = row.load_fps, seconds = seconds,
      }),
      host = tester.wires and json.null or precision.host(tester, seconds),
      probe = not tester.wires and precision.probe(tester, direction, seconds) or json.null,
   }
end

local function us(key)
   return function(row)
      return format.decimal(row[key] / 1e3, 3)
   end
end

local DEPARTURES = {
   { "departures", "", function(row) return row.pattern end, left = true },
   { "of load", "%", function(row) return format.decimal(row.percent, 0) end },
   { "intended", "us apart", us "intended_ns" },
   { "real", "p50", us "p50_ns" },
   { "", "p99", us "p99_ns" },
   { "", "max", us "max_ns" },
   { "off by", "p50", us "error_p50_ns" },
   { "", "p99", us "error_p99_ns" },
   { "", "p99.9", us "error_p999_ns" },
   { "", "max", us "error_max_ns" },
   { "never", "sent", function(row) return format.count(row.late) end },
}

local function host_in_words(host)
   if host == json.null then
      return "The wire departs frames at their time: nothing of the host is in these.\n"
   end
   local stalls = {}
   for i, class in ipairs(precision.STALL_CLASSES) do
      stalls[i] = ("%s of %s and more"):format(format.count(host.stalls[i]), class)
   end
   local text = "The host took the idle lcore away for %s ppm of %s s, %s us at the longest: %s.\n"
   return text:format(format.decimal(host.away_ppm, 0), format.decimal(host.seconds, 1),
      format.decimal(host.longest_ns / 1e3, 1), table.concat(stalls, ", "))
end

local function probe_in_words(probe)
   if probe == json.null or probe.sent == 0 then
      return ""
   elseif probe.count == 0 then
      return ("Both ports offer stamps of their own (IEEE 1588), but of %s not one had all of its stamps; 'framegauge doctor PLAN.yaml' tells what their driver cannot do.\n"):format(
         format.plural(probe.sent, "frame"))
   end
   local text = "By the ports' own stamps (IEEE 1588) a frame takes %s us (%s to %s, each within %s us).\n"
   return text:format(format.decimal(probe.mean_ns / 1e3, 3), format.decimal(probe.min_ns / 1e3, 3),
      format.decimal(probe.max_ns / 1e3, 3), format.decimal(probe.error_bound_ns / 1e3, 3))
end

local function precision_in_words(found, colours)
   if found == json.null then
      return ""
   end
   return ("\nDepartures of %d-byte frames, as the frames themselves say:\n\n"):format(found.frame_size)
      .. grid.text(DEPARTURES, found.departures, colours) .. "\n" .. host_in_words(found.host)
      .. probe_in_words(found.probe)
end

local function write(path, text)
   local parent, name = path:match "^(.*)/([^/]+)$"
   parent, name = parent or ".", name or path
   local folder, message = Folder.make(parent)
   if not folder then
      refuse(ENVIRONMENT, "%s", message)
   end
   local written, problem = pcall(folder.write, folder, name, text)
   if not written then
      refuse(ENVIRONMENT, "%s", tostring(problem))
   end
end

-- The ports by the names the plan has for them: the run's, not the loop's.
local function ports_of(plan, tester)
   local ports = {}
   for i, port in ipairs(tester.ports) do
      ports[i] = tables.copy(port)
      ports[i].device = plan.ports[i].device
   end
   return calibration.ports(ports)
end

local function say(text)
   io.stdout:write(text)
   io.stdout:flush()
end

local function calibrate_on(tester, plan, o, group, frame_sizes)
   for _, frame_size in ipairs(frame_sizes) do
      local goal, problem = throughput.goal(o, frame_size, tester:max_fps(frame_size))
      if not goal then
         refuse(BAD_PLAN, "%s", problem)
      end
   end
   local rows, trials = measure(plan, tester, o, group, frame_sizes)
   say(("%s made.\n\n"):format(format.plural(#trials, "trial")))
   return {
      schema_version = calibration.SCHEMA_VERSION, date = os.date "!%Y-%m-%dT%H:%M:%SZ",
      generator = generator.of(), machine = calibration.machine(), ports = ports_of(plan, tester),
      time = trials[1].time, pattern = calibration.pattern(plan), frame_sizes = rows,
      precision = precision_of(tester, throughput.directions(plan)[1], rows[1], o.search_trial),
   }
end

--- Calibrate. Call it inside a job.
-- @param plan         a loaded plan
-- @param options.out  where to keep the result; default: where a run looks for it
-- @return exit status
function M.main(plan, options)
   if not CALIBRATED[plan.test] then
      refuse(BAD_PLAN, "calibrate takes a plan with the test rfc2544, y1564 or traffic, not %s", plan.test)
   elseif plan.needs.topology == "loopback" then
      refuse(BAD_PLAN, "calibrate joins two ports by a cable: a loopback has none to join")
   end
   local o, group, frame_sizes = settings(plan)
   local tester, message = require("framegauge.tester").open(M.looped(plan, frame_sizes))
   if not tester then
      refuse(type(message) == "table" and message.status or ENVIRONMENT, "%s", tostring(message))
   end
   say(("Calibration of %s; nothing but a cable may be between the ports.\n"):format(plan.name))
   local done, found = pcall(calibrate_on, tester, plan, o, group, frame_sizes)
   tester:close()
   if not done then
      error(found, 0)
   end
   local path = options.out or calibration.path(found.machine, found.ports)
   write(path, calibration.text(found))
   local colours = ansi.new(uv.guess_handle(1) == "tty")
   say(grid.text(COLUMNS, found.frame_sizes, colours) .. precision_in_words(found.precision, colours))
   say("\n" .. path .. "\n")
   return SUCCESS
end

return M
