-- SPDX-License-Identifier: BSD-3-Clause

--- Base64 (RFC 4648, section 4).
local bit = require "bit"

local DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

-- One to three bytes as four characters.
local function four(bytes)
   local a, b, c = bytes:byte(1, 3)
   local bits, out = a * 65536 + (b or 0) * 256 + (c or 0), ""
   for shift = 18, 0, -6 do
      local digit = bit.band(bit.rshift(bits, shift), 63) + 1
      out = out .. DIGITS:sub(digit, digit)
   end
   return out:sub(1, #bytes + 1) .. ("="):rep(3 - #bytes)
end

--- The text of bytes.
return function(bytes)
   return (bytes:gsub("..?.?", four))
end
