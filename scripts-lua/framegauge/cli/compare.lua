-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge compare BEFORE AFTER`: what has changed from one run to another, or from several to several.
local ansi = require "framegauge.text.ansi"
local compare = require "framegauge.report.compare"
local files = require "framegauge.report.files"
local json = require "framegauge.text.json"
local page = require "framegauge.report.html.compare"
local parse = require "framegauge.cli.parse"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local SUCCESS, FELL_SHORT, UNDECIDED, ENVIRONMENT = 0, 1, 3, 4

local function write_page(path, text)
   local file, message = io.open(path, "w")
   if not file or not file:write(text) or not file:close() then
      user_error.raise("compare", ENVIRONMENT, "cannot write %s", message or path .. ": the disk is full")
   end
end

-- The runs of a side, as the page has them.
local function runs_of(side)
   return tables.map(side.folders, function(folder, i)
      return { folder = folder, result = side.results[i], moment = files.moment(folder) }
   end)
end

-- The folder of a result; of a twin.yaml the one it was written to, which has the bounds.
local function folder_of(path)
   return path:match "^(.*)/twin%.yaml$" or path == "twin.yaml" and "." or path
end

-- The folders of both sides: two arguments, or the lists of both options.
local function sides_of(arguments, options)
   local before, after = options.before, options.after
   if not before[1] and not after[1] and #arguments == 2 then
      before, after = { arguments[1] }, { arguments[2] }
   elseif arguments[1] or not before[1] or not after[1] then
      parse.usage_error("compare", "compare: give BEFORE and AFTER, or --before and --after with a folder each")
   end
   return tables.map(before, folder_of), tables.map(after, folder_of)
end

--- Compare the results of folders.
-- @return exit status
function M.main(arguments, options)
   local found, before, after = compare.folders(sides_of(arguments, options))
   if options.html then
      write_page(options.html, page(found, runs_of(before), runs_of(after)))
   end
   io.stdout:write(options.json and json.encode(found, { pretty = true }) .. "\n"
      or compare.text(found, options.all, ansi.new(uv.guess_handle(1) == "tty")))
   return found.worse > 0 and FELL_SHORT or compare.problem(found) and UNDECIDED or SUCCESS
end

return M
