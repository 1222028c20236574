-- SPDX-License-Identifier: BSD-3-Clause

-- Commands in a shell's words: a shell reads what was meant.
local scratch = require "scratch"
local shell = require "framegauge.core.shell"

describe("a command", function()
   it("has the words it was made of", function()
      local words = { "/opt/my tester/fg", "run", "user's.yaml", "l4.tests=[TCP_CC]", "", "$HOME", "`id`", "a\\b",
         "~", "*", '"', ";", "a\nb", "#", "--set" }
      local said = scratch.shell("printf '<%s>' " .. shell.command(words))
      assert.equal("<" .. table.concat(words, "><") .. ">", said)
   end)

   it("has quotes only where they are needed", function()
      assert.equal("build/app/framegauge run lab.yaml --set streams.s.rate=10% 'a b'",
         shell.command { "build/app/framegauge", "run", "lab.yaml", "--set", "streams.s.rate=10%", "a b" })
   end)
end)
