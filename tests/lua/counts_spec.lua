-- SPDX-License-Identifier: BSD-3-Clause

-- Where a figure that is shown is a statistic of N frames, probes or repetitions, its row names N.
local methods = require "framegauge.methods"
local rows = require "framegauge.text.rows"

local STATISTICS = { "loss_ratio$", "_lost_ratio$", "answered_ratio$", "mean_", "_mean$", "^p[0-9]+_", "_p[0-9]+_",
   "median", "stddev", "jitter_", "rsd_", "pdv_" }
local OTHERS = {
   load_mean_fps = "a setting", load_mean_percent = "a setting",
   concurrent_mean = "over time",
}

local function any(key)
   for _, pattern in ipairs(STATISTICS) do
      if key:find(pattern) then
         return true
      end
   end
   return false
end

-- Statistics that stand in a table and name no count.
local function without(record, top, path, list)
   for _, row in ipairs(record.rows) do
      local t, key = row[2], row[1]
      if type(t) == "table" and t.kind == "record" then
         without(t, top, path .. key .. ".", list)
      elseif type(t) == "table" and t.kind == "list" and type(t.of) == "table" and t.of.kind == "record" then
         without(t.of, t.of, "", list)
      elseif key and row.col and (t == "number" or t == "ratio" or t == "signed") and any(key)
         and not OTHERS[key] and not rows.n_of(top, path .. key) then
         list[#list + 1] = top.name .. ": " .. path .. key
      end
   end
   return list
end

describe("a statistic that is shown", function()
   for _, name in ipairs(methods.names()) do
      it("names the number behind it in results of " .. name, function()
         local result, list = require("framegauge.methods." .. name .. ".result"), {}
         without(result.RESULTS, result.RESULTS, "", list)
         assert.same({}, list)
      end)
   end
end)
