-- SPDX-License-Identifier: BSD-3-Clause

--- A page about several results, for the commands that make one.
local files = require "framegauge.report.files"
local named_file = require "framegauge.core.named_file"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"

local M = {}

local ENVIRONMENT = 4

--- Write it.
-- @param command  the one that makes it
function M.write(command, path, text)
   local written, message = named_file.write(path, text)
   if not written then
      user_error.raise(command, ENVIRONMENT, "cannot write %s", message)
   end
end

--- Runs as a page has them.
function M.runs(results, folders)
   return tables.map(folders, function(folder, i)
      return { folder = folder, result = results[i], moment = files.moment(folder) }
   end)
end

return M
