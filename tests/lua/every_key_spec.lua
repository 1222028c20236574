-- SPDX-License-Identifier: BSD-3-Clause

-- A result of every method with one key damaged, at every depth: what reads results refuses it with the file,
-- the key and status 2, or makes of it what it makes of any result. In the long tests that is each key and
-- each kind of damage, elsewhere a sample, always the same one.
local ansi = require "framegauge.text.ansi"
local beside = require "framegauge.report.beside"
local beside_page = require "framegauge.report.html.beside"
local compare = require "framegauge.report.compare"
local compare_page = require "framegauge.report.html.compare"
local failure = require "framegauge.core.failure"
local fixture = require "fixture"
local Index = require "framegauge.history.index"
local json = require "framegauge.text.json"
local methods = require "framegauge.methods"
local report = require "framegauge.report"
local result_page = require "framegauge.cli.result_page"
local scratch = require "scratch"
local small_runs = require "small_runs"
local tables = require "framegauge.core.tables"
local uv = require "luv"

local SAMPLE = tonumber(os.getenv "FG_SAMPLE") or 20 -- damages of a method
local PLAIN = ansi.new(false)
local LONG = os.getenv "FRAMEGAUGE_LONG" ~= nil

local GONE = {}
local DAMAGES = { GONE, json.null, "x", 7, -1, 0.5, 1e300, true, {}, { 7 }, { x = 7 } }

-- The places in a value: list of lists of keys. Of a list its first and its last item stand for all.
local function places(value, path, list)
   local keys = {}
   for key in pairs(value) do
      keys[#keys + 1] = (type(key) ~= "number" or key == 1 or key == #value) and key or nil
   end
   table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
   for _, key in ipairs(keys) do
      local place = tables.joined(path, { key })
      list[#list + 1] = place
      if type(value[key]) == "table" then
         places(value[key], place, list)
      end
   end
   return list
end

local function damaged(text, place, damage)
   local result = json.decode(text)
   local at = result
   for i = 1, #place - 1 do
      at = at[place[i]]
   end
   if type(place[#place]) == "number" and damage == GONE then
      table.remove(at, place[#place])
   else
      at[place[#place]] = damage ~= GONE and damage or nil
   end
   return json.encode(result)
end

-- All that is made of results, by commands and by the page.
local USES = {
   function(folder) return report.text(report.write(folder, true)) end,
   function(folder, whole)
      for _, sides in ipairs { { folder, whole }, { whole, folder } } do
         local found, before, after = compare.folders({ sides[1] }, { sides[2] })
         json.encode(found, { pretty = true })
         compare.text(found, true, PLAIN)
         compare_page(found, result_page.runs(before.results, before.folders),
            result_page.runs(after.results, after.folders))
      end
   end,
   function(folder, whole)
      local runs, paths = compare.read({ folder, whole }, "report")
      beside.text(runs, paths, PLAIN)
      beside_page(result_page.runs(runs, paths))
   end,
   function(_, _, root)
      local index = Index.open(root, { again = true })
      local problem = index:problems()[1]
      index:close()
      if problem then
         error(problem.problem, 0)
      end
   end,
}

-- An error names file and key, or says what else keeps the result from being read; else it is the program's.
local function is_refusal(err, folder)
   local text = tostring(err)
   return type(err) == "table" and err.status == 2 and text:find(folder, 1, true) and (
      text:find("/result.json is damaged: %l[%w_%.%[%] -]*: ") or text:find "is not the result of a run"
      or text:find "of its schema, this program reads" or text:find "there is nothing to compare")
end

describe("a result with a damaged key", function()
   teardown(scratch.remove)

   for _, name in ipairs(methods.names()) do
      it("is refused by its key, or read: " .. name, function()
         local whole = fixture.run(small_runs.of(name))
         local text, root = scratch.read(whole .. "/result.json"), scratch.path()
         local folder, wrong = root .. "/run", {}
         uv.fs_mkdir(root, 448)
         uv.fs_mkdir(folder, 448)
         local all = places(json.decode(text), {}, {})
         local number, read, refused = #all * #DAMAGES, 0, 0
         local step = LONG and 1 or math.max(1, number / SAMPLE)
         for i = 0, number - 1, step do
            i = math.floor(i)
            local place, damage = all[math.floor(i / #DAMAGES) + 1], DAMAGES[i % #DAMAGES + 1]
            scratch.write(folder .. "/result.json", damaged(text, place, damage))
            local done, err = xpcall(report.read, failure.keep_stack, folder)
            for _, use in ipairs(done and USES or {}) do
               done, err = xpcall(use, failure.keep_stack, folder, whole, root)
               if not done then
                  break
               end
            end
            read, refused = read + (done and 1 or 0), refused + (done and 0 or 1)
            if not done and not is_refusal(err, folder) then
               wrong[#wrong + 1] = ("%s = %s: %s"):format(table.concat(tables.map(place, tostring), "."),
                  damage == GONE and "gone" or json.encode(damage), tostring(err))
            end
         end
         assert.equal("", table.concat(wrong, "\n", 1, math.min(#wrong, 40)))
         assert.is_true(read > 0 and refused > 0, ("%d read, %d refused"):format(read, refused))
      end)
   end
end)
