-- SPDX-License-Identifier: BSD-3-Clause

--- What passes between a tester and those attached to it: JSON objects, one a line, over a Unix socket.
--
--    to the tester    {"hello": 1, "columns":, "rows":, "utf8":, "read_only":}   first
--                     {"line": text}           do this; answered by "done" when it is over
--                     {"complete": text}       what can stand behind this; answered by "completion"
--                     {"interrupt": true}      Ctrl-C
--                     {"key": name}            pressed at a page
--                     {"columns":, "rows":}    of the terminal now
--    from the tester  {"welcome": text}        after hello
--                     {"out": text}  {"err": text}
--                     {"status": text}         the line of a progress; false takes it away
--                     {"screen": [line, ...]}  a full-screen page; false takes it away
--                     {"done": outcome}        "done", "failed", "more" or "quit"
--                     {"completion": text, "candidates": [...]}
--                     {"bye": reason}          and the end
--
-- The tester trusts nobody who is attached: what it keeps of each is bounded, and who sends what is not in
-- this list, or more than that, or does not read, is let go.
local json = require "cjson.safe"

local M = {}

--- Raised when one side would no longer understand the other.
M.VERSION = 1

--- Octets of a line, at most.
M.LONGEST_LINE = 256 * 1024

local Reader = {}
Reader.__index = Reader

--- Make objects of what comes in pieces.
-- @param take     function(object), called for each
-- @param longest  octets of a line, at most; default: M.LONGEST_LINE
function M.reader(take, longest)
   return setmetatable({ text = "", take = take, longest = longest or M.LONGEST_LINE }, Reader)
end

--- The next piece.
-- @return true, or nil and what is wrong with it; then nothing more may be fed
function Reader:feed(piece)
   self.text = self.text .. piece
   local first = 1
   while true do
      local last = self.text:find("\n", first, true)
      if not last then
         break
      end
      local object = json.decode(self.text:sub(first, last - 1))
      if type(object) ~= "table" then
         return nil, "it sends what is no JSON object"
      end
      first = last + 1
      self.take(object)
   end
   self.text = self.text:sub(first)
   if #self.text > self.longest then
      return nil, "it sends a line without an end"
   end
   return true
end

--- An object as a line.
function M.line(object)
   return assert(json.encode(object)) .. "\n"
end

return M
