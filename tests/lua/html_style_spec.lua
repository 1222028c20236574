-- SPDX-License-Identifier: BSD-3-Clause
local style = require "framegauge.report.html.style"

describe("the style sheet", function()
   local function luminance(colour)
      local sum = 0
      for i, weight in ipairs { 0.2126, 0.7152, 0.0722 } do
         local value = tonumber(colour:sub(2 * i - 1, 2 * i), 16) / 255
         sum = sum + weight * (value <= 0.04045 and value / 12.92 or ((value + 0.055) / 1.055) ^ 2.4)
      end
      return sum
   end

   local function contrast(one, other)
      local a, b = luminance(one), luminance(other)
      return (math.max(a, b) + 0.05) / (math.min(a, b) + 0.05)
   end

   local function colours(root)
      local list = {}
      for name, colour in root:gmatch "%-%-(%w+):#(%x+)" do
         list[name] = #colour == 3 and colour:gsub("%x", "%0%0") or colour
      end
      return list
   end

   it("has the contrast of WCAG AA, light and dark", function()
      for root in style:gmatch ":root(%b{})" do
         local c = colours(root)
         for _, name in ipairs { "text", "muted", "accent", "good", "warning", "bad", "s1", "s8" } do
            assert.is_true(contrast(c[name], c.page) >= 4.5, name)
         end
         assert.is_true(contrast(c.good, c.goodback) >= 4.5 and contrast(c.text, c.goodback) >= 4.5)
         assert.is_true(contrast(c.warning, c.warnback) >= 4.5 and contrast(c.bad, c.badback) >= 4.5)
         for i = 1, 8 do
            assert.is_true(contrast(c["s" .. i], c.page) >= 3, "s" .. i)
         end
      end
   end)
end)
