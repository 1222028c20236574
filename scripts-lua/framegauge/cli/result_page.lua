-- SPDX-License-Identifier: BSD-3-Clause

--- A page about several results, for the commands that make one.
local files = require "framegauge.report.files"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"

local M = {}

local ENVIRONMENT = 4

--- Write it.
-- @param command  the one that makes it
function M.write(command, path, text)
   local file, message = io.open(path, "w")
   if not file or not file:write(text) or not file:close() then
      user_error.raise(command, ENVIRONMENT, "cannot write %s", message or path .. ": the disk is full")
   end
end

--- Runs as a page has them.
function M.runs(results, folders)
   return tables.map(folders, function(folder, i)
      return { folder = folder, result = results[i], moment = files.moment(folder) }
   end)
end

return M
