-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge report DIR`: everything in a result folder that follows from result.json, made again.
local job = require "framegauge.core.job"
local plain = require "framegauge.text.plain"
local pdf = require "framegauge.report.pdf"
local report = require "framegauge.report"

local M = {}

local SUCCESS = 0

--- Render a result folder again.
-- @param arguments  the folder
-- @return exit status
function M.main(arguments, options)
   local path = arguments[1]
   local result = report.write(path, options and options.summary)
   if options and options.pdf then
      job.run(pdf.write, path .. (options.summary and "/summary.html" or "/report.html"), options.pdf)
   end
   io.stdout:write(report.guarded(path, report.text, result), "\n", plain.text(path), "\n")
   return SUCCESS
end

return M
