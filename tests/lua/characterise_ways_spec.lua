-- SPDX-License-Identifier: BSD-3-Clause

-- Both directions of a device overloaded at once, beside what each lost alone.
local json = require "framegauge.text.json"
local scratch = require "scratch"
local uv = require "luv"

local CONFIG = scratch.PROJECT .. "configs/characterise-reference.yaml"

describe("both ways at once", function()
   teardown(scratch.remove)

   it("are independent where one recovers from overloads and the other loses nothing", function()
      local folder = scratch.path()
      local output, status = scratch.shell(("'%s' characterise '%s' --quick --set '%s' --out '%s' 2>&1"):format(
         uv.exepath(), CONFIG,
         "reference_device={rate: 1Gbps, capacity: 500kfps, buffer: 64, recovery: 40ms, reverse: {capacity: 3Mfps, recovery: 0s}}",
         folder))
      assert.equal(0, status, output)
      local rows = json.decode(scratch.read(folder .. "/result.json")).results.characterisation
      assert.is_true(rows[1].recovery.min_ns > 0)
      assert.equal("line", rows[2].limit)
      assert.equal("independent", rows[1].both_ways)
   end)
end)
