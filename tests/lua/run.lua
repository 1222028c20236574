-- SPDX-License-Identifier: BSD-3-Clause

--- Run the specs inside the program, so that they see the modules, the FFI and the event loop as it has them.
--
--    framegauge script tests/lua/run.lua [OPTION OF busted...] [FILE...]  (default: this folder)
--
-- Each spec runs in a job and may wait. The last line says how many passed, failed and were skipped, which
-- busted calls pending, after a line for each of those; the exit status is 1 when one failed or none ran.
local folder = arg[0]:match("^(.*)/[^/]*$") or "."
local options, files = {}, {}
for _, argument in ipairs(arg) do
   table.insert(argument:sub(1, 1) == "-" and options or files, argument)
end
if #files == 0 then
   files[1] = folder
end

local passed, failed, skipped = 0, 0, {}

-- busted loads this once it is set up and before it runs anything.
package.preload["framegauge.tests.count"] = function()
   local busted = require "busted"
   busted.subscribe({ "test", "end" }, function(element, _, status)
      if status == "success" then
         passed = passed + 1
      elseif status == "pending" then
         table.insert(skipped, element.name)
      end
      return nil, true
   end)
   for _, kind in ipairs { "failure", "error" } do
      busted.subscribe({ kind }, function()
         failed = failed + 1
         return nil, true
      end)
   end
   return true
end

arg = { [0] = "busted", "--output=plainTerminal", "--helper=framegauge.tests.count", "--pattern=_spec%.lua$" }
for _, list in ipairs { options, files } do
   for _, argument in ipairs(list) do
      arg[#arg + 1] = argument
   end
end

-- busted ends a failed run by raising nil, where it can tell the file it was called from
local ok, err = pcall(function()
   require "busted.runner" { standalone = false }
end)
if not ok and err ~= nil then
   error(err, 0)
end
for _, name in ipairs(skipped) do
   print("skipped: " .. name)
end
print(("%d passed, %d failed, %d skipped"):format(passed, failed, #skipped))
return (failed == 0 and passed > 0) and 0 or 1
