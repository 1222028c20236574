-- SPDX-License-Identifier: BSD-3-Clause

--- Runs of the reference plans that several specs read: each is made once, by the spec that wants it first.
--
-- A run is known by its plan and options, and lies below a folder that is named after the program and the
-- plans: when one of them changes, all runs are made again, and the old ones are removed. The folder is
-- tests/fixtures of the build folder, or the one that FRAMEGAUGE_FIXTURES names. Specs that want the same run
-- at once wait for each other; a run that was broken off is made anew. Nobody writes into a run:
-- interrupted.lua makes copies.
local scratch = require "scratch"
local uv = require "luv"

local M = {}

local CONFIGS = scratch.PROJECT .. "configs/"
local ROOT = os.getenv "FRAMEGAUGE_FIXTURES" or uv.exepath():match "^(.*)/[^/]*/[^/]*$" .. "/tests/fixtures"

-- Prints the path of the run. Its parts are the output and, when it is whole, the status.
local SCRIPT = [[
(
set -e
program='%s' configs='%s' root='%s' run='%s'
build=$(cd "$configs" && stat -L -c '%%n %%s %%y' "$program" * | cksum | cut -d' ' -f1)
mkdir -p "$root/$build"
find "$root" -mindepth 1 -maxdepth 1 ! -name "$build" -exec rm -rf {} +
path=$root/$build/$(echo "$run" | cksum | cut -d' ' -f1)
exec 9>"$path.lock"
flock 9
if [ ! -e "$path/status" ]; then
   rm -rf "$path"
   mkdir "$path"
   echo "$run" >"$path/run"
   ended=0
   "$program" run "$configs"%s --out "$path/result" >"$path/output" 2>&1 9>&- || ended=$?
   echo $ended >"$path/status"
fi
echo "$path"
) 2>&1]]

--- A run of a plan, made now unless it exists.
-- @param plan     as configs/ has it, without "-reference.yaml"
-- @param options  of `framegauge run`, as a shell has them (default: --quick)
-- @return the path of its result folder, what it printed, its exit status
function M.run(plan, options)
   -- with Lua from elsewhere the program is not what its file says
   local root = os.getenv "FRAMEGAUGE_LUA" and scratch.path() or ROOT
   local run = ("%s-reference.yaml %s"):format(plan, options or "--quick")
   local quoted = run:gsub("'", "'\\''")
   local output, status = scratch.shell(SCRIPT:format(uv.exepath(), CONFIGS, root, quoted, run))
   local path = output:match "[^\n]+"
   assert(status == 0, output)
   assert(scratch.read(path .. "/run") == run .. "\n", "two runs have one name: " .. run)
   return path .. "/result", scratch.read(path .. "/output"), tonumber(scratch.read(path .. "/status"))
end

return M
