-- SPDX-License-Identifier: BSD-3-Clause

-- Every method of the registry through the tools that read its rows: check, dry run, resume, report, criteria
-- on each figure of each test, and a comparison with itself and with a worse device. The runs come from
-- report_cells_spec, too.
local compare = require "framegauge.report.compare"
local criteria = require "framegauge.methods.common.criteria"
local figures = require "framegauge.methods.common.figures"
local fixture = require "fixture"
local interrupted = require "interrupted"
local methods = require "framegauge.methods"
local report = require "framegauge.report"
local results = require "framegauge.report.result"
local rows = require "framegauge.text.rows"
local scratch = require "scratch"
local small_runs = require "small_runs"
local tables = require "framegauge.core.tables"
local uv = require "luv"

-- A value of a figure as a criterion has it, by the end of its key.
local WRITTEN = {
   _ns = "%.17gns", _s = "%.17gs", _fps = "%.17gfps", _mbps = "%.17gMbps", _bps = "%.17gbps",
   _percent = "%.17g%%", _ppm = "%.17gppm", _bytes = "%.0f", _octets = "%.0f",
}

local function written(figure, value)
   if figure.unit == "_ratio" then
      return ("%.17g%%"):format(value * 100)
   end
   return (WRITTEN[figure.unit] or "%.17g"):format(value)
end

-- The worst value of the rows of several tables that count by themselves; nil where one of them should have
-- it and does not.
local function worst_of(figure, list)
   local worst
   for _, one in ipairs(list) do
      local has_it = tables.find(figures.criteria(one.record), "key", figure.key)
      for _, line in ipairs(has_it and one.lines or {}) do
         local counts = line.validity == "valid" and not line.modifier
         local value = counts and figure.of(line, one.plan)
         if counts and value == nil and not figure.optional then
            return nil
         elseif value and (not worst or (value < worst) == (figure.better == ">=")) then
            worst = value
         end
      end
   end
   return worst
end

local function tables_of(result)
   return tables.map(results.tables(result.plan.test, result.results), function(one)
      return setmetatable({ plan = result.plan }, { __index = one })
   end)
end

-- The side on which a criterion asks for a figure: any, where neither is better.
local function side_of(figure)
   return figure.better == "either" and "<=" or figure.better
end

-- Hold a figure against a limit that its worst row reaches, and against one that it does not.
-- @param at  row or table that it is about
local function hold(result, at, figure, worst)
   local function met(value)
      local text = figure.key .. side_of(figure) .. written(figure, value) .. at
      local found = criteria.evaluate(assert(criteria.parse(text, result.plan)), result.plan, result.results,
         true)
      assert.is_true(found.met ~= nil or found.reason ~= nil, text)
      return found.met, text
   end
   local more = figure.better == ">="
   local reached, text = met(math.max(0, math.floor(more and worst * 0.999 or worst * 1.001 + 1)))
   assert.is_true(reached ~= false, text)
   local short
   if more or worst >= 1 then
      short, text = met(math.ceil(more and worst * 2 + 1 or 0))
      assert.is_false(short, text)
   end
   return reached
end

-- The result as a worse device would have it: each figure that is compared, far on its bad side. Nothing is
-- known of the uncertainty of either.
local function worsened(result, factor)
   local count = 0
   for _, one in ipairs(tables_of(result)) do
      for _, line in ipairs(one.lines) do
         line.uncertainty = nil
         for _, figure in ipairs(figures.compared(one.record)) do
            local value = figure.of(line)
            local side = figure.better == ">=" and value ~= 0 or figure.better == "<="
            if value and side and line.validity == "valid" then
               local bad = figure.better == ">=" and value / factor
                  or figure.unit == "_ratio" and (factor > 1 and value < 0.5 and 1 or value)
                  or math.abs(value) * factor + (factor - 1) * 1e6
               local view = getmetatable(line) -- of a row, with the row around it
               local place, key = view and view.__index or line, figure.path
               for part, rest in figure.path:gmatch "([^.]+)%.()" do
                  place, key = place[part], figure.path:sub(rest)
               end
               count = count + (bad ~= value and 1 or 0)
               place[key] = bad
            end
         end
      end
   end
   return count
end

-- Figures that are worth as much as the number of frames, pairs or transactions behind them.
local STATISTICS = { "mean_ns$", "_p%d+_ns$", "_stddev_ns$", "loss_ratio$", "jitter.*_ns$",
   "latency_typical_ns$", "latency_worst_case_ns$", "pdv_ns$" }

-- Methods whose rows name the trial that counted.
local COUNTED = { rfc2544 = true, rfc2889 = true, traffic = true, mesh = true }

local function is_statistic(figure)
   for _, pattern in ipairs(figure.path and figures.is_device(figure) and STATISTICS or {}) do
      if figure.key:find(pattern) then
         return true
      end
   end
   return false
end

-- What the trials of a row counted, in all and each way: set of numbers.
local function counted(result, line)
   local known = {}
   for _, key in ipairs { "trial", "lower_trial" } do
      local trial = result.trials[type(line[key]) == "number" and line[key] or 0] or {}
      local together = {}
      for _, one in ipairs(trial.directions and tables.joined({ trial }, trial.directions) or {}) do
         known.some = true
         together[one.tx] = (together[one.tx] or 0) + one.tx
         known[together[one.tx]] = true -- copies of several receivers
         known[one.tx or false], known[one.rx or false] = true, true
         known[type(one.latency) == "table" and one.latency.count or false] = true
      end
   end
   return known
end

local function program(...)
   return scratch.shell(("'%s' %s 2>&1"):format(uv.exepath(), table.concat({ ... }, " ")))
end

-- Trials of a run, and how long their load took in all, in seconds.
local function trials_of(path)
   local made, took = 0, 0
   for line in io.lines(path .. "/trials.jsonl") do
      made, took = made + 1, took + (tonumber(line:match '"duration_s": *([%d.e+-]+)') or 0)
   end
   return made, took
end

-- How many trials are done when a run is killed: all but the last, half of them, and in the long tests every
-- number there is.
local function ends_of(made)
   if not os.getenv "FRAMEGAUGE_LONG" then
      return made > 1 and { made - 1, math.floor(made / 2) } or { 0 }
   end
   local list = {}
   for done = made - 1, 0, -1 do
      list[#list + 1] = done
   end
   return list
end

-- What is said to lie ahead: "about ", "at most " or "", trials, seconds. Of a range its end.
local function estimate(output)
   output = output:gsub("Estimate: [%d,]+ trials %([%d,]+ to ([%d,]+)%) in [%d:]+ %([%d:]+ to ([%d:]+)%)",
      "Estimate: at most %1 trials in %2")
   local bound, trials, clock = output:match "\nEstimate: ([a-z ]*)([%d,]+) trials? [^\n]-in ([%d:]+)"
   assert.is_truthy(bound, output)
   local seconds = 0
   for part in clock:gmatch "%d+" do
      seconds = seconds * 60 + tonumber(part)
   end
   return bound, tonumber((trials:gsub(",", ""))), seconds
end

describe("every tool, given", function()
   teardown(scratch.remove)

   for _, name in ipairs(methods.names()) do
      local plan, options = small_runs.of(name)
      local file = ("'%sconfigs/%s-reference.yaml'"):format(scratch.PROJECT, plan)

      it(name .. ", checks its plan, and says what lies ahead", function()
         local made, took = trials_of(fixture.run(plan, options))
         for _, command in ipairs { "check", "run --dry-run" } do
            local output, status = program(command, file, options)
            assert.equal(0, status, output)
            local bound, trials, seconds = estimate(output)
            local heading = output:match ", ([a-z ]*[%d,]+ trials?) and [^\n]* of the tester's time"
            assert.is_true(command == "check" or name == "rfc2544"
               or output:find(("Estimate: %s in "):format(heading), 1, true) ~= nil, output)
            assert.is_nil(output:find "%f[%w]1 %a+ of [^\n]- each")
            if bound == "" then
               assert.equal(trials, made)
            end
            local factor = bound == "about " and 2 or 1
            assert.is_true(made <= trials * factor and took <= seconds * factor + 1,
               ("%d trials of %g s: %s"):format(made, took, output))
            assert.is_true(bound ~= "about " or made >= trials / factor, made .. " trials: " .. output)
         end
         for _, command in ipairs { "check", "run --dry-run" } do
            local output, status = program(command, file, options, "--expect 'nonsense>=1'")
            assert.equal(2, status, output)
            assert.matches("there is no figure 'nonsense'", output, 1, true)
         end
      end)

      it(name .. ", leaves what it would have left, wherever it is killed", function()
         local path = fixture.run(plan, options)
         for _, done in ipairs(ends_of(trials_of(path))) do
            local half = interrupted(path, done) -- all earlier ones are asked for again
            local output, status = program("run --resume", ("'%s'"):format(half))
            assert.is_true(status == 0, output)
            for _, kept in ipairs { "result.json", "trials.jsonl" } do
               assert.is_true(scratch.read(path .. "/" .. kept) == scratch.read(half .. "/" .. kept),
                  ("%s, after trial %d"):format(kept, done))
            end
            scratch.shell(("rm -r '%s'"):format(half))
         end
      end)

      it(name .. ", reads what it wrote, and leaves the same report", function()
         local path, copy = fixture.run(plan, options), scratch.path()
         scratch.shell(("cp -r '%s' '%s'"):format(path, copy))
         for _, words in ipairs { ("report '%s'"):format(copy), ("compare '%s' '%s'"):format(path, copy) } do
            local output, status = program(words)
            assert.equal(0, status, output)
         end
         assert.equal("", (scratch.shell(("diff -rq '%s' '%s'"):format(path, copy))))
      end)

      it(name .. ", decides criteria on a figure of each of its tests", function()
         local result = report.read((fixture.run(plan, options)))
         local all, tests = tables_of(result), result.plan[name].tests or {}
         for _, one in ipairs(all) do
            local asked, decided = 0, 0
            local is_test = tables.contains(tests, one.name)
            for _, figure in ipairs(figures.criteria(one.record)) do
               local worst = figure.path and worst_of(figure, is_test and { one } or all)
               if worst and worst >= 0 then
                  asked = asked + 1
                  local met = hold(result, is_test and "@" .. one.name or "", figure, worst)
                  decided = decided + (met and 1 or 0)
               end
            end
            assert.is_true(asked == 0 or decided > 0, one.name)
         end
      end)

      it(name .. ", refuses a criterion on a direction that no row has", function()
         local result = report.read((fixture.run(plan, options)))
         local ports = tables.field(result.plan.ports, "name")
         local asked = { "both" }
         for _, from in ipairs(ports) do
            for _, to in ipairs(ports) do
               asked[#asked + 1] = from .. "->" .. to
            end
         end
         for _, one in ipairs(tables_of(result)) do
            local figure = one.record.by_key.direction and figures.criteria(one.record)[1]
            for _, direction in ipairs(figure and one.lines[1] and asked or {}) do
               local text = ("%s%s%s@%s%s"):format(figure.key, side_of(figure), written(figure, 1), direction,
                  one.asked == "test" and "@" .. one.name or "")
               local about = tables.find(one.lines, "direction", direction)
               local criterion = criteria.parse(text, result.plan)
               assert.equal(about ~= nil, criterion ~= nil and criterion.of[one.name] ~= nil,
                  ("%s: %s"):format(one.name, text))
            end
         end
      end)

      it(name .. ", lets a row without figures fall short where no load passed or nothing arrived", function()
         local result = report.read((fixture.run(plan, options)))
         for _, one in ipairs(tables_of(result)) do
            local passes = tables.find(one.record.rows, "sought", true) == nil
            for _, figure in ipairs(one.lines[1] and figures.criteria(one.record) or {}) do
               local text = figure.key .. side_of(figure) .. written(figure, 1)
                  .. (one.asked == "test" and "@" .. one.name or "")
               local function short(rx)
                  return criteria.short_of({ plan = result.plan, expectations = { { text = text } } }, one,
                     { validity = "valid", tx = 1, rx = rx })
               end
               if figure.path and assert(criteria.parse(text, result.plan)).of[one.name] then
                  assert.equal(text, short(0))
                  assert.equal(not passes and text or nil, short(1))
               end
            end
         end
      end)

      it(name .. ", says on how many frames each statistic rests", function()
         local result = report.read((fixture.run(plan, options)))
         local seen = 0
         for _, one in ipairs(tables_of(result)) do
            for _, figure in ipairs(figures.all(one.record)) do
               local n = is_statistic(figure) and rows.n_of(one.record, figure.path)
               assert.is_true(n ~= nil, one.name .. " " .. figure.key)
               for _, line in ipairs(n and one.lines or {}) do
                  local count = figure.of(line) and rows.value(line, n)
                  assert.is_true(not figure.of(line) or type(count) == "number" and count > 0
                     and count % 1 == 0, one.name .. " " .. figure.key)
                  local known = counted(result, line)
                  if count and known.some and (n == "tx" or n:find "latency.count$") then
                     assert.is_true(known[count], ("%s %s: %d"):format(one.name, n, count))
                     seen = seen + 1
                  end
               end
            end
         end
         assert.is_true(seen > 0 or not COUNTED[name], name)
      end)

      it(name .. ", finds it the same as itself, and a worse device worse", function()
         local path = fixture.run(plan, options)
         local same, old, new = compare.folders(path, path)
         local before, after = old.results[1], new.results[1]
         assert.equal(0, same.worse)
         assert.is_true(same.judged > 0)
         worsened(before, 1)
         local count = worsened(after, 3)
         assert.is_true(count > 0)
         assert.equal(count, compare.of(before, after).worse)
         local better = compare.of(after, before)
         assert.same({ 0, count }, { better.worse, compare.counts(better)[compare.BETTER] })
      end)
   end
end)
