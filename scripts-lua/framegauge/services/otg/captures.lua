-- SPDX-License-Identifier: BSD-3-Clause

--- The captures of a configuration: files of ours in a folder of their own, and what scripts get of them.
local capture = require "framegauge.tester.capture"
local capture_file = require "framegauge.services.otg.capture_file"
local job = require "framegauge.core.job"
local tables = require "framegauge.core.tables"
local uv = require "luv"

local RING_FILE, RING_FILES = "32MiB", 2 -- where the newest frames replace the oldest

local Captures = {}
Captures.__index = Captures

--- @param wanted  by name of the port (framegauge.services.otg.config)
function Captures.new(tester, wanted, plan)
   return setmetatable({
      tester = tester, wanted = wanted, running = {}, plan = plan, started = {},
   }, Captures)
end

function Captures:has(name)
   return self.wanted[name] ~= nil
end

function Captures:names()
   return tables.keys(self.wanted)
end

function Captures:is_running(name)
   return self.running[name] ~= nil
end

function Captures:path(name)
   self.folder = self.folder or assert(uv.fs_mkdtemp(uv.os_tmpdir() .. "/framegauge-otg-XXXXXX"))
   return ("%s/%d.pcap"):format(self.folder, self.wanted[name].port.place)
end

-- The files that a capture has written, oldest first.
function Captures:files(name)
   local list, stem = {}, tostring(self.wanted[name].port.place) .. ".pcap"
   for file in uv.fs_scandir_next, uv.fs_scandir(self.folder) do
      local number = file:sub(1, #stem) == stem and (tonumber(file:match "%.(%d+)$") or 0)
      list[#list + 1] = number and { number = number, path = self.folder .. "/" .. file } or nil
   end
   table.sort(list, function(a, b) return a.number < b.number end)
   return tables.field(list, "path")
end

function Captures:forget(name)
   for _, path in ipairs(self.started[name] and self:files(name) or {}) do
      os.remove(path)
   end
end

--- Begin, with nothing captured so far.
function Captures:start(name)
   local o = self.wanted[name]
   self:stop(name)
   self:forget(name)
   self.started[name] = true
   self.running[name] = capture.start(self.tester, {
      port = self.tester.ports[o.port.place].name, file = self:path(name), filter = o.filter,
      slice = o.slice and o.slice > 0 and o.slice or nil,
      file_size = o.overwrite and RING_FILE or nil, files = o.overwrite and RING_FILES or nil,
   })
end

--- End; what was captured stays.
function Captures:stop(name)
   local one = self.running[name]
   self.running[name] = nil
   if one then
      one:stop()
   end
end

--- The file of a port's capture. Call it inside a job.
function Captures:file(name, first, count)
   if self.running[name] then
      job.sleep(self.plan.otg.drain)
      self:stop(name)
   end
   return capture_file.make(self.started[name] and self:files(name) or {}, {
      format = self.wanted[name].format, fcs = self.plan.otg.capture_fcs, first = first, count = count,
   })
end

--- End all and remove their files.
function Captures:close()
   for _, name in ipairs(self:names()) do
      self:stop(name)
      self:forget(name)
   end
   if self.folder then
      uv.fs_rmdir(self.folder)
      self.folder = nil
   end
end

return Captures
