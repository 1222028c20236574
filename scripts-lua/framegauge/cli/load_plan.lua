-- SPDX-License-Identifier: BSD-3-Clause

--- The plan of a command line.
local plans = require "framegauge.plan"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"

--- Read it. Its errors are raised as one error, a line for each.
-- @param path     file; nil: other is read
-- @param options  of the command: set, quick, on; ports_only, time: as plans.load takes them
-- @param eal      further arguments of DPDK
-- @param other    { text =, name =, options = (those it was read with, in place of the command's) }
-- @return the plan
return function(path, options, eal, other)
   local plan, errors
   local o = { sets = options.set, quick = options.quick, eal = eal, on = options.on,
      ports_only = options.ports_only, time = options.time }
   if path then
      plan, errors = plans.load(path, o)
   else
      plan, errors = plans.load_text(other.text, other.name, other.options or o)
   end
   if plan then
      return plan
   end
   error(user_error.new {
      status = 2, message = table.concat(tables.map(errors, tostring), "\n"), is_whole = true,
   }, 0)
end
