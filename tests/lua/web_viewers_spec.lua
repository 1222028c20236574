-- SPDX-License-Identifier: BSD-3-Clause

--- What viewers are to the lcores that send and receive: nothing, on any machine.
local json = require "framegauge.text.json"
local scratch = require "scratch"
local tables = require "framegauge.core.tables"
local uv = require "luv"

local STREAMS, FRAMES = 100, 400000

-- What viewed.lua saw with nobody who looks and with 50 viewers; a turn before them opens the ports.
local function turns()
   local folder = scratch.path()
   scratch.shell(("mkdir '%s'"):format(folder))
   local text, status = scratch.shell(("'%s' script '%stests/lua/viewed.lua' '%s' %d %d 0 0 50 2>&1")
      :format(uv.exepath(), scratch.PROJECT, folder, STREAMS, FRAMES))
   assert.equal(0, status, text)
   local list = {}
   for line in text:gmatch "{[^\n]*" do
      list[#list + 1] = json.decode(line)
   end
   return { without = list[2], beside = list[3] }
end

describe("viewers", function()
   local seen

   setup(function()
      seen = turns()
   end)
   teardown(scratch.remove)

   it("look while frames fly", function()
      local text = json.encode(seen)
      assert.is_true(seen.beside.answers > 0 and seen.beside.pieces > 0, text)
      assert.is_true(seen.beside.inside.fg_engine_stream_live > 0, text)
      assert.same({ 0, FRAMES / STREAMS }, { seen.without.answers, seen.without.frames })
   end)

   it("change nothing of what the packet lcore does", function()
      assert.same({ seen.without.polls, seen.without.frames, "valid" },
         { seen.beside.polls, seen.beside.frames, seen.beside.validity })
   end)

   it("have published copies read, once for each state, and nothing else done", function()
      assert.same({ "fg_engine_live", "fg_engine_stream_live" }, tables.keys(seen.beside.inside))
      local reads = seen.beside.inside.fg_engine_stream_live
      assert.is_true(reads % STREAMS == 0 and reads <= seen.beside.states * STREAMS, json.encode(seen))
      assert.same(tables.keys(seen.without.outside), tables.keys(seen.beside.outside))
   end)
end)
