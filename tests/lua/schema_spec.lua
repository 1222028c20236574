-- SPDX-License-Identifier: BSD-3-Clause
local problems = require "framegauge.plan.problems"
local schema = require "framegauge.plan.schema"
local yaml = require "framegauge.yaml"

-- The values of a text by a group of rows, and its problems as one text.
local function read(fields, text)
   local found = problems.new "x.yaml"
   local values = schema.read({ type = "group", fields = fields }, yaml.parse(text, "x.yaml"), found)
   local lines = {}
   for i, problem in ipairs(found:sorted()) do
      lines[i] = tostring(problem)
   end
   return values, table.concat(lines, "\n")
end

describe("plan.schema", function()
   it("reads values by the type of their row", function()
      local values, wrong = read({
         { key = "s", type = "string" }, { key = "b", type = "boolean" }, { key = "i", type = "integer" },
         { key = "t", type = "time" }, { key = "e", type = "enum", values = { "one", "two" } },
         { key = "l", type = "list", of = { type = "size" } },
         { key = "m", type = "map", name = "name", names = {}, of = {
            type = "group", fields = { { key = "n", type = "number" } },
         } },
      }, "{s: text, b: false, i: 7, t: 5ms, e: two, l: [64, 1KiB], m: {z: {n: 1.5}, a: {n: 2}}}")
      assert.equal("", wrong)
      assert.same({
         s = "text", b = false, i = 7, t = 0.005, e = "two", l = { 64, 1024 },
         m = { { name = "z", n = 1.5 }, { name = "a", n = 2 } },
      }, values)
   end)

   it("fills in what was left out, groups and all", function()
      local values, wrong = read({
         { key = "a", type = "boolean", default = "false" },
         { key = "g", type = "group", fields = { { key = "t", type = "time", default = "2s" } } },
         { key = "o", type = "group", optional = true, fields = {} },
         { key = "l", type = "list", of = { type = "size" }, default = { "64", "128" } },
      }, "{}")
      assert.equal("", wrong)
      assert.same({ a = false, g = { t = 2 }, l = { 64, 128 } }, values)
   end)

   it("takes a single value for a group that has a short form", function()
      local fields = {
         { key = "l", type = "list", of = { type = "group", short = "name", expected = "a thing", fields = {
            { key = "name", type = "string" }, { key = "n", type = "integer", default = "7" },
         } } },
      }
      local values, wrong = read(fields, "l: [a, {name: b, n: 8}]")
      assert.equal("", wrong)
      assert.same({ l = { { name = "a", n = 7 }, { name = "b", n = 8 } } }, values)
      assert.same({ l = { { name = "a", n = 7 } } }, (read(fields, "l: a")))
      wrong = select(2, read(fields, "l: [{nmae: a}, [b]]"))
      assert.equal("x.yaml:1:6: l[1].nmae: unknown key; expected name\n"
         .. "x.yaml:1:16: l[2]: a list cannot stand here; expected a group of keys: name, n", wrong)
   end)

   it("takes a single value for a list of one", function()
      assert.same({ l = { 64 } }, (read({ { key = "l", type = "list", of = { type = "size" } } }, "l: 64")))
   end)

   it("reports every problem, in the order of the file", function()
      local _, wrong = read({
         { key = "time", type = "time", min = "1s", max = "1h" }, { key = "size", type = "size" },
         { key = "must", type = "boolean", required = true },
      }, "size: 5s\ntime: 7h\ntimes: 1s\n")
      assert.equal(table.concat({
         "x.yaml:1:1: must: missing; expected true or false",
         'x.yaml:1:7: size: "5s" is not a number of bytes; expected a number of bytes, such as 64 or 2GiB',
         'x.yaml:2:7: time: "7h" is out of range; expected 1s to 1h',
         "x.yaml:3:1: times: unknown key; expected time",
      }, "\n"), wrong)
   end)

   it("names the place of a key that belongs elsewhere, and all keys where nothing is near", function()
      local fields = { { key = "one", type = "size" },
         { key = "two", type = "group", fields = { { key = "sizes", type = "size" } } } }
      local _, wrong = read(fields, "sizes: 1\nzzz: 1\n")
      assert.equal("x.yaml:1:1: sizes: unknown key; expected it at two.sizes\n"
         .. "x.yaml:2:1: zzz: unknown key; expected one, two", wrong)
   end)

   it("says what stands where something else belongs", function()
      local fields = { { key = "g", type = "group", fields = { { key = "k", type = "size" } } },
         { key = "s", type = "size" }, { key = "l", type = "list", of = { type = "size" }, least = 1 } }
      local _, wrong = read(fields, "g: [1]\ns: {a: 1}\nl: []\n")
      assert.equal("x.yaml:1:4: g: a list cannot stand here; expected a group of keys: k\n"
         .. "x.yaml:2:4: s: a group of keys cannot stand here; expected a number of bytes, such as 64 or 2GiB\n"
         .. "x.yaml:3:4: l: 0 given; expected at least 1", wrong)
      _, wrong = read(fields, "g:\ns:\nl:\n")
      assert.equal(3, select(2, wrong:gsub(": no value; expected ", "")))
   end)

   it("shows no control character and no endless text of a user", function()
      local _, wrong = read({ { key = "b", type = "boolean" } }, '{b: "\\e[31m' .. ("x"):rep(500) .. '"}')
      assert.is_nil(wrong:find("\27", 1, true))
      assert.is_true(#wrong < 200)
   end)
end)
