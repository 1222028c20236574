-- SPDX-License-Identifier: BSD-3-Clause

-- The flood ping of configs/: as many echo requests and replies as the line takes, and the loss that follows
-- from what the device forwards.
local json = require "framegauge.text.json"
local scratch = require "scratch"
local uv = require "luv"

local CONFIG = scratch.PROJECT .. "configs/flood-ping-reference.yaml"
local OVERHEAD = 20 -- bytes of preamble and gap
local CAPACITY, BUFFER, SECONDS = 900e3, 512, 0.2

local function command(...)
   local output, status = scratch.shell(("'%s' '%s' 2>&1"):format(uv.exepath(), table.concat({ ... }, "' '")))
   assert.equal(0, status, output)
   return output
end

local function run(size)
   local path = scratch.path()
   command("run", CONFIG, "--out", path, "--set", "traffic.duration=200ms",
      "--set", "streams.request.size=" .. size, "--set", "streams.reply.size=" .. size)
   return json.decode(scratch.read(path .. "/result.json")).results.traffic
end

describe("a flood ping", function()
   teardown(scratch.remove)

   it("sends what the line takes, and loses what the device does not forward", function()
      for _, size in ipairs { 64, 102, 1518 } do
         local theoretical = 1e9 / (8 * (size + OVERHEAD))
         local sent = theoretical * SECONDS
         local lost = math.max(0, sent - CAPACITY * SECONDS)
         local rows = run(size)
         assert.equal(2, #rows)
         for _, row in ipairs(rows) do
            assert.equal("valid", row.validity)
            assert.near(theoretical, row.intended_fps, 1e-6 * theoretical)
            assert.near(sent, row.tx, 1)
            assert.is_true(row.lost <= lost + 2)
            assert.is_true(row.lost >= lost - BUFFER - 2)
            assert.equal(row.tx, row.rx + row.lost)
         end
      end
   end)

   it("is of echo requests and replies", function()
      local frames = command("frames", CONFIG, "--count", "1")
      assert.matches("request: east%->west.-icmp +type request  code 0", frames)
      assert.matches("reply: west%->east.-icmp +type reply  code 0", frames)
   end)
end)
