-- SPDX-License-Identifier: BSD-3-Clause

--- The test FTP: files over data connections of their own, of the group `l4.ftp` of a plan. Its C side is
-- lib/apps/ftp.
local keys = require "framegauge.plan.keys"
local tables = require "framegauge.core.tables"
local theory = require "framegauge.traffic.l4.theory"

local M = {}

local MOST_SESSIONS = 60000 -- concurrent sessions: each may wait for its data connection at its own port
local MODES = { "extended-passive", "passive", "extended-active", "active" }
local FOR_IPV4 = { passive = "extended-passive", active = "extended-active" }

M.GROUP = keys.group("ftp", "of FTP: which files, and how their data connections are opened. l4.connections are sessions, each a control connection with one data connection at a time", {
   { "body", "size", "of each file", default = "1MiB", min = "1", max = "1GiB" },
   { "resume", "size", "each file is transferred from this byte on (REST; RFC 3659): only the rest is transferred, compared and counted",
     default = "0", max = "1GiB" },
   { "upload", "boolean", "the client sends files (STOR); else it gets them (RETR)", default = "false" },
   { "mode", MODES, "which end opens the data connection, and by which command the other end gives its address: passive: the client, by PASV; active: the server, by PORT; extended, for IPv6, too: by EPSV and EPRT (RFC 2428)",
     default = "extended-passive" },
   { "files", "integer", "of a session, which then ends and is followed by another; 0: until the end",
     default = "10", min = "0", max = "1000000" },
   { "path", "string", "the file's name",
     longest = 200, default_help = "octets/ and the number of ftp.body" },
   { "user", "string", "who logs in", longest = 100, default = "anonymous" },
   { "password", "string", "and by which password; it is sent, and stands in the result, as it is",
     longest = 100, default = "framegauge@" },
   { "any_body", "boolean", "files of another server: neither their bytes nor their length are compared",
     default = "false" },
   { "timeout", "time", "without a reply, a data connection or any of its bytes for so long a session is given up",
     default = "10s", min = "1ms", max = "1h" },
})

--- Arguments of the client and the server of the test (framegauge.traffic.l4.app).
function M.fill(client, o)
   local ftp = o.ftp
   local rest = ftp.body - ftp.resume
   client.request, client.response = ftp.upload and rest or 0, ftp.upload and 0 or rest
   client.ftp_rest = ftp.resume
   client.path = ftp.path or ("octets/%.0f"):format(ftp.body)
   client.user, client.password, client.ftp_mode = ftp.user, ftp.password, ftp.mode
   client.requests, client.any_body, client.timeout = ftp.files, ftp.any_body, ftp.timeout
end

--- Bits of files: received by the client, or sent by the client and acknowledged.
function M.count(client)
   return client.measured.file_bytes * 8, client
end

--- The maximum on a line.
function M.theory(rate, ip, o)
   return theory.files(rate, ip, o, o.file)
end

-- The numbers of a list of records of trials, added by key.
local function sum(list, of)
   local out
   for _, record in ipairs(list) do
      for key, n in pairs(of(record.sides[1].apps[1])) do
         out = out or {}
         out[key] = (out[key] or 0) + n
      end
   end
   return out
end

--- The row's own fields.
-- @param list  records of its trials
function M.figures(row, list)
   local files, seconds = 0, 0
   for _, record in ipairs(list) do
      local client = record.sides[1].apps[1]
      files, seconds = files + client.measured.transactions, seconds + client.measured_s
      row.ftp_reply = client.reply or row.ftp_reply
   end
   row.files_per_s = seconds > 0 and files / seconds or 0
   row.ftp_replies = sum(list, function(client) return client.replies or {} end)
end

-- A command is a line.
local function lines_are_whole(ftp, found)
   for _, key in ipairs { "path", "user", "password" } do
      if ftp[key] and not ftp[key]:match "^[ -~]+$" then
         found:add("l4.ftp." .. key, ("'%s' does not fit into a command"):format((ftp[key]:gsub("[^ -~]",
            "?"))), "at least one character, and only printable ones of ASCII")
      end
   end
end

--- The rule of the group: every command can be sent, and every session has its own port.
function M.check(values, found)
   local o = values.l4
   if not tables.contains(o.tests, "FTP") then
      return
   end
   local ports, extended = values.ports, FOR_IPV4[o.ftp.mode]
   local other = o.peer or ports[2] or {}
   if extended and not ((ports[1] or {}).ipv4 and other.ipv4) then
      found:add("l4.ftp.mode", ("%s is for IPv4"):format(o.ftp.mode), extended)
   end
   if o.ftp.resume >= o.ftp.body then
      found:add("l4.ftp.resume", ("a file of %.0f bytes resumed at byte %.0f"):format(o.ftp.body, o.ftp.resume),
         "less than l4.ftp.body")
   end
   if o.connections > MOST_SESSIONS then
      found:add("l4.connections", ("%d sessions of FTP at a time"):format(o.connections),
         "at most " .. MOST_SESSIONS)
   end
   lines_are_whole(o.ftp, found)
end

return M
