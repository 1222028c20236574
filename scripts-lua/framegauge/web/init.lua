-- SPDX-License-Identifier: BSD-3-Clause

--- What a tester serves by HTTP while it works: figures for Prometheus (--metrics), a page (--web).
local metrics = require "framegauge.web.metrics"
local named_file = require "framegauge.core.named_file"
local page = require "framegauge.web.page"
local Server = require "framegauge.web.server"
local user_error = require "framegauge.core.user_error"

local M = {}

local Web = {}
Web.__index = Web

local function listen(server, option, address, pem)
   local ok, listener = pcall(server.listen, server, { address = address, certificate = pem, key = pem })
   if not ok then
      server:close()
      user_error.raise(nil, 4, "--%s %s", option, tostring(listener))
   end
   return listener
end

--- Serve what the options of a command ask for.
-- @param control   framegauge.control
-- @param options  metrics
-- @param say      function(text), told what is served where
-- @return an object with close()
function M.open(control, options, say)
   local self = setmetatable({}, Web)
   if options.metrics then
      control.totals.keeps_delays = true
      self.metrics = Server.new { routes = metrics.routes(control) }
      say(("metrics: %s/metrics\n"):format(listen(self.metrics, "metrics", options.metrics).url))
   end
   if options.web then
      self:open_page(control, options, say)
   end
   return self
end

local function read_pem(path)
   local text, err = named_file.read(path)
   return text or user_error.raise(nil, 2, "--web-tls %s", err)
end

function Web:open_page(control, options, say)
   local pem = options["web-tls"] and read_pem(options["web-tls"])
   local proxy = options["web-behind"]
   if not pem and not proxy and not page.is_local(options.web) then
      user_error.raise(nil, 2, "--web %s can be reached from other machines: give --web-tls FILE, or --web-behind NAME if a proxy encrypts", options.web)
   end
   local served, access, close = page.routes(control, {
      address = options.web, read_only = options["web-read-only"], is_secure = pem ~= nil,
      names = proxy and { [proxy] = true },
   })
   self.page, self.close_page = Server.new(served), close
   local url = listen(self.page, "web", options.web, pem).url
   for _, role in ipairs { "operator", "viewer" } do
      if access.tokens[role] then
         say(("%s: %s/#token=%s\n"):format(role, url, access.tokens[role]))
      end
   end
end

--- Serve no more.
function Web:close()
   if self.metrics then
      self.metrics:close()
   end
   if self.page then
      self.close_page()
      self.page:close()
   end
end

return M
