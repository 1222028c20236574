-- SPDX-License-Identifier: BSD-3-Clause

--- What can be expected of TCP and UDP through a device (methods/expect.lua): `TCP_STREAM.goodput>=900Mbps`.
--
-- A test of the plan and a figure of its rows, of all of them where a campaign has several; of the campaign
-- `balance` `balance` in the place of the test.
local bound = require "framegauge.methods.bound"
local tables = require "framegauge.core.tables"
local units = require "framegauge.text.units"

local M = {}

M.EXAMPLES = "'TCP_STREAM.goodput>=900Mbps', 'HTTP.failures<=0' or 'balance.share>=30%': a test, and "
   .. "goodput, transactions, connections, failures or loss; or balance, and share, split, loss or reordered"

local function field(key)
   return function(row)
      return row[key]
   end
end

local function failures(row)
   local sum = row.wrong_bytes
   for _, n in pairs(row.failures) do
      sum = sum + n
   end
   return sum
end

local FIGURES = {
   goodput = { units.parse_bits, ">=", function(row) return row.goodput_bps or row.received_bps end },
   transactions = { bound.number, ">=", field "transactions_per_s" },
   connections = { bound.number, ">=", field "connections_per_s" },
   failures = { bound.number, "<=", failures },
   loss = { units.parse_ratio, "<=", field "loss_ratio" },
}

-- Of the path that got the least; 0 where not all were used.
local function least_share(row)
   local least = 1
   for _, path in ipairs(row.paths) do
      least = math.min(least, path.share)
   end
   return least
end

local OF_BALANCE = {
   share = { units.parse_ratio, ">=", least_share },
   split = { units.parse_ratio, "<=", function(row) return row.flows_split / row.flows end },
   loss = FIGURES.loss,
   reordered = { bound.number, "<=", field "reordered" },
}

--- Read one.
function M.parse(text, plan)
   local name, key, sign, value = text:match "^%s*([%w_]+)%.(%w+)%s*([<>]=)%s*(.-)%s*$"
   if not name then
      return nil, "no figure of a test with a comparison"
   end
   local balance = plan.l4.campaign == "balance"
   if balance and name ~= "balance" or not balance and not tables.contains(plan.l4.tests, name) then
      return nil, ("the plan has no test '%s'"):format(name)
   end
   local met, why = bound.parse(balance and OF_BALANCE or FIGURES, key, sign, value)
   return met and {
      about = function(row) return balance or row.test == name end,
      met = met,
   }, why
end

--- All rows.
function M.rows(results)
   return results.l4 or {}
end

return M
