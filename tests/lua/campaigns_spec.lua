-- SPDX-License-Identifier: BSD-3-Clause

-- Random devices for each method, none of whose figures is wrong: a long test.
--
-- FRAMEGAUGE_DRAWS=1000 in the environment draws as many of each; FRAMEGAUGE_SEED another sequence of them.
local campaigns = require "campaigns"
local late_frames = require "late_frames"

-- The figures of the smallest device that each method draws.
local LEAST = { convergence = 22, mesh = 8, oam = 50, rfc2544 = 27, replay = 7, rfc2889 = 38, rfc3918 = 7,
   rfc8239 = 9, rfc9411 = 1, rfc9693 = 1, pauses = 9, traffic = 8, y1564 = 41 }

describe("random devices", function()
   for method in pairs(campaigns.METHODS) do
      it("have the figures that " .. method .. " must find", function()
         local devices = late_frames.count()
         local wrong, figures = campaigns.play(method, devices)
         assert.same({}, wrong)
         assert.is_true(figures >= LEAST[method] * devices, ("%d figures"):format(figures))
      end)
   end
end)
