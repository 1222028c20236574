-- SPDX-License-Identifier: BSD-3-Clause

--- Who may use the ports of an agent: leases, each with an epoch.
--
-- No broker can stop a sender that it cannot reach, so the owner of the ports keeps the leases. An epoch is a
-- number that only grows. It is on the disk before anybody learns it, so that a restarted agent, too, can
-- tell a command of an older lease from one of the newest. Leases end by themselves, by CLOCK_BOOTTIME, and
-- are gone after a restart.
--
-- Ports may also be reserved for a user, without a controller: during that time only controllers of this user
-- get leases of them.
local json = require "framegauge.text.json"
local named_file = require "framegauge.core.named_file"
local tables = require "framegauge.core.tables"
local uv = require "luv"

local M = {}

local Ledger = {}
Ledger.__index = Ledger

local MAX_TTL = 24 * 3600

local function write_synced(path, text)
   local fd, err = uv.fs_open(path .. ".new", "w", tonumber("600", 8))
   if not fd then
      return nil, err
   end
   local ok, why = uv.fs_write(fd, text)
   ok, why = ok and uv.fs_fsync(fd) or nil, why
   uv.fs_close(fd)
   if not ok then
      return nil, why
   end
   return uv.fs_rename(path .. ".new", path)
end

M.write_synced = write_synced

local function read_epoch(path)
   local ok, value = pcall(json.decode, named_file.read(path) or "{}")
   return ok and type(value) == "table" and tonumber(value.epoch) or nil
end

--- @param o.ports   names of the ports
-- @param o.path    of the file with the last epoch; nil: none, and epochs begin with the seconds since 1970
-- @param o.now     function() -> seconds
-- @return the ledger, or nil and what is wrong with its file
function M.open(o)
   local epoch = not o.path and os.time() or read_epoch(o.path)
   if not epoch and uv.fs_stat(o.path) then
      return nil, ("%s: not a file of epochs"):format(o.path)
   end
   return setmetatable({ path = o.path, now = o.now, epoch = epoch or 0, ports = o.ports, leases = {},
      reserved = {} }, Ledger)
end

--- The lease of a port that is still good, or nil.
function Ledger:of_port(name)
   for _, lease in pairs(self.leases) do
      if tables.contains(lease.ports, name) then
         return lease
      end
   end
   return nil
end

--- End leases whose time is over. @return list of them
function Ledger:expire()
   local ended = {}
   for epoch, lease in pairs(self.leases) do
      if not lease.orphan and self.now() >= lease.ends then
         self.leases[epoch] = nil
         ended[#ended + 1] = lease
      end
   end
   return ended
end

local function problem_of(self, o)
   if type(o.ports) ~= "table" or not o.ports[1] then
      return "no ports are named"
   elseif type(o.by) ~= "string" or #o.by > 200 then
      return "it does not name its controller"
   elseif type(o.ttl) ~= "number" or not (o.ttl >= 1 and o.ttl <= MAX_TTL) then
      return ("a lease lasts 1 to %d seconds"):format(MAX_TTL)
   end
   for _, port in ipairs(o.ports) do
      if not tables.contains(self.ports, port) then
         return ("there is no port '%s'; there is %s"):format(tostring(port), table.concat(self.ports, ", "))
      end
   end
   return nil
end

-- Of a controller, user@host:process, without the process.
local function user_of(by)
   return by:match "^(.*):%d+$" or by
end

-- The reservation of a port that is still good, or nil.
local function reservation_of(self, port)
   local kept = self.reserved[port]
   return kept and self.now() < kept.ends and kept or nil
end

-- The conflict that keeps a user from a port, in words, and its owner; nil: no conflict.
local function in_the_way(self, port, user)
   local lease, kept = self:of_port(port), reservation_of(self, port)
   if kept and kept.by ~= user then
      return ("port %s is reserved by %s"):format(port, kept.by), kept
   elseif lease then
      return ("port %s is in use by %s"):format(port, lease.by), lease
   end
end

--- Reserve all of some ports for a user, or none.
-- @param o  ports, by, ttl = seconds from now on; 0: no longer; nil: nothing changes
-- @return seconds for which the user has had each port reserved before, by port; or nil, why not, and what is
-- in the way
function Ledger:reserve(o)
   local problem = problem_of(self, { ports = o.ports, by = o.by, ttl = o.ttl ~= 0 and o.ttl or 1 })
   if problem then
      return nil, problem
   end
   local user, before = user_of(o.by), {}
   for _, port in ipairs(o.ports) do
      local why, other = in_the_way(self, port, user)
      if why and user_of(other.by) ~= user then
         return nil, why, other
      end
      local kept = reservation_of(self, port)
      before[port] = kept and kept.ends - self.now() or 0
   end
   for _, port in ipairs(o.ttl and o.ports or {}) do
      self.reserved[port] = o.ttl > 0 and { by = user, ends = self.now() + o.ttl } or nil
   end
   return before
end

--- Give a lease of all of some ports, or of none.
-- @param o  ports, by, run, ttl = seconds; take = function(lease, port): ends the lease of a port that is
--           taken, whose reservation ends, too; nil: such a port is not given
-- @return the lease { epoch =, ... }; or nil, why not, the lease or reservation that is in the way, and
-- whether it is the host that cannot
function Ledger:lease(o)
   local problem = problem_of(self, o)
   if problem then
      return nil, problem
   end
   for _, port in ipairs(o.take and {} or o.ports) do
      local why, other = in_the_way(self, port, user_of(o.by))
      if why then
         return nil, why, other
      end
   end
   local written, why = true, nil
   if self.path then
      written, why = write_synced(self.path, json.encode { epoch = self.epoch + 1 })
   end
   if not written then
      return nil, "the epoch cannot be written: " .. tostring(why), nil, true
   end
   self.epoch = self.epoch + 1
   for _, port in ipairs(o.take and o.ports or {}) do
      local held = self:of_port(port)
      self.reserved[port] = nil
      if held then
         o.take(held, port)
      end
   end
   local lease = { epoch = self.epoch, ports = o.ports, by = o.by, run = o.run, since = self.now(),
      ttl = o.ttl, ends = self.now() + o.ttl }
   self.leases[self.epoch] = lease
   return lease
end

--- The lease of an epoch, nil when it is over.
function Ledger:of_epoch(epoch)
   local lease = self.leases[epoch]
   return lease and not lease.orphan and lease or nil
end

--- Seconds until a lease ends by itself; nil where only its trial does.
function Ledger:remaining(lease)
   return not lease.orphan and math.max(0, lease.ends - self.now()) or nil
end

--- A lease is over, but its ports are not free before its trial has ended.
function Ledger:orphan(lease)
   lease.orphan, self.leases[lease.epoch] = true, lease
end

--- A time without reception of commands does not count.
function Ledger:extend(seconds)
   for _, lease in pairs(self.leases) do
      lease.ends = lease.ends + math.min(seconds, lease.ttl)
   end
end

--- Restart the time of a lease.
function Ledger:renew(lease)
   lease.ends = self.now() + lease.ttl
end

function Ledger:release(lease)
   self.leases[lease.epoch] = nil
end

--- The state of every port: list of { port =, by =, run =, epoch =, remaining_s = }.
function Ledger:rows()
   local rows = {}
   for i, port in ipairs(self.ports) do
      local lease = self:of_port(port)
      local shown = lease or reservation_of(self, port)
      rows[i] = { port = port, by = shown and shown.by, run = lease and lease.run,
         epoch = lease and lease.epoch, remaining_s = shown and self:remaining(shown) }
   end
   return rows
end

return M
