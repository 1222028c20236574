-- SPDX-License-Identifier: BSD-3-Clause

--- A full-screen page at the terminal, and the keys pressed on it. The page uses the alternate screen, so the
-- earlier content of the terminal comes back afterwards.
local uv = require "luv"

local RAW, NORMAL = 1, 0
local ENTER = "\27[?1049h\27[?25l\27[2J"
local LEAVE = "\27[?25h\27[?1049l"

local KEYS = {
   ["\27[A"] = "up", ["\27[B"] = "down", ["\27[5~"] = "page up", ["\27[6~"] = "page down", ["\27OA"] = "up",
   ["\27OB"] = "down", ["\27[H"] = "home", ["\27[F"] = "end", ["\3"] = "q",
}

local Screen = {}
Screen.__index = Screen

local function keys_of(bytes, on_key)
   local at = 1
   while at <= #bytes do
      local key = bytes:match("^\27[%[O][%d;]*[%a~]", at) or bytes:sub(at, at)
      at = at + #key
      on_key(KEYS[key] or key)
   end
end

--- Take the terminal.
-- @param on_key  function(key): a letter, or "up", "down", "page up", "page down", "home", "end"; Ctrl-C is
--                "q"
function Screen.open(on_key)
   local self = setmetatable({ input = uv.new_tty(0, true) }, Screen)
   self.input:set_mode(RAW)
   self.input:read_start(function(err, bytes)
      if err or not bytes then
         return on_key "q"
      end
      keys_of(bytes, on_key)
   end)
   io.stdout:write(ENTER)
   io.stdout:flush()
   return self
end

--- Show a page.
-- @param lines  no more and no wider than the terminal has
function Screen.show(_, lines)
   io.stdout:write("\27[H", table.concat(lines, "\27[K\r\n"), "\27[K\27[J")
   io.stdout:flush()
end

--- Give the terminal back.
function Screen:close()
   self.input:read_stop()
   self.input:set_mode(NORMAL)
   self.input:close()
   io.stdout:write(LEAVE)
   io.stdout:flush()
end

return Screen
