-- SPDX-License-Identifier: BSD-3-Clause

-- What is public is documented, and its examples give what they say.
local Tester = require "framegauge.tester"
local doc = require "framegauge.cli.script_api"
local pcap = require "framegauge.text.pcap"
local plan = require "framegauge.plan"
local scratch = require "scratch"
local show = require "framegauge.console.show"

local PLAN = [[
test: rfc2544
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {rate: 1Gbps, time: free}
rfc2544:
  tests: [throughput]
  frame_sizes: [64]
  bidirectional: false
  throughput: {trial: 1s}
]]
local RECORDED = 100 -- frames, a millisecond apart

-- A capture to replay.
local function record()
   local path = scratch.path() .. ".pcap"
   local file = assert(pcap.create(path))
   for i = 1, RECORDED do
      file:add(("\2\0\0\0\0\1\2\0\0\0\0\2\x88\xb5%08d"):format(i) .. ("."):rep(60), i * 1e6)
   end
   assert(file:close())
   return path
end

-- What examples find besides the modules, made for those that want it.
local EXTRA = {
   path = scratch.path,
   recorded = record,
   tester = function()
      return assert(Tester.open(assert(plan.load_text(PLAN, "examples")), { max_frame = 1518 }))
   end,
}

-- A usage as a function, and the promised result, if any.
local function compile(usage, made)
   local code, expected = usage:match "^(.-)%s*%-%->%s*(.*)$"
   code = code or usage
   local chunk = loadstring("return " .. code) or assert(loadstring(code))
   local env = setmetatable({}, { __index = function(env, name)
      if EXTRA[name] then
         made[name] = EXTRA[name]()
         env[name] = made[name]
      end
      return rawget(env, name) or _G[name]
   end })
   for _, module in ipairs(doc.MODULES) do
      env[EXTRA[module[1]] and module[1]:gsub("^%l", string.upper) or module[1]] = require(module[2])
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
   local made = {}

   -- A tester has the worker lcores to itself.
   local function close()
      if made.tester then
         made.tester:close()
         made.tester = nil
      end
   end

   after_each(close)
   teardown(scratch.remove)

   for _, module in ipairs(doc.MODULES) do
      local name = module[1]
      it("of " .. name .. " leaves no function out", function()
         local page = doc.of(name)
         assert.truthy(page.intro and #table.concat(page.intro) > 20)
         assert.same({}, page.bare)
         assert.truthy(#page.entries > 0)
         for _, entry in ipairs(page.entries) do
            assert.truthy(#table.concat(entry.text) > 3, entry.title)
            assert.truthy(not entry.is_function or entry.usages[1], entry.title .. " has no example")
         end
      end)

      it("of " .. name .. " has examples that are true", function()
         for _, entry in ipairs(doc.of(name).entries) do
            for _, usage in ipairs(entry.usages) do
               local run, expected = compile(usage, made)
               local got = shown(run())
               close()
               assert.truthy(expected == nil or got == expected, ("%s gives %s"):format(usage, got))
            end
         end
      end)
   end
end)
