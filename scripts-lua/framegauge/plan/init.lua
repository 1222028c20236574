-- SPDX-License-Identifier: BSD-3-Clause

--- Plans: from a YAML file to a table that the methods can rely on.
--
-- File, YAML nodes (framegauge.yaml), settings of the command line (plan/sets.lua), values by rows
-- (plan/schema.lua, plan/rows.lua), rules across keys (plan/rules.lua), and here the final shape: base units,
-- every default filled in. A plan from here is correct as far as a file can show; all its errors are reported
-- at once.
local named_file = require "framegauge.core.named_file"
local on = require "framegauge.plan.on"
local problems = require "framegauge.plan.problems"
local registry = require "framegauge.plan.registry"
local rows = require "framegauge.plan.rows"
local rules = require "framegauge.plan.rules"
local schema = require "framegauge.plan.schema"
local sets = require "framegauge.plan.sets"
local switch = require "framegauge.plan.switch"
local tables = require "framegauge.core.tables"
local topology = require "framegauge.traffic.topology"
local ways = require "framegauge.plan.ways"
local yaml = require "framegauge.yaml"

local M = {}

--- The names of an agent without a name in the plan, and of the local tester as the agent of its own ports.
-- No user can give them (framegauge.plan.types), and both are valid words of the bus.
M.UNNAMED, M.OWN = "-remote", "-local"

-- One byte more than framegauge.yaml takes: enough for it to refuse the file.
local READ_AT_MOST = 1024 * 1024 + 1

local function read_file(path)
   local text, message = named_file.read(path, READ_AT_MOST)
   if text then
      return text
   end
   message = (message or ""):gsub("^" .. path:gsub("%p", "%%%0") .. ": ", "")
   return nil, problems.problem {
      file = path, key = "", message = "cannot be read: " .. message, expected = "a plan, a YAML file",
   }
end

-- The name of a plan without one: its file's.
local function stem(path)
   local name = path:match("([^/]*)$"):gsub("%.ya?ml$", ""):gsub("[^%w ._-]", "-"):sub(1, 64)
   return name:find("^%w") and name or "plan"
end

-- Addresses of RFC 2544 C.2.2 for ports without addresses: each input has its own network, and so does each
-- output. A reflector has the addresses of the routers there; the last of an odd number of ports is an input.
local function fill_addresses(values, found)
   local places = topology.places(#values.ports, values.topology)
   for i, port in ipairs(values.ports) do
      local place = places[i]
      local key = "ports." .. port.name
      if not found:given(key .. ".ipv4") and not found:given(key .. ".ipv6") then
         local address = values.test == "reflect" and ("198.18.%d.1"):format(i)
            or ("198.%d.%d.2"):format(place and place.output and 19 or 18, place and place.number or i)
         port.ipv4 = { address = address, prefix = 24 }
      end
   end
end

local function shape_port(port)
   local device, ipv4, ipv6 = port.device, port.ipv4 or {}, port.ipv6 or {}
   return {
      name = port.name, device = device.name, kind = device.kind, physical = device.physical,
      ipv4 = ipv4.address, prefix4 = ipv4.prefix, gateway4 = port.gateway,
      ipv6 = ipv6.address, prefix6 = ipv6.prefix, gateway6 = port.gateway6,
      gateway_mac = port.gateway_mac, mac = port.mac, vlan = port.vlan, line_rate = port.line_rate,
      queues = port.queues, rx_stamps = port.rx_stamps,
   }
end

local function shape_reference_device(device)
   local reverse = ways.shape(device, rows.one_way)
   for _, way in ipairs { device, reverse } do
      way.buffer, way.buffer_unit = way.buffer.value, way.buffer.unit
   end
   return device
end

-- Agents that only ports name are agents of the bus; for an agent without a name its address is kept here.
local function add_agents(fleet, ports)
   for _, port in ipairs(ports) do
      local name = port.kind == "fleet" and port.device:match "^agent:(.-)/"
      if port.kind == "agent" then
         table.insert(fleet.agents, { name = M.UNNAMED, address = port.device:match "^agent:(.*)$",
            port = port.name })
      end
      if name and not tables.find(fleet.agents, "name", name) then
         table.insert(fleet.agents, { name = name, address = fleet.bus })
      end
   end
end

local function shape(values, path, options)
   local plan = {
      file = path, name = values.name or stem(path), description = values.description,
      isolated_network = values.isolated_network, device_under_test = values.dut, lab = values.lab,
      calibration = values.calibration,
      ports = {}, host = values.host, clock = values.clock,
      fleet = values.fleet, test = values.test,
      [values.test] = values[values.test],
      streams = values.streams, captures = values.capture[1] and values.capture,
      criteria = values.criteria[1] and values.criteria,
      hooks = values.hooks[1] and values.hooks,
      quick = options.quick == true,
   }
   for i, port in ipairs(values.ports) do
      plan.ports[i] = shape_port(port)
   end
   add_agents(plan.fleet, plan.ports)
   if values.reference_switch then
      plan.reference_switch = switch.shape(values.reference_switch, plan.ports)
   elseif plan.ports[1].kind == "wire" then
      plan.reference_device = shape_reference_device(values.reference_device)
   end
   local method = registry.of(plan.test)
   if method.shape then
      method.shape(plan[plan.test])
   end
   plan.needs = registry.needs(plan)
   tables.append(plan.host.eal, options.eal or {})
   return plan
end

-- The --quick settings of the method in the tree.
local function quick_settings(root)
   for _, entry in ipairs(root.entries) do
      local method = entry.key == "test" and registry.of(entry.value.value)
      if method then
         return method.quick or {}
      end
   end
   return {}
end

local function is_set(path, sets_given)
   for _, text in ipairs(sets_given) do
      local other = text:match "^([^=]+)="
      if other == path or other and (path .. "."):sub(1, #other + 1) == other .. "." then
         return true
      end
   end
   return false
end

-- The keys of --quick are set first, so that the user's settings override them; one of these may choose the
-- method.
-- @return keys of the plan that --quick replaces: list of { key =, was =, is = }
local function apply_sets(root, options, found)
   -- where the keys of --quick do not fit, the schema reports the error
   local unheard, given, replaced = problems.new(found.file), options.sets or {}, {}
   for _, text in ipairs(options.quick and given or {}) do
      if text:find "^test=" then
         sets.apply(root, text, "--set " .. text, unheard)
      end
   end
   for _, text in ipairs(options.quick and quick_settings(root) or {}) do
      local was, path = sets.earlier(root, text)
      local is = text:sub(#path + 2)
      if was and was ~= is and not is_set(path, given) then
         replaced[#replaced + 1] = { key = path, was = was, is = is }
      end
      sets.apply(root, text, "--quick", unheard)
   end
   for _, text in ipairs(given) do
      sets.apply(root, text, "--set " .. text, found)
   end
   return replaced
end

-- Keys that are ignored where a command uses only the ports of a plan.
local NOT_OF_PORTS = { streams = true, capture = true, criteria = true, hooks = true }

local function is_of_ports(key)
   return not NOT_OF_PORTS[key:match "^%w+"]
end

-- The default time of the devices on wires, in place of the usual one.
local function set_time(values, found, time)
   for _, device in ipairs { "reference_device", "reference_switch" } do
      if time and values[device] and not found:given(device .. ".time") then
         values[device].time = time
      end
   end
end

-- The values of a tree, with all that is wrong with them.
-- @return values (nil: the text is no YAML), list of problems, problems (plan/problems.lua), and what --quick
-- replaces
local function read_tree(text, name, options, ports_only)
   local root, err = yaml.parse(text, name)
   if not root then
      err.key = ""
      return nil, { problems.problem(err) }
   end
   local found, replaced = problems.new(name), {}
   if root.kind == "map" then
      if options.on then
         on.apply(root, options.on, found)
      end
      replaced = apply_sets(root, options, found)
      root.entries = tables.map(root.entries, function(entry)
         return (not ports_only or is_of_ports(entry.key)) and entry or nil
      end)
   end
   local values = schema.read(rows, root, found)
   set_time(values, found, options.time)
   values.topology = registry.topology(values)
   fill_addresses(values, found)
   rules.check(values, found)
   return values, tables.map(found:sorted(), function(problem)
      return (not ports_only or is_of_ports(problem.key)) and problem or nil
   end), found, replaced
end

local function is_of_method(text)
   return text:find "^test=" and text or nil
end

-- Errors in a plan's lines that --quick would hide by replacing keys. A line that a setting of the user mends
-- is no error, and neither is a setting that fits only with --quick.
local function hidden_by_quick(text, name, options)
   local _, alone = read_tree(text, name, { sets = tables.map(options.sets or {}, is_of_method),
      on = options.on, time = options.time })
   local _, as_set = read_tree(text, name, { sets = options.sets, on = options.on, time = options.time })
   return tables.map(alone, function(problem)
      return not problem.origin and tables.find(as_set, "key", problem.key) or nil
   end)
end

-- The key of the time that was set; nil where the plan sets it, or has no such device.
local function timed(plan, found, time)
   local key = time and (plan.reference_switch and "reference_switch.time"
      or plan.reference_device and "reference_device.time")
   return key and not found:given(key) and key or nil
end

--- Read a plan from a text.
-- @param text          YAML
-- @param name          what errors call it
-- @param options.sets  list of "path=value", as --set gives them
-- @param options.quick shorten trials and waits
-- @param options.eal   further EAL arguments
-- @param options.ports_only  leave out streams, captures, criteria and hooks if they are wrong
-- @param options.time  the time of the reference device, or of the switch, where the plan gives none
-- @param options.on    { text =, name = } of a file with the reference device to run it against (plan/on.lua)
-- @return the plan, with what it was made from as `source` (text, options, given(key): whether it names a
-- key, replaced: keys of the text that --quick replaces, list of { key =, was =, is = }, and timed: the key
-- that options.time stands for, which is one of the settings then); or nil and the list of all errors, in the
-- order of the file, those too that --quick hides. Each has file, line, column, key, message and expected, or
-- origin instead of a line; tostring() writes it, and the list.
-- @usage local mine = "test: rfc2544\nports: {east: {device: wire0}, west: {device: wire1}}"
-- return plan.load_text(mine, "mine", { sets = { "reference_device.rate=10Gbps" } }).ports[1].name --> east
function M.load_text(text, name, options)
   options = options or {}
   local values, list, found, replaced = read_tree(text, name, options)
   if not list[1] and options.quick then
      list = hidden_by_quick(text, name, options)
   end
   if list[1] and values and options.ports_only then
      values, list, found, replaced = read_tree(text, name, options, true)
   end
   if list[1] then
      return nil, problems.list(list)
   end
   local plan = shape(values, name, options)
   local clocked = timed(plan, found, options.time)
   plan.source = {
      text = text, timed = clocked,
      options = { sets = tables.joined(clocked and { clocked .. "=" .. options.time } or {}, options.sets or {}),
         quick = options.quick == true, eal = options.eal or {}, on = options.on },
      given = function(key)
         return found:given(key)
      end,
      replaced = replaced,
   }
   return plan
end

--- The keys of a method where a plan gives none of them.
-- @param test   its name
-- @param quick  whether as for --quick
-- @usage plan.defaults("rfc2544", false).throughput.trial --> 60
function M.defaults(test, quick)
   local root, found = yaml.parse("test: " .. test, test), problems.new(test)
   apply_sets(root, { quick = quick }, found)
   local group = schema.read(rows, root, found)[test]
   registry.of(test).shape(group)
   return group
end

--- Read a plan from a file. Options and results as for load_text(), but `on` may be the path of its file, or
-- of the folder of a characterisation.
-- @usage tostring(select(2, plan.load(path .. ".yaml"))[1]):match "cannot be read" --> cannot be read
function M.load(path, options)
   local text, err = read_file(path)
   local device = options and options.on
   if text and type(device) == "string" then
      local of_device
      device = on.file(device)
      of_device, err = read_file(device)
      options = setmetatable({ on = of_device and { text = of_device, name = device } },
         { __index = options })
   end
   if not text or err then
      return nil, problems.list { err }
   end
   return M.load_text(text, path, options)
end

return M
