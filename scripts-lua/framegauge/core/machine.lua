-- SPDX-License-Identifier: BSD-3-Clause

--- The machine as /proc and /sys tell it. Reads files, opens no device, so that looking can never disturb.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local named_file = require "framegauge.core.named_file"
local uv = require "luv"

local C = api.C

local Machine = {}
Machine.__index = Machine

--- A view of the machine below a folder.
-- @param root  "" for this machine; the tests give folders of their own
function Machine.at(root)
   return setmetatable({ root = root }, Machine)
end

--- Content of a file without its last newline, or nil.
function Machine:read(path)
   local text = named_file.read(self.root .. path)
   return text and text:gsub("\n$", "")
end

--- Write to a file that is there. It is not opened for reading: sysfs refuses that to everybody where a
-- file is only there to be written. @return true, or nil and why not
function Machine:write(path, text)
   local fd, message = uv.fs_open(self.root .. path, uv.constants.O_WRONLY, 0)
   if not fd then
      return nil, message
   end
   local written, why = uv.fs_write(fd, text)
   uv.fs_close(fd)
   return written and true or nil, why
end

--- Whether a path exists.
function Machine:exists(path)
   return uv.fs_stat(self.root .. path) ~= nil
end

--- Names in a folder, sorted; none when there is no such folder.
function Machine:list(path)
   local names = {}
   local scan = uv.fs_scandir(self.root .. path)
   if scan then
      for name in uv.fs_scandir_next, scan do
         names[#names + 1] = name
      end
   end
   table.sort(names)
   return names
end

--- What the kernel tells of an interface: { driver =, xdp = "zero copy", "native", "none", or nil where it
-- does not know }; nil where it is not asked, because the machine is a folder.
function Machine:interface(name)
   local about = ffi.new "struct fg_interface_about"
   if self.root ~= "" or C.fg_interface_about(name, about) ~= 0 then
      return nil
   end
   return {
      driver = ffi.string(about.driver),
      xdp = about.xdp_known
         and (about.xdp_zero_copy and "zero copy" or about.xdp_native and "native" or "none") or nil,
   }
end

--- Last part of where a symbolic link points to, or nil.
function Machine:link_name(path)
   local target = uv.fs_readlink(self.root .. path)
   return target and target:match("[^/]+$")
end

--- A list of numbers as the kernel writes it ("0-3,8") as a list.
function Machine.numbers(text)
   local list = {}
   for first, last in (text or ""):gmatch("(%d+)%-?(%d*)") do
      for n = tonumber(first), tonumber(last) or tonumber(first) do
         list[#list + 1] = n
      end
   end
   return list
end

--- A value of a "Name:  value" file such as /proc/meminfo, or nil.
function Machine:field(path, name)
   return ("\n" .. (self:read(path) or "")):match("\n" .. name .. "%s*:%s*([^\n]*)")
end

--- CPUs this process may run on.
function Machine:cpus()
   return self.numbers(self:field("/proc/self/status", "Cpus_allowed_list"))
end

--- How fast the time stamp counter runs, as measured now against CLOCK_MONOTONIC_RAW: takes 0.1 s.
function Machine.tsc()
   local tsc = ffi.new "struct fg_tsc"
   C.fg_tsc_measure(tsc)
   return ("%.3f MHz, measured to %.1g ppm"):format(tsc.hz / 1e6, tsc.error_ppm)
end

--- Whether the processor has a flag.
function Machine:has_cpu_flag(flag)
   local flags = self:field("/proc/cpuinfo", "flags") or ""
   return (" " .. flags .. " "):find(" " .. flag .. " ", 1, true) ~= nil
end

return Machine
