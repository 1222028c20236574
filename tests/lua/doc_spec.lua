-- SPDX-License-Identifier: BSD-3-Clause

-- What is public is documented, and its examples give what they say.
local doc = require "framegauge.doc"
local show = require "framegauge.console.show"

-- A usage as a function; what it is said to give, if anything.
local function compile(usage)
   local code, expected = usage:match "^(.-)%s*%-%->%s*(.*)$"
   code = code or usage
   local chunk = loadstring("return " .. code) or assert(loadstring(code))
   local env = setmetatable({}, { __index = _G })
   for _, module in ipairs(doc.MODULES) do
      env[module[1]] = require(module[2])
   end
   return setfenv(chunk, env), expected
end

local function shown(...)
   local parts = {}
   for i = 1, select("#", ...) do
      parts[i] = show.text((select(i, ...))):gsub("\n$", "")
   end
   return table.concat(parts, " ")
end

describe("the documentation", function()
   for _, module in ipairs(doc.MODULES) do
      local name = module[1]
      it("of " .. name .. " leaves no function out", function()
         local page = doc.of(name)
         assert.truthy(page.intro and #table.concat(page.intro) > 20)
         assert.same({}, page.bare)
         assert.truthy(#page.entries > 0)
         for _, entry in ipairs(page.entries) do
            assert.truthy(#table.concat(entry.text) > 3, entry.title)
         end
      end)

      it("of " .. name .. " has examples that are true", function()
         for _, entry in ipairs(doc.of(name).entries) do
            for _, usage in ipairs(entry.usages) do
               local run, expected = compile(usage)
               local got = shown(run())
               assert.truthy(expected == nil or got == expected, ("%s gives %s"):format(usage, got))
            end
         end
      end)
   end
end)
