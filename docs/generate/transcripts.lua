-- SPDX-License-Identifier: BSD-3-Clause

--- Writes the output of commands into pages: build/app/framegauge script docs/generate/transcripts.lua [FOLDER]
--
-- In a block fenced with "```console run" each line that begins with "$ " is a command, and the lines behind it are
-- what it prints. This script runs the commands again, on the reference device, and writes what they print now, into
-- docs/tutorials or into FOLDER. A block fenced with "```yaml file=NAME" or "```lua file=NAME" is a file
-- that the commands find. The commands of a page share a folder.
local uv = require "luv"

local DOCS = arg[0]:match "^(.-)[^/]*$" .. "../"
local PAGES = { "first-switch-test.md", "first-tcp-test.md", "first-script.md" }

local function read(path)
   local file = assert(io.open(path))
   local text = file:read "*a"
   file:close()
   return text
end

local function write(path, text)
   local file = assert(io.open(path, "w"))
   file:write(text)
   file:close()
end

local function output_of(folder, command)
   local shell = ("cd '%s' && export PATH='%s':$PATH && { %s; } 2>&1"):format(folder,
      uv.exepath():match "^(.*)/", command)
   local pipe = assert(io.popen(shell))
   local text = pipe:read "*a"
   pipe:close()
   return text:match "^(.-)%s*$" .. "\n"
end

local function rerun(folder, block)
   local out = {}
   for line in block:gmatch "[^\n]+" do
      if line:find "^%$ " then
         out[#out + 1] = line .. "\n" .. output_of(folder, line:sub(3))
      end
   end
   return table.concat(out)
end

-- A page with the output of its commands as it is now.
local function renewed(text)
   local folder = assert(uv.fs_mkdtemp("/tmp/framegauge-docs-XXXXXX"))
   for _, name in ipairs { "configs", "scripts-lua" } do
      assert(uv.fs_symlink(uv.fs_realpath(DOCS .. "../" .. name), folder .. "/" .. name))
   end
   text = text:gsub("(```(%l+) ?([^\n]*)\n)(.-)(```\n)", function(opening, _, rest, block, closing)
      local name = rest:match "^file=(.*)$"
      if name then
         write(folder .. "/" .. name, block)
      elseif rest == "run" then
         return opening .. rerun(folder, block) .. closing
      end
   end)
   os.execute(("rm -r '%s'"):format(folder))
   return text
end

for _, page in ipairs(PAGES) do
   write((arg[1] or DOCS .. "tutorials") .. "/" .. page, renewed(read(DOCS .. "tutorials/" .. page)))
end
