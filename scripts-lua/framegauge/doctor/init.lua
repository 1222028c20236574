-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge doctor`: what limits tests on this machine, its effect, and the command that fixes it.
--
-- A check looks at the machine and returns a row (doctor/finding.lua), a list of rows, or nothing. Only a
-- problem, with which no test can run at all, changes the exit status.
local finding = require "framegauge.doctor.finding"
local build = require "framegauge.build"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"
local native = require "framegauge.core.native"

local M = {}

local BAD_USAGE, ENVIRONMENT = 2, 4

local function dpdk()
   return finding.ok("DPDK", (build.dpdk:gsub("^DPDK ", "")))
end

-- Without them the machine cannot be examined.
local function missing_modules()
   return tables.map(native.missing(), function(one)
      return finding.problem("modules", one.finding, nil, one.fix)
   end)
end

--- Look at a machine.
-- @param machine  a view of it (framegauge.core.machine)
-- @return list of rows
function M.examine(machine)
   local rows = { dpdk() }
   for _, part in ipairs { "processor", "load", "memory", "network", "left" } do
      for _, check in ipairs(require("framegauge.doctor." .. part).checks) do
         local found = check(machine) or {}
         tables.append(rows, found.state and { found } or found)
      end
   end
   return rows
end

--- Rows as aligned text, with a last line that counts problems and warnings.
function M.text(rows)
   local widest, count = 0, { ok = 0, warning = 0, problem = 0 }
   for _, row in ipairs(rows) do
      widest = math.max(widest, #row.topic)
      count[row.state] = count[row.state] + 1
   end
   local line = "%-7s  %-" .. widest .. "s  %s\n"
   local lines = {}
   for _, row in ipairs(rows) do
      lines[#lines + 1] = line:format(row.state, row.topic, row.finding)
      for _, more in ipairs { { "effect: ", row.effect }, { "fix:    ", row.fix }, { "", row.use } } do
         if more[2] then
            lines[#lines + 1] = line:format("", "", more[1] .. more[2])
         end
      end
   end
   local function counted(n, word)
      return ("%d %s%s"):format(n, word, n == 1 and "" or "s")
   end
   lines[#lines + 1] = "\n" .. counted(count.problem, "problem") .. ", " .. counted(count.warning, "warning")
   lines[#lines + 1] = count.problem == 0 and ": this machine can run tests"
      or ": this machine cannot run tests"
   return table.concat(lines) .. "\n", count.problem
end

--- The command.
-- @param arguments  a plan, whose ports are then opened and asked; or none
function M.main(arguments, options, eal)
   if options.restore then
      return require("framegauge.core.undo").restore(print) and 0 or ENVIRONMENT
   end
   if options.changes then
      io.write(require("framegauge.doctor.left").table())
      return 0
   end
   local rows = missing_modules()
   if not rows[1] and options.clock then
      rows = require("framegauge.core.job").run(require("framegauge.doctor.clock").examine)
   elseif not rows[1] then
      rows = M.examine(require("framegauge.core.machine").at(""))
      if arguments[1] then
         local plan = require("framegauge.cli.load_plan")(arguments[1], options, eal)
         rows = tables.joined(rows, require("framegauge.doctor.ports").examine(plan),
            options.measure and require("framegauge.doctor.measure").examine(plan) or {})
      elseif options.measure then
         user_error.raise("doctor", BAD_USAGE, "--measure sends frames: it needs a PLAN.yaml, with isolated_network: true")
      end
   end
   local text, problems = M.text(rows)
   io.write(text)
   return problems == 0 and 0 or ENVIRONMENT
end

return M
