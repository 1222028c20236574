-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 2544 on the page: its figures to remember, and a section for each test.
local latency = require "framegauge.report.html.latency"
local tests = require "framegauge.report.html.tests"

local M = {}

local function has_rows(result, name)
   local rows = result.results[name]
   return rows and #rows > 0
end

--- List of { title, reference, body }.
function M.sections(result)
   local out = {}
   for _, test in ipairs(tests) do
      if has_rows(result, test.name) then
         out[#out + 1] = { test.title, test.reference, test.body(result.results[test.name], result) }
      end
      if test.name == "throughput" and not has_rows(result, "latency") then
         local rows = latency.of_throughput(result.results.throughput)
         if #rows > 0 then
            out[#out + 1] = { "Latency at the throughput", nil, latency.at_throughput(rows, result) }
         end
      end
   end
   return out
end

--- List of { label, figure, unit, remark }.
function M.tiles(result)
   local out = {}
   for _, test in ipairs(tests) do
      for _, tile in ipairs(has_rows(result, test.name) and test.headline(result.results[test.name]) or {}) do
         out[#out + 1] = tile
      end
   end
   return out
end

--- The tests that were made.
function M.names(result)
   local names = {}
   for _, test in ipairs(tests) do
      names[#names + 1] = result.results[test.name] and test.title:lower() or nil
   end
   return table.concat(names, ", ")
end

return M
