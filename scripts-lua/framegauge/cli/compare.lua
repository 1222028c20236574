-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge compare BEFORE AFTER`: what has changed from one run to another.
local ansi = require "framegauge.text.ansi"
local compare = require "framegauge.report.compare"
local json = require "framegauge.text.json"
local report = require "framegauge.report"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local SUCCESS, FELL_SHORT, BAD_USAGE = 0, 1, 2

--- Compare the results of two folders.
-- @return exit status
function M.main(arguments, options)
   local before, after = report.read(arguments[1]), report.read(arguments[2])
   if before.plan.test ~= after.plan.test then
      user_error.raise("compare", BAD_USAGE, "%s has results of %s, %s of %s: there is nothing to compare",
         arguments[1], before.plan.test, arguments[2], after.plan.test)
   end
   local found = compare.of(before, after)
   io.stdout:write(options.json and json.encode(found, { pretty = true }) .. "\n"
      or compare.text(found, options.all, ansi.new(uv.guess_handle(1) == "tty")))
   return found.worse == 0 and SUCCESS or FELL_SHORT
end

return M
