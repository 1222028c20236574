-- SPDX-License-Identifier: BSD-3-Clause

-- Our FTP against other programs', both roles, IPv4 and IPv6. Run in the tester's namespace by ftp.sh,
-- with the folder for files, the command that has them ask our server, and "vsftpd" if it listens; prints
-- TAP.
local here = debug.getinfo(1, "S").source:match "^@(.*/)"
local ours = dofile(here .. "ours.lua")
local job = require "framegauge.core.job"

local folder, ask, vsftpd = ...
local check = ours.check
local LONGEST = 120 -- seconds, on a machine that is very busy
local BODY, FILES = 20000, 5

io.stdout:setvbuf "line"

local IPV6 = { address = "2001:2:0:1::2", remote = "2001:2:0:1::1" }

-- What was asked for came about, and nothing else was counted.
local function all_came(app, o)
   local octets = app.total.transactions * (o.request > 0 and o.request or o.response)
   return app.total.transactions == o.connections * FILES and app.total.file_bytes == octets
      and app.total.refused == 0 and not app.reply and app.total.ended.closed == app.total.opened
end

local function was_refused(code)
   return function(app)
      return app.total.transactions == 0 and app.total.reply_5xx > 0
         and app.replies[code] == app.total.reply_5xx and app.reply:sub(1, 3) == code
   end
end

local GET = { request = 0, response = BODY, path = "octets/" .. BODY, connections = 3 }
local PUT = { request = BODY, response = 0, path = "up/" .. BODY, connections = 1 }

local CLIENTS = {
   { "EPSV", { ftp_mode = "extended-passive" } }, { "PASV", { ftp_mode = "passive" } },
   { "EPRT", { ftp_mode = "extended-active" } }, { "PORT", { ftp_mode = "active" } },
   { "EPSV over IPv6", { ftp_mode = "extended-passive" }, IPV6 },
   { "EPRT over IPv6", { ftp_mode = "extended-active" }, IPV6 },
   { "a file that is resumed", { ftp_mode = "passive", ftp_rest = 7777, response = BODY - 7777 },
      look = all_came },
   { "a file that is not there", { path = "octets/nothing" }, look = was_refused "550" },
   { "a user who is not let in", { user = "nobody.at.all" }, look = was_refused "530" },
}

-- @param n  number of the client, for ports of its own
local function test_client(ends, n, name, of, one)
   local o = ours.changed(of, one[2])
   local client = ends:client(n, ours.changed(o, one[3]), {
      test = "FTP", port = 21, cycles = 1, requests = FILES, user = "anonymous", password = "framegauge@",
      timeout = LONGEST / 2,
   })
   if one[3] then
      client.next_hop = ends.tester:gateway_mac(1, 6)
   end
   local results, counters = ends:run(1, { client }, ours.all_have_closed())
   check(("our client, vsftpd: %s, %s"):format(name, one[1]), (one.look or all_came)(results[1], o)
      and counters.wrong_octets == 0 and counters.rx_bad_checksum == 0, ours.encode(results[1].total),
      results[1].reply or "")
end

local function test_clients(ends)
   for i, one in ipairs(CLIENTS) do
      for j, of in ipairs { { "RETR", GET }, { "STOR", PUT } } do
         if j == 1 or not one.look then
            test_client(ends, 2 * i + j, of[1], of[2], one)
         end
      end
   end
end

local function test_server(ends)
   os.execute(ask .. " &")
   local servers = {}
   for i, address in ipairs { "198.19.1.2", "2001:2:0:8000::2" } do
      servers[i] = { test = "FTP", server = true, address = address, port = 6021, timeout = LONGEST / 2,
         port_first = 40000, port_last = 40999 }
   end
   local results, counters = ends:run(2, servers, ours.until_written(folder .. "/peers"))
   ours.print_lines(folder .. "/peers")
   for i, result in ipairs(results) do
      local t = result.total
      local wrong = t.cut + t.no_data_connection + t.file_length + t.silent + t.stray_connection
         + t.foreign_address
      check(("our server %d sees nothing wrong"):format(i), t.transactions > 0 and wrong == 0, ours.encode(t))
   end
   check("our servers got every byte as it is", counters.wrong_octets + counters.rx_bad_checksum == 0,
      ours.encode(counters))
end

job.run(function()
   local ends = ours.open("ftp", "FTP", { folder = folder, seconds = LONGEST, ipv6 = true })
   if vsftpd then
      test_clients(ends)
   else
      ours.skip("our client", "vsftpd")
   end
   test_server(ends)
   ends:close()
end)
