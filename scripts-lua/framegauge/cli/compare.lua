-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge compare BEFORE AFTER`: what has changed from one run to another, or from several to several.
local ansi = require "framegauge.text.ansi"
local compare = require "framegauge.report.compare"
local json = require "framegauge.text.json"
local page = require "framegauge.report.html.compare"
local parse = require "framegauge.cli.parse"
local result_page = require "framegauge.cli.result_page"
local tables = require "framegauge.core.tables"
local uv = require "luv"

local M = {}

local SUCCESS, FELL_SHORT, UNDECIDED = 0, 1, 3

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
function M.main(arguments, options)
   local found, before, after = compare.folders(sides_of(arguments, options))
   if options.html then
      result_page.write("compare", options.html, page(found, result_page.runs(before.results, before.folders),
         result_page.runs(after.results, after.folders)))
   end
   io.stdout:write(options.json and json.encode(found, { pretty = true }) .. "\n"
      or compare.text(found, options.all, ansi.new(uv.guess_handle(1) == "tty")))
   return found.worse > 0 and FELL_SHORT or compare.problem(found) and UNDECIDED or SUCCESS
end

return M
