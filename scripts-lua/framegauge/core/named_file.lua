-- SPDX-License-Identifier: BSD-3-Clause

--- Files that a user names: plans, captures, calibrations, scripts, pages.
--
-- What is no regular file, such as a terminal or a device, may wait for ever when it is read or written, or
-- never end. A plan may come through a pipe (`framegauge check /dev/stdin`, or `<(...)` of a shell), which
-- has a writer; a page may go to a pipe that has a reader, to /dev/null, and to a terminal that the program
-- was given (/dev/stdout).
local bit = require "bit"
local uv = require "luv"

local M = {}

local WAIT_MS, AT_ONCE = 10, 64 * 1024

local NEW = bit.bor(uv.constants.O_WRONLY, uv.constants.O_CREAT)

local function open_at_once(path, how)
   return uv.fs_open(path, bit.bor(how, uv.constants.O_NONBLOCK), tonumber("644", 8))
end

-- Devices that are written to.
local SINKS = { ["/dev/null"] = true, ["/dev/stdout"] = true, ["/dev/stderr"] = true }

local function is_sink(path)
   return SINKS[path] or path:find "^/dev/fd/%d+$" ~= nil
end

-- @return the type of what is there, "file" also where nothing is; or nil and why it is not to be opened
local function type_of(path, writes)
   local stat = uv.fs_stat(path)
   local is = stat and stat.type or "file"
   if is == "file" or is == "fifo" or is == "directory" -- a folder says so at once
      or writes and is == "char" and is_sink(path) then
      return is
   end
   return nil, path .. ": it is no regular file"
end

local function read_pipe(path, most)
   local fd, message = open_at_once(path, uv.constants.O_RDONLY)
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
   local is, problem = type_of(path)
   if is == "fifo" then
      return read_pipe(path, most)
   elseif not is then
      return nil, problem
   end
   local file, message = io.open(path, "rb")
   if not file then
      return nil, message
   end
   local text, why = file:read(most or "*a")
   file:close()
   return text or (not why and "" or nil), why
end

--- What keeps a file from being written; nil when nothing does as far as can be told without opening it: the
-- reader of a pipe would see an end.
function M.write_problem(path)
   local is, problem = type_of(path, true)
   if is == "directory" then
      return path .. ": it is a folder"
   elseif not is then
      return problem
   end
   local there = uv.fs_stat(path)
   local folder = path:match "^(.*/)[^/]*$" or "."
   if not there and not uv.fs_stat(folder) then
      return path .. ": there is no such folder"
   end
   return not uv.fs_access(there and path or folder, "W") and path .. ": permission denied" or nil
end

--- Write a file, or to a pipe that somebody reads.
-- @param append  keep what is in the file
-- @return true, or nil and a message
function M.write(path, text, append)
   local is, message = type_of(path, true)
   if not is then
      return nil, message
   end
   local fd, why = open_at_once(path, bit.bor(NEW, append and uv.constants.O_APPEND or uv.constants.O_TRUNC))
   if not fd then
      why = why:find "^ENXIO" and "no process reads this pipe" or why:match "^[^:]*: [^:]*"
      return nil, ("%s: %s"):format(path, why)
   end
   while #text > 0 do
      local n
      n, why = uv.fs_write(fd, text)
      text = text:sub((n or 0) + 1)
      if not n and why:find "^EAGAIN" then -- a pipe that is full
         uv.sleep(WAIT_MS)
      elseif not n then
         uv.fs_close(fd)
         return nil, ("%s: %s"):format(path, why)
      end
   end
   return uv.fs_close(fd)
end

--- May it be read from its begin as often as needed? What is not there is for its reader to tell.
function M.is_regular(path)
   return type_of(path) == "file"
end

--- What keeps a file from being read from its begin as often as needed; nil when nothing does.
function M.problem(path)
   local stat = uv.fs_stat(path)
   if stat and stat.type ~= "file" then
      return path .. ": it is no regular file"
   end
   local file, message = io.open(path, "rb")
   return not file and message or file:close() and nil
end

return M
