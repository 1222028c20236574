-- SPDX-License-Identifier: BSD-3-Clause
local bounded = require("framegauge.core.bounded_pattern").BOUNDED

-- All results of a call, or that it failed.
local function results(fn, ...)
   local list = { pcall(fn, ...) }
   if not list[1] then
      list = { false }
   end
   return list
end

local function all_of(iterator, ...)
   local ok, list = pcall(function(...)
      local found = {}
      for a, b in iterator(...) do
         found[#found + 1] = { a, b }
      end
      return found
   end, ...)
   return ok and list or false
end

describe("bounded patterns", function()
   local PARTS = {
      "a", "b", ".", "%a", "%d", "[ab]", "[^a%s]", "[a-c]", "(", ")", "()", "a*", "b+", ".-", "a?", "%1",
      "%bab", "%f[a]", "$", "^", "%", "[", "%s*", "(.-)", "(a*)", "%.", "]", "-", "[]]", "[%]]", "%z", "\\0",
   }

   it("do what the library does", function()
      local seed = 1
      local function draw(n)
         seed = (seed * 16807) % 2147483647
         return seed % n + 1
      end
      local matched = 0
      for _ = 1, 3000 do
         local pattern, text = {}, {}
         for i = 1, draw(5) do pattern[i] = PARTS[draw(#PARTS)] end
         for i = 1, draw(9) - 1 do text[i] = ("ab c.1]"):sub(draw(7)):sub(1, 1) end
         pattern, text = table.concat(pattern), table.concat(text)
         local shown = ("%q in %q"):format(pattern, text)
         local init = draw(14) - 5
         local expected = results(string.find, text, pattern, init)
         matched = matched + (expected[2] and 1 or 0)
         assert.same(expected, results(bounded.find, text, pattern, init), shown)
         assert.same(results(string.match, text, pattern), results(bounded.match, text, pattern), shown)
         assert.same(all_of(string.gmatch, text, pattern), all_of(bounded.gmatch, text, pattern), shown)
         local function seven(a)
            return a == "a" and 7 or nil
         end
         for _, with in ipairs { "<%0>", { a = "x", b = false }, seven } do
            assert.same(results(string.gsub, text, pattern, with, draw(4)),
               results(bounded.gsub, text, pattern, with, seed % 4 + 1), shown)
         end
      end
      assert.is_true(matched > 300, matched)
   end)

   it("end, whatever they are asked", function()
      local text, pattern = ("a"):rep(40), ("a*"):rep(25) .. "b"
      for _, fn in pairs(bounded) do
         local ok, why = pcall(function()
            local next = fn(text, pattern, fn == bounded.gsub and "" or nil)
            return type(next) == "function" and next()
         end)
         assert.is_false(ok)
         assert.matches("the pattern took more than %d+ steps", why)
      end
   end)
end)
