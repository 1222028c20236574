-- SPDX-License-Identifier: BSD-3-Clause

-- Every method of the registry in parts: each of its tests alone, and all but one; the exit status of what
-- was found; and the files for CI, which have a case for each row. What is asked of whole runs is in
-- every_method_spec.
local cases = require "framegauge.report.cases"
local criteria = require "framegauge.methods.common.criteria"
local estimate = require "framegauge.run.estimate"
local figures = require "framegauge.methods.common.figures"
local fixture = require "fixture"
local heading = require "framegauge.report.html.heading"
local methods = require "framegauge.methods"
local plans = require "framegauge.plan"
local report = require "framegauge.report"
local results = require "framegauge.report.result"
local run = require "framegauge.run"
local scratch = require "scratch"
local small_runs = require "small_runs"
local tables = require "framegauge.core.tables"
local uv = require "luv"
local views = require "framegauge.report.view"
local xml = require "framegauge.text.xml"

-- Methods whose tiles count or compare valid rows alone.
local UNMARKED = { mesh = true, y1564 = true }

-- The settings among options of a shell.
local function sets_of(options)
   local list = {}
   for _, form in ipairs { "%-%-set '([^']*)'", "%-%-set ([^' ]+)" } do
      for text in options:gmatch(form) do
         list[#list + 1] = text
      end
   end
   return list
end

-- Each of a list alone, and all but each; in the long tests all subsets.
local function subsets_of(all)
   local list = {}
   for bits = 1, 2 ^ #all - 1 do
      local subset = {}
      for i, one in ipairs(all) do
         subset[#subset + 1] = math.floor(bits / 2 ^ (i - 1)) % 2 == 1 and one or nil
      end
      if os.getenv "FRAMEGAUGE_LONG" or #subset == 1 or #subset == #all - 1 then
         list[#list + 1] = subset
      end
   end
   return list
end

-- A key whose values are parts of a run, with all that the small run has of it: key, list.
local function parts_of(name, plan)
   local list = {}
   if plan[name].tests then
      list[1] = { name .. ".tests", plan[name].tests }
   end
   if plan[name].buffer and plan[name].buffer.procedures then
      list[2] = { name .. ".buffer.procedures", plan[name].buffer.procedures }
   end
   return list
end

local function one_of(result, better, value)
   for _, one in ipairs(results.tables(result.plan.test, result.results)) do
      for _, figure in ipairs(one.asked ~= "test" and one.lines[1] and figures.criteria(one.record) or {}) do
         local worst = figure.path and figure.better == better and figure.of(one.lines[1])
         if worst and worst > 0 and one.lines[1].validity == "valid" then
            local criterion = criteria.parse(figure.key .. better .. value(figure), result.plan)
            local found = criterion and criteria.evaluate(criterion, result.plan, result.results, true)
            if found and found.met ~= nil then
               return found
            end
         end
      end
   end
end

-- A value of a figure, as a criterion has it, that no device reaches or every device does.
local function extreme(number)
   return function(figure)
      local units = { _ns = "ns", _s = "s", _fps = "fps", _mbps = "Mbps", _bps = "bps", _percent = "%",
         _ratio = "%", _ppm = "ppm" }
      return number .. (units[figure.unit] or "")
   end
end

describe("in parts", function()
   teardown(scratch.remove)

   for _, name in ipairs(methods.names()) do
      local config, options = small_runs.of(name)
      local file = ("%sconfigs/%s-reference.yaml"):format(scratch.PROJECT, config)
      local sets = sets_of(options)

      local function load(...)
         return plans.load(file, { quick = true, sets = tables.joined(sets, { ... }) })
      end

      it(name .. " foretells each of its tests, and knows no criterion on a test that is left out", function()
         local whole = assert(load())
         for _, part in ipairs(parts_of(name, whole)) do
            local key, all = unpack(part)
            for _, subset in ipairs(subsets_of(all)) do
               local text = ("%s=[%s]"):format(key, table.concat(subset, ", "))
               local plan, errors = load(text)
               assert.is_true(plan ~= nil or errors[1].expected ~= nil, text .. tostring(errors))
               assert.is_true(not plan or estimate.line(plan):find "^Estimate: " ~= nil, text)
               for _, one in ipairs(plan and key == name .. ".tests" and results.of(name).TABLES or {}) do
                  local figure = tables.contains(all, one.name) and figures.criteria(one.record)[1]
                  local criterion, why = criteria.parse(("%s%s%s@%s"):format(figure and figure.key or "x",
                     figure and figure.better or ">=", extreme("1")(figure or {}), one.name), plan)
                  if figure then
                     assert.equal(tables.contains(subset, one.name), criterion ~= nil, why or text)
                  end
               end
            end
         end
      end)

      it(name .. " ends with 0, 1 or 3 as its criteria are met, not met or undecided", function()
         local result = report.read((fixture.run(config, options)))
         local function status_with(...)
            return run.status_of(results.new { plan = result.plan, ports = result.ports, interrupted = false,
               trials = result.trials, results = result.results, expectations = { ... } })
         end
         local alone = status_with()
         local short = one_of(result, ">=", extreme "1000000000000000")
            or one_of(result, "<=", extreme "0")
         assert.equal(false, short and short.met)
         assert.equal(1, status_with(short))
         assert.equal(alone == 0 and 3 or alone, status_with { text = "x", reason = "unknown" })
         local met = one_of(result, ">=", extreme "0") or one_of(result, "<=", extreme "1000000000000000")
         assert.equal(true, met and met.met)
         assert.equal(alone, status_with(met))
      end)

      it(name .. " has a case for each row and each criterion in junit.xml and result.jtl", function()
         local path = fixture.run(config, options)
         local result, rows, cases_of, skipped = report.read(path), #report.read(path).expectations, 0, 0
         for _, one in ipairs(results.tables(name, result.results)) do
            rows = rows + (one.inner and 0 or #one.lines)
         end
         for _, suite in ipairs(cases.suites(result)) do
            for _, case in ipairs(suite.cases) do
               cases_of, skipped = cases_of + 1, skipped + (case.skipped and 1 or 0)
            end
         end
         assert.equal(rows, cases_of)
         local _, in_junit = scratch.read(path .. "/junit.xml"):gsub("<testcase ", "")
         local _, in_jtl = scratch.read(path .. "/result.jtl"):gsub("\n", "")
         assert.same({ rows, rows - skipped }, { in_junit, in_jtl - 1 })
      end)

      it(name .. " marks the figures of its first screen that the tester limited, and shows no invalid one",
         function()
            local result = report.read((fixture.run(config, options)))
            local function page_with(validity)
               result.validity = validity
               for _, one in ipairs(results.tables(name, result.results)) do
                  for _, line in ipairs(one.lines) do
                     line.validity = validity
                  end
               end
               return xml.render(heading.build(result, {}))
            end
            local marked = 0
            for _, tile in ipairs(views.of(name).tiles(result)) do
               marked = marked + (tile.row and 1 or 0)
            end
            local _, limited = page_with("tester-limited"):gsub("<small>tester%-limited", "")
            assert.equal(marked, limited)
            assert.is_true(marked > 0 or UNMARKED[name] ~= nil)
            local _, unmeasured = page_with("invalid"):gsub("<b>not measured</b>", "")
            assert.is_true(unmeasured >= marked)
         end)

      it(name .. " runs each of its tests alone", function()
         for _, part in ipairs(os.getenv "FRAMEGAUGE_LONG" and parts_of(name, assert(load())) or {}) do
            local is_procedure = part[1]:find "procedures" ~= nil -- which has rows in a table of another name
            for _, one in ipairs(part[2]) do
               local out, text = scratch.path(), ("%s=[%s]"):format(part[1], one)
               local plan, errors = load(text)
               assert.is_true(plan ~= nil or errors[1].expected ~= nil, text .. tostring(errors))
               if plan then
                  local output, status = scratch.shell(("'%s' run '%s' %s --set '%s' --out '%s' 2>&1"):format(
                     uv.exepath(), file, options:gsub("%-%-expect '[^']*'", ""), text, out))
                  assert.is_true(status == 0 or status == 1 or status == 3, text .. output)
                  local rows = 0
                  for _, of in ipairs(results.tables(name, report.read(out).results)) do
                     if tables.contains(part[2], of.name) then
                        assert.equal(one == of.name, #of.lines > 0, text .. " " .. of.name)
                     end
                     for _, line in ipairs(of.lines) do
                        rows = rows + ((not is_procedure or line.procedure == one) and 1 or 0)
                        assert.is_true(not is_procedure or (line.procedure or one) == one, text)
                     end
                  end
                  assert.is_true(rows > 0, text)
               end
            end
         end
      end)
   end
end)
