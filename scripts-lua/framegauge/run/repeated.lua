-- SPDX-License-Identifier: BSD-3-Clause

--- A plan run again and again: how repeatable its figures are (framegauge.report.repeated).
--
-- Each run has a folder of its own, run-01 and so on, as if it had been made alone; ports are opened anew for
-- each. repeat.json beside them says what was asked for, and at the end what the runs have in common. A
-- sequence that was interrupted is resumed like a run: runs that are done are read, the one under way is
-- resumed, the others are made.
local ansi = require "framegauge.text.ansi"
local files = require "framegauge.report.files"
local Folder = require "framegauge.report.folder"
local format = require "framegauge.text.format"
local h = require "framegauge.text.xml"
local html = require "framegauge.report.html"
local report = require "framegauge.report"
local repeated = require "framegauge.report.repeated"
local resume = require "framegauge.run.resume"
local run = require "framegauge.run"
local Screen = require "framegauge.run.screen"
local tables = require "framegauge.report.html.tables"
local user_error = require "framegauge.core.user_error"
local uv = require "luv"

local M = {}

local FILE, PAGE = "repeat.json", "report.html"
local INTERRUPTED = 130

-- Of several runs the exit status is that which says most: interrupted, fell short, not the device's.
local WEIGHT = { [0] = 0, [3] = 1, [1] = 2, [INTERRUPTED] = 3 }

local function refuse(...)
   user_error.raise("run", 2, ...)
end

local function name_of(number)
   return ("run-%02d"):format(number)
end

--- Is this the folder of repeated runs?
function M.is_here(path)
   return uv.fs_stat(path .. "/" .. FILE) ~= nil
end

--- What the folder of repeated runs was started with.
-- @return the first of its runs (framegauge.run.resume), and what was wanted
function M.earlier(path)
   local read, state = pcall(files.read, (Folder.open(path):read(FILE)))
   if not read or type(state) ~= "table" or not state.wanted then
      refuse("%s/%s does not describe repeated runs", path, FILE)
   elseif state.finished then
      refuse("the runs in %s were not ended early: there is nothing to resume", path)
   end
   return resume.started(path .. "/" .. name_of(1)), state.wanted
end

-- Is there time, and a reason, for another run?
local function wants_more(wanted, made, elapsed, longest)
   return not (wanted.runs and made >= wanted.runs) and (made == 0 or not wanted.seconds
      or elapsed + longest <= wanted.seconds)
end

-- Make the run of a number, or what is missing of it.
-- @return its status and result
local function run_one(o, path, wanted)
   if uv.fs_stat(path .. "/run.json") then
      local done, result = pcall(report.read, path)
      if done and not result.interrupted then
         return run.status_of(result), result
      end
      local earlier, plan = resume.open(path), o.load()
      earlier:check_plan(plan, require("framegauge.report.generator").of())
      return run.main(plan, { earlier = earlier, expect = wanted.expect, screen = o.screen })
   end
   return run.main(o.load(), { out = path, expect = wanted.expect, screen = o.screen })
end

local function page(state)
   local items = {}
   for i, one in ipairs(state.runs) do
      items[i] = h.li { h.a { href = one.folder .. "/report.html", one.folder } }
   end
   local remarks = {}
   for i, sentence in ipairs(repeated.remarks(state.figures)) do
      remarks[i] = h.li { sentence }
   end
   return html.simple(("%s: %s"):format(state.name, format.plural(#state.runs, "run")), {
      tables.build { caption = "Spread within a run and between runs", columns = repeated.COLUMNS,
         rows = state.figures },
      h.p { repeated.TEXT }, remarks[1] and h.ul { remarks }, h.h2 { "Runs" }, h.ul { items },
   })
end

local function finish(folder, state, results, screen)
   state.figures = repeated.figures(results)
   folder:write(FILE, repeated.json(state))
   folder:write(PAGE, page(state))
   screen:say("\n" .. repeated.text(state.figures, ansi.new(screen.width ~= nil)) .. "\n" .. folder.path
      .. "\n")
end

local function open_folder(o)
   local folder, message
   if o.resumed then
      folder, message = Folder.take(o.out)
   else
      folder, message = Folder.create(o.out)
   end
   return folder or refuse("%s", message)
end

--- Run a plan again and again. Call it inside a job.
-- @param o.load     function(): the plan, loaded anew
-- @param o.wanted   runs = how many (nil: as many as there is time for), seconds = no run begins that would
--                   end later than so long after the first began (nil: no limit), expect = expectations
-- @param o.out      the folder; default: one of its own under framegauge-runs
-- @param o.resumed  whether the folder holds runs that were interrupted
-- @param o.screen   as framegauge.run takes it
-- @return exit status and the state as repeat.json has it
function M.main(o)
   local plan, screen = o.load(), o.screen or Screen.new()
   o.out, o.screen = o.out or Folder.default_path(plan.name, os.time()), screen
   local folder, results = open_folder(o), {}
   local state = { name = plan.name, wanted = o.wanted, runs = {}, figures = {}, finished = false }
   folder:write(FILE, repeated.json(state))
   local began, longest, worst = uv.hrtime(), 0, 0
   while wants_more(o.wanted, #results, (uv.hrtime() - began) / 1e9, longest) do
      local number, at = #results + 1, uv.hrtime()
      screen:say(("Run %d%s\n"):format(number, o.wanted.runs and " of " .. o.wanted.runs or ""))
      local status = run_one(o, folder.path .. "/" .. name_of(number), o.wanted)
      worst = (WEIGHT[status] or 0) > WEIGHT[worst] and status or worst
      if status == INTERRUPTED then
         break
      end
      longest = math.max(longest, (uv.hrtime() - at) / 1e9)
      state.runs[number] = { folder = name_of(number), status = status }
      results[number] = report.read(folder.path .. "/" .. name_of(number))
   end
   state.finished = worst ~= INTERRUPTED
   finish(folder, state, results, screen)
   folder:close()
   return worst, state
end

return M
