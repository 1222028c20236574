-- SPDX-License-Identifier: BSD-3-Clause

-- queues.lua PLAN FOLDER CPUS: run a plan with two workers on whatever CPUs there are. What is asked is
-- whether it is right, not whether it is fast.
local api = require "framegauge.core.api"
local ffi = require "ffi"
local plan = require "framegauge.plan"
local run = require "framegauge.run"

local file, folder, cpus = ...
local err = api.error()
local config = ffi.new("struct fg_host_config", {
   lcores = ("0@(%s),1@(%s),2@(%s)"):format(cpus, cpus, cpus), huge_pages = 1,
})
api.check(api.C.fg_host_start(config, err), err)
return (run.main(assert(plan.load(file)), { out = folder }))
