-- SPDX-License-Identifier: BSD-3-Clause

--- How a host becomes a member of a fleet over NATS: an invitation is made where the server runs, and one
-- line with it makes all files of the bridge and of the agent on the new host.
--
-- The line has the new key, so it is as secret as that. The server's users are a file of their own, which its
-- configuration includes: a member has one line there, with its key and its subjects. A second invitation
-- replaces the first one, whose key opens nothing any more.
local command = require "framegauge.core.command"
local job = require "framegauge.core.job"
local journal = require "framegauge.fleet.journal"
local json = require "cjson.safe"
local ledger = require "framegauge.fleet.ledger"
local named_file = require "framegauge.core.named_file"
local octets = require "framegauge.core.octets"
local plans = require "framegauge.plan"
local shell = require "framegauge.core.shell"
local tables = require "framegauge.core.tables"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local FORM = "fg1-" -- of the line, before its bytes in hexadecimal
local FOLDER = "/etc/framegauge"
local BAD, BUSY = 2, 4
local PUBLIC = tonumber("644", 8)
local CONTROLLER = "controller" -- a role
local HEAD = "# of 'framegauge fleet invite'; the server's file has: include \"%s\"\n"
   .. "authorization { users: [\n"
local TAIL = "] }\n"

local SUBJECTS = {
   agent = { publish = { "fg.v1.sent.*.%s" }, subscribe = { "fg.v1.cmd.%s.*", "fg.v1.sent.%s.*" },
      more = ', allow_responses: { max: 8, expires: "5m" }' },
   [CONTROLLER] = { publish = { "fg.v1.cmd.>" }, subscribe = { "_INBOX.>" }, more = "" },
}

local AGENT = [[
# What this host may do for a fleet; no controller can widen it. See docs/how-to/fleet.md.
test: agent
isolated_network: %s    # whether nothing but the network under test is at its ports: then it may send
ports:
%sagent:
  name: %s
  listen: /run/framegauge/agent/socket
]]

local function quoted(subjects, name)
   return table.concat(tables.map(subjects, function(one)
      return ('"%s"'):format((one:gsub("%%s", name)))
   end), ", ")
end

local function user_of(name, role, key)
   local subjects = SUBJECTS[role]
   return ("  { nkey: %s, permissions: { publish: [%s], subscribe: [%s]%s } } # %s\n"):format(key,
      quoted(subjects.publish, name), quoted(subjects.subscribe, name), subjects.more, name)
end

local function write(path, text)
   local ok, why = ledger.write_synced(path, text)
   if not ok then
      user_error.raise("fleet", BUSY, "%s", tostring(why))
   end
end

local function check_name(name)
   if not tostring(name):find "^%w[%w_-]*$" or #name > 31 then
      user_error.raise("fleet", BAD, "%s is no name of an agent: letters, digits, '_' and '-'",
         tostring(name))
   end
end

-- A new key. @return its public and its secret part
local function new_key(bridge, near)
   local path = near .. ".key" .. octets.hex(uv.random(8))
   local public, why = job.wait(function(wake)
      command.run({ bridge, "--new-key", path }, wake)
   end)
   local secret = named_file.read(path)
   os.remove(path)
   if not public or not secret then
      user_error.raise("fleet", BUSY, "no key was made: %s", tostring(why))
   end
   return public:match "%S+", secret
end

-- Replace the line of a member, or add it, in the file of the server's users.
local function admit(path, name, line)
   local before, kept = named_file.read(path), {}
   if before and not before:find("authorization { users: [", 1, true) then
      user_error.raise("fleet", BAD, "%s is not a file of 'fleet invite'", path)
   end
   for one in (before or ""):gmatch "  {[^\n]*\n" do
      kept[#kept + 1] = one:match "# (%S+)\n$" ~= name and one or nil
   end
   kept[#kept + 1] = line
   write(path, HEAD:format(path:match "[^/]+$") .. table.concat(kept) .. TAIL)
   uv.fs_chmod(path, PUBLIC) -- the server has a user of its own, and no key here is secret
end

--- Invite a host: make its key, and admit it to the server. Call it inside a job.
-- @param name          of the agent, or of a controller
-- @param o.server      list of addresses, as framegauge-bridge takes them
-- @param o.users       the server's file of users
-- @param o.ca          file of certificates that vouch for the server; nil: the system's
-- @param o.controller  whether it is a controller
-- @param o.bridge      path of framegauge-bridge; default: by its name
-- @return the line for join()
function M.invite(name, o)
   check_name(name)
   local authorities, why
   if o.ca then
      authorities, why = named_file.read(o.ca)
   end
   if why then
      user_error.raise("fleet", BAD, "%s", why)
   end
   local role = o.controller and CONTROLLER or "agent"
   local public, secret = new_key(o.bridge or "framegauge-bridge", o.users)
   admit(o.users, name, user_of(name, role, public))
   return FORM .. octets.hex(json.encode { name = name, role = role, server = o.server, key = secret,
      ca = authorities })
end

local function decode(line)
   local text = line:match("^%s*" .. FORM:gsub("%-", "%%-") .. "(%x+)%s*$")
   local told = text and json.decode(octets.unhex(text))
   local ok = type(told) == "table" and type(told.key) == "string" and SUBJECTS[told.role]
      and type(told.server) == "table" and told.server[1]
   for _, one in ipairs(ok and told.server or {}) do
      ok = ok and type(one) == "string" and one:find "^[%w.:/%[%]_-]+$"
   end
   if not ok or told.ca and type(told.ca) ~= "string" then
      user_error.raise("fleet", BAD, "this is no invitation, or only a part of one")
   end
   check_name(told.name)
   return told
end

-- The text of the agent's file. Raises when it would be wrong.
local function agent_file(name, o)
   local list = tables.map(o.ports, function(one)
      local port, device = one:match "^([^=]+)=(.+)$"
      if not port then
         user_error.raise("fleet", BAD, "--port %s: expected NAME=DEVICE", one)
      end
      return ("  %s: {device: '%s'}\n"):format(port, (device:gsub("'", "''")))
   end)
   if not list[1] then
      user_error.raise("fleet", BAD, "an agent needs a port: --port NAME=DEVICE")
   end
   local text = AGENT:format(tostring(o.isolated == true), table.concat(list), name)
   local plan, errors = plans.load_text(text, "agent.yaml")
   if not plan then
      user_error.raise("fleet", BAD, "%s", tostring(errors[1]))
   end
   return text
end

local function options_of(told, folder)
   local list = tables.map(told.server, function(one) return "--server " .. one end)
   list[#list + 1] = told.ca and "--ca " .. shell.word(folder .. "/bridge-ca.pem") or nil
   list[#list + 1] = told.role == CONTROLLER and "--listen /run/framegauge/bridge/bus"
      or "--agent /run/framegauge/agent/socket"
   return ('OPTIONS="%s"\n'):format(table.concat(list, " "))
end

-- The service's user reads its files, where there is one and we may give them to it.
local function give(paths)
   local uid, gid = (named_file.read "/etc/passwd" or ""):match "\nframegauge:[^:]*:(%d+):(%d+)"
   for _, path in ipairs(uid and uv.getuid() == 0 and paths or {}) do
      uv.fs_chown(path, tonumber(uid), tonumber(gid))
   end
end

--- Follow an invitation: write the files of the bridge and of the agent.
-- @param line      of invite()
-- @param o.folder  where they belong (default: where the services look)
-- @param o.ports   list of "NAME=DEVICE"; an agent needs one
-- @param o.isolated  whether nothing but the network under test is at these ports
-- @param o.again   whether what is there is replaced; otherwise it is refused
-- @return name, role, list of the files
function M.join(line, o)
   local told, where = decode(line), o.folder or FOLDER
   local texts = { ["bridge.nkey"] = told.key, ["bridge-ca.pem"] = told.ca,
      ["bridge.conf"] = options_of(told, where) }
   if told.role ~= CONTROLLER then
      texts["agent.yaml"] = agent_file(told.name, o)
   end
   local folder, why = journal.folder(where)
   if not folder then
      user_error.raise("fleet", BUSY, "%s", tostring(why))
   end
   local paths = tables.map(tables.keys(texts), function(name) return folder .. "/" .. name end)
   for _, path in ipairs(o.again and {} or paths) do
      if uv.fs_stat(path) then
         user_error.raise("fleet", BAD, "%s is there already; --again replaces it", path)
      end
   end
   for name, text in pairs(texts) do
      write(folder .. "/" .. name, text)
   end
   give(paths)
   return told.name, told.role, paths
end

return M
