-- SPDX-License-Identifier: BSD-3-Clause

--- The folder of a run, written so that a crash leaves nothing half done.
--
-- Lines are appended and synced one by one; whole files appear at once, by writing them beside their place
-- and renaming. Nothing that was there before the run is ever overwritten. While a run writes to its folder
-- it holds a lock on it, which the kernel takes back however the process ends.
local lock = require "framegauge.core.lock"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local Folder = {}
Folder.__index = Folder

local ENVIRONMENT = 4
local MOST_BYTES = 2^30 -- of a file that is read whole

-- An error of the machine is no fault of the program: a full disk, a read-only folder.
local function must(path, done, message)
   return done or user_error.raise("run", ENVIRONMENT, "cannot write %s: %s", path, message)
end

local function write_all(fd, path, text)
   local at = 0
   while at < #text do
      at = at + must(path, uv.fs_write(fd, at == 0 and text or text:sub(at + 1), -1))
   end
   must(path, uv.fs_fsync(fd))
end

local function make_parents(path)
   local parent = path:match "^(.+)/[^/]+/*$"
   if not parent or uv.fs_stat(parent) then
      return true
   end
   local made, message = make_parents(parent)
   if not made then
      return nil, message
   end
   made, message = uv.fs_mkdir(parent, tonumber("755", 8))
   return made or uv.fs_stat(parent), message
end

local function is_empty(path)
   local entries, empty = uv.fs_scandir(path), true
   while entries and uv.fs_scandir_next(entries) do
      empty = false -- and on to the end: libuv forgets to free the only entry of a folder when left there
   end
   return entries and empty
end

--- Whether results may go to a path: it is absent, or an empty folder.
-- @return true, or false and why not
function Folder.is_free(path)
   local stat = uv.fs_stat(path)
   if stat and stat.type ~= "directory" then
      return false, path .. " is there already and is no folder"
   elseif stat and not is_empty(path) then
      return false, path .. " is not empty, and results are never overwritten"
   end
   return true
end

--- A folder that may hold other things, made where it is not there.
-- @return the folder, or nil and a message
function Folder.make(path)
   local made, message = make_parents(path .. "/.")
   if not made then
      return nil, "cannot create the folder " .. path .. ": " .. message
   end
   return Folder.open(path)
end

--- Make the folder of a run, with the folders above it.
-- @return the folder, or nil and a message
function Folder.create(path)
   local made, message = Folder.is_free(path)
   if made then
      made, message = make_parents(path)
   end
   if made and not uv.fs_stat(path) then
      made, message = uv.fs_mkdir(path, tonumber("755", 8))
   end
   if not made then
      return nil, "cannot create the result folder " .. path .. ": " .. message
   end
   return Folder.take(path)
end

--- The folder of an earlier run, to continue the run.
-- @return the folder; or nil and a message, also while the run is under way
function Folder.take(path)
   local fd, message = uv.fs_open(path .. "/", "r", 0) -- another kind of file, such as a pipe, is not opened
   if not fd then
      return nil, "cannot open the result folder: " .. message
   elseif not lock.try(fd) then
      uv.fs_close(fd)
      return nil, "a run is writing to " .. path .. " at this moment"
   end
   local folder = Folder.open(path)
   folder.lock = fd
   return folder
end

--- The folder of an earlier run, to write the files that follow from its result again.
function Folder.open(path)
   return setmetatable({ path = path, appended = {} }, Folder)
end

--- A folder of its own for every run: framegauge-runs/NAME-DATE, with a number behind it when that is taken.
-- @param now  seconds since 1970
function Folder.default_path(name, now)
   local base = ("framegauge-runs/%s-%s"):format(name:gsub("[^%w._-]", "_"), os.date("%Y%m%d-%H%M%S", now))
   local path, n = base, 1
   while uv.fs_stat(path) do
      n = n + 1
      path = base .. "-" .. n
   end
   return path
end

--- A whole file's text, or nil and a message.
function Folder:read(name)
   local path = self.path .. "/" .. name
   local stat = uv.fs_stat(path)
   if stat and stat.type ~= "file" then
      return nil, path .. ": no regular file" -- a pipe in a foreign folder would block
   elseif stat and stat.size > MOST_BYTES then
      return nil, path .. ": larger than 1 GiB" -- it may be empty, and need no room on the disk
   end
   local file, message = io.open(path, "rb")
   if not file then
      return nil, message
   end
   local text, why = file:read "*a"
   file:close()
   return text, why
end

-- The path of a file that is written in place: in a foreign folder it may be a link.
local function own_path(self, name)
   local path = self.path .. "/" .. name
   local stat = uv.fs_lstat(path)
   must(path, not stat or stat.type == "file", "it is no regular file")
   return path
end

--- Keep only the first bytes of a file.
function Folder:truncate(name, size)
   local path = own_path(self, name)
   local fd = must(path, uv.fs_open(path, "r+", 0))
   must(path, uv.fs_ftruncate(fd, size))
   must(path, uv.fs_fsync(fd))
   uv.fs_close(fd)
end

function Folder:sync()
   local fd = must(self.path, uv.fs_open(self.path, "r", 0))
   uv.fs_fsync(fd)
   uv.fs_close(fd)
end

--- Append one line to a file. It is on the disk when this returns.
function Folder:append(name, line)
   local path, fd = self.path .. "/" .. name, self.appended[name]
   if not fd then
      own_path(self, name)
      fd = must(path, uv.fs_open(path, "a", tonumber("644", 8)))
      self.appended[name] = fd
      self:sync()
   end
   write_all(fd, path, line .. "\n")
end

--- Write a whole file: a reader sees the old one or the new one.
function Folder:write(name, text)
   local path = self.path .. "/" .. name
   uv.fs_unlink(path .. ".new") -- of a run that was killed; or a link to somewhere else
   local fd = must(path, uv.fs_open(path .. ".new", "wx", tonumber("644", 8)))
   local written, why = pcall(write_all, fd, path, text)
   uv.fs_close(fd)
   if not written then
      uv.fs_unlink(path .. ".new")
      error(why, 0)
   end
   must(path, uv.fs_rename(path .. ".new", path))
   self:sync()
end

function Folder:close()
   for _, fd in pairs(self.appended) do
      uv.fs_close(fd)
   end
   self.appended = {}
   if self.lock then
      uv.fs_close(self.lock)
      self.lock = nil
   end
end

return Folder
