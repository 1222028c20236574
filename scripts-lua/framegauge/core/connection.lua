-- SPDX-License-Identifier: BSD-3-Clause

--- Connections between processes: JSON objects, one a line, over a Unix socket or TCP.
--
-- Nothing is authenticated here. A Unix socket belongs to its user alone (mode 0600); TCP listens where the
-- caller says, which should be a loopback address.
local ffi = require "ffi"
local json = require "cjson.safe"
local uv = require "luv"

ffi.cdef "unsigned umask(unsigned mask);"

local M = {}

local LONGEST_LINE = 256 * 1024 -- bytes, unless the caller says otherwise
local LONGEST_SOCKET = 107 -- bytes of a path (struct sockaddr_un); libuv truncates longer ones
local PRIVATE = tonumber("177", 8) -- no other user can connect, not even for a moment
local BACKLOG = 16

--- What is wrong with the path of a Unix socket; nil: nothing.
function M.path_problem(path)
   return #path > LONGEST_SOCKET and ("the path of a socket has at most %d bytes, this one %d: %s"):format(
      LONGEST_SOCKET, #path, path) or nil
end

--- An object as a line.
function M.line(object)
   return assert(json.encode(object)) .. "\n"
end

--- Make objects of the text that arrives in pieces.
-- @param take     function(object), called for each
-- @param longest  bytes of a line, at most
-- @return function(piece) -> true; or nil and what is wrong: then the connection is of no use any more
function M.reader(take, longest)
   local pieces, size = {}, 0 -- of the line that has begun; joined once: it may have many megabytes
   longest = longest or LONGEST_LINE
   return function(text)
      local first = 1
      while true do
         local last = text:find("\n", first, true)
         local piece = text:sub(first, last and last - 1)
         pieces[#pieces + 1], size = piece, size + #piece
         if size > longest then
            return nil, "a line is too long"
         elseif not last then
            return true
         end
         local object = json.decode(table.concat(pieces))
         if type(object) ~= "table" then
            return nil, "a line is not a JSON object"
         end
         pieces, size, first = {}, 0, last + 1
         take(object)
      end
   end
end

--- Read objects from a handle.
-- @param take  function(object)
-- @param lost  function(reason): the connection has failed; nil: the peer has closed it
function M.read(handle, take, lost, longest)
   local feed = M.reader(take, longest)
   handle:read_start(function(err, piece)
      local ok, wrong = not err and piece ~= nil, err
      if ok then
         ok, wrong = feed(piece)
      end
      if not ok then
         lost(wrong)
      end
   end)
end

local function new_handle(address)
   return address.path and uv.new_pipe() or uv.new_tcp()
end

--- Connect. @param connected  function(error or nil) @return the handle
function M.connect(address, connected)
   local handle = new_handle(address)
   if address.path then
      handle:connect(address.path, connected)
   else
      handle:connect(address.host, address.port, connected)
   end
   return handle
end

local function bind(handle, address)
   if not address.path then
      return handle:bind(address.host, address.port)
   end
   local before = ffi.C.umask(PRIVATE)
   local bound, err = handle:bind(address.path)
   ffi.C.umask(before)
   return bound, err
end

--- Listen.
-- @param accept  function(handle of a peer)
-- @return the handle, or nil and what is wrong
function M.listen(address, accept)
   local handle = new_handle(address)
   local ok, err = bind(handle, address)
   if ok then
      ok, err = handle:listen(BACKLOG, function(failed)
         if not failed then
            local peer = new_handle(address)
            handle:accept(peer)
            accept(peer)
         end
      end)
   end
   if not ok then
      handle:close()
      return nil, err
   end
   return handle
end

return M
