-- SPDX-License-Identifier: BSD-3-Clause

--- `framegauge help`: the first page, the commands' pages, and pages of further topics.
local columns = require "framegauge.text.columns"
local exit = require "framegauge.cli.exit"
local help = require "framegauge.cli.help"
local pager = require "framegauge.cli.pager"
local parse = require "framegauge.cli.parse"
local suggest = require "framegauge.core.suggest"
local tables = require "framegauge.core.tables"

local M = {}

--- The names of the rows of several lists.
function M.names(...)
   local list = {}
   for _, rows in ipairs { ... } do
      for _, row in ipairs(rows) do
         list[#list + 1] = row.name
      end
   end
   return list
end

local function exit_page()
   local rows = tables.map(exit, function(row) return { ("%3d"):format(row[1]), row[2] } end)
   return "Exit statuses:\n\n" .. columns.described(rows)
end

-- A group or a key of plans. Raises an error that suggests the closest one.
local function about_key(name, ...)
   local plan = require "framegauge.plan.help"
   return plan.about(name) or parse.usage_error(nil, "no help on '%s'%s", name,
      suggest.hint(name, tables.joined(M.names(...), plan.words())))
end

local topics = {
   {
      name = "plan", summary = "every key of a plan, with its unit, range and default; 'help KEY', such as 'help rfc2544.throughput' or 'help vlan': one",
      page = function(name)
         return name and about_key(name) or require("framegauge.plan.help").text()
      end,
   },
   {
      name = "protocols", summary = "what frames can be made of; 'help protocols NAME': the fields of one",
      page = function(name)
         return require("framegauge.cli.protocols").page(name)
      end,
   },
   {
      name = "results", summary = "every figure of a result; 'help results NAME': a test's, or one",
      page = function(name)
         return require("framegauge.report.reference").page(name)
      end,
   },
   { name = "exit", summary = "the exit statuses", page = exit_page },
}

--- The first page.
function M.first_page(commands)
   return help.overview(commands, topics)
end

--- The help command.
-- @param arguments  a topic and what of it, or nothing
-- @param commands   the command table
function M.main(arguments, _, _, _, commands)
   local name = arguments[1]
   if not name then
      io.write(M.first_page(commands))
      return 0
   end
   local command, topic = tables.find(commands, "name", name), tables.find(topics, "name", name)
   pager.show(command and help.command(command) or topic and topic.page(arguments[2])
      or about_key(name, commands, topics))
   return 0
end

return M
