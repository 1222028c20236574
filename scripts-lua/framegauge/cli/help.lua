-- SPDX-License-Identifier: BSD-3-Clause

--- Help texts, made from the rows that also drive the parsing.
local columns = require "framegauge.text.columns"
local tables = require "framegauge.core.tables"

local M = {}

--- "run PLAN.yaml [--quick] [--set PATH=VALUE]..."
function M.synopsis(command)
   local parts = { command.name }
   for _, argument in ipairs(command.arguments) do
      local text = argument.rest and argument.name .. "..." or argument.name
      parts[#parts + 1] = argument.optional and "[" .. text .. "]" or text
   end
   for _, option in ipairs(command.options) do
      local text = "[--" .. option.name .. (option.value and " " .. option.value or "")
         .. (option.rest and "..." or "") .. "]"
      parts[#parts + 1] = option.many and not option.rest and text .. "..." or text
   end
   if command.takes_eal then
      parts[#parts + 1] = "[-- EAL...]"
   end
   return table.concat(parts, " ")
end

--- The arguments and options of a command: list of { name, help }.
function M.rows(command)
   local rows = tables.map(command.arguments, function(argument) return { argument.name, argument.help } end)
   for _, option in ipairs(command.options) do
      rows[#rows + 1] = {
         "--" .. option.name .. (option.value and " " .. option.value or "") .. (option.rest and "..." or ""),
         option.help .. (option.many and not option.rest and "; repeatable" or ""),
      }
   end
   return rows
end

--- The page of one command.
function M.command(command)
   local text = { "usage: framegauge ", M.synopsis(command), "\n\n", columns.wrapped(command.help) }
   local rows = M.rows(command)
   if command.takes_eal then
      rows[#rows + 1] = { "-- EAL...", "arguments after the two dashes are passed to DPDK's EAL unchanged" }
   end
   if #rows > 0 then
      text[#text + 1] = "\n" .. columns.described(rows)
   end
   if command.examples then
      text[#text + 1] = "\nExamples:\n"
      for _, example in ipairs(command.examples) do
         text[#text + 1] = "  framegauge " .. example .. "\n"
      end
   end
   return table.concat(text)
end

--- The first page.
-- @param commands  rows of the command table
-- @param topics    rows of the further topics: name, summary
function M.overview(commands, topics)
   local command_rows = tables.map(commands, function(row) return { row.name, row.summary } end)
   local topic_rows = tables.map(topics, function(row) return { "help " .. row.name, row.summary } end)
   return table.concat {
      "Framegauge measures what a network device can carry, and proves that the tester was not the limit.\n",
      "\nusage: framegauge COMMAND [ARGUMENT...]\n",
      "\nCommands:\n", columns.described(command_rows),
      "\nMore:\n", columns.described(topic_rows),
      "\n", columns.described {
         { "COMMAND --help", "the arguments of one command" },
         { "--version", "versions of Framegauge, DPDK and LuaJIT" },
         { "--verbose COMMAND...", "print all log messages, including DPDK's" },
         { "--lua-path DIR COMMAND...", "prefer the Lua modules in DIR/framegauge (or: FRAMEGAUGE_LUA=DIR)" },
      },
   }
end

return M
