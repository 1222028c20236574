-- SPDX-License-Identifier: BSD-3-Clause

--- Strict globals: reading or creating a global nobody declared is an error that names the line.
--
-- A misspelt variable in a test script must not become a nil that turns into a wrong figure an hour later.
-- The rule holds for our modules and the user's scripts; modules found in the system's package.path folders
-- (busted, penlight) keep Lua's own rule, for they probe for globals as a matter of course. A global wanted
-- on purpose: rawset(_G, name, value).

local system_folders = {}
for template in package.path:gmatch("[^;]+") do
   local folder = template:match("^@?(/[^?]*)%?")
   if folder then
      system_folders[#system_folders + 1] = "@" .. folder
   end
end

-- The function two levels up is C, or comes from the system's module folders.
local function is_foreign()
   local info = debug.getinfo(3, "S")
   if not info or info.what == "C" then
      return true
   end
   for _, folder in ipairs(system_folders) do
      if info.source:sub(1, #folder) == folder then
         return true
      end
   end
   return false
end

return setmetatable(_G, {
   __index = function(_, name)
      if not is_foreign() then
         error(("global '%s' is not defined"):format(tostring(name)), 2)
      end
   end,
   __newindex = function(globals, name, value)
      if not is_foreign() then
         error(("global '%s' is not declared; write 'local %s'"):format(tostring(name), tostring(name)), 2)
      end
      rawset(globals, name, value)
   end,
})
