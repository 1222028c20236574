-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge report DIR`: everything in a result folder that follows from result.json, made again.
local report = require "framegauge.report"

local M = {}

local SUCCESS = 0

--- Render a result folder again.
-- @param arguments  the folder
-- @return exit status
function M.main(arguments)
   local path = arguments[1]
   local result = report.write(path)
   io.stdout:write(report.text(result), "\n", path, "\n")
   return SUCCESS
end

return M
