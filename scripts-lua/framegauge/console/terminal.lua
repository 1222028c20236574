-- SPDX-License-Identifier: BSD-3-Clause

--- The terminal: lines with editing, history and completion, read while the event loop runs.
local bars = require "framegauge.text.bars"
local complete = require "framegauge.console.complete"
local editor = require "framegauge.editor"
local job = require "framegauge.core.job"
local paths = require "framegauge.core.paths"
local progress = require "framegauge.text.progress"
local uv = require "luv"

-- A full-screen page at the terminal, and the keys pressed on it. The page uses the alternate screen, so the
-- earlier content of the terminal comes back afterwards.
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

-- Take the terminal.
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

-- Show a page.
-- @param lines  no more and no wider than the terminal has
function Screen.show(_, lines)
   io.stdout:write("\27[H", table.concat(lines, "\27[K\r\n"), "\27[K\27[J")
   io.stdout:flush()
end

-- Give the terminal back.
function Screen:close()
   self.input:read_stop()
   self.input:set_mode(NORMAL)
   self.input:close()
   io.stdout:write(LEAVE)
   io.stdout:flush()
end

local DEFAULT_WIDTH, DEFAULT_HEIGHT = 80, 24
local CLEAR_LINE = "\r\27[K"

local Terminal = {}
Terminal.__index = Terminal

--- Open the terminal on standard input and output.
function Terminal.open()
   local self = setmetatable({ utf8 = bars.wanted() }, Terminal)
   if not editor.open() then
      return nil
   end
   self.history = paths.state "history"
   if self.history then
      editor.load(self.history)
   end
   -- libuv makes a descriptor that it polls non-blocking, and text that a slow terminal does not accept at
   -- once would be lost: so the terminal is opened a second time for polling.
   self.watched = uv.fs_open("/proc/self/fd/0", "r", 0)
   self.input = uv.new_poll(self.watched or 0)
   self.signals = {}
   for i, name in ipairs { "sigwinch", "sigcont" } do
      self.signals[i] = uv.new_signal()
      self.signals[i]:start(name, editor.refresh)
      self.signals[i]:unref()
   end
   return self
end

--- Columns and rows.
function Terminal:size() -- luacheck: ignore 212
   local columns, rows = editor.size()
   return columns or DEFAULT_WIDTH, rows or DEFAULT_HEIGHT
end

--- Read one line. write() may be called meanwhile.
-- @param complete_at  function(text before the cursor) -> text to insert, list of candidates
-- @return the line; false after Ctrl-C; nil at the end
function Terminal:read(prompt, complete_at)
   local readable, interrupted = false, false
   local interrupt = {
      interrupt = function()
         interrupted = true
      end,
   }
   local function wait()
      readable = false
      job.turn(function()
         return readable or interrupted or self.hung_up
      end, interrupt)
      return not (interrupted or self.hung_up)
   end
   self.input:start("r", function()
      readable = true
   end)
   local ok, line = pcall(editor.read, prompt, wait, function(before)
      local insert, list = complete_at(before)
      return insert, list[1] and complete.columns(list, (self:size())) or nil
   end)
   self.input:stop()
   if not ok then
      error(line, 0)
   end
   if self.hung_up then
      line = nil
   end
   if line == false then
      io.stdout:write "^C\n"
   elseif line == nil then
      io.stdout:write "\n"
   elseif line:find "%S" then
      editor.remember(line)
   end
   io.stdout:flush()
   return line
end

--- The tester is gone: read() returns as at the end of the input.
function Terminal:hang_up()
   self.hung_up = true
end

--- Write text, above the line that is being edited.
function Terminal:write(text)
   if self.screen then
      self.held = (self.held or "") .. text
      return
   end
   if self.status then
      text = CLEAR_LINE .. text .. self.status
   end
   editor.print(text)
end

--- Show the progress of a job (run/progress.lua) as a line; nil removes it.
function Terminal:show_progress(event)
   if event or self.status then
      self.status = event and progress.line(event):sub(1, (self:size()) - 1)
      editor.print(CLEAR_LINE .. (self.status or ""))
   end
end

--- Show a full-screen page. Text that is written meanwhile is held back.
function Terminal:begin_screen(on_key)
   self.screen = Screen.open(on_key)
end

function Terminal:show_screen(lines)
   self.screen:show(lines)
end

--- Return to the lines.
function Terminal:end_screen()
   if self.screen then
      self.screen:close()
      self.screen = nil
      local held = self.held or ""
      self.held = nil
      self:write(held)
   end
end

--- Restore the terminal, and save the history.
function Terminal:close()
   if self.history then
      editor.save(self.history)
   end
   self.input:close()
   if self.watched then
      uv.fs_close(self.watched)
   end
   for _, signal in ipairs(self.signals) do
      signal:close()
   end
   editor.close()
end

return Terminal
