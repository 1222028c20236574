-- SPDX-License-Identifier: BSD-3-Clause

--- Lua's patterns (Lua 5.1, 5.4.1) within a number of steps, for code of others in a shared process.
--
-- A pattern with several repetitions may take exponential time, and no hook interrupts the C functions of the
-- library. So these functions take a call over where it may be expensive: the others remain with C. They are
-- the same algorithm with a count.
local M = {}

-- Steps of one call, each a microsecond at most; and what is left to C, in characters compared at worst.
local MOST_STEPS, CHEAP = 2e6, 1e7

local byte, char, find, gsub, sub = string.byte, string.char, string.find, string.gsub, string.sub
local NAMES = { "find", "match", "gmatch", "gsub" }
local ORIGINAL = {}
for _, name in ipairs(NAMES) do
   ORIGINAL[name] = string[name]
end

local UNCLOSED, POSITION = -1, -2
local PERCENT, OPEN, CLOSE, DOLLAR, CARET = byte("%()$^", 1, -1)
local BRACKET, END_BRACKET, MANY, SOME, FEW, MAYBE = byte("[]*+-?", 1, -1)

local Matcher = {}
Matcher.__index = Matcher

local function new(text, pattern)
   return setmetatable({ s = text, p = pattern, sets = {}, starts = {}, lengths = {}, level = 0, steps = 0 },
      Matcher)
end

-- Where the class at i ends.
function Matcher:class_end(i)
   local p, first = self.p, byte(self.p, i)
   if first == PERCENT and i == #p then
      error("malformed pattern (ends with '%')", 0)
   elseif first ~= BRACKET then
      return first == PERCENT and i + 2 or i + 1
   end
   i = byte(p, i + 1) == CARET and i + 2 or i + 1
   repeat
      if i > #p then
         error("malformed pattern (missing ']')", 0)
      end
      i = byte(p, i) == PERCENT and i < #p and i + 2 or i + 1
   until byte(p, i) == END_BRACKET
   return i + 1
end

-- The characters of a class, by their codes: the library is asked once for each.
function Matcher:set(i, after)
   local set = self.sets[i]
   if not set then
      set = {}
      local class = sub(self.p, i, after - 1)
      if #class == 1 and class ~= "." then
         set[byte(class)] = true
      else
         for code = 0, 255 do
            set[code] = find(char(code), "^" .. class) ~= nil
         end
      end
      self.sets[i] = set
   end
   return set
end

function Matcher:begin_capture(si, pi, length)
   self.level = self.level + 1
   self.starts[self.level], self.lengths[self.level] = si, length
   local after = self:match(si, pi)
   self.level = after and self.level or self.level - 1
   return after
end

function Matcher:end_capture(si, pi)
   local i = self.level
   while i > 0 and self.lengths[i] ~= UNCLOSED do
      i = i - 1
   end
   if i == 0 then
      error("invalid pattern capture", 0)
   end
   self.lengths[i] = si - self.starts[i]
   local after = self:match(si, pi)
   if not after then
      self.lengths[i] = UNCLOSED
   end
   return after
end

function Matcher:capture(i, first, after)
   if i > self.level then
      if i ~= 1 then
         error("invalid capture index", 0)
      end
      return sub(self.s, first, after - 1)
   elseif self.lengths[i] == UNCLOSED then
      error("unfinished capture", 0)
   elseif self.lengths[i] == POSITION then
      return self.starts[i]
   end
   return sub(self.s, self.starts[i], self.starts[i] + self.lengths[i] - 1)
end

-- What a match gives: its captures, or all of it.
function Matcher:captures(first, after, none)
   local list = {}
   for i = 1, self.level == 0 and not none and 1 or self.level do
      list[i] = self:capture(i, first, after)
   end
   return unpack(list)
end

function Matcher:balance(si, pi)
   if pi + 1 > #self.p then
      error("unbalanced pattern", 0)
   end
   local open, close, depth = byte(self.p, pi), byte(self.p, pi + 1), 1
   if byte(self.s, si) ~= open then
      return nil
   end
   for i = si + 1, #self.s do
      self:count()
      local c = byte(self.s, i)
      if c == close then
         depth = depth - 1
         if depth == 0 then
            return i + 1
         end
      elseif c == open then
         depth = depth + 1
      end
   end
end

function Matcher:same(si, digit)
   local i = digit - 48
   if i < 1 or i > self.level or self.lengths[i] == UNCLOSED then
      error("invalid capture index", 0)
   end
   local text = self:capture(i, si, si)
   if type(text) == "number" then
      return nil -- a place, not a text
   end
   return sub(self.s, si, si + #text - 1) == text and si + #text or nil
end

function Matcher:count()
   self.steps = self.steps + 1
   if self.steps > MOST_STEPS then
      error(("stopped: the pattern took more than %d steps, and other users depend on this tester"):format(MOST_STEPS), 0)
   end
end

function Matcher:longest(si, set, pi)
   local n = 0
   while set[byte(self.s, si + n)] do
      self:count()
      n = n + 1
   end
   for i = n, 0, -1 do
      local after = self:match(si + i, pi)
      if after then
         return after
      end
   end
end

function Matcher:shortest(si, set, pi)
   while true do
      local after = self:match(si, pi)
      if after then
         return after
      elseif not set[byte(self.s, si)] then
         return nil
      end
      si = si + 1
   end
end

-- What begins with "%" and is no class. @return whether it was one, where the match goes on, and the pattern
function Matcher:special(si, pi)
   local kind = byte(self.p, pi + 1)
   if kind == 98 then -- b
      return true, self:balance(si, pi + 2), pi + 4
   elseif kind == 102 then -- f
      if byte(self.p, pi + 2) ~= BRACKET then
         error("missing '[' after '%f' in pattern", 0)
      end
      local after = self:class_end(pi + 2)
      local set = self:set(pi + 2, after)
      local before = si > 1 and byte(self.s, si - 1) or 0
      return true, not set[before] and set[byte(self.s, si) or 0] and si or nil, after
   elseif kind and kind >= 48 and kind <= 57 then
      return true, self:same(si, kind), pi + 2
   end
end

--- Match the pattern from pi on with the text from si on.
-- @return where the text goes on, nil: it does not match
function Matcher:match(si, pi)
   local p, s = self.p, self.s
   while pi <= #p do
      self:count()
      local c, is_special, after, next_pi = byte(p, pi), nil, nil, nil
      if c == OPEN then
         local is_position = byte(p, pi + 1) == CLOSE
         return self:begin_capture(si, is_position and pi + 2 or pi + 1, is_position and POSITION or UNCLOSED)
      elseif c == CLOSE then
         return self:end_capture(si, pi + 1)
      elseif c == DOLLAR and pi == #p then
         return si == #s + 1 and si or nil
      elseif c == PERCENT then
         is_special, after, next_pi = self:special(si, pi)
      end
      if is_special then
         if not after then
            return nil
         end
         si, pi = after, next_pi
      else
         local behind = self:class_end(pi)
         local set, repeats = self:set(pi, behind), byte(p, behind)
         local fits = set[byte(s, si)]
         if repeats == MANY or repeats == SOME then
            if repeats == SOME and not fits then
               return nil
            end
            return self:longest(repeats == SOME and si + 1 or si, set, behind + 1)
         elseif repeats == FEW then
            return self:shortest(si, set, behind + 1)
         elseif repeats == MAYBE then
            local taken = fits and self:match(si + 1, behind + 1)
            if taken then
               return taken
            end
            pi = behind + 1
         elseif not fits then
            return nil
         else
            si, pi = si + 1, behind
         end
      end
   end
   return si
end

-- The first match from a place on. @return its begin and what is behind it, or nil
function Matcher:search(from, first_pi, anchored)
   for si = from, anchored and from or #self.s + 1 do
      self.level = 0
      local after = self:match(si, first_pi)
      if after then
         return si, after
      end
   end
end

local function begin_of(pattern)
   return byte(pattern) == CARET and 2 or 1
end

local function search(text, pattern, init)
   local m, first_pi = new(text, pattern), begin_of(pattern)
   init = init or 1
   init = init < 0 and math.max(#text + init + 1, 1) or math.max(init, 1)
   if init > #text + 1 then
      init = #text + 1
   end
   return m, m:search(init, first_pi, first_pi == 2)
end

local BOUNDED = {}

function BOUNDED.find(text, pattern, init)
   if not find(pattern, "[%^$*+?.(%[%%-]") then
      return find(text, pattern, init, true) -- as in the library, which takes ")" for a letter then
   end
   local m, first, after = search(text, pattern, init)
   if first then
      return first, after - 1, m:captures(first, after, true)
   end
end

function BOUNDED.match(text, pattern, init)
   local m, first, after = search(text, pattern, init)
   if first then
      return m:captures(first, after)
   end
end

function BOUNDED.gmatch(text, pattern)
   local m, at = new(text, pattern), 1
   return function()
      local first, after = m:search(at, 1)
      if first then
         at = after == first and after + 1 or after
         return m:captures(first, after)
      end
      at = #text + 2
   end
end

-- What takes the place of a match.
function Matcher:replacement(with, first, after)
   local whole = sub(self.s, first, after - 1)
   local value
   if type(with) == "table" then
      value = with[self:capture(1, first, after)]
   elseif type(with) == "function" then
      value = with(self:captures(first, after))
   else
      value = gsub(tostring(with), "%%(.)", function(c)
         return c == "0" and whole or find(c, "%d") and self:capture(tonumber(c), first, after) or c
      end)
   end
   if value and type(value) ~= "string" and type(value) ~= "number" then
      error(("invalid replacement value (a %s)"):format(type(value)), 0)
   end
   return value or whole
end

function BOUNDED.gsub(text, pattern, with, most)
   local m, first_pi, at, n, out = new(text, pattern), begin_of(pattern), 1, 0, {}
   while n < (most or math.huge) do
      m.level = 0
      local after = m:match(at, first_pi)
      if after then
         n = n + 1
         out[#out + 1] = m:replacement(with, at, after)
      end
      if after and after > at then
         at = after
      elseif at <= #text then
         out[#out + 1] = sub(text, at, at)
         at = at + 1
      else
         break
      end
      if first_pi == 2 then
         break
      end
   end
   out[#out + 1] = sub(text, at)
   return table.concat(out), n
end

-- Whether C needs at most CHEAP comparisons: as many places for each repetition as the text has.
local function is_cheap(text, pattern)
   local _, repeats = gsub(pattern, "[*+?-]", "")
   local _, others = gsub(pattern, "%%[b%d]", "")
   return (#text + 1) ^ (repeats + others + 1) <= CHEAP
end

-- Whether the function of the library that called this was called by one of our chunks. After a tail call of
-- a user's chunk the frame below is ours, but not by this name.
local function is_ours(ours, name)
   local caller = debug.getinfo(3, "S")
   return caller ~= nil and sub(caller.source, 1, #ours) == ours and debug.getinfo(2, "n").name == name
end

--- Bound the functions of the library `string` for all code but our own.
-- @param ours  how the names of our chunks begin
function M.install(ours)
   for _, name in ipairs(NAMES) do
      local original, bounded = ORIGINAL[name], BOUNDED[name]
      rawset(string, name, function(text, pattern, a, b)
         if type(text) ~= "string" or type(pattern) ~= "string" or name == "find" and b
            or is_cheap(text, pattern) or is_ours(ours, name) then
            return original(text, pattern, a, b)
         end
         return bounded(text, pattern, a, b)
      end)
   end
end

M.BOUNDED = BOUNDED

return M
