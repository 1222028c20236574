-- SPDX-License-Identifier: BSD-3-Clause

--- Finished trials that nobody has collected yet: one file each, synced, until they are collected or old.
-- Without a folder the newest trial is kept in memory.
local json = require "cjson.safe"
local ledger = require "framegauge.fleet.ledger"
local named_file = require "framegauge.core.named_file"
local uv = require "luv"

local M = {}

local Journal = {}
Journal.__index = Journal

local MAX_AGE, MAX_BYTES = 24 * 3600, 1024 * 1024 * 1024

--- Make sure that a folder is there. @return it, or nil and what is wrong
function M.folder(path)
   local made, err = uv.fs_mkdir(path, tonumber("700", 8))
   local stat = uv.fs_stat(path)
   if made or stat and stat.type == "directory" then
      return path
   end
   return nil, err or path .. " is no folder"
end

--- @param folder  of all agents of this host; nil: none
-- @param name    of this agent
function M.new(folder, name)
   return setmetatable({ prefix = (folder or "") .. "/" .. name, folder = folder, unwritten = {} }, Journal)
end

-- Keep only harmless characters of a controller's text in file names.
local function file_of(self, command)
   local run = tostring(command.run):gsub("[^%w-]", function(c) return ("_%02x"):format(c:byte()) end)
   return ("%s.%s.%d.%d.trial"):format(self.prefix, run:sub(1, 150), tonumber(command.trial) or 0,
      tonumber(command.attempt) or 0)
end

local function files(self)
   local list, scan = {}, uv.fs_scandir(self.folder)
   for name in scan and uv.fs_scandir_next or function() end, scan do
      local stat = name:find "%.trial$" and uv.fs_stat(self.folder .. "/" .. name)
      list[#list + 1] = stat and { path = self.folder .. "/" .. name, at = stat.mtime.sec, bytes = stat.size }
         or nil
   end
   table.sort(list, function(a, b) return a.at > b.at end)
   return list
end

--- Remove what is old, and the oldest of too much.
function Journal:prune()
   local bytes = 0
   for _, file in ipairs(files(self)) do
      bytes = bytes + file.bytes
      if os.time() - file.at > MAX_AGE or bytes > MAX_BYTES then
         uv.fs_unlink(file.path)
      end
   end
end

--- Whether something can be written now. @return true, or nil and why not
function Journal:is_writable()
   if not self.folder then
      return true
   end
   local path = self.prefix .. ".probe"
   local ok, why = ledger.write_synced(path, ("."):rep(4096))
   uv.fs_unlink(path)
   uv.fs_unlink(path .. ".new")
   return ok, why
end

--- Keep the result of a trial; where the disk cannot take it, only as long as the agent runs.
function Journal:write(command, result)
   local path = file_of(self, command)
   if not self.folder then
      self.unwritten = { [path] = result }
      return
   end
   self:prune()
   if not ledger.write_synced(path, assert(json.encode(result))) then
      self.unwritten[path] = result
   end
end

--- The entry again; nil without one.
function Journal:read(command)
   local path = file_of(self, command)
   local text = self.folder and named_file.read(path)
   return text and json.decode(text) or self.unwritten[path]
end

function Journal:forget(command)
   local path = file_of(self, command)
   self.unwritten[path] = nil
   if self.folder then
      uv.fs_unlink(path)
   end
end

return M
