-- SPDX-License-Identifier: BSD-3-Clause

--- LLDP of a configuration: its agents, their counts and their neighbours (framegauge.tester.lldp).
local json = require "framegauge.text.json"
local lldp = require "framegauge.tester.lldp"
local octets = require "framegauge.core.octets"
local read = require "framegauge.services.otg.read"
local rows = require "framegauge.services.otg.rows"
local tables = require "framegauge.core.tables"

local M = {}

local SYSTEM_NAME = "framegauge"

-- The identity of a message with a choice of subtypes. @return identity; nil after a fault
local function identity(o, auto, path, found)
   local kind = o.choice:gsub("_subtype$", "")
   local given = o[o.choice]
   if type(given) == "table" then
      given = given.choice == "value" and (given.value or "") or auto[kind]
   end
   if kind == "mac_address" then
      given = found:mac(given or "", path .. "." .. o.choice)
   elseif given == nil or given == "" then
      return found:fault(path .. "." .. o.choice, "is missing or empty")
   end
   return given and { type = kind, text = given } or nil
end

local function organisations(list, path, found)
   return tables.map(list, function(one, i)
      local oui = read.bytes(one.oui)
      if #oui ~= 3 then
         return found:fault(("%s.org_infos[%d].oui"):format(path, i - 1), "%s is not three bytes", one.oui)
      end
      local info = one.information and one.information.info
      return { oui = oui, subtype = one.subtype, octets = info and read.bytes(info) or "" }
   end)
end

local function agent_of(o, env, path, port_named, found)
   local port = port_named(o.connection.port_name or "", path .. ".connection.port_name")
   if not port then
      return nil
   end
   local about = env.port(port.place)
   local auto = { mac_address = about.mac, interface_name = about.interface }
   local chassis = identity(o.chassis_id or read.default "LldpChassisId", auto, path .. ".chassis_id", found)
   local id = identity(o.port_id or read.default "LldpPortId", auto, path .. ".port_id", found)
   local system = o.system_name and o.system_name.choice == "value" and o.system_name.value or SYSTEM_NAME
   local infos = organisations(o.org_infos or {}, path, found)
   if not chassis or not id or found:has(path) then
      return nil
   end
   local agent, why = lldp.agent {
      source = about.mac, chassis = chassis, port = id, system_name = system, organisations = infos,
      hold = o.hold_time, interval = o.advertisement_interval,
   }
   return agent and { name = o.name, port = port.place, agent = agent } or found:fault(path, "%s", why)
end

--- The agents of a configuration that was read.
-- @param env         port(place) -> { mac =, interface = }
-- @param port_named  function(name, path) -> a port of the configuration, or nil after a fault
-- @return list of { name =, port = its place, agent = }
function M.read(config, env, port_named, found)
   return tables.map(config.lldp, function(o, i)
      local path = read.item_path("lldp", i, o)
      return not found:has(path) and agent_of(o, env, path, port_named, found) or nil
   end)
end

local LLDP = "LLDP of the configuration"
local COLUMNS = { "frames_rx", "frames_tx", "frames_error_rx", "frames_discard", "tlvs_discard",
   "tlvs_unknown" }

--- Rows of metrics.
-- @param request  LldpMetricsRequest that was read
function M.metrics(agents, request, found)
   return tables.map(found:named_among(agents, request.lldp_names, "lldp.lldp_names", LLDP), function(one)
      return rows.row({ name = one.name }, request.column_names, COLUMNS, function(key)
         return ("%.0f"):format(one.agent.counts[key])
      end)
   end)
end

-- Text of a neighbour, who may send anything.
local function shown(text)
   return text and read.printable({ text })[1] or nil
end

local function row_of(name, heard, now)
   local chassis, port = shown(heard.chassis.text), shown(heard.port.text)
   return json.object {
      lldp_name = name, system_name = shown(heard.system_name),
      system_description = shown(heard.system_description), port_description = shown(heard.port_description),
      chassis_id = chassis, chassis_id_type = heard.chassis.type,
      port_id = port, port_id_type = heard.port.type,
      neighbor_id = chassis .. "/" .. port, ttl = heard.ttl,
      age = math.floor(now - heard.first), last_update = math.floor(now - heard.updated),
      management_address = heard.management and heard.management.text,
      management_address_type = heard.management and heard.management.type,
      custom_tlvs = tables.map(heard.organisations, function(one)
         return json.object { custom_type = 127, oui = octets.hex(one.oui), oui_subtype = one.subtype,
            information = octets.hex(one.octets) }
      end),
      capabilities = tables.map(heard.capabilities or {}, function(one)
         return json.object { capability_name = one.name, capability_enabled = one.enabled }
      end),
   }
end

--- Rows of neighbours.
-- @param request  LldpNeighborsStateRequest that was read
-- @param now      seconds of the agents' clock
function M.states(agents, request, now, found)
   local list = {}
   for _, one in ipairs(found:named_among(agents, request.lldp_names, "lldp_neighbors.lldp_names", LLDP)) do
      for _, heard in ipairs(one.agent:neighbours(now)) do
         local row = row_of(one.name, heard, now)
         local filters = request.neighbor_id_filters
         if not filters[1] or tables.contains(filters, row.neighbor_id) then
            list[#list + 1] = row
         end
      end
   end
   return list
end

return M
