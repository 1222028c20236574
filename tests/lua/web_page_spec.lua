-- SPDX-License-Identifier: BSD-3-Clause

local Access = require "framegauge.web.access"
local api = require "framegauge.web.api"
local page = require "framegauge.web.page"
local scratch = require "scratch"
local source = require "framegauge.source"

local VENDOR = scratch.PROJECT .. "page/vendor/"

describe("the page", function()
   it("holds its libraries unchanged, with their licences", function()
      local output, status = scratch.shell(("cd '%s' && sha256sum -c SHA256SUMS 2>&1"):format(VENDOR))
      assert.equal(0, status, output)
      local licences = scratch.read(VENDOR .. "LICENSES")
      for _, words in ipairs { "htm 3.1.1", "Apache License", "Preact", "uPlot 1.6.32", "MIT License" } do
         assert.matches(words, licences, 1, true)
      end
   end)

   it("is inside the program, byte by byte", function()
      for name, path in pairs {
         index = "index.html", app = "app.js", chart = "chart.js", style = "style.css",
         common = "common.js", runs = "runs.js", history = "history.js", compare = "compare.js",
         fleet = "fleet.js",
         htm = "vendor/htm-preact.js", uplot = "vendor/uplot.js", uplot_style = "vendor/uplot.css",
      } do
         assert.equal(scratch.read(scratch.PROJECT .. "page/" .. path):gsub("\n*$", ""),
            (source.read("framegauge.web.page." .. name):gsub("\n*$", "")))
      end
   end)

   it("weighs at most 80 kB when compressed", function()
      local bytes = scratch.shell(("cd '%spage' && cat index.html *.js *.css vendor/*.js vendor/*.css | gzip -9 | wc -c"):format(scratch.PROJECT))
      assert.truthy(tonumber(bytes) <= 80000, bytes)
   end)

   it("has a description of every route, and of no other", function()
      local routes, described = {}, {}
      for _, row in ipairs(api.ROUTES) do
         described[row[1]] = true
      end
      local code = scratch.read(scratch.PROJECT .. "scripts-lua/framegauge/web/page.lua")
      for key in code:gmatch '%["(%u+ /%S+)"%] = function' do
         routes[key] = true
      end
      assert.same(described, routes)
   end)

   it("does nothing for an action with a key too many, or of another type", function()
      local started, control = {}, { plan = { fleet = { agents = {} } } }
      function control.test(_, name)
         started[#started + 1] = name
      end
      local routes = page.routes(control, { address = "127.0.0.1:80" }).routes
      local function refused(text)
         local ok, err = pcall(routes["POST /api/v1/actions"], { body = text })
         return ok and "done" or err.http_status .. " " .. err.message
      end
      assert.equal("done", refused '{"test":"rfc2544","quick":true}')
      assert.equal("400 test: expected string", refused '{"test":["rfc2544"]}')
      assert.equal("400 quick: expected boolean", refused '{"test":"rfc2544","quick":"yes"}')
      assert.equal("400 out: not a key of this action", refused '{"test":"rfc2544","out":"/tmp/x"}')
      assert.equal("400 id: expected number", refused '{"job":"stop","id":"x"}')
      assert.equal("400 rate: expected string or number", refused '{"stream":"rate","target":"a","rate":{}}')
      assert.equal("400 1: not a key of this action", refused '[1]')
      assert.same({ "rfc2544" }, started)
   end)

   it("knows which addresses are of this machine alone", function()
      for address, is_local in pairs {
         ["127.0.0.1:80"] = true, ["localhost:0"] = true, ["[::1]:8080"] = true, ["unix:/tmp/s"] = true,
         ["0.0.0.0:80"] = false, ["192.0.2.1:80"] = false, ["[::]:80"] = false,
         ["localhost.example:80"] = false,
      } do
         assert.equal(is_local, Access.is_local(address), address)
      end
   end)
end)
