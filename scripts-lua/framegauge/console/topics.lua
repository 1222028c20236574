-- SPDX-License-Identifier: BSD-3-Clause

--- The topics of `help`: the commands, the modules, and the topics of `framegauge help`.
local columns = require "framegauge.text.columns"
local command = require "framegauge.console.command"
local doc = require "framegauge.cli.script_api"
local suggest = require "framegauge.core.suggest"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"

local M = {}

local WIDTH, WIDEST = 80, 92 -- of the first page; of the others

local LUA = "Text that is not a command is Lua. Commands are functions, and their words are arguments: 'rate east 40%', 'rate(\"east\", \"40%\")' and 'rate {target = \"east\", rate = \"40%\"}' are the same. Variables set at the prompt (x = 5) belong to the session. The value of an expression is shown, lists of records as tables. An undefined name is an error; the message suggests the closest match. An incomplete text continues in the next line; Ctrl-C discards it, and interrupts a running command. Tab completes; the arrow keys recall earlier lines."

local MORE = {
   lua = { summary = "Lua at the prompt", page = function(width)
      return columns.wrapped(LUA, width)
   end },
   keys = { summary = "every key of a plan", page = function()
      return require("framegauge.plan.help").text()
   end },
}

local MODULES = {}
for _, module in ipairs(doc.MODULES) do
   MODULES[module[1]] = {
      summary = "the module " .. module[1] .. ", for scripts",
      page = function()
         return doc.text(module[1])
      end,
   }
end

local function page(row, width)
   local text = { command.synopsis(row), "\n\n", columns.wrapped(row.help, width) }
   local rows = tables.map(row.arguments, function(argument)
      return { argument.flag and argument.name or argument.name:upper(), argument.help }
   end)
   if #rows > 0 then
      text[#text + 1] = "\n" .. columns.described(rows)
   end
   if row.examples then
      text[#text + 1] = "\nExamples:\n  " .. table.concat(row.examples, "\n  ") .. "\n"
   end
   return table.concat(text)
end

--- The first page.
-- @param commands  all of them (framegauge.console.commands)
function M.overview(commands)
   local rows = tables.map(commands.list, function(row)
      return { command.synopsis(row, true), row.summary }
   end)
   local more = {}
   for _, topics in ipairs { MORE, MODULES } do
      for name, topic in pairs(topics) do
         more[#more + 1] = { "help " .. name, topic.summary }
      end
   end
   table.sort(more, function(a, b)
      return a[1] < b[1]
   end)
   return "Commands:\n" .. columns.described(rows, WIDTH) .. "\nMore:\n" .. columns.described(more, WIDTH)
end

--- All topics, sorted.
function M.names(commands)
   local list, seen = {}, {}
   for _, topics in ipairs { commands.by_name, MORE, MODULES } do
      for name in pairs(topics) do
         list[#list + 1], seen[name] = not seen[name] and name or nil, true
      end
   end
   table.sort(list)
   return list
end

--- The help of a topic. Raises an error that suggests the closest match when no topic fits.
-- @param commands  as overview() takes them
-- @param width     of the terminal; nil: no terminal
function M.page(commands, name, width)
   local pages, within = {}, math.min(width or WIDEST, WIDEST)
   for _, topics in ipairs { MODULES, MORE } do
      if topics[name] then
         pages[#pages + 1] = topics[name].page(within)
      end
   end
   if commands.by_name[name] then -- last, so that it is visible after scrolling
      pages[#pages + 1] = page(commands.by_name[name], within)
   end
   if pages[1] then
      return width and columns.wrapped(table.concat(pages, "\n"), width) or table.concat(pages, "\n")
   end
   local plan = require "framegauge.plan.help"
   return plan.about(name)
      or user_error.raise("help", 2, "no help on '%s'%s", name, suggest.hint(name, M.names(commands)))
end

return M
