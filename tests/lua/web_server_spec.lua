-- SPDX-License-Identifier: BSD-3-Clause

local curl = require "curl"
local job = require "framegauge.core.job"
local scratch = require "scratch"
local Server = require "framegauge.web.server"
local uv = require "luv"

describe("the HTTP server", function()
   local server, url, logged
   local asked, gate = {}, {}

   local routes = {
      ["GET /"] = function()
         return "front\n"
      end,
      ["GET /asked"] = function(request)
         return { status = 201, type = "text/x", headers = { ["X-Of"] = request.headers["x-of"] },
            body = ("%s %s %s\n"):format(request.method, request.query.a, request.peer) }
      end,
      ["GET /runs/*"] = function(request)
         return "run " .. request.rest
      end,
      ["GET /runs/deep/*"] = function(request)
         return "deep " .. request.rest
      end,
      ["GET /slow"] = function()
         asked.wake()
         job.rest(gate, 60)
         return "slow"
      end,
      ["GET /broken"] = function()
         error "it broke"
      end,
      ["GET /refused"] = function()
         Server.refuse(409, "not %s", "now")
      end,
      ["POST /large/*"] = { max_body = 3000000, function(request)
         return tostring(#request.body)
      end },
      ["POST /small"] = function(request)
         return request.body:reverse()
      end,
      ["GET /events"] = function()
         return { type = "text/event-stream", stream = function(stream)
            for i = 1, 3 do
               stream:push(("data: %d\n\n"):format(i))
               job.sleep(0.02)
            end
         end }
      end,
   }

   before_each(function()
      logged = {}
      server = Server.new { routes = routes, headers = { ["X-All"] = "1" }, log = function(text)
         logged[#logged + 1] = text
      end }
      url = server:listen({ address = "127.0.0.1:0" }).url
   end)
   after_each(function()
      server:close()
   end)
   teardown(scratch.remove)

   it("finds the handler of a method and a path", function()
      assert.equal("front\n", (curl(url)))
      assert.equal("run a/b c", (curl(url .. "/runs/a/b%20c?x=1")))
      assert.equal("deep ", (curl(url .. "/runs/deep/")))
      assert.equal("there is nothing at /runs\n404", (curl("-w", "%{http_code}", url .. "/runs")))
      assert.equal("DELETE cannot be done at /slow\n405",
         (curl("-w", "%{http_code}", "-X", "DELETE", url .. "/slow")))
      assert.matches("\r\nAllow: GET, HEAD\r\n", (curl("-i", "-X", "DELETE", url .. "/slow")))
      assert.equal("200", (curl("-w", "%{http_code}", "-o", "/dev/null", "--head", url .. "/")))
   end)

   it("gives it the request, and sends its status, headers and body", function()
      local answer = curl("-i", "-H", "X-Of: you", url .. "/asked?a=%C3%A4%26")
      assert.matches("^HTTP/1.1 201 Created", answer)
      assert.matches("X%-Of: you\r\n", answer)
      assert.matches("X%-All: 1\r\n", answer)
      assert.matches("Content%-Type: text/x\r\n", answer)
      assert.matches("\r\n\r\nGET ä& 127.0.0.1\n$", answer)
   end)

   it("answers others while a handler waits", function()
      local order = {}
      local slow = job.spawn(function()
         table.insert(order, (curl(url .. "/slow")))
      end)
      job.rest(asked, 60)
      table.insert(order, (curl(url .. "/")))
      gate.wake()
      slow:join()
      assert.same({ "front\n", "slow" }, order)
   end)

   it("sends an answer at once, and not when it looks at its connections", function()
      local shortest = math.huge
      curl(url)
      for _ = 1, 10 do -- each of them begins right after a look, if that was when the one before was answered
         local began = uv.hrtime()
         curl(url)
         shortest = math.min(shortest, uv.hrtime() - began)
      end
      assert.is_true(shortest < 0.8e9, shortest / 1e9 .. " s") -- it looks once a second
   end)

   it("turns errors into answers and goes on", function()
      assert.equal("an error inside the program\n500", (curl("-w", "%{http_code}", url .. "/broken")))
      assert.matches("GET /broken: .*it broke", logged[1])
      assert.equal("not now\n409", (curl("-w", "%{http_code}", url .. "/refused")))
      assert.equal(1, #logged)
      assert.equal("front\n", (curl(url)))
   end)

   it("takes bodies up to what their route says", function()
      local path = scratch.path()
      scratch.write(path, ("x"):rep(2500000))
      for _, way in ipairs { "Expect: 100-continue", "Transfer-Encoding: chunked", "Expect:" } do
         assert.equal("2500000", (curl("-H", way, "--data-binary", "@" .. path, url .. "/large/one")))
         assert.equal("413", (curl("-H", way, "--data-binary", "@" .. path, "-o", "/dev/null", "-w",
            "%{http_code}", url .. "/small")))
      end
      assert.equal("cba", (curl("-d", "abc", url .. "/small")))
   end)

   it("takes a large body in few turns of the loop", function()
      local path, turns = scratch.path(), 0
      scratch.write(path, ("x"):rep(2900000))
      local certificate, key = Server.self_signed()
      local listener = server:listen { address = "127.0.0.1:0", certificate = certificate, key = key }
      local timer = listener.timer
      listener.timer = { close = function() timer:close() end, start = function(_, wait, again, turn)
         turns = turns + 1
         timer:start(wait, again, turn)
      end }
      assert.equal("2900000", (curl("-k", "-H", "Expect:", "--data-binary", "@" .. path, listener.url
         .. "/large/one")))
      assert.is_true(turns < 90, turns) -- the body is 178 records of TLS
   end)

   it("says that a body is too large as it says other problems", function()
      local other = Server.new { routes = routes, problem = function(status, message)
         return { status = status, type = "text/x", body = "no: " .. message }
      end }
      local path = scratch.path()
      scratch.write(path, ("x"):rep(2500000))
      for _, way in ipairs { "Expect: 100-continue", "Expect:" } do
         assert.equal("no: the body of the request is too large 413 text/x", (curl("-H", way, "--data-binary",
            "@" .. path, "-w", " %{http_code} %{content_type}", other:listen({ address = "127.0.0.1:0" }).url
            .. "/small")))
      end
      other:close()
   end)

   it("streams, and answers several requests over one connection", function()
      assert.equal("data: 1\n\ndata: 2\n\ndata: 3\n\n", (curl("--no-buffer", url .. "/events")))
      assert.equal("front\n1front\n0", (curl("-w", "%{num_connects}", url, url)))
   end)

   it("hands each piece of a stream on before the next one", function()
      local waiting = 0
      local other = Server.new { routes = { ["GET /"] = function()
         return { stream = function(stream)
            for _ = 1, 8 do
               waiting = waiting + stream:push ""
               stream:push "piece"
               job.sleep(0.05)
            end
         end }
      end } }
      assert.equal(("piece"):rep(8), (curl(other:listen({ address = "127.0.0.1:0" }).url)))
      other:close()
      assert.equal(0, waiting)
   end)

   it("listens at several places at once, with TLS, at an IPv6 address and at a path", function()
      local certificate, key = Server.self_signed()
      local pem, path = scratch.path(), scratch.path()
      scratch.write(pem, certificate)
      local tls = server:listen { address = "localhost:0", certificate = certificate, key = key }
      assert.equal("https://localhost:" .. tls.port, tls.url)
      assert.equal("front\n", (curl("--cacert", pem, tls.url)))
      local _, status = curl(tls.url) -- nobody vouches for it
      assert.equal(60, status)
      server:listen { address = "unix:" .. path }
      assert.equal("GET nil unix\n", (curl("--unix-socket", path, "http://tester/asked")))
      assert.equal("front\n", (curl(url)))
   end)

   it("says what keeps it from listening, and has closed what it had opened", function()
      local port = url:match ":(%d+)$"
      for address, words in pairs {
         ["127.0.0.1:" .. port] = "127.0.0.1:" .. port .. ": cannot listen: Address already in use",
         ["nowhere"] = "nowhere: expected HOST:PORT, [IPV6]:PORT or unix:PATH",
      } do
         local ok, err = pcall(server.listen, server, { address = address })
         assert.falsy(ok)
         assert.equal(words, tostring(err))
      end
      local count = ("ls /proc/%d/fd | wc -l"):format(uv.os_getpid())
      local before = scratch.shell(count)
      local place = { address = "127.0.0.1:0", certificate = "no", key = "no" }
      local ok, err = pcall(server.listen, server, place)
      assert.falsy(ok)
      assert.matches("cannot serve", tostring(err))
      assert.equal(before, (scratch.shell(count)))
   end)

   it("ends its streams when it closes", function()
      local ended = false
      local other = Server.new { routes = { ["GET /"] = function()
         return { stream = function(stream)
            asked.wake()
            repeat
               job.sleep(0.01)
            until not stream:push "x"
            ended = true
         end }
      end } }
      local place = other:listen { address = "127.0.0.1:0" }
      local client = job.spawn(curl, place.url)
      job.rest(asked, 60)
      other:close()
      client:join()
      job.sleep(0.1)
      assert.truthy(ended)
   end)
end)
