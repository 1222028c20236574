-- SPDX-License-Identifier: BSD-3-Clause

--- What can be expected of a service beyond its acceptance criteria (methods/expect.lua): `voice.flr<=10ppm`.
--
-- A figure of the performance test, both ways: the service's name, and ir, flr, ftd, fdv or avail, each in
-- the statistic that its criterion has in the plan. A performance that was not the service's says nothing.
local bound = require "framegauge.methods.bound"
local fields = require "framegauge.methods.y1564.result"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

M.EXAMPLES = "'voice.avail>=99.99%', 'voice.flr<=10ppm' or 'video.ftd<=5ms': a service, and ir, flr, ftd, "
   .. "fdv or avail"

local function ftd(row, o)
   return row.ftd and row.ftd[o.ftd_statistic .. "_ns"] / 1e9
end

-- By name: how its value is read, on which side of it the figure must be, and the figure.
local FIGURES = {
   ir = { units.parse_bits, ">=", function(row) return row.received_ir_bps end },
   avail = { units.parse_ratio, ">=", function(row) return row.availability_percent / 100 end },
   flr = { units.parse_ratio, "<=", function(row) return row.loss_ratio end },
   ftd = { units.parse_time, "<=", ftd },
   fdv = { units.parse_time, "<=", function(row) return row.fdv_ns and row.fdv_ns / 1e9 end },
}

--- Read one.
function M.parse(text, plan)
   local name, key, sign, rest = text:match "^%s*([%w_-]+)%.(%w+)%s*([<>]=)%s*(.-)%s*$"
   if not name then
      return nil, "no figure of a service with a comparison"
   elseif not tables.index_of(plan.y1564.services, name) then
      return nil, ("the plan has no service '%s'"):format(name)
   elseif not tables.contains(plan.y1564.tests, "performance") then
      return nil, "the plan makes no performance test"
   end
   local reaches, take = bound.read(FIGURES, key, sign, rest)
   if not reaches then
      return nil, take
   end
   return {
      about = function(row) return row.test == "performance" and row.service == name end,
      met = function(row)
         if row.validity ~= "valid" then
            return nil
         end
         return reaches(take(row, plan.y1564)) -- where nothing arrived there is no delay to keep to
      end,
   }
end

--- Those of the performance test.
function M.rows(results)
   return fields.rows(results, "performance")
end

return M
