-- SPDX-License-Identifier: BSD-3-Clause

--- RFC 8239 section 5: whether a congested egress harms traffic to another one (head of line blocking).
--
-- Groups of four ports: i1 sends half of its line rate to e1 and half to e2, i2 all of its to e2. What i1
-- sends to e1 is innocent. Two groups of consecutive ports first, shifted by one port N times; then all
-- groups at once, shifted, too; then i1 sends to four egresses, one of them congested, in groups of six
-- ports: the RFC's groups of four have no four egresses.
local common = require "framegauge.methods.rfc8239.common"
local tables = require "framegauge.core.tables"

local M = {}

M.NAME = "rfc8239.head_of_line"

--- The flows of a group of ports: i1, i2, and the egresses; the last one is congested.
-- @return list of { from =, to =, share = of line rate, innocent = , phase = in times between two frames }
function M.flows(ports, group)
   local i1, i2, egresses, list = group[1], group[2], #group - 2, {}
   for k = 1, egresses do
      list[k] = { from = i1, to = group[2 + k], share = 1 / egresses, innocent = k < egresses,
         phase = (k - 1) / egresses }
   end
   list[#list + 1] = { from = i2, to = group[#group], share = 1, innocent = false, phase = 0 }
   return list, ports
end

-- Groups of a size, of consecutive ports, the first one begun with another port.
local function groups_of(ports, count, size, shift)
   local list = {}
   for g = 1, count do
      list[g] = {}
      for k = 1, size do
         list[g][k] = ports[(shift + (g - 1) * size + k - 1) % #ports + 1]
      end
   end
   return list
end

local function loss(directions)
   local tx, lost = 0, 0
   for _, d in ipairs(directions) do
      tx, lost = tx + d.tx, lost + d.lost
   end
   return { tx = tx, ratio = tx > 0 and lost / tx or 0 }
end

-- @param control  i2, which congests, sends to i1 instead: then nothing may be lost
local function make(c, groups, control)
   local streams, flows = {}, {}
   for _, group in ipairs(groups) do
      for _, flow in ipairs((M.flows(c.tester.ports, group))) do
         local to = control and flow.from == group[2] and group[1] or flow.to
         flows[#flows + 1] = flow
         streams[#streams + 1] = common.stream(c.plan, c.tester, flow.from, to, c.frame_size, {
            fps = c.fps * flow.share, seconds = c.plan.rfc8239.trial, phase = flow.phase,
         })
      end
   end
   local record = c.session:trial {
      test = M.NAME, phase = control and "control" or c.name, frame_size = c.frame_size,
      direction = ("%s, shift %d"):format(c.name, c.shift), fps = c.fps, seconds = c.plan.rfc8239.trial,
      line_fps = c.whole, streams = streams,
   }
   local innocent, congested = {}, {}
   for i, direction in ipairs(record.directions) do
      table.insert(flows[i].innocent and innocent or congested, direction)
   end
   return record, loss(control and record.directions or innocent), loss(congested)
end

local function measure(plan, tester, session, arrangement, shift, frame_size)
   local fps, whole = common.line_fps(plan, tester, frame_size)
   local c = { plan = plan, tester = tester, session = session, name = arrangement.name, shift = shift,
      frame_size = frame_size, fps = fps, whole = whole }
   local groups = groups_of(tester.ports, arrangement.count, arrangement.size, shift)
   local control, control_loss = make(c, groups, true)
   local records, innocent, congested = { control }, {}, {}
   for i = 1, plan.rfc8239.iterations do
      records[i + 1], innocent[i], congested[i] = make(c, groups, false)
   end
   local most_innocent, most_congested = tables.greatest(innocent, "ratio"),
      tables.greatest(congested, "ratio")
   local row = common.row(records, {
      test = "head_of_line", arrangement = arrangement.name, groups = arrangement.count, shift = shift,
      frame_size = frame_size, ports = tables.map(groups, common.names),
      innocent_tx = most_innocent.tx, innocent_loss_ratio = most_innocent.ratio,
      congested_tx = most_congested.tx, congested_loss_ratio = most_congested.ratio,
      control_tx = control_loss.tx, control_loss_ratio = control_loss.ratio,
   })
   if row.validity == "valid" and control_loss.ratio > 0 then
      row.validity = "not-applicable"
      row.reasons[1] = "frames are lost without congestion, too: an ingress, or the whole switch, does not carry line rate"
   end
   row.head_of_line_blocking = row.validity == "valid" and row.innocent_loss_ratio > 0 or false
   common.repeated(plan, row, tables.field(innocent, "ratio"))
   common.judge(row, not row.head_of_line_blocking,
      ("head of line blocking: traffic to ports that are not congested lost %.4g %%"):format(
         row.innocent_loss_ratio * 100))
   return row
end

-- What is measured with n ports: list of { name =, count = groups, size = of a group }.
local function arrangements(n)
   local list = { { name = "two groups", count = math.min(2, math.floor(n / 4)), size = 4 } }
   if math.floor(n / 4) > 2 then
      list[2] = { name = "all groups", count = math.floor(n / 4), size = 4 }
   end
   if n >= 6 then
      list[#list + 1] = { name = "four egresses", count = math.floor(n / 6), size = 6 }
   end
   return list
end

--- Measure. @param rows  takes the rows as they are found
function M.run(plan, tester, session, _, rows)
   for _, frame_size in ipairs(plan.rfc8239.frame_sizes) do
      for _, one in ipairs(arrangements(#tester.ports)) do
         for shift = 0, #tester.ports - 1 do
            rows[#rows + 1] = measure(plan, tester, session, one, shift, frame_size)
         end
      end
   end
end

--- The trials to come: as common.parts().
function M.parts(plan)
   local o = plan.rfc8239
   return common.parts(plan, M.NAME, #arrangements(#plan.ports) * #plan.ports * (o.iterations + 1), o.trial)
end

return M
