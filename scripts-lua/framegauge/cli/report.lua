-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge report DIR`: everything in a result folder that follows from result.json, made again. Of
-- several folders: their figures side by side.
local ansi = require "framegauge.text.ansi"
local beside = require "framegauge.report.beside"
local compare = require "framegauge.report.compare"
local failure = require "framegauge.core.failure"
local files = require "framegauge.report.files"
local job = require "framegauge.core.job"
local page_of = require "framegauge.report.html.beside"
local parse = require "framegauge.cli.parse"
local pdf = require "framegauge.report.pdf"
local plain = require "framegauge.text.plain"
local report = require "framegauge.report"
local result_page = require "framegauge.cli.result_page"
local uv = require "luv"

local M = {}

local SUCCESS = 0

-- Of a page that is not kept: it is printed alone. A browser knows a page by the end of its name.
local function print_page(text, path)
   local folder = assert(uv.fs_mkdtemp(uv.os_tmpdir() .. "/framegauge-report-XXXXXX"))
   local page = folder .. "/report.html"
   failure.finally(function()
      os.remove(page)
      uv.fs_rmdir(folder)
   end, function()
      result_page.write("report", page, text)
      job.run(pdf.write, page, path)
   end)
end

local function several(folders, options)
   if options.summary then
      parse.usage_error("report", "report: --summary is of one run; several have one page")
   end
   local runs, paths = compare.read(folders, "report")
   local page = (options.html or options.pdf) and page_of(result_page.runs(runs, paths))
   if options.html then
      result_page.write("report", options.html, page)
   end
   if options.pdf then
      print_page(page, options.pdf)
   end
   io.stdout:write(beside.text(runs, paths, ansi.new(uv.guess_handle(1) == "tty")))
   return SUCCESS
end

--- Render a result folder again.
-- @param arguments  folders
function M.main(arguments, options)
   local path = arguments[1]
   options = options or {}
   if arguments[2] or not uv.fs_stat(path .. "/result.json") and files.runs(path)[1] then
      return several(arguments, options)
   elseif options.html then
      parse.usage_error("report", "report: --html is of several runs; report.html of one is in its folder")
   end
   local result = report.write(path, options.summary)
   if options.pdf then
      job.run(pdf.write, path .. (options.summary and "/summary.html" or "/report.html"), options.pdf)
   end
   io.stdout:write(report.text(result), "\n", plain.text(path), "\n")
   return SUCCESS
end

return M
