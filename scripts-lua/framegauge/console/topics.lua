-- SPDX-License-Identifier: BSD-3-Clause

--- What `help` knows: the commands, and everything `framegauge help` tells.
local columns = require("framegauge.cli.help").columns
local command = require "framegauge.console.command"
local commands = require "framegauge.console.commands"
local doc = require "framegauge.doc"
local nearest = require "framegauge.nearest"
local refusal = require "framegauge.refusal"

local M = {}

local WIDTH = 80 -- of the first page

local LUA = [[
Anything else is Lua. A command is a function, and the words behind it are its arguments: 'rate east 40%',
'rate("east", "40%")' and 'rate {target = "east", rate = "40%"}' are the same. What is set at the prompt
(x = 5) is the session's own; an expression is shown, lists of records as tables. Names that nobody has
set are errors. A text that is not complete goes on in the next line; Ctrl-C gives it up, as it gives up
whatever runs. Tab completes; the arrow keys fetch earlier lines.
]]

local MORE = {
   lua = { summary = "Lua at the prompt", page = function()
      return LUA
   end },
   plan = { summary = "every key of a plan", page = function()
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

-- Lines that are wider than a terminal, broken between words, each part as far from the edge as the first.
local function wrap(text, width)
   local out = {}
   for line in text:gmatch "([^\n]*)\n?" do
      local indent = line:match "^ *"
      while #line > width do
         local cut = line:sub(1, width + 1):match "^.*() "
         if not cut or cut <= #indent then
            break
         end
         out[#out + 1] = line:sub(1, cut - 1)
         line = indent .. line:sub(cut + 1)
      end
      out[#out + 1] = line
   end
   return (table.concat(out, "\n"):gsub("\n+$", "\n"))
end

local function page(row)
   local text = { command.synopsis(row), "\n\n", row.help, "\n" }
   local rows = {}
   for _, argument in ipairs(row.arguments) do
      rows[#rows + 1] = { argument.flag and argument.name or argument.name:upper(), argument.help }
   end
   if #rows > 0 then
      text[#text + 1] = "\n" .. columns(rows)
   end
   if row.examples then
      text[#text + 1] = "\nExamples:\n  " .. table.concat(row.examples, "\n  ") .. "\n"
   end
   return table.concat(text)
end

--- The first page.
function M.overview()
   local rows = {}
   for i, row in ipairs(commands.list) do
      rows[i] = { command.synopsis(row, true), row.summary }
   end
   local more = {}
   for _, topics in ipairs { MORE, MODULES } do
      for name, topic in pairs(topics) do
         more[#more + 1] = { "help " .. name, topic.summary }
      end
   end
   table.sort(more, function(a, b)
      return a[1] < b[1]
   end)
   return "Commands:\n" .. columns(rows, WIDTH) .. "\nMore:\n" .. columns(more, WIDTH)
end

--- Everything help can be asked about, sorted.
function M.names()
   local list, seen = {}, {}
   for _, topics in ipairs { commands.by_name, MORE, MODULES } do
      for name in pairs(topics) do
         list[#list + 1], seen[name] = not seen[name] and name or nil, true
      end
   end
   table.sort(list)
   return list
end

--- The page of all that goes by a name. Refused, with the nearest known one, when there is none.
-- @param width  of the terminal it is for; default: there is none
function M.page(name, width)
   local pages = {}
   for _, topics in ipairs { MODULES, MORE } do
      if topics[name] then
         pages[#pages + 1] = topics[name].page()
      end
   end
   if commands.by_name[name] then -- last, where a terminal that has scrolled shows it
      pages[#pages + 1] = page(commands.by_name[name])
   end
   if pages[1] then
      return width and wrap(table.concat(pages, "\n"), width) or table.concat(pages, "\n")
   end
   refusal.raise("help", 2, "no help on '%s'%s", name, nearest.hint(name, M.names()))
end

return M
