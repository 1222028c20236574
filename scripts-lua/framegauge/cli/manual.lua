-- SPDX-License-Identifier: BSD-3-Clause

--- The manual pages, as roff: framegauge(1) from the command table, framegauge-plan(5) from the rows of a
-- plan.
--
-- A page is dated by SOURCE_DATE_EPOCH where that is set, so that two builds of one source make one page.
local columns = require "framegauge.text.columns"
local exit = require "framegauge.cli.exit"
local help = require "framegauge.cli.help"
local plan_help = require "framegauge.plan.help"
local tables = require "framegauge.core.tables"

local M = {}

local WIDTH = 78

-- Backslashes and dashes are what they look like.
local function escaped(text)
   return (text:gsub("\\", "\\e"):gsub("%-", "\\-"):gsub("`", ""))
end

-- No line begins with a dot or a quote.
local function guarded(text)
   return (("\n" .. text):gsub("\n([.'])", "\n\\&%1"):sub(2))
end

-- Text as roff takes it.
local function roff(text)
   return guarded(escaped(text))
end

-- Text that roff fills anew: a sentence begins a line, and no line is long.
local function filled(text)
   text = columns.wrapped(escaped(text:gsub("%. +(%u)", ".\n%1")), WIDTH)
   return guarded((text:gsub("\n *", "\n"):gsub("\n+$", "")))
end

local function heading(title, section, kind)
   local date = os.date("!%Y-%m-%d", tonumber(os.getenv "SOURCE_DATE_EPOCH"))
   return ('.TH %s %d %s "Framegauge %s" "%s"\n'):format(title, section, date,
      require("framegauge.build").version, kind)
end

local function list(rows, out)
   for _, row in ipairs(rows) do
      out[#out + 1] = (".TP\n.B %s\n%s\n"):format(roff(row[1]), filled(row[2]))
   end
end

-- Lines that roff leaves as they are.
local function verbatim(lines, out)
   out[#out + 1] = ".PP\n.nf\n" .. table.concat(tables.map(lines, function(line)
      return roff("  " .. line) .. "\n"
   end)) .. ".fi\n"
end

-- The text of a page. The first paragraph of a section needs no mark.
local function page(out)
   return (table.concat(out):gsub("(\n%.SH [^\n]*\n)%.PP\n", "%1"))
end

-- Paragraphs; indented ones stay as they are.
local function paragraphs(text, out)
   for paragraph in (text .. "\n\n"):gmatch "(.-)\n\n+" do
      if paragraph:find "^   " then
         local lines = {}
         for line in paragraph:gmatch "[^\n]+" do
            lines[#lines + 1] = line
         end
         verbatim(lines, out)
      elseif paragraph ~= "" then
         out[#out + 1] = ".PP\n" .. filled(paragraph) .. "\n"
      end
   end
end

local function command_section(command, out)
   out[#out + 1] = (".SS %s\n.B framegauge\n"):format(command.name) .. filled(help.synopsis(command)) .. "\n"
   paragraphs(command.help, out)
   list(help.rows(command), out)
   if command.examples then
      out[#out + 1] = ".PP\nExamples:\n"
      verbatim(tables.map(command.examples, function(example) return "framegauge " .. example end), out)
   end
end

local ENVIRONMENT = {
   { "FRAMEGAUGE_LUA", "A folder whose framegauge/ is preferred to the modules inside the program." },
   { "FRAMEGAUGE_HUGE_PAGES", "What host.huge_pages: auto means: auto, never or require." },
   { "XDG_STATE_HOME", "Below it the console keeps its history." },
   { "XDG_RUNTIME_DIR", "Below it are the sockets for attach." },
}

--- framegauge(1).
function M.commands(commands)
   local out = {
      heading("FRAMEGAUGE", 1, "User Commands"),
      ".SH NAME\nframegauge \\- network tester: packet generator and analyser\n",
      ".SH SYNOPSIS\n.B framegauge\n.I COMMAND\n.RI [ ARGUMENT ...]\n",
      ".SH DESCRIPTION\nFramegauge measures what a network device can carry,\n",
      "and proves that the tester was not the limit.\n.SH COMMANDS\n",
   }
   for _, command in ipairs(commands) do
      command_section(command, out)
   end
   out[#out + 1] = ".SH EXIT STATUS\n"
   list(tables.map(exit, function(row) return { tostring(row[1]), row[2] } end), out)
   out[#out + 1] = ".SH ENVIRONMENT\n"
   list(ENVIRONMENT, out)
   out[#out + 1] = ".SH SEE ALSO\n.BR framegauge\\-plan (5)\n"
   return page(out)
end

--- framegauge-plan(5).
function M.plan()
   local is = plan_help.contents()
   local out = {
      heading("FRAMEGAUGE-PLAN", 5, "File Formats"),
      ".SH NAME\nframegauge\\-plan \\- what Framegauge shall test, and through which ports\n",
      ".SH DESCRIPTION\n",
   }
   paragraphs(is.introduction, out)
   out[#out + 1] = ".SH VALUES\n"
   list(is.legend, out)
   out[#out + 1] = ".SH DEVICES\n"
   list(is.devices, out)
   out[#out + 1] = ".SH KEYS\n"
   for _, section in ipairs(is.sections) do
      out[#out + 1] = (".SS %s\n"):format(section.path == "" and "At the top" or roff(section.path))
      out[#out + 1] = section.path ~= "" and filled(section.help) .. "\n" or ""
      list(section.lines, out)
   end
   out[#out + 1] = ".SH SHORT TRIALS\n"
   paragraphs(is.quick, out)
   out[#out + 1] = ".SH SEE ALSO\n.BR framegauge (1)\n"
   return page(out)
end

return M
