-- SPDX-License-Identifier: BSD-3-Clause

--- Files that a user names: plans, captures, calibrations, scripts.
--
-- What is no regular file may have nobody at its other end, and reading it would wait for ever. A plan may
-- come through a pipe (`framegauge check /dev/stdin`, or `<(...)` of a shell), which has a writer.
local bit = require "bit"
local uv = require "luv"

local M = {}

local WAIT_MS, AT_ONCE = 10, 64 * 1024

local function open_at_once(path)
   return uv.fs_open(path, bit.bor(uv.constants.O_RDONLY, uv.constants.O_NONBLOCK), 0)
end

local function read_pipe(path, most)
   local fd, message = open_at_once(path)
   if not fd then
      return nil, message
   end
   local pieces, size = {}, 0
   repeat
      local piece, why = uv.fs_read(fd, AT_ONCE)
      local waits = not piece and why:find "^EAGAIN" -- it is open for writing somewhere
      if piece then
         pieces[#pieces + 1], size = piece, size + #piece
      elseif waits then
         uv.sleep(WAIT_MS)
      else
         message = why
      end
   until not waits and (not piece or piece == "") or size >= (most or math.huge)
   uv.fs_close(fd)
   if size == 0 then
      return nil, message or "no process writes to this pipe"
   end
   return table.concat(pieces)
end

--- The text of a file.
-- @param most  the most bytes; nil: all
-- @return text; or nil and a message
function M.read(path, most)
   local stat = uv.fs_stat(path)
   if stat and stat.type == "fifo" then
      return read_pipe(path, most)
   end
   local file, message = io.open(path, "rb")
   if not file then
      return nil, message
   end
   local text, why = file:read(most or "*a")
   file:close()
   return text or (not why and "" or nil), why
end

--- What keeps a file from being read from its begin as often as needed; nil when nothing does.
function M.problem(path)
   local stat = uv.fs_stat(path)
   if stat and stat.type ~= "file" then
      return path .. " is no regular file"
   end
   local file, message = io.open(path, "rb")
   return not file and message or file:close() and nil
end

return M
