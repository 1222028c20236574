-- SPDX-License-Identifier: BSD-3-Clause

--- Permissions for the page.
--
-- A token of 128 bits is in the fragment of the URL that the command prints; browsers do not send fragments.
-- The page exchanges it for a cookie that scripts cannot read. Programs send the token itself (Authorization:
-- Bearer). A name of the server that is not known is rejected (DNS rebinding), and so is a request from a
-- page of another origin (cross-site request forgery).
local Server = require "framegauge.web.server"

local M = {}

M.HEADERS = {
   ["Content-Security-Policy"] = "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
   ["X-Content-Type-Options"] = "nosniff", ["Referrer-Policy"] = "no-referrer",
   ["Cache-Control"] = "no-cache",
   ["Cross-Origin-Resource-Policy"] = "same-origin",
}

local COOKIE = "framegauge"
local TOKEN_BYTES = 16
local LOOPBACK = { ["localhost"] = true, ["127.0.0.1"] = true, ["[::1]"] = true }

local Access = {}
Access.__index = Access

local function random_text()
   local file = assert(io.open("/dev/urandom", "rb"))
   local bytes = file:read(TOKEN_BYTES)
   file:close()
   return (bytes:gsub(".", function(byte)
      return ("%02x"):format(byte:byte())
   end))
end

--- Whether an address is reached from this machine alone.
function M.is_local(address)
   return address:match "^unix:" ~= nil or LOOPBACK[address:match "^(.*):%d+$"] == true
end

--- Make the rules of a page.
-- @param o.address    that it listens at
-- @param o.names      further names of the server; a page behind a proxy has the proxy's name
-- @param o.read_only  nobody may do anything
-- @return the rules: tokens (operator, viewer), guard(request)
function M.new(o)
   local hosts = { [o.address:match "^(.*):%d+$" or "localhost"] = true }
   for _, names in ipairs { LOOPBACK, o.names or {} } do
      for name in pairs(names) do
         hosts[name] = true
      end
   end
   local self = setmetatable({ hosts = hosts, roles = {}, tokens = {}, sessions = {} }, Access)
   for _, role in ipairs(o.read_only and { "viewer" } or { "operator", "viewer" }) do
      self.tokens[role] = random_text()
      self.roles[self.tokens[role]] = role
   end
   return self
end

local function is_safe(method)
   return method == "GET" or method == "HEAD"
end

-- A page of another origin must not make a browser do anything here.
local function is_same_origin(request)
   local site, origin = request.headers["sec-fetch-site"], request.headers.origin
   if site then
      return site == "same-origin" or site == "none"
   end
   return origin == nil or origin:match "^https?://(.*)$" == request.headers.host
end

--- The role of a request's sender: operator, viewer, or nil.
function Access:role(request)
   local cookie = (request.headers.cookie or ""):match(COOKIE .. "=(%x+)")
   local bearer = (request.headers.authorization or ""):match "^Bearer (%x+)$"
   return self.sessions[cookie or ""] or self.roles[bearer or ""]
end

--- Check a request before its route is called. Raises the answer of a rejection.
function Access:guard(request)
   local host = request.headers.host
   if not host or not self.hosts[host:gsub(":%d+$", "")] then
      Server.refuse(400, "this server does not have the name %s", host or "of no host")
   elseif not is_safe(request.method) then
      if not is_same_origin(request) then
         Server.refuse(403, "a page of another origin may not do anything here")
      elseif not (request.headers["content-type"] or ""):find "^application/json" then
         Server.refuse(415, "the body must be application/json")
      end
   end
   request.role = self:role(request)
   local path = request.path
   if path == "/api/v1/login" or not (path:find "^/api/" or path:find "^/runs/" or path == "/metrics") then
      return
   elseif not request.role then
      Server.refuse(401, "open the address that the command printed, with its token")
   elseif not is_safe(request.method) and request.role ~= "operator" then
      Server.refuse(403, "a viewer may not do that")
   end
end

--- Exchange a token for a cookie. @return the answer
function Access:login(token, is_secure)
   local role = self.roles[tostring(token)]
   if not role then
      Server.refuse(401, "the token is not known; open the address that the command printed")
   end
   local session = random_text()
   self.sessions[session] = role
   return {
      type = "application/json", body = ('{"role":"%s"}'):format(role),
      headers = { ["Set-Cookie"] = ("%s=%s; HttpOnly; SameSite=Strict; Path=/%s"):format(COOKIE, session,
         is_secure and "; Secure" or "") },
   }
end

return M
