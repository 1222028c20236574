-- SPDX-License-Identifier: BSD-3-Clause

--- The frame sizes of a stream as a cycle: the list of sizes that comes again and again.
--
-- Lists, ranges, the genomes of RFC 6985 and weighted mixes all become one; so do random orders, which are
-- drawn here once, with a seed, so that the mean of what is sent is known and a frame's size follows from its
-- number. A mix in random order is shuffled as a whole: every cycle holds exactly its shares.
local bit = require "bit"
local mixes = require "framegauge.core.mixes"

local M = {}

--- Sizes of the letters of a genome, bytes with FCS (RFC 6985, section 3). `z` is the largest frame.
M.LETTERS = {
   a = 64, b = 128, c = 256, d = 512, e = 1024, f = 1280, g = 1518, h = 2112, i = 9000, j = 16000,
}

local MOST = 65536 -- FG_SIZES_MAX
local DRAWN = 4096 -- frames in a random cycle, at least

-- xorshift32 (Marsaglia 2003); a seed of 0 would stay there
local function generator(seed)
   local x = bit.tobit((seed + 1) * 2654435761 % 2 ^ 32)
   return function(below)
      x = bit.bxor(x, bit.lshift(x, 13))
      x = bit.bxor(x, bit.rshift(x, 17))
      x = bit.bxor(x, bit.lshift(x, 5))
      return math.floor(x % 2 ^ 32 / 2 ^ 32 * below)
   end
end

local function refuse(key, message, expected)
   return nil, { key = key, message = message, expected = expected }
end

-- "3ab2g" with counts before letters -> sizes
local function of_genome(genome, letters, largest)
   local list = {}
   if not genome:find("^[%w]+$") or genome:find("%d$") then
      return refuse("genome", ("%q is no genome"):format(genome),
         "letters, each with a count before it or not")
   end
   for count, letter in genome:gmatch("(%d*)(%a)") do
      local size = letters and letters[letter] or letter == "z" and largest or M.LETTERS[letter]
      if not size then
         return refuse("genome", letter .. " has no size",
            "a to j, z, or a letter of `letters`")
      end
      for _ = 1, math.min(tonumber(count) or 1, MOST + 1) do
         list[#list + 1] = size
      end
      if #list > MOST then
         return refuse("genome", "too long", ("at most %d frames"):format(MOST))
      end
   end
   return list
end

-- Weights -> that many frames of each size, spread as evenly as they go.
local function of_mix(mix)
   local list, total, due = {}, 0, {}
   for i, part in ipairs(mix) do
      total, due[i] = total + part.weight, 0
   end
   if total < 1 or total > MOST then
      return refuse("mix", ("weights add up to %d"):format(total), ("1 to %d"):format(MOST))
   end
   for _ = 1, total do
      local most = 1
      for i, part in ipairs(mix) do
         due[i] = due[i] + part.weight
         most = due[i] > due[most] and i or most
      end
      due[most] = due[most] - total
      list[#list + 1] = tonumber(mix[most].size)
   end
   return list
end

local function of_range(from, to, step)
   local list = {}
   for size = from, to, from <= to and step or -step do
      list[#list + 1] = size
   end
   return list
end

local function of_random(random, seed)
   local least, most = random:match("^(%d+)%s*%-%s*(%d+)$")
   least, most = tonumber(least), tonumber(most)
   if not least or least > most or least < 64 or most > 16128 then
      return refuse("random", ("%q is no range of sizes"):format(random),
         "two sizes in 64 to 16128, such as 64-1518")
   end
   local draw, list = generator(seed), {}
   for i = 1, 4 * DRAWN do
      list[i] = least + draw(most - least + 1)
   end
   return list
end

-- The same frames, several cycles of them, in an order of chance.
local function shuffle(list, seed)
   local draw, out = generator(seed), {}
   repeat
      for i = 1, #list do
         out[#out + 1] = list[i]
      end
   until #out >= DRAWN or #out + #list > MOST
   for i = #out, 2, -1 do
      local k = draw(i) + 1
      out[i], out[k] = out[k], out[i]
   end
   return out
end

local function letters_of(list)
   local letters = {}
   for _, one in ipairs(list or {}) do
      letters[one.letter] = one.size
   end
   return letters
end

local FORMS = { "list", "genome", "mix", "from", "random" }

-- Which of the forms is used; only one can be.
local function form_of(o)
   local form
   for _, key in ipairs(FORMS) do
      local given = o[key] and (type(o[key]) ~= "table" or #o[key] > 0)
      if given and form then
         return refuse(key, "sizes are given by " .. form .. " already", "one of both")
      end
      form = given and key or form
   end
   return form or "default"
end

local read = {
   default = function() return { 64 } end,
   list = function(o) return mixes.all(o.list) end,
   genome = function(o) return of_genome(o.genome, letters_of(o.letters), o.largest) end,
   mix = function(o) return of_mix(o.mix) end,
   random = function(o) return of_random(o.random, o.seed or 1) end,
   from = function(o)
      if not o.to then
         return refuse("to", "missing", "the last size")
      end
      return of_range(o.from, o.to, o.step or 1)
   end,
}

--- The cycle of a stream's sizes.
-- @param o  the group `size` of a stream of the plan: list (of bytes, or names of mixes), or genome with
--           letters = list of { letter =, size = } and largest, or mix = list of { size =, weight = }, or
--           from, to, step, or random = "64-1518"; order = "fixed" or "random", seed
-- @return list of bytes with FCS; or nil and { key =, message =, expected = }
function M.cycle(o)
   local form, problem = form_of(o)
   if not form then
      return nil, problem
   end
   local list
   list, problem = read[form](o)
   if list and o.order == "random" and #list > 1 then
      list = shuffle(list, o.seed or 1)
   end
   return list, problem
end

--- What there is to know of a cycle.
-- @return { mean =, least =, most = (bytes with FCS), kinds = list of the different ones as they first
-- occur }
function M.describe(cycle)
   local sum, least, most, kinds, seen = 0, math.huge, 0, {}, {}
   for _, size in ipairs(cycle) do
      sum, least, most = sum + size, math.min(least, size), math.max(most, size)
      if not seen[size] then
         seen[size], kinds[#kinds + 1] = true, size
      end
   end
   return { mean = sum / #cycle, least = least, most = most, kinds = kinds }
end

local known = setmetatable({}, { __mode = "k" })

--- Of a stream of the plan, which must be a good one.
-- @return its cycle, and what describe() says of that
function M.of(stream)
   local one = known[stream.size]
   if not one then
      one = { cycle = assert(M.cycle(stream.size)) }
      one.description = M.describe(one.cycle)
      known[stream.size] = one
   end
   return one.cycle, one.description
end

return M
