-- SPDX-License-Identifier: BSD-3-Clause

--- Other programs, run for what they print, while the event loop goes on.
local uv = require "luv"

local M = {}

local PATIENCE_MS = 3000

local function read_all(pipe, ended)
   local pieces = {}
   pipe:read_start(function(err, piece)
      if piece then
         pieces[#pieces + 1] = piece
      else
         pipe:close()
         ended(not err and table.concat(pieces) or "")
      end
   end)
end

--- Run a program.
-- @param argv  its name, searched in PATH, and arguments
-- @param done  function(text that it printed, nil); or function(nil, why it failed)
-- @param patience_ms  after which it is killed; default: 3 s
-- @param input        what it reads from its standard input; default: it has none
-- @param folder       where it runs; default: where this process does
function M.run(argv, done, patience_ms, input, folder)
   local out, timer, left = uv.new_pipe(), uv.new_timer(), 2
   local into = input and uv.new_pipe()
   local handle, text, status
   local function part()
      left = left - 1
      if left == 0 then
         timer:close()
         handle:close()
         if status == 0 then
            done(text)
         else
            done(nil, ("%s failed with status %d: %s"):format(argv[1], status, text:match "[^\n]*"))
         end
      end
   end
   local options = { args = { unpack(argv, 2) }, stdio = { into, out }, cwd = folder }
   local why
   handle, why = uv.spawn(argv[1], options, function(code, signal)
      status = signal == 0 and code or 128 + signal
      part()
   end)
   if not handle then
      out:close()
      timer:close()
      if into then
         into:close()
      end
      done(nil, ("%s cannot be run: %s"):format(argv[1], why))
      return
   end
   if into then
      into:write(input, function()
         into:close()
      end)
   end
   timer:start(patience_ms or PATIENCE_MS, 0, function()
      handle:kill "sigkill"
   end)
   read_all(out, function(all)
      text = all
      part()
   end)
end

return M
