-- SPDX-License-Identifier: BSD-3-Clause
local scratch = require "scratch"
local script_api = require "framegauge.cli.script_api"
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
   local names = scratch.shell(("cd '%s./' && find *.md docs -name '*.md' | sort"):format(scratch.PROJECT))
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

-- Every file of the source tree that may name another one.
local function sources()
   local kinds = "md\\|yaml\\|lua\\|[ch]\\|cc\\|py\\|sh\\|tools/[^.]*"
   local names = scratch.shell(("cd '%s./' && find *.md docs configs tools lib app scripts-lua tests -type f -regex '.*\\(%s\\)' | sort"):format(scratch.PROJECT, kinds))
   return names:gmatch "[^\n]+"
end

-- The text of a page's code: what stands in fences and between backquotes, each line by itself.
local function code_of(text)
   local lines = {}
   text = ("\n" .. text):gsub("\n```%s?[^\n]*\n(.-)\n```", function(block)
      for line in block:gsub("\\\n", " "):gmatch "[^\n]+" do
         lines[#lines + 1] = line
      end
      return "\n"
   end)
   for code in text:gmatch "`([^`\n]+)`" do
      lines[#lines + 1] = code
   end
   return lines
end

-- The help of a command, or nil without one.
local helps = {}
local function help_of(command)
   if helps[command] == nil then
      local text, status = scratch.shell(("'%s' %s --help 2>&1"):format(PROGRAM, command))
      helps[command] = status == 0 and text
   end
   return helps[command] or nil
end

local GLOBAL_OPTIONS = {
   ["--help"] = true, ["--version"] = true, ["--verbose"] = true, ["--lua-path"] = true,
}

-- What is wrong with the commands in a line of code.
local function wrong_commands(page, line, wrong)
   for start, rest in line:gmatch "()framegauge( [^|;&)]*)" do
      local command, arguments = rest:match "^ (%l[%l%d]*)(.*)"
      local before = line:sub(1, start - 1)
      if command and (not before:find "[%w_'\"/.-]$" or before:find "app/$") then
         local help = help_of(command)
         if not help then
            wrong[#wrong + 1] = ("%s: %s: no such command"):format(page, line)
         end
         arguments = help and arguments:gsub("%s#.*", ""):gsub(" %-%- .*", "") or ""
         for option in arguments:gmatch " (%-%-[%l-]+)" do
            if not GLOBAL_OPTIONS[option] and not help:find(option, 1, true) then
               wrong[#wrong + 1] = ("%s: %s: no option %s"):format(page, line, option)
            end
         end
      end
   end
end

local ROOTS = { configs = true, docs = true, tools = true, lib = true, app = true, tests = true,
   ["scripts-lua"] = true }

-- What is wrong with the paths of the source tree in a line of code.
local function wrong_paths(page, line, wrong)
   for start, path in line:gmatch "()([%l-]+/[%w_./*-]*)" do
      path = path:gsub("%.+$", "")
      local ours = ROOTS[path:match "^[^/]+"] and not line:sub(1, start - 1):find "[%w_./~<-]$"
      -- NAME and the like stand for a name of the reader's
      if ours and not path:find "%u%u%u" then
         local command = ("ls -d '%s'%s >/dev/null 2>&1"):format(scratch.PROJECT, path)
         if not uv.fs_stat(scratch.PROJECT .. path) and select(2, scratch.shell(command)) ~= 0 then
            wrong[#wrong + 1] = ("%s: there is no %s"):format(page, path)
         end
      end
   end
end

local PUBLIC = {}
for _, module in ipairs(script_api.MODULES) do
   PUBLIC["framegauge." .. module[1]] = true
end

-- What is wrong with the modules that a line of code requires: a script may require the public ones.
local function wrong_modules(page, line, wrong)
   for name in line:gmatch "require *%(?[\"'](framegauge%.[%l%d_.]+)[\"']" do
      if not PUBLIC[name] then
         wrong[#wrong + 1] = ("%s: there is no module %s"):format(page, name)
      end
   end
end

-- A generator writes to stdout, or into a folder.
local PAGES = { "plan.md", "protocols.md", "exit-codes.md", "figures.md", "metrics.md", "otg.md",
   "result.schema.json", "openapi.json" }
local FOLDERS = { api = "reference/api", transcripts = "tutorials" }

describe("the documentation", function()
   teardown(scratch.remove)

   for _, page in ipairs(PAGES) do
      local generator = page:match "^(.*)%."
      it(("has a docs/reference/%s as docs/generate/%s.lua writes it"):format(page, generator), function()
         local command = ("'%s' script '%sdocs/generate/%s.lua'"):format(PROGRAM, scratch.PROJECT, generator)
         local text, status = scratch.shell(command)
         assert.equal(0, status, text)
         assert.equal(text, scratch.read(("%sdocs/reference/%s"):format(scratch.PROJECT, page)))
      end)
   end

   for generator, pages_of in pairs(FOLDERS) do
      it(("has pages in docs/%s as docs/generate/%s.lua writes them"):format(pages_of, generator), function()
         local folder = scratch.path()
         local command = ("mkdir '%s' && '%s' script '%sdocs/generate/%s.lua' '%s' && for page in '%s'/*; do diff '%sdocs/%s'/${page##*/} \"$page\"; done"):format(
            folder, PROGRAM, scratch.PROJECT, generator, folder, folder, scratch.PROJECT, pages_of)
         local output, status = scratch.shell(command)
         assert.equal("", output)
         assert.equal(0, status)
      end)
   end

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

   it("names commands, options, modules and files that there are", function()
      local wrong = {}
      for _, page in ipairs(pages()) do
         for _, line in ipairs(code_of(scratch.read(scratch.PROJECT .. page))) do
            wrong_commands(page, line, wrong)
            wrong_paths(page, line, wrong)
            wrong_modules(page, line, wrong)
         end
      end
      assert.equal("", table.concat(wrong, "\n"))
   end)

   it("names tests that there are", function()
      local wrong, names = {}, 0
      for _, page in ipairs(pages()) do
         local text = scratch.read(scratch.PROJECT .. page)
         for file, list in text:gmatch '`(tests/[%w_./]+)`: ("[^|;\n]*")' do
            local tests = scratch.read(scratch.PROJECT .. file) or ""
            for name in list:gmatch '"([^"]+)"' do
               names = names + 1
               wrong[#wrong + 1] = not tests:find(name, 1, true)
                  and ("%s: %s has no test %q"):format(page, file, name) or nil
            end
         end
      end
      assert.equal("", table.concat(wrong, "\n"))
      assert.is_true(names > 20, names)
   end)

   it("has a page of every module that an example requires", function()
      local wrong = {}
      for file in scratch.shell("ls '" .. scratch.PROJECT .. "scripts-lua/examples/'*.lua"):gmatch "[^\n]+" do
         for line in scratch.read(file):gmatch "[^\n]+" do
            -- OTG is described as an API (docs/how-to/otg.md), whose example has a server of its own
            wrong_modules(file:match "[^/]+$", line:gsub("framegauge%.otg%.%l+", ""), wrong)
         end
      end
      assert.equal("", table.concat(wrong, "\n"))
   end)

   it("has the layers of lib/meson.build and the folders of Lua in its architecture", function()
      local page = scratch.read(scratch.PROJECT .. "docs/explanation/architecture.md")
      local libraries = scratch.read(scratch.PROJECT .. "lib/meson.build"):match "libraries = %[(.-)%]"
      local order = {}
      for name in libraries:gmatch "'(%l+)'" do
         order[#order + 1] = name
      end
      assert.equal(table.concat(order, " "), (page:match "\n(base [^\n]*)\n":gsub(" |", "")))
      local layers = {}
      for name in scratch.read(scratch.PROJECT .. "tools/check-lua-layers"):gmatch "\n    %('([^']*)', %[" do
         layers[#layers + 1] = name
      end
      assert.equal(table.concat(layers, " < "), page:match "\n(core <[^\n]*)\n")
      local folders = scratch.shell(("cd '%sscripts-lua/framegauge' && ls -d */"):format(scratch.PROJECT))
      for folder in folders:gmatch "[^\n]+" do
         assert.matches("`" .. folder, page, 1, true)
      end
   end)

   it("is where the sources say it is", function()
      local wrong = {}
      for file in sources() do
         local text = scratch.read(scratch.PROJECT .. file):gsub("https?://%S+", "") -- others' are elsewhere
         for path in text:gmatch "docs/[%l%d/_-]+%.[%l.]*%l" do
            if not uv.fs_stat(scratch.PROJECT .. path) then
               wrong[#wrong + 1] = ("%s: there is no %s"):format(file, path)
            end
         end
      end
      assert.equal("", table.concat(wrong, "\n"))
   end)
end)
