-- SPDX-License-Identifier: BSD-3-Clause

-- docs/explanation/quic-and-tcp.md has the figures of runs as they are now. The libraries that the page names
-- give the same to the digit; with others the text must be the same, and figures of TCP alone.
local scratch = require "scratch"
local uv = require "luv"

-- The text without its figures, or with figures of tables of TCP alone: the columns before TLS.
local function without_figures(page)
   return (page:gsub("%f[%w]ngtcp2 [%w.]+", "ngtcp2"):gsub("OpenSSL [%w.]+", "OpenSSL"):gsub("%d[%d.]*", "N")
      :gsub(" ± N", ""))
end

local function of_tcp(page)
   local list = {}
   for time, goodput in page:gmatch "\n| ([%d.]+ ms) | ([%d.]+) |" do
      list[#list + 1] = time .. " " .. goodput
   end
   return list
end

describe("the page on QUIC beside TCP", function()
   teardown(scratch.remove)

   it("is as docs/generate/quic-and-tcp.lua writes it", function()
      local kept = scratch.read(scratch.PROJECT .. "docs/explanation/quic-and-tcp.md")
      local page, status = scratch.shell(("'%s' script '%sdocs/generate/quic-and-tcp.lua'"):format(uv.exepath(),
         scratch.PROJECT))
      assert.equal(0, status, page)
      local libraries = "with (ngtcp2 %S+ and OpenSSL %S+)"
      assert.equal(without_figures(kept), without_figures(page))
      assert.equal(10, #of_tcp(page))
      assert.same(of_tcp(kept), of_tcp(page))
      if kept:match(libraries) == page:match(libraries) then
         assert.equal(kept, page)
      end
   end)
end)
