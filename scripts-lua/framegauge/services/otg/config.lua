-- SPDX-License-Identifier: BSD-3-Clause

--- A Config of the API: names and references, ports and their places in the plan, and all of its flows.
local capture_filter = require "framegauge.services.otg.capture_filter"
local devices = require "framegauge.services.otg.devices"
local flows = require "framegauge.services.otg.flow"
local lags = require "framegauge.services.otg.lags"
local lldp = require "framegauge.services.otg.lldp"
local read = require "framegauge.services.otg.read"
local reverse = require "framegauge.services.otg.reverse"
local spread = require "framegauge.services.otg.spread"
local tables = require "framegauge.core.tables"

local M = {}

local UNKNOWN_LINE = 10e9
local MAX_STREAMS = 16000 -- that a trial can begin with (framegauge.services.otg.slots)

-- "speed_10_fd_mbps" in bits per second
local function bits_of(speed)
   local value, unit = speed:match "^speed_(%d+)_.-(%w)bps$"
   return tonumber(value) * (unit == "g" and 1e9 or 1e6)
end

--- Call a function with all that has a name, and its path.
function M.each_name(config, visit)
   for _, key in ipairs { "ports", "layer1", "captures", "flows", "lldp", "lags" } do
      for i, one in ipairs(config[key] or {}) do
         visit(one, read.item_path(key, i, one))
      end
   end
   for i, device in ipairs(config.devices or {}) do
      devices.each_name(device, read.item_path("devices", i, device), visit)
   end
   lags.each_name_below(config.lags, visit)
end

-- Every name is there once among all objects.
local function check_names(config, found)
   local seen = {}
   M.each_name(config, function(one, path)
      if one.name and seen[one.name] then
         found:fault(path .. ".name", "is taken by %s", seen[one.name])
      elseif one.name then
         seen[one.name] = path
      end
   end)
end

-- The ports by name, with their places.
local function ports_of(config, env, found)
   local by_name, places = {}, {}
   for i, port in ipairs(config.ports) do
      local path = read.item_path("ports", i, port)
      local place = port.location and env.locate(port.location)
      local name = port.name or ""
      if port.location and not place then
         found:fault(path .. ".location", '"%s" is no port of the tester; expected one of %s',
            port.location:gsub("%c", "?"), table.concat(env.locations(), ", "))
      elseif place and places[place] then
         found:fault(path .. ".location", "is the location of %s", places[place])
      elseif not port.location then
         found:warn(path, "has no location; no flow can use it")
      end
      places[place or 0] = place and path
      by_name[name] = {
         name = name, index = i, place = place, location = port.location, path = path,
         line_rate = place and env.line_rate(place),
      }
   end
   return by_name
end

-- A port by name that has a place; nil after a fault.
local function port_named(ports, name, path, found)
   local port = ports[name]
   if not port then
      return found:fault(path, '"%s" is no port of ports', tostring(name):gsub("%c", "?"))
   elseif not port.place then
      if port.location == nil then
         found:fault(path, '"%s" has no location', name)
      end
      return nil
   end
   return port
end

local function apply_layer1(config, ports, found)
   for i, layer1 in ipairs(config.layer1) do
      local path = read.item_path("layer1", i, layer1)
      for _, port in ipairs(found:named(layer1.port_names or {}, path .. ".port_names", function(name)
         return ports[name], "is no port of ports"
      end)) do
         port.line_rate = layer1.speed and bits_of(layer1.speed) or port.line_rate
      end
      if layer1.flow_control then
         found:warn(path .. ".flow_control", "pause frames that are received are not obeyed")
      end
   end
end

local function check_options(config, found)
   local options, events = config.options or {}, config.events or {}
   local port = options.port_options or {}
   local function refuse(value, path)
      if value then
         found:fault(path, "not supported")
      end
   end
   refuse(port.data_integrity, "options.port_options.data_integrity")
   refuse(events.cp_events and events.cp_events.enable, "events.cp_events.enable")
   refuse(events.dp_events and events.dp_events.enable, "events.dp_events.enable")
   if port.frame_ordering_mode and port.frame_ordering_mode.choice == "rfc2889" then
      found:warn("options.port_options.frame_ordering_mode", "is ignored; order is tracked for every flow")
   end
end

local function captures_of(config, ports, env, found)
   local by_port = {}
   for i, capture in ipairs(config.captures) do
      local path = read.item_path("captures", i, capture)
      local filter = not found:has(path) and capture_filter.text(capture.filters, path .. ".filters",
         env.capture_mask, found)
      for k, name in ipairs(capture.port_names or {}) do
         local below = ("%s.port_names[%d]"):format(path, k - 1)
         local port = port_named(ports, name, below, found)
         if port and by_port[name] then
            found:fault(below, '"%s" is in another capture already', name)
         elseif port then
            by_port[name] = {
               port = port, filter = filter, format = capture.format, slice = capture.packet_size,
               overwrite = capture.overwrite,
            }
         end
      end
   end
   return by_port
end

-- The ports that a flow goes from and to, and the pairs of devices; nil after a fault.
local function ends_of(flow, state, path, found)
   local tx_rx, ports = flow.tx_rx, state.ports
   if tx_rx and tx_rx.choice == "device" and tx_rx.device and not found:has(path .. ".tx_rx.device") then
      return devices.ends(tx_rx.device, state.devices, path .. ".tx_rx.device", found)
   end
   if not tx_rx or tx_rx.choice ~= "port" or not (tx_rx.port and tx_rx.port.rx_names) then
      return nil
   end
   local function place_named(name, key)
      local lag = state.lags.by_name[name]
      if lag ~= nil then
         return lag or nil
      end
      return port_named(ports, name, ("%s.tx_rx.port.%s"):format(path, key), found)
   end
   local tx = tx_rx.port.tx_name and place_named(tx_rx.port.tx_name, "tx_name")
   local names, places, rx = tx_rx.port.rx_names, {}, {}
   if not names[1] and tx_rx.port.rx_name then
      names = { tx_rx.port.rx_name }
   end
   for k, name in ipairs(names) do
      local one = place_named(name, ("rx_names[%d]"):format(k - 1))
      places[#places + 1] = one
      for _, port in ipairs(one and one.members or { one }) do
         rx[#rx + 1] = not tables.contains(rx, port) and port or nil
      end
   end
   return tx and #places == #names and { tx = tx, rx = rx, rx_places = places } or nil
end

-- The stream of a flow that goes from one place to others; nil after a fault.
local function stream_between(flow, ends, path, env, found)
   local port = ends and ends.tx or { line_rate = UNKNOWN_LINE }
   if not port.line_rate then
      found:warn(port.path, "its line rate is unknown, 10 Gbit/s assumed; layer1.speed says it")
      port.line_rate = UNKNOWN_LINE
   end
   local stream = flows.stream(flow, {
      found = found, path = path, line_rate = port.line_rate, max_lag = env.max_lag,
         inner_fcs = env.inner_fcs, is_device = ends ~= nil and ends.pairs ~= nil,
         over_lag = port.members ~= nil,
   })
   if stream and ends then
      stream.tx, stream.rx, stream.pairs, stream.path = ends.tx, ends.rx, ends.pairs, path
      stream.rx_places = ends.rx_places or ends.rx
      return stream
   end
   return nil
end

-- The stream of its way back; faults of its headers were reported for the other one.
local function stream_back(flow, ends, path, env, found)
   local back, far = reverse.ends(ends)
   if not back then
      return found:fault(path .. ".tx_rx.device.rx_names", 'some are behind port "%s", others are not; a bidirectional flow needs all behind one', far.name)
   end
   local unsaid = read.found()
   local stream = stream_between(reverse.flow(flow, back), back, path, env, unsaid)
   return stream or found:fault(path, "its way back: %s", unsaid.errors[1] or "not possible")
end

local function flow_of(flow, path, state, env, found)
   local broken = found:has(path)
   local ends = ends_of(flow, state, path, found)
   if broken then
      return nil
   end
   local stream = stream_between(flow, ends, path, env, found)
   if stream and ends.pairs and flow.tx_rx.device.bidirectional then
      stream.back = stream_back(flow, ends, path, env, found)
   end
   return stream
end

-- What is more than the engine can have at once.
local function check_number(streams, found)
   local n = 0
   for _, stream in ipairs(streams) do
      n = n + spread.most(stream) * math.max(1, stream.metrics.enable and #stream.rx or 1)
   end
   if n > MAX_STREAMS then
      found:fault("flows", "%d streams, one of each flow for each pair of ports that send and receive it; at most %d", n, MAX_STREAMS)
   end
end

-- More than the line in all is no fault, for flows need not run together.
local function warn_of_sums(streams, found)
   local sums = {}
   for _, stream in ipairs(streams) do
      for _, share in ipairs(spread.shares(stream)) do
         sums[share.port] = (sums[share.port] or 0) + share.bps
      end
   end
   for port, sum in pairs(sums) do
      if sum > port.line_rate * 1.0001 then
         found:warn(port.path, "its flows together have %.1f %% of the line's rate",
            100 * sum / port.line_rate)
      end
   end
end

--- Translate flows that were added later.
-- @param state  { ports =, devices = } of read()
-- @return list of streams, of use only if nothing was found; with a bidirectional flow its `back` follows
function M.flows(list, key, state, env, found)
   local streams = {}
   for i, flow in ipairs(list) do
      found:give_way()
      local stream = flow_of(flow, read.item_path(key, i, flow), state, env, found)
      streams[#streams + 1] = stream
      streams[#streams + 1] = stream and stream.back
   end
   return streams
end

--- Read a configuration.
-- @param value  decoded JSON
-- @param env    of the tester: locate(location) -> index of a port or nil, locations() -> texts,
--               line_rate(index) -> bit/s or nil, port(index) -> { mac =, interface = },
--               link(index) -> whether it is up,
--               max_lag = seconds, inner_fcs =, capture_mask =
-- @param found  collects faults and warnings (framegauge.services.otg.read)
-- @return { ports = by name, order = their names, devices = (framegauge.services.otg.devices), lldp = agents
-- (services.otg.lldp), lags = (services.otg.lags), streams = list (services.otg.flow, with tx, rx,
-- rx_places = the same as ports and LAGs, pairs),
-- captures = by name of the port, packet_loss_duration = whether
-- it is shown, speaks = whether devices do at once }; of use only if found has no errors
function M.read(value, env, found)
   local config = read.message("Config", value, found)
   if not config then
      return nil
   end
   for _, key in ipairs { "ports", "layer1", "captures", "devices", "flows", "lldp", "lags" } do
      config[key] = config[key] or {} -- not a list
   end
   check_names(config, found)
   local ports = ports_of(config, env, found)
   apply_layer1(config, ports, found)
   check_options(config, found)
   local captures = captures_of(config, ports, env, found)
   local state = { ports = ports, order = tables.field(config.ports, "name"), captures = captures }
   local function named(name, path)
      return port_named(ports, name, path, found)
   end
   state.lags = lags.read(config, env, named, found)
   state.devices = devices.read(config, named, found)
   state.lldp = lldp.read(config, env, named, found)
   state.streams = M.flows(config.flows, "flows", state, env, found)
   check_number(state.streams, found)
   warn_of_sums(state.streams, found)
   local options = config.options or {}
   state.packet_loss_duration = options.flow_options and options.flow_options.packet_loss_duration
   state.speaks = not options.protocol_options or options.protocol_options.auto_start_all
   return state
end

return M
