-- SPDX-License-Identifier: BSD-3-Clause

--- The bench: a plan's ports, opened, with an engine behind them. What a test method sees of the tester.
--
-- Everything a trial needs is put together here from the plan; what the trial then counted comes back as plain
-- tables. A bench is used inside a job, since trials take time.
local api = require "framegauge.api"
local ffi = require "ffi"
local frame = require "framegauge.frame"
local job = require "framegauge.job"
local line = require "framegauge.line"
local placement = require "framegauge.placement"

local C = api.C

local POLL_SECONDS = 0.001 -- how often a running trial is looked at
local GATEWAY_SECONDS, GATEWAY_TRIES = 0.5, 6
local TSC_BUFFERS = 8192 -- per stream on ports that copy or queue what they send

local TIMES = {
   [C.FG_TIME_TSC] = "tsc", [C.FG_TIME_WIRE_REAL] = "wire-real", [C.FG_TIME_WIRE_FREE] = "wire-free",
}
local HUGE_PAGES = { auto = 0, never = 1, require = 2 }

local Bench = {}
Bench.__index = Bench

local function nanoseconds(seconds)
   return math.floor(seconds * 1e9 + 0.5)
end

local function ipv4_bytes(text)
   local out, err = ffi.new("uint8_t[4]"), api.error()
   api.check(C.fg_ipv4_parse(text, out, err), err)
   return ffi.string(out, 4)
end

local function ipv6_bytes(text)
   local out, err = ffi.new("uint8_t[16]"), api.error()
   api.check(C.fg_ipv6_parse(text, out, err), err)
   return ffi.string(out, 16)
end

local function mac_bytes(text)
   local out, err = ffi.new("uint8_t[6]"), api.error()
   api.check(C.fg_mac_parse(text, out, err), err)
   return ffi.string(out, 6)
end

local function mac_text(bytes)
   return (bytes:gsub(".", function(octet)
      return (":%02x"):format(octet:byte())
   end):sub(2))
end

-- A NULL-terminated array of C strings, or NULL for none. The strings must outlive it: keep the list.
local function string_array(list)
   if #list == 0 then
      return nil
   end
   local array = ffi.new("const char *[?]", #list + 1)
   for i, text in ipairs(list) do -- not as an initialiser: a single one would be repeated
      array[i - 1] = text
   end
   return array
end

local function start_host(plan)
   local pci, eal, err = {}, plan.host.eal or {}, api.error()
   for _, port in ipairs(plan.ports) do
      if port.device:match("^%x*:?%x%x:%x%x%.%x$") then
         pci[#pci + 1] = port.device
      end
   end
   local lcores = plan.host.lcores and placement.core_map(plan.host.lcores)
   local pci_array, eal_array = string_array(pci), string_array(eal)
   local config = ffi.new("struct fg_host_config", {
      lcores = lcores,
      memory_mb = math.ceil((plan.host.memory or 0) / 2 ^ 20),
      huge_pages = HUGE_PAGES[plan.host.huge_pages],
      pci = pci_array,
      eal = eal_array,
   })
   api.check(C.fg_host_start(config, err), err)
end

local function device_config(plan)
   local d = plan.reference_device
   local config = ffi.new("struct fg_device_config", { rate_bps = d.rate, seed = d.seed })
   for side = 0, 1 do
      config.direction[side] = {
         capacity_fps = d.capacity or 0,
         capacity_bps = d.bandwidth or 0,
         buffer = d.buffer,
         buffer_octets = d.buffer_unit == "bytes",
         cut_through = d.switching == "cut-through",
         latency_ns = d.latency * 1e9,
         latency_ns_per_octet = d.latency_per_byte * 1e9,
         loss_every = d.loss_every,
         loss_random = d.loss_random,
      }
      local port, interface = plan.ports[side + 1], config.interface[side]
      if port.gateway4 then
         interface.has_ipv4 = true
         ffi.copy(interface.ipv4, ipv4_bytes(port.gateway4), 4)
      end
      if port.gateway6 then
         interface.has_ipv6 = true
         ffi.copy(interface.ipv6, ipv6_bytes(port.gateway6), 16)
      end
   end
   return config
end

function Bench:open_wire()
   local plan, err = self.plan, api.error()
   local config, in_flight = device_config(plan), 0
   for _, size in ipairs(plan.rfc2544.frame_sizes) do
      local frames = C.fg_wire_in_flight(config, size)
      if frames == 0 then
         error(("reference_device: at %d octets more frames than %d would be on their way at a time; "
            .. "lower its latency, buffer or rate"):format(size, 2 ^ 20), 0)
      end
      in_flight = math.max(in_flight, frames)
   end
   local out = ffi.new("struct fg_wire *[1]")
   api.check(C.fg_wire_create(config, in_flight, out, err), err)
   self.wire = out[0]
   self.buffers = in_flight
   for i in ipairs(plan.ports) do
      self.handles[i] = C.fg_wire_port(self.wire, tonumber(plan.ports[i].device:match("%d+$")))
   end
end

function Bench:open_ports()
   local err = api.error()
   self.buffers = TSC_BUFFERS
   for i, port in ipairs(self.plan.ports) do
      local out = ffi.new("struct fg_port *[1]")
      local config = ffi.new("struct fg_port_config", { name = port.name, device = port.device })
      api.check(C.fg_port_open(config, out, err), err)
      self.handles[i] = out[0]
   end
end

-- What the driver says, and what the plan says better.
local function describe(plan_port, handle)
   local caps = handle.caps
   local rate = plan_port.line_rate or tonumber(caps.line_rate_bps)
   return {
      name = plan_port.name,
      device = plan_port.device,
      driver = ffi.string(caps.driver),
      mode = ffi.string(caps.mode),
      line_rate = rate > 0 and rate or nil,
      mac = plan_port.mac or mac_text(ffi.string(caps.mac, 6)),
      numa = caps.numa_node,
      notes = {},
   }
end

local function engine_port(plan_port, handle, mac, place)
   local c = ffi.new("struct fg_engine_port", { port = handle, tx_lcore = place.tx, rx_lcore = place.rx })
   ffi.copy(c.mac, mac, 6)
   for key, octets in pairs { ipv4 = 4, gateway4 = 4, ipv6 = 16, gateway6 = 16 } do
      if plan_port[key] then
         c["has_" .. key] = true
         ffi.copy(c[key], (octets == 4 and ipv4_bytes or ipv6_bytes)(plan_port[key]), octets)
      end
   end
   return c
end

function Bench:create_engine()
   local err, out = api.error(), ffi.new("struct fg_engine *[1]")
   local places, workers, notes = placement.place(self.ports, self.wire ~= nil)
   local config = ffi.new("struct fg_engine_config", {
      time = self.time, ports = #self.ports, lcores = #workers, buffers = self.buffers,
   })
   for _, size in ipairs(self.plan.rfc2544.frame_sizes) do
      config.max_frame = math.max(config.max_frame, size)
   end
   for i, worker in ipairs(workers) do
      config.lcore[i - 1] = worker
   end
   for i, port in ipairs(self.ports) do
      port.notes = notes[i]
      config.port[i - 1] = engine_port(self.plan.ports[i], self.handles[i], mac_bytes(port.mac), places[i])
   end
   api.check(C.fg_engine_create(config, out, err), err)
   self.engine, self.lcores = out[0], #workers
end

-- Wait for the trial; whatever ends the wait early ends the trial, too.
function Bench:await()
   local ok, why = pcall(function()
      while C.fg_engine_running(self.engine) do
         job.sleep(POLL_SECONDS)
      end
   end)
   self.running = nil
   if not ok then
      C.fg_engine_stop(self.engine)
      C.fg_engine_running(self.engine)
      error(why, 0)
   end
end

function Bench:start(trial)
   local err = api.error()
   if self.wire then
      C.fg_wire_reset(self.wire)
   end
   api.check(C.fg_engine_prepare(self.engine, trial, nil, err), err)
   C.fg_engine_start(self.engine)
end

local function gateway_mac(engine, i, version)
   local mac = ffi.new("uint8_t[6]")
   return C.fg_engine_gateway(engine, i - 1, version, mac) and ffi.string(mac, 6) or nil
end

--- Ask for the MAC of every gateway until all have answered; raises when one stays silent.
function Bench:resolve()
   local silent
   for _ = 1, GATEWAY_TRIES do
      self:start(ffi.new("struct fg_trial_config", { drain_ns = nanoseconds(GATEWAY_SECONDS) }))
      self:await()
      silent = nil
      for i, port in ipairs(self.plan.ports) do
         for version = 4, 6, 2 do
            if port["gateway" .. version] and not gateway_mac(self.engine, i, version) then
               silent = silent or ("ports.%s.%s: %s does not answer on %s"):format(port.name,
                  version == 4 and "gateway" or "gateway6", port["gateway" .. version], port.device)
            end
         end
      end
      if not silent then
         return
      end
   end
   error(setmetatable({ status = 4, message = silent }, { __tostring = function(e) return e.message end }), 0)
end

--- Open a plan's ports and start the engine on them.
-- @param plan  a loaded plan (framegauge.plan)
-- @return the bench, or nil and an error object (status, tostring)
function Bench.open(plan)
   local bench = setmetatable({ plan = plan, handles = {}, ports = {} }, Bench)
   local on_wire = plan.reference_device ~= nil
   bench.time = not on_wire and C.FG_TIME_TSC or plan.reference_device.time == "free" and C.FG_TIME_WIRE_FREE
      or C.FG_TIME_WIRE_REAL
   local ok, err = pcall(function()
      start_host(plan)
      if on_wire then
         bench:open_wire()
      else
         bench:open_ports()
      end
      for i, port in ipairs(plan.ports) do
         bench.ports[i] = describe(port, bench.handles[i])
      end
      bench:create_engine()
      bench:resolve()
   end)
   if not ok then
      bench:close()
      return nil, err
   end
   return bench
end

--- Stop the engine and give the ports back. May be called twice.
function Bench:close()
   C.fg_engine_free(self.engine)
   self.engine = nil
   if self.wire then
      C.fg_wire_free(self.wire)
   else
      for _, handle in ipairs(self.handles) do
         C.fg_port_close(handle)
      end
   end
   self.wire, self.handles = nil, {}
end

--- Highest frame rate of the slower port's line, or nil when a port does not know its rate.
-- @param frame_size  octets with FCS
function Bench:max_fps(frame_size)
   local slowest
   for _, port in ipairs(self.ports) do
      if not port.line_rate then
         return nil
      end
      slowest = math.min(slowest or port.line_rate, port.line_rate)
   end
   return line.max_fps(slowest, frame_size)
end

function Bench:port_index(name)
   for i, port in ipairs(self.ports) do
      if port.name == name then
         return i
      end
   end
   error("no port " .. name)
end

-- The two ends of "east->west".
function Bench:ends(direction)
   local from, to = direction:match("^(.-)%->(.+)$")
   return self:port_index(from), self:port_index(to)
end

-- The frame of one direction: to the gateway where there is one, else straight to the other port.
function Bench:frame(size, from, to)
   local ports = self.plan.ports
   return frame.rfc2544(size, {
      src_mac = mac_bytes(self.ports[from].mac),
      dst_mac = ports[from].gateway4 and gateway_mac(self.engine, from, 4) or mac_bytes(self.ports[to].mac),
      src_ipv4 = ipv4_bytes(ports[from].ipv4),
      dst_ipv4 = ipv4_bytes(ports[to].ipv4),
   })
end

local function latency(result, source, bound)
   local l = result.latency
   if l.count == 0 then
      return nil
   end
   return {
      count = tonumber(l.count),
      min_ns = tonumber(l.min_ns),
      mean_ns = l.mean_ns,
      p50_ns = tonumber(l.p50_ns),
      p99_ns = tonumber(l.p99_ns),
      p999_ns = tonumber(l.p999_ns),
      max_ns = tonumber(l.max_ns),
      source = source,
      error_bound_ns = bound,
      definition = "first bit to first bit (FIFO)",
   }
end

local STREAM_COUNTS = {
   tx = "tx", rx = "rx", duplicates = "duplicates", stale = "stale", reordered = "reordered",
   max_extent = "max_extent", late = "late", unsent = "unsent", refused = "refused", no_mbuf = "no_mbuf",
   worst_lag_ns = "worst_lag_ns", tx_duration_ns = "tx_duration_ns", intended_frames = "intended",
   loss_bursts = "loss_bursts", max_loss_burst = "max_loss_burst", excess = "excess",
}
local PORT_COUNTS = {
   rx_missed = "rx_missed", rx_no_mbuf = "rx_no_mbuf", rx_errors = "rx_errors", tx_errors = "tx_errors",
   link_changes = "link_changes", misdirected = "misdirected", foreign = "foreign",
}

local function counts(result, names)
   local out = {}
   for ours, theirs in pairs(names) do
      out[ours] = tonumber(result[theirs])
   end
   return out
end

-- A stamp of the wire is good to its rounding; one of the TSC was taken when the receiver next looked.
function Bench:stamp_bound(lcores)
   if self.wire then
      return "wire", 1
   end
   local bound = 0
   for _, lcore in ipairs(lcores) do
      bound = math.max(bound, lcore.longest_poll_gap_ns)
   end
   return "tsc", bound
end

function Bench:collect(o)
   local raw = { time = TIMES[tonumber(self.time)], duration_s = o.duration, directions = {}, ports = {}, lcores = {} }
   for i = 1, self.lcores do
      local result = ffi.new("struct fg_lcore_result")
      C.fg_engine_lcore_result(self.engine, i - 1, result)
      raw.lcores[i] = {
         id = result.lcore, polls = tonumber(result.polls), longest_poll_gap_ns = tonumber(result.longest_gap_ns),
      }
   end
   local source, bound = self:stamp_bound(raw.lcores)
   for i, name in ipairs(o.directions) do
      local result = ffi.new("struct fg_stream_result")
      C.fg_engine_stream_result(self.engine, i - 1, result)
      local direction = counts(result, STREAM_COUNTS)
      direction.name, direction.intended_fps = name, o.fps
      direction.latency = latency(result, source, bound)
      raw.directions[i] = direction
   end
   for i, port in ipairs(self.ports) do
      local result = ffi.new("struct fg_port_result")
      C.fg_engine_port_result(self.engine, i - 1, result)
      raw.ports[i] = counts(result, PORT_COUNTS)
      raw.ports[i].name = port.name
   end
   return raw
end

--- Run one trial of constant load and wait for its end.
-- @param o.frame_size   octets with FCS
-- @param o.fps          frames per second of each direction
-- @param o.duration     seconds of traffic, in the bench's time
-- @param o.directions   list of "east->west"
-- @param o.learning_wait, o.drain, o.settle  the other phases of RFC 2544, 23, seconds
-- @return counts by direction, port and lcore. Raises {interrupted = true} when the job is interrupted.
function Bench:trial(o)
   local streams, frames = ffi.new("struct fg_stream_config[?]", #o.directions), {}
   local load = ffi.new("struct fg_load[1]", { { fps = o.fps, frames = math.floor(o.fps * o.duration + 0.5) } })
   for i, name in ipairs(o.directions) do
      local from, to = self:ends(name)
      frames[i] = self:frame(o.frame_size, from, to)
      streams[i - 1] = {
         tx_port = from - 1, rx_port = to - 1, frame = frames[i], load = load, loads = 1,
      }
   end
   self:start(ffi.new("struct fg_trial_config", {
      streams = #o.directions,
      stream = streams,
      learn_ns = nanoseconds(o.learning_wait),
      traffic_ns = nanoseconds(o.duration),
      drain_ns = nanoseconds(o.drain),
      settle_ns = nanoseconds(o.settle),
      max_lag_ns = nanoseconds(self.plan.host.max_lag or 1e-3),
   }))
   self.running = { duration = o.duration }
   self:await()
   return self:collect(o)
end

--- Totals of the trial that is running, for the screen; nil when none is.
function Bench:snapshot()
   if not self.running then
      return nil
   end
   local live = ffi.new("struct fg_live")
   C.fg_engine_live(self.engine, live)
   local tx, rx = tonumber(live.tx), tonumber(live.rx)
   return {
      elapsed = tonumber(live.elapsed_ns) / 1e9, duration = self.running.duration,
      tx = tx, rx = rx, lost = math.max(0, tx - rx),
   }
end

return Bench
