-- SPDX-License-Identifier: BSD-3-Clause

--- XML, HTML and SVG as values: `h.p { class = "note", "text", h.b { "bold" } }`.
--
-- Text keys of the table are attributes, written in alphabetical order; the list in it is the content: texts,
-- numbers, other elements, lists of these; nil and false are nothing. Whatever is not an element is escaped,
-- so that no name in a plan can become markup: there is no other way to get text into a page. Everything is
-- written as XML would have it, so that strict parsers read it too.
local h = {}

local Markup = {}

local ESCAPES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }
local REPLACEMENT = "\239\191\189" -- U+FFFD, for what neither HTML nor XML may hold

-- Elements that have no content and no end in HTML; in SVG any element may be closed at once.
local VOID = {
   meta = true, img = true, col = true, br = true, path = true, rect = true, circle = true, line = true,
   polygon = true, polyline = true, use = true,
}

--- Text that is safe in content and in attributes of HTML and XML.
function h.escape(text)
   text = tostring(text):gsub("[%z\1-\8\11\12\14-\31\127]", REPLACEMENT)
   return (text:gsub("[&<>\"']", ESCAPES))
end

--- Text of our own that must not be escaped, such as a style sheet.
function h.raw(text)
   return setmetatable({ text = text }, Markup)
end

local function write(out, content)
   if getmetatable(content) == Markup then
      out[#out + 1] = content.text
   elseif type(content) == "table" then
      for i = 1, table.maxn(content) do
         write(out, content[i])
      end
   elseif content then
      out[#out + 1] = h.escape(content)
   end
end

local function attributes(t)
   local list = {}
   for key, value in pairs(t) do
      if type(key) == "string" and value then
         list[#list + 1] = (' %s="%s"'):format(key, h.escape(value))
      end
   end
   table.sort(list)
   return table.concat(list)
end

local function element(name, t)
   local out = { "<" .. name .. attributes(t) }
   if VOID[name] then
      out[2] = "/>"
   else
      out[2] = ">"
      write(out, t)
      out[#out + 1] = "</" .. name .. ">"
   end
   return h.raw(table.concat(out))
end

--- The text of an element, or of a list of them. (h.text is SVG's.)
function h.render(content)
   local out = {}
   write(out, content)
   return table.concat(out)
end

return setmetatable(h, {
   __index = function(_, name)
      return function(t)
         return element(name, t)
      end
   end,
})
