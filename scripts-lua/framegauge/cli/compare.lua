-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge compare BEFORE AFTER`: what has changed from one run to another.
local ansi = require "framegauge.text.ansi"
local compare = require "framegauge.report.compare"
local files = require "framegauge.report.files"
local json = require "framegauge.text.json"
local page = require "framegauge.report.html.compare"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local SUCCESS, FELL_SHORT, NOTHING, ENVIRONMENT = 0, 1, 3, 4

local function write_page(path, text)
   local file, message = io.open(path, "w")
   if not file or not file:write(text) or not file:close() then
      user_error.raise("compare", ENVIRONMENT, "cannot write %s: %s", path, message or "the disk is full")
   end
end

local function run_of(folder, result)
   return { folder = folder, result = result, moment = files.moment(folder) }
end

-- The folder of a result; of a twin.yaml the one it was written to, which has the bounds.
local function folder_of(path)
   return path:match "^(.*)/twin%.yaml$" or path == "twin.yaml" and "." or path
end

--- Compare the results of two folders.
-- @return exit status
function M.main(arguments, options)
   local old, new = folder_of(arguments[1]), folder_of(arguments[2])
   local found, before, after = compare.folders(old, new)
   if options.html then
      write_page(options.html, page(found, run_of(old, before), run_of(new, after)))
   end
   io.stdout:write(options.json and json.encode(found, { pretty = true }) .. "\n"
      or compare.text(found, options.all, ansi.new(uv.guess_handle(1) == "tty")))
   return found.worse > 0 and FELL_SHORT or found.judged > 0 and SUCCESS or NOTHING
end

return M
