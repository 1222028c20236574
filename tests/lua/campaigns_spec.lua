-- SPDX-License-Identifier: BSD-3-Clause

-- Random devices for each method, none of whose figures is wrong: a long test.
--
-- FRAMEGAUGE_DRAWS=1000 in the environment draws as many of each; FRAMEGAUGE_SEED another sequence of them.
local campaigns = require "campaigns"
local late_frames = require "late_frames"

describe("random devices", function()
   for method in pairs(campaigns.METHODS) do
      it("have the figures that " .. method .. " must find", function()
         local wrong, figures = campaigns.play(method, late_frames.count())
         assert.same({}, wrong)
         assert.is_true(figures > 0)
      end)
   end
end)
