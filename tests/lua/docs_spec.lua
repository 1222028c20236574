-- SPDX-License-Identifier: BSD-3-Clause
local scratch = require "scratch"
local uv = require "luv"

local PROGRAM = uv.exepath()

-- What GitHub makes of a heading.
local function anchor(heading)
   return (heading:lower():gsub("[^%w%s_-]", ""):gsub("^%s+", ""):gsub("%s+$", ""):gsub("%s", "-"))
end

local function without_code(text)
   return (text:gsub("\n```.-\n```", ""):gsub("`[^`\n]*`", ""))
end

-- The anchors of a page; of equal headings the later ones are numbered.
local function anchors(text)
   local set, times = {}, {}
   for heading in ("\n" .. text:gsub("\n```.-\n```", "")):gmatch "\n#+ ([^\n]*)" do
      local name = anchor(heading)
      set[times[name] and ("%s-%d"):format(name, times[name]) or name] = true
      times[name] = (times[name] or 0) + 1
   end
   return set
end

local function pages()
   local list = {}
   local names = scratch.shell(("cd '%s./' && ls *.md docs/*.md docs/*/*.md"):format(scratch.PROJECT))
   for path in names:gmatch "[^\n]+" do
      list[#list + 1] = path
   end
   return list
end

-- What is wrong with a link of a page, or nil.
local function wrong_link(page, target)
   local path, name = target:match "^([^#]*)#?(.*)$"
   local file = path == "" and page or (page:match "^(.*/)" or "") .. path
   if not uv.fs_stat(scratch.PROJECT .. file) then
      return ("%s: %s: there is no %s"):format(page, target, file)
   elseif name ~= "" and not anchors(scratch.read(scratch.PROJECT .. file))[name] then
      return ("%s: %s: no such heading"):format(page, target)
   end
end

describe("the documentation", function()
   teardown(scratch.remove)

   for _, page in ipairs { "plan", "protocols" } do
      it(("has a docs/%s.md as docs/%s.lua writes it"):format(page, page), function()
         local command = ("%s script %sdocs/%s.lua"):format(PROGRAM, scratch.PROJECT, page)
         local text, status = scratch.shell(command)
         assert.equal(0, status, text)
         assert.equal(text, scratch.read(("%sdocs/%s.md"):format(scratch.PROJECT, page)))
      end)
   end

   it("has a docs/api as docs/api.lua writes it", function()
      local docs, folder = scratch.PROJECT .. "docs/", scratch.path()
      local command = ("mkdir %s && %s script %sapi.lua %s && diff -r %s %sapi"):format(folder, PROGRAM, docs,
         folder, folder, docs)
      local output, status = scratch.shell(command)
      assert.equal("", output)
      assert.equal(0, status)
   end)

   it("links to what is there", function()
      local wrong, links = {}, 0
      for _, page in ipairs(pages()) do
         for target in without_code(scratch.read(scratch.PROJECT .. page)):gmatch "%]%(([^)%s]+)%)" do
            if not target:find "^%a+:" then
               links, wrong[#wrong + 1] = links + 1, wrong_link(page, target)
            end
         end
      end
      assert.equal("", table.concat(wrong, "\n"))
      assert.is_true(links > 50, links)
   end)
end)
