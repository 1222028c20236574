-- SPDX-License-Identifier: BSD-3-Clause

--- curl beside a server that runs in this very process: the job that asks waits, the loop goes on.
local job = require "framegauge.core.job"
local uv = require "luv"

--- Ask. @param ...  arguments of curl; --silent and --max-time are given
-- @return what it printed, its exit status
return function(...)
   local arguments = { "--silent", "--max-time", "20", ... }
   return job.wait(function(wake)
      local output, process = uv.new_pipe(), nil
      local text, status = {}, nil
      local function finish()
         if status and text.ended then
            wake(table.concat(text), status)
         end
      end
      process = assert(uv.spawn("curl", { args = arguments, stdio = { nil, output } }, function(code)
         status = code
         process:close()
         finish()
      end))
      output:read_start(function(_, piece)
         text[#text + 1] = piece
         if not piece then
            text.ended = true
            output:close()
            finish()
         end
      end)
   end)
end
