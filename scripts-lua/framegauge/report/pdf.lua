-- SPDX-License-Identifier: BSD-3-Clause

--- report.html as a PDF file, printed by another program: the page is made for print, too.
local command = require "framegauge.core.command"
local job = require "framegauge.core.job"
local named_file = require "framegauge.core.named_file"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local ENVIRONMENT = 4
local PATIENCE_MS = 120000 -- of a large report on a busy machine

-- A browser gets its own profile, never the user's.
local function chromium(page, pdf, scratch)
   local argv = {
      "chromium", "--headless", "--disable-gpu", "--no-pdf-header-footer", "--disable-background-networking",
      "--user-data-dir=" .. scratch, "--print-to-pdf=" .. pdf, "file://" .. page,
   }
   if uv.getuid() == 0 then
      table.insert(argv, 2, "--no-sandbox") -- it does not start for root without this; the page is ours
   end
   return argv
end

local function weasyprint(page, pdf)
   return { "weasyprint", "--quiet", page, pdf }
end

--- Programs that can print: the first one installed is used. WeasyPrint 57 supports no grids, so the head of
-- the page takes more room.
M.PRINTERS = { chromium, weasyprint }

local function run(argv)
   return job.wait(function(wake)
      command.run(argv, wake, PATIENCE_MS)
   end)
end

local function remove_folder(path)
   run { "rm", "-r", path }
end

-- nil when it was printed, else the programs' output.
local function print_page(page, pdf, scratch, printers)
   local reasons = {}
   for _, printer in ipairs(printers) do
      local done, why = run(printer(page, pdf, scratch))
      if done and uv.fs_stat(pdf) then
         return nil
      end
      reasons[#reasons + 1] = why or printer(page, pdf, scratch)[1] .. " wrote no file"
   end
   return table.concat(reasons, "; ")
end

--- Print a page. Call it inside a job.
-- @param page      path of the page
-- @param pdf       path of the file to write
-- @param printers  default: M.PRINTERS
function M.write(page, pdf, printers)
   local place = uv.fs_realpath(pdf:match "^(.*)/[^/]*$" or ".")
   if not place then
      user_error.raise("report", ENVIRONMENT, "cannot write %s: there is no such folder", pdf)
   end
   local scratch = assert(uv.fs_mkdtemp(uv.os_tmpdir() .. "/framegauge-pdf-XXXXXX"))
   local printed = scratch .. "/page.pdf" -- what is at its place stays until there is another
   local problem = print_page(uv.fs_realpath(page), printed, scratch, printers or M.PRINTERS)
   local text = not problem and named_file.read(printed)
   remove_folder(scratch)
   if problem then
      user_error.raise("report", ENVIRONMENT, "no PDF (apt install chromium, or weasyprint): %s", problem)
   end
   local written, why = named_file.write(pdf, text)
   if not written then
      user_error.raise("report", ENVIRONMENT, "cannot write %s", why)
   end
end

return M
