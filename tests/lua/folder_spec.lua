-- SPDX-License-Identifier: BSD-3-Clause

-- Folders of results that come from somebody else: links and pipes in them.
local csv = require "framegauge.text.csv"
local Folder = require "framegauge.report.folder"
local scratch = require "scratch"
local uv = require "luv"

-- A folder, and a file beside it that nobody may write to.
local function pair()
   local path, other = scratch.path(), scratch.path()
   uv.fs_mkdir(path, tonumber("755", 8))
   scratch.write(other, "mine")
   return path, other
end

describe("a folder of results from elsewhere", function()
   teardown(scratch.remove)

   it("has no link through which a file elsewhere is written", function()
      local path, other = pair()
      for _, name in ipairs { "result.json.new", "result.json", "trials.jsonl" } do
         assert(uv.fs_symlink(other, path .. "/" .. name))
      end
      local folder = Folder.open(path)
      folder:write("result.json", "{}")
      assert.equal("{}", scratch.read(path .. "/result.json"))
      for _, act in ipairs { "append", "truncate" } do
         local ok, err = pcall(folder[act], folder, "trials.jsonl", act == "append" and "{}" or 0)
         assert.falsy(ok)
         assert.matches("trials.jsonl: it is no regular file", tostring(err), 1, true)
      end
      assert.equal("mine", scratch.read(other))
   end)

   it("has no pipe that is waited for", function()
      local path = pair()
      scratch.shell(("mkfifo '%s/result.json' '%s/run.json'"):format(path, path))
      local text, why = Folder.open(path):read "result.json"
      assert.is_nil(text)
      assert.matches("no regular file", why, 1, true)
      for _, command in ipairs { "report '%s'", "run --resume '%s'", "compare '%s' '%s'" } do
         local said, status = scratch.shell(("timeout 20 '%s' " .. command .. " 2>&1"):format(uv.exepath(),
            path, path))
         assert.equal(2, status, command .. said)
      end
   end)

   it("has no file that is larger than what is read whole, and no folder in the place of one", function()
      local path = pair()
      for _, name in ipairs { "result.json", "run.json", "trials.jsonl" } do
         scratch.write(path .. "/" .. name, "{}")
         local fd = assert(uv.fs_open(path .. "/" .. name, "r+", 0))
         assert(uv.fs_ftruncate(fd, 2^40)) -- a hole: the disk has no room for it
         uv.fs_close(fd)
         local text, why = Folder.open(path):read(name)
         assert.is_nil(text)
         assert.equal(path .. "/" .. name .. ": larger than 1 GiB", why)
      end
      uv.fs_mkdir(path .. "/plan.yaml", tonumber("755", 8))
      local text, why = Folder.open(path):read "plan.yaml"
      assert.is_nil(text)
      assert.equal(path .. "/plan.yaml: no regular file", why)
   end)
end)

describe("a table for spreadsheets", function()
   it("has no text that is a formula", function()
      local text = csv.text({ "a", "b", "c" }, {
         { a = "=1+1", b = "+x", c = "@SUM(A1)" }, { a = "-2+3", b = "\t=1", c = "\r=1" },
         { a = -2.5, b = "a=b", c = "a-b" },
      })
      assert.equal("a,b,c\n'=1+1,'+x,'@SUM(A1)\n'-2+3,'\t=1,\"'\r=1\"\n-2.5,a=b,a-b\n", text)
   end)
end)
