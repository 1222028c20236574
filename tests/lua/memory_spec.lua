-- SPDX-License-Identifier: BSD-3-Clause

-- The memory of a program that runs for days: blocks that are freed go back to the system.
local ffi = require "ffi"
local scratch = require "scratch"

local MIB = 2 ^ 20

ffi.cdef "void *malloc(size_t); void free(void *);"

-- Bytes of the heap that mallocs share.
local function heap_size()
   local size = 0
   for first, last in scratch.read "/proc/self/maps":gmatch "(%x+)%-(%x+)[^\n]*%[heap%]" do
      size = size + tonumber(last, 16) - tonumber(first, 16)
   end
   return size
end

describe("the memory of the program", function()
   it("keeps large blocks out of its heap, after larger ones were freed, too", function()
      ffi.C.free(ffi.C.malloc(16 * MIB))
      local before, blocks = heap_size(), {}
      for i = 1, 8 do
         blocks[i] = ffi.C.malloc(MIB)
      end
      assert.is_true(heap_size() - before < MIB)
      for _, block in ipairs(blocks) do
         ffi.C.free(block)
      end
   end)
end)
