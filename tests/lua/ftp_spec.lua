-- SPDX-License-Identifier: BSD-3-Clause

-- FTP between two ports of the reference device, both ends ours: what the line and the delay allow, what the
-- stop cuts off, and what a plan may not ask for.
local json = require "framegauge.text.json"
local plans = require "framegauge.plan"
local schema = require "result_schema"
local scratch = require "scratch"
local uv = require "luv"

local CONFIG = scratch.PROJECT .. "configs/l4-ftp-reference.yaml"
local SEGMENT, FRAME = 1448, 1538 -- bytes of a full segment, and of the line that it takes
local SHARE, NS_PER_BYTE = SEGMENT / FRAME, 8
local TEXT = 200 -- bytes of the line that a frame without a file's bytes takes at most, if its text is short

local function run_to(expected, ...)
   local path, sets = scratch.path(), {}
   for i, set in ipairs { "l4.duration=100ms", "l4.omit=20ms", ... } do
      sets[i] = ("--set '%s'"):format(set)
   end
   local output, status = scratch.shell(("'%s' run '%s' --out '%s' %s 2>&1"):format(uv.exepath(), CONFIG,
      path, table.concat(sets, " ")))
   assert.equal(expected, status, output)
   return json.decode(scratch.read(path .. "/result.json")).results.l4[1], path
end

local function run(...)
   return run_to(0, ...)
end

local function nothing_was_wrong(row)
   assert.same({ "valid", 0 }, { row.validity, row.wrong_bytes })
   assert.is_nil(row.ftp_reply)
   assert.is_nil(row.ftp_replies)
   for why, n in pairs(row.failures) do
      assert.same({ why, 0 }, { why, n })
   end
   for what in pairs(row.ftp_counts) do
      assert.equal("file_bytes", what)
   end
   assert.equal(row.opened, row.closed)
end

describe("a test of FTP", function()
   teardown(scratch.remove)

   it("takes four round trips for a file, and what its bytes take of the line", function()
      local segments, round_trip = 9, 2e6 -- the initial window has room for these and the FIN
      for _, mode in ipairs { "passive", "extended-passive", "active", "extended-active" } do
         local row = run("l4.connections=1", "reference_device.latency=1ms", "l4.ftp.mode=" .. mode,
            "l4.ftp.body=" .. segments * SEGMENT)
         -- the device has the last frame whole before it sends it
         local least = 4 * round_trip + (segments + 1) * FRAME * NS_PER_BYTE
         nothing_was_wrong(row)
         assert.is_true(row.transaction.min_ns > least)
         assert.is_true(row.transaction.max_ns < least + 12 * TEXT * NS_PER_BYTE)
         assert.near(1e9 / row.transaction.mean_ns, row.files_per_s, 0.2 * row.files_per_s) -- and logging in
         assert.is_true(row.files_per_s < 1e9 / row.transaction.mean_ns)
      end
   end)

   it("resumes a file with a round trip more, and carries its rest alone", function()
      local rest, round_trip = 9 * SEGMENT, 2e6
      for _, upload in ipairs { "false", "true" } do
         local row = run("l4.connections=1", "reference_device.latency=1ms", "l4.ftp.upload=" .. upload,
            "l4.ftp.body=2000000", ("l4.ftp.resume=%d"):format(2000000 - rest))
         local least = 5 * round_trip + 10 * FRAME * NS_PER_BYTE
         nothing_was_wrong(row)
         assert.is_true(row.transaction.min_ns > least)
         assert.is_true(row.transaction.max_ns < least + 14 * TEXT * NS_PER_BYTE)
         assert.near(row.files_per_s * rest * 8, row.goodput_bps, 0.05 * row.goodput_bps)
      end
   end)

   it("waits eight round trips for the first byte of a session", function()
      local row = run("l4.connections=1", "reference_device.latency=1ms", "l4.ftp.body=1000",
         "l4.ftp.files=1")
      assert.is_true(row.first_byte.min_ns > 16e6)
      assert.is_true(row.first_byte.max_ns < 16e6 + (16 * TEXT + FRAME) * NS_PER_BYTE)
      assert.equal(row.first_byte.count, row.last_byte.count)
   end)

   it("fills the line with files that last, and cuts them off at the stop", function()
      for _, upload in ipairs { "false", "true" } do
         local row = run("l4.ftp.body=1GiB", "l4.ftp.upload=" .. upload)
         nothing_was_wrong(row)
         assert.near(SHARE * 1e9, row.goodput_bps, 0.002 * SHARE * 1e9)
         assert.near(SHARE * 1e9, row.theoretical, 1e-4 * SHARE * 1e9)
         assert.equal(0, row.files_per_s)
         assert.equal(8, row.opened)
      end
   end)

   it("counts the bytes of files alone", function()
      for _, upload in ipairs { "false", "true" } do
         local body, sessions, seconds = 100000, 4, 0.08
         local row = run("l4.ftp.body=" .. body, "l4.ftp.upload=" .. upload)
         nothing_was_wrong(row)
         assert.is_true(row.files_per_s > 100)
         assert.near(row.files_per_s * body * 8, row.goodput_bps, sessions * body * 8 / seconds)
         assert.is_true(row.goodput_bps < row.theoretical)
      end
   end)

   it("gets every byte of every file through a device that loses frames, by IPv6, too", function()
      for _, mode in ipairs { "extended-passive", "extended-active" } do
         local path = scratch.path() .. ".yaml"
         scratch.write(path, (scratch.read(CONFIG):gsub("ipv4: [%d./]+, ", "")))
         local out = scratch.path()
         local output, status = scratch.shell(("'%s' run '%s' --out '%s' --set l4.duration=300ms --set reference_device.loss_every=50 --set l4.ftp.body=20000 --set l4.ftp.mode=%s 2>&1"):format(uv.exepath(), path, out, mode))
         assert.equal(0, status, output)
         local row = json.decode(scratch.read(out .. "/result.json")).results.l4[1]
         nothing_was_wrong(row)
         assert.equal("ipv6", row.parameters.ip)
         assert.is_true(row.retransmitted_segments > 20)
      end
   end)

   it("gives the same result again, to the byte, and one of the schema", function()
      local _, one = run "l4.ftp.body=10000"
      local _, other = run "l4.ftp.body=10000"
      assert.equal(scratch.read(one .. "/result.json"), scratch.read(other .. "/result.json"))
      assert.is_true(schema.validate(one .. "/result.json"))
   end)

   it("says which reply a server gave that was not what was waited for", function()
      local row, path = run_to(1, "l4.ftp.path=nothing", "l4.ftp.files=3")
      assert.same({ "valid", "fail" }, { row.validity, row.outcome })
      assert.is_truthy(row.reasons[1]:find(("nothing came through: .*%d bad response$"):format(
         row.failures.bad_response)))
      assert.equal("550 The name of a file ends in its number of bytes.", row.ftp_reply)
      assert.equal(row.ftp_counts.reply_5xx, row.ftp_replies["550"])
      assert.equal(row.failures.bad_response, row.ftp_replies["550"])
      assert.equal(0, row.files_per_s)
      assert.is_true(schema.validate(path .. "/result.json"))
   end)

   it("refuses what cannot be", function()
      local function problem(set, ipv4)
         local plan, problems = plans.load_text(([[
test: l4
ports:
  east: {device: wire0, %s ipv6: "2001:2::2/64"}
  west: {device: wire1, ipv4: 198.18.1.3/24, ipv6: "2001:2::3/64"}
reference_device: {rate: 1Gbps}
l4: {tests: [FTP], %s}
]]):format(ipv4 or "", set), "ftp", {})
         assert.is_nil(plan)
         return tostring(problems[1])
      end
      assert.matches("l4.ftp.mode.*active is for IPv4.*extended%-active", problem "ftp: {mode: active}")
      assert.matches("l4.connections.*60001 sessions of FTP at a time.*at most 60000",
         problem "connections: 60001")
      assert.matches("l4.ftp.path.*'a%?b' does not fit into a command", problem 'ftp: {path: "a\\nb"}')
      assert.matches("l4.ftp.user.*empty", problem 'ftp: {user: ""}')
      assert.matches("l4.ftp.body.*0", problem "ftp: {body: 0}")
      assert.matches("l4.ftp.resume.*10 bytes resumed at byte 10.*less than", problem "ftp: {body: 10, resume: 10}")
   end)
end)
