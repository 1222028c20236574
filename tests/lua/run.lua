-- SPDX-License-Identifier: BSD-3-Clause

--- Run the specs inside the program, so that they see the modules, the FFI and the event loop as it has them.
--
--    framegauge script tests/lua/run.lua [OPTION OF busted...] [FILE...]  (default: this folder)
--
-- Each spec runs in a job and may wait. The results are lines of TAP; the exit status is 1 when one failed or
-- none ran.
local folder = arg[0]:match("^(.*)/[^/]*$") or "."
local options, files = {}, {}
for _, argument in ipairs(arg) do
   table.insert(argument:sub(1, 1) == "-" and options or files, argument)
end
if #files == 0 then
   files[1] = folder
end

local passed, failed = 0, 0

-- busted loads this once it is set up and before it runs anything.
package.preload["framegauge.tests.count"] = function()
   local busted = require "busted"
   busted.subscribe({ "test", "end" }, function(_, _, status)
      passed = passed + (status == "success" and 1 or 0)
      return nil, true
   end)
   for _, kind in ipairs { "failure", "error" } do
      busted.subscribe({ kind }, function(element)
         failed = failed + 1
         -- a file that cannot be loaded has no line, which busted's output wants
         element.trace = element.trace or {}
         element.trace.short_src = element.trace.short_src or element.name
         element.trace.currentline = element.trace.currentline or 0
         return nil, true
      end, { priority = 1 })
   end
   return true
end

arg = { [0] = "busted", "--output=TAP", "--helper=framegauge.tests.count", "--pattern=_spec%.lua$" }
for _, list in ipairs { options, files } do
   for _, argument in ipairs(list) do
      arg[#arg + 1] = argument
   end
end

local folder_of_lines = os.getenv "FRAMEGAUGE_COVERAGE"
local write_lines = folder_of_lines and dofile(folder .. "/coverage.lua").start(folder_of_lines)

-- busted ends a failed run by raising nil, where it can tell the file it was called from
local ok, err = pcall(function()
   require "busted.runner" { standalone = false }
end)
if write_lines then
   write_lines()
end
if package.loaded.scratch then
   package.loaded.scratch.remove()
end
if not ok and err ~= nil then
   error(err, 0)
end
return (failed == 0 and passed > 0) and 0 or 1
