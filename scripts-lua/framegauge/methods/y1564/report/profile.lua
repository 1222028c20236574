-- SPDX-License-Identifier: BSD-3-Clause

--- What was agreed of each service, and the sheet on which both sides sign that it was kept.
local about = require "framegauge.report.html.about"
local h = require "framegauge.text.xml"
local paths = require "framegauge.methods.y1564.plan.paths"
local tables = require "framegauge.report.html.tables"
local units = require "framegauge.text.units"
local formatters = require "framegauge.report.html.formatters"

local M = {}

local function time(seconds)
   return (units.format_time(seconds):gsub("us$", "µs"))
end

local function share(value)
   return value > 0 and value < 1e-3 and ("%g ppm"):format(value * 1e6) or units.format_ratio(value)
end

-- Bit rates of the plan with their layer left to the caption.
local function bits(bps)
   return bps > 0 and units.format_bits(bps) or "0"
end

local function tags(path)
   local service, list = path.service, {}
   list[#list + 1] = service.outer_vlan and ("outer VLAN %d"):format(service.outer_vlan) or nil
   list[#list + 1] = service.vlan and ("VLAN %d"):format(service.vlan) or nil
   list[#list + 1] = service.vlan and ("PCP %d"):format(service.pcp) or nil
   list[#list + 1] = ("DSCP %d"):format(service.dscp)
   return table.concat(list, ", ")
end

local function colour(path)
   local service = path.service
   local marked = service.marking ~= "none" and ", yellow by " .. service.marking:upper()
      .. (service.yellow and (" %d"):format(service.yellow) or "") or ""
   return service.colour .. marked .. (service.coupling and ", coupled" or "")
end

local function acceptance(path)
   local sac = path.acceptance
   return ("FLR ≤ %s, FTD ≤ %s, FDV ≤ %s, AVAIL ≥ %s"):format(share(sac.flr), time(sac.ftd), time(sac.fdv),
      units.format_ratio(sac.avail))
end

local function field(key, write)
   return function(path) return path[key] and (write or tostring)(path[key]) end
end

local COLUMNS = {
   { "Service", "", field "name", left = true },
   { "Direction", "", field "direction", left = true, kind = "direction" },
   { "Tags", "", tags, left = true },
   { "Frame", "bytes", field "frame_size" },
   { "CIR", "IR", field("cir", bits) },
   { "CBS", "bytes", field("cbs", formatters.count) },
   { "EIR", "IR", field("eir", bits) },
   { "EBS", "bytes", field("ebs", formatters.count) },
   { "Colour", "", colour, left = true },
}

--- The table of services.
function M.table(result)
   return tables.build {
      caption = "Bandwidth profiles and acceptance criteria", columns = COLUMNS, rows = paths.of(result.plan),
      below = acceptance, class = "compact",
   }
end

local function party(name)
   return h.div {
      class = "party", h.strong { name }, h.p { "Name" }, h.p { "Date" }, h.p { "Signature" },
   }
end

local WAYS = { ["two-ports"] = "two ports, each way by itself", loopback = "loopback, there and back",
   ["two-testers"] = "two testers, each way by itself" }

--- What both sides sign: a page by itself on paper.
-- @param moment   run.json, read; the results themselves have no date
-- @param summary  the table of services
function M.sheet(result, moment, summary)
   local o = result.plan.y1564
   return h.div {
      class = "sheet",
      tables.facts(about.facts(result.plan,
         { "Tested", formatters.begun(moment) }, { "Plan", result.plan.name },
         { "Topology", WAYS[o.topology] },
         { "Line rate", result.ports[1].line_rate and units.format_bits(result.ports[1].line_rate, 1) },
         { "Rates", o.rate_unit == "ulr" and "agreed as utilised line rate (ULR)"
            or "information rates (IR)" }
      )),
      summary,
      h.div { class = "parties", party "For the provider", party "For the customer" },
   }
end

return M
