-- SPDX-License-Identifier: BSD-3-Clause
local job = require "framegauge.core.job"
local pdf = require "framegauge.report.pdf"
local scratch = require "scratch"
local uv = require "luv"

-- A program that prints, or does not.
local function printer(script)
   return function(page, target)
      return { "sh", "-c", script, "sh", page, target }
   end
end

local COPY = printer 'cp "$1" "$2"'

describe("a report as PDF", function()
   teardown(scratch.remove)

   local page, folder

   before_each(function()
      page, folder = scratch.path(), scratch.path()
      scratch.write(page, "a page")
      scratch.shell(("mkdir '%s'"):format(folder))
   end)

   local function write(...)
      return job.run(pdf.write, page, folder .. "/out.pdf", { ... })
   end

   it("is printed by the first program that can", function()
      write(printer "exit 3", COPY, printer 'echo wrong >"$2"')
      assert.equal("a page", scratch.read(folder .. "/out.pdf"))
   end)

   it("says why no program could, and leaves what is there alone", function()
      scratch.write(folder .. "/out.pdf", "of an earlier run")
      local ok, err = pcall(write, printer "exit 3", printer "true", function() return { "/nonexistent" } end)
      assert.is_false(ok)
      assert.equal(4, err.status)
      assert.matches("sh failed with status 3.*sh wrote no file.*/nonexistent cannot be run", err.message)
      assert.equal("of an earlier run", scratch.read(folder .. "/out.pdf"))
   end)

   it("goes to no device and no socket, which stay", function()
      local pipe = uv.new_pipe()
      assert(pipe:bind(folder .. "/out.pdf"))
      for _, program in ipairs { COPY, printer "exit 3" } do
         local ok, err = pcall(write, program)
         assert.is_false(ok)
         assert.equal(4, err.status)
         assert.equal("socket", uv.fs_stat(folder .. "/out.pdf").type)
      end
      pipe:close()
   end)

   it("needs a folder to go to", function()
      local ok, err = pcall(job.run, pdf.write, page, folder .. "/none/out.pdf", { COPY })
      assert.is_false(ok)
      assert.matches("there is no such folder", err.message)
   end)

   it("has a page with the summary alone", function()
      local html = require "framegauge.report.html"
      local result = require "fake_result" ()
      local summary = html.summary(result, {})
      assert.matches("899,54", summary, 1, true)
      assert.matches("<h2>Summary</h2>", summary, 1, true)
      assert.is_nil(summary:find("Every trial", 1, true))
      assert.is_true(#summary < #html.page(result, {}) / 2)
   end)
end)
