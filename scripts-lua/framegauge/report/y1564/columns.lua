-- SPDX-License-Identifier: BSD-3-Clause

--- The tables a terminal shows of Y.1564 (framegauge.report.grid).
local fields = require "framegauge.report.y1564.fields"
local format = require "framegauge.report.format"

local M = {}

local function known(key, show)
   return function(one)
      local value = one.row
      for part in key:gmatch "[^.]+" do
         value = value and value[part]
      end
      return value ~= nil and show(value) or "-"
   end
end

local function mbps(bps)
   return format.decimal(bps / 1e6, 3)
end

local function ratio(value)
   return value == 0 and "0" or value < 1e-3 and ("%.2e"):format(value) or format.decimal(value * 100, 3)
      .. "%"
end

local function milliseconds(ns)
   return format.decimal(ns / 1e6, 3)
end

local FIGURES = {
   { "", "direction", function(one) return one.row.direction end, left = true },
   { "offered IR", "Mbit/s", known("offered_ir_bps", mbps) },
   { "received IR", "Mbit/s", known("received_ir_bps", mbps) },
   { "", "FLR", known("flr", ratio) },
   { "FTD mean", "ms", known("ftd_ns.mean", milliseconds) },
   { "FDV", "ms", known("fdv_ns", milliseconds) },
}

local AVAIL = { "AVAIL", "%", known("avail_percent", function(value) return format.decimal(value, 3) end) }

local VERDICT = { "", "verdict", function(one) return one.row.verdict end, left = true, verdict = true }

local FAILED = { "", "failed", function(one) return table.concat(one.row.failed, ", ") end, left = true }

local function columns(...)
   local list = {}
   for _, part in ipairs { ... } do
      for _, column in ipairs(part) do
         list[#list + 1] = column
      end
   end
   return list
end

local CONFIGURATION = columns({
   { "", "step", function(one) return one.row.step .. " " .. one.row.name end, left = true },
}, FIGURES, { VERDICT, FAILED })
local PERFORMANCE = columns({
   { "", "service", function(one) return one.service end, left = true },
}, FIGURES, { AVAIL, VERDICT, FAILED })

--- List of { title =, columns =, rows = }: the steps of each service, then the performance of all.
function M.of(result)
   local list = {}
   for _, service in ipairs(result.results.y1564.services) do
      if #service.configuration > 0 then
         local rows = fields.rows({ y1564 = { services = { service } } }, "configuration")
         list[#list + 1] = {
            title = "Configuration of " .. service.name, columns = CONFIGURATION, rows = rows,
         }
      end
   end
   local rows = fields.rows(result.results, "performance")
   list[#list + 1] = #rows > 0 and {
      title = "Performance of all services", columns = PERFORMANCE, rows = rows,
   } or nil
   return list
end

return M
