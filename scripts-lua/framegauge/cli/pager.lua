-- SPDX-License-Identifier: BSD-3-Clause

--- Texts longer than a terminal go through the user's pager: $PAGER, else less where it is installed. Help
-- must also be printed where luv is missing, so it is looked for here.
local has_luv, uv = pcall(require, "luv")

local M = {}

local LESS = "if command -v less >/dev/null; then exec less -FRX; else exec cat; fi"

local function height()
   local _, rows
   if has_luv and uv.guess_handle(1) == "tty" then
      _, rows = require("framegauge.editor").size()
   end
   return rows
end

--- Print a text to standard output.
function M.show(text)
   local rows = height()
   if not rows or select(2, text:gsub("\n", "")) < rows then
      io.write(text)
      return
   end
   local signal = require("framegauge.core.job").ignore_broken_pipes() -- a pager may end before the text
   local interrupt = uv.new_signal() -- Ctrl-C is for the pager
   interrupt:start("sigint", function() end)
   local own = os.getenv "PAGER"
   local pipe = assert(io.popen(own and own ~= "" and own or LESS, "w"))
   pipe:write(text)
   pipe:close()
   signal:close()
   interrupt:close()
end

return M
