-- SPDX-License-Identifier: BSD-3-Clause
local figures = require "framegauge.methods.common.figures"
local methods = require "framegauge.methods"
local reference = require "framegauge.report.reference"
local results = require "framegauge.report.result"
local rows = require "framegauge.text.rows"

local SIDES = { [">="] = true, ["<="] = true, either = true }

-- What a figure's row lacks; nil where it says all.
local function lacks(figure)
   local row = figure.row
   if figure.better == nil and (row.col or row.uncertainty or row.criterion) then
      return "says not which way is better"
   elseif figure.better and not SIDES[figure.better] then
      return "is better " .. tostring(figure.better)
   elseif row.criterion and not figure.better then
      return "is a criterion and no figure of the device"
   elseif figure.better and type(figure.resolution({}, 1)) ~= "number" then
      return "has no resolution"
   end
end

local function lacking(name, record, found)
   for _, figure in ipairs(figures.all(record)) do
      local what = lacks(figure)
      if what then
         found[#found + 1] = ("%s: %s %s"):format(name, figure.key, what)
      end
   end
   return found
end

describe("the reference of figures", function()
   it("knows tests by their names, lists rows of several tests once, and says which way is better", function()
      local overview = reference.page()
      assert.equal(1, select(2, overview:gsub("\n  mesh ", "")))
      assert.matches("fully_meshed", overview, 1, true)
      for _, name in ipairs { "fully_meshed", "many_to_one" } do
         assert.matches("^mesh: ", reference.page(name))
      end
      assert.matches("throughput_fps .-more is better", reference.page "many_to_one")
      assert.matches("mol_loss_ratio .-less is better", reference.page "mesh")
   end)
end)

describe("a figure", function()
   it("says which way is better and its resolution, in every table of every method", function()
      local found, tables = {}, 0
      for _, name in ipairs(methods.names()) do
         for _, one in ipairs(results.of(name).TABLES) do
            tables = tables + 1
            lacking(name .. "." .. one.name, one.record, found)
         end
      end
      assert.same({}, found)
      assert.is_true(tables > 50)
   end)

   it("is refused where its row and its key do not say", function()
      assert.same({ "t: spuriousness says not which way is better" }, lacking("t", rows.record("r", "", {
         { "spuriousness", "count", "", col = "Spurious" }, { "throughput_fps", "number", "", col = "A" },
         { "frame_size", "ordinal", "", col = "Frame" }, { "hidden", "count", "" },
      }), {}))
      assert.same({ "t: gain is better more" }, lacking("t", rows.record("r", "", {
         { "gain", "number", "", better = "more" },
      }), {}))
   end)

   it("is compared in every method, and in each unit once", function()
      for _, name in ipairs(methods.names()) do
         local count = 0
         for _, one in ipairs(results.of(name).TABLES) do
            count = count + #figures.compared(one.record)
         end
         assert.is_true(count > 0, name)
      end
      local keys = {}
      for i, figure in ipairs(figures.compared(results.of("rfc2889").TABLES[1].record)) do
         keys[i] = figure.key
      end
      assert.same({ "throughput_fps", "aggregate_fps", "frmol_fps", "mol_loss_ratio", "mfr_fps",
         "latency_mean_ns" }, keys)
   end)

   it("has a name without its unit, and its unit says how criteria write it", function()
      local of = {}
      for _, figure in ipairs(figures.all(rows.record("r", "", {
         { "throughput_fps", "number", "" },
         { "latency", rows.record("l", "", { { "max_ns", "number", "" } }), "" },
         { "loss_ratio", "ratio", "" }, { "pages_per_s", "number", "" },
      }))) do
         of[figure.name] = figure
      end
      assert.same({ ">=", "<=", "<=", ">=" }, { of.throughput.better, of.latency_max.better, of.loss.better,
         of.pages.better })
      assert.equal(5e-5 * 1e9, of.latency_max.parse "50us" * of.latency_max.scale)
      assert.equal(500, of.throughput.parse "50%" { frame_size = 64, theoretical_fps = 1000 })
      assert.near(0.001, of.loss.parse "0.1%" * of.loss.scale, 1e-12)
      assert.is_nil(of.loss.parse "much")
   end)
end)
