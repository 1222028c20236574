-- SPDX-License-Identifier: BSD-3-Clause

local api = require "framegauge.core.api"
local ffi = require "ffi"

local function parse(text)
   local err = api.error()
   return api.C.fg_units_parse(text, ffi.new("struct fg_quantity"), err), err
end

describe("the C interface", function()
   it("passes results on", function()
      assert.equal(0, api.check(parse("10Gbps")))
      assert.equal(0, api.try(parse("10Gbps")))
   end)

   it("turns a struct fg_error into an error object that knows the exit status", function()
      local ok, err = pcall(api.check, parse("ten"))
      assert.falsy(ok)
      assert.equal(22, err.code) -- EINVAL
      assert.equal(4, err.status)
      assert.truthy(tostring(err):find("ten", 1, true), tostring(err))
      local result, same = api.try(parse("ten"))
      assert.is_nil(result)
      assert.equal(tostring(err), tostring(same))
   end)

   it("says at least the number where C said nothing", function()
      assert.equal("error 5", tostring(select(2, api.try(-5, api.error()))))
      assert.equal("error 5", tostring(select(2, api.try(-5))))
   end)
end)
