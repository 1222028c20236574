-- SPDX-License-Identifier: BSD-3-Clause

--- Text from elsewhere, such as a result that somebody sent or a path, as it may be printed.
--
-- A terminal obeys control characters: a text with them can change colours and the title, or what stands
-- there already. Line ends and tabs are left. In UTF-8 the controls U+0080 to U+009F have two bytes. A
-- terminal that knows scripts from right to left obeys U+061C, U+200E, U+200F, U+202A to U+202E and U+2066 to
-- U+2069, too: they let a text read as another one.
local M = {}

--- @return the text, with "?" in place of control characters
function M.text(text)
   text = text:gsub("[%z\1-\8\11-\31\127]", "?"):gsub("\194[\128-\159]", "?")
   return (text:gsub("\216\156", "?"):gsub("\226\128[\142\143\170-\174]", "?"):gsub("\226\129[\166-\169]", "?"))
end

--- A value that was read as JSON: all its texts and keys, in place.
function M.value(value)
   if type(value) == "string" then
      return M.text(value)
   elseif type(value) ~= "table" then
      return value
   end
   local renamed = {}
   for key, item in pairs(value) do
      value[key] = M.value(item)
      renamed[#renamed + 1] = type(key) == "string" and M.text(key) ~= key and key or nil
   end
   for _, key in ipairs(renamed) do
      value[key], value[M.text(key)] = nil, value[key]
   end
   return value
end

return M
