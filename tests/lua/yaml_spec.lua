-- SPDX-License-Identifier: BSD-3-Clause
local yaml = require "framegauge.yaml"

-- The place and message of what is wrong with a text.
local function wrong(text)
   local node, err = yaml.parse(text, "x.yaml")
   assert.is_nil(node, text)
   assert.equal("x.yaml", err.file)
   return ("%d:%d: %s"):format(err.line, err.column, err.message)
end

describe("framegauge.yaml", function()
   it("keeps order and places, and leaves values as text", function()
      local root = yaml.parse "b: {x: 'yes', y: 010}\na: [1,\n  2]\n"
      assert.same({
         kind = "map", line = 1, column = 1, entries = {
            {
               key = "b", kind = "key", line = 1, column = 1,
               value = {
                  kind = "map", line = 1, column = 4, entries = {
                     { key = "x", kind = "key", line = 1, column = 5,
                       value = { kind = "scalar", line = 1, column = 8, value = "yes", quoted = true } },
                     { key = "y", kind = "key", line = 1, column = 15,
                       value = { kind = "scalar", line = 1, column = 18, value = "010", quoted = false } },
                  },
               },
            },
            {
               key = "a", kind = "key", line = 2, column = 1,
               value = {
                  kind = "list", line = 2, column = 4, items = {
                     { kind = "scalar", line = 2, column = 5, value = "1", quoted = false },
                     { kind = "scalar", line = 3, column = 3, value = "2", quoted = false },
                  },
               },
            },
         },
      }, root)
   end)

   it("counts columns in characters", function()
      assert.equal(9, yaml.parse("{µs: 1, b: 2}").entries[2].column)
   end)

   it("refuses what a plan has no use for", function()
      assert.equal('2:1: the key "a" is already there in line 1', wrong "a: 1\na: 2")
      assert.matches("^1:4: an anchor", wrong "a: &x 1")
      assert.matches("^1:4: an alias", wrong "a: *x")
      assert.matches("^1:4: a tag", wrong "a: !!int 1")
      assert.matches("^1:3: a key must be plain text", wrong "? [x]\n: 1")
      assert.matches("^2:1: a second document", wrong "--- 1\n--- 2\n")
      assert.matches("^1:1: a key is missing", wrong "'': 1")
      assert.matches("^%d+:1: empty", wrong "")
      assert.matches("^%d+:1: empty", wrong "# nothing\n")
      assert.matches("^%d+:1: empty", wrong "---\n")
   end)

   it("says where a syntax error is, in words", function()
      assert.matches("^2:1: .*tabs", wrong "a:\n\tb: 1\n")
      assert.matches("^3:2: .*indentation", wrong "a:\n  b: 1\n c: 2\n")
      assert.matches("^2:4: this list is not closed", wrong "b: 1\na: [1, 2\n")
      assert.matches("^1:4: this quoted text is not closed", wrong "a: 'x\n")
      assert.matches("^2:1: a key without its ':'", wrong "a: 1\nb\n")
   end)

   it("refuses what is no text", function()
      assert.matches("^2:4: not UTF%-8", wrong "a: 1\nb: \255\n")
      assert.matches("^1:4: not UTF%-8", wrong "\195\169: \255\n") -- two bytes, one character
      assert.matches("^1:4: a control character", wrong "a: \0\n")
      assert.matches("^1:1: not UTF%-8", wrong "\255\254a\0:\0")
   end)

   it("bounds depth and size", function()
      assert.is_table(yaml.parse(("["):rep(32) .. ("]"):rep(32)))
      assert.matches("^1:33: nested more than 32", wrong(("["):rep(33)))
      assert.matches("^1:33: nested more than 32", wrong(("["):rep(1000000)))
      assert.is_table(yaml.parse("a: " .. ("x"):rep(1024 * 1024 - 3)))
      assert.matches("^1:1: larger than 1 MiB", wrong("a: " .. ("x"):rep(1024 * 1024)))
   end)

   it("takes a byte order mark", function()
      assert.equal("a", yaml.parse("\239\187\191a: 1").entries[1].key)
   end)
end)
