-- SPDX-License-Identifier: BSD-3-Clause

--- The tests PAGE, TLS_PAGE, PAGE2 and PAGE3: the page of the group `l4.page` of a plan, given there or by a
-- HAR file, and the figures of pages. Their C side is lib/apps/page.c.
local keys = require "framegauge.plan.keys"
local har = require "framegauge.methods.l4.plan.har"
local rows = require "framegauge.text.rows"
local tables = require "framegauge.core.tables"

local M = {}

local MOST_OBJECTS = 500
local MOST_IN_ALL = 4000000 -- objects of all concurrent pages; a worker reserves the memory for them
local LARGEST = 2 ^ 30

M.GROUP = keys.group("page", "what PAGE, TLS_PAGE, PAGE2 and PAGE3 load again and again, l4.connections pages at a time. The document is the first object", {
   { "objects", "list", "the objects, or only their sizes, in the order of their requests where several can be requested",
     least = 1, most = MOST_OBJECTS, default_help = "page.har's objects",
     of = keys.group(nil, "an object of the page", {
        { "size", "size", "bytes of the body", required = true, max = "1GiB" },
        { "name", "string", "what the report calls it",
          longest = har.LONGEST_NAME, default_help = "document, object 2, object 3, ..." },
        { "after", "string", "the object that must have arrived before this one is requested, by its name or its number from 1 on; none: requested when the page begins",
          longest = har.LONGEST_NAME, default_help = "the document; of that: none" },
        { "think", "time", "how long the client then waits before its request", default = "0s", max = "60s" },
     }, { short = "size" }) },
   { "har", "string", "a HAR file of a browser: its first page, each object after the object that made the browser request it",
     longest = 4096, does = "reads the file", default_help = "none: page.objects" },
   { "connections", "integer", "of PAGE and TLS_PAGE: at a time for one page; PAGE2 and PAGE3 take one",
     default = "6", min = "1", max = "32" },
})

local function number_of(list, after)
   for i, object in ipairs(list) do
      if object.name == after then
         return i
      end
   end
   return list[tonumber(after)] and tonumber(after)
end

-- @return the first object that depends on itself through others, or nil
local function first_of_circle(list)
   for i = 1, #list do
      local at = i
      for _ = 1, #list do
         at = at ~= 0 and list[at].after or 0
      end
      if at ~= 0 then
         return i
      end
   end
end

-- The objects of the plan, with all defaults filled in.
-- @return list, or nil, the number of the object, its key, what is wrong and what was expected
local function given(objects)
   local list = tables.map(objects, function(object, i)
      return { name = object.name or (i == 1 and "document" or "object " .. i), size = object.size,
         think = object.think }
   end)
   for i, object in ipairs(objects) do
      local after = object.after or (i > 1 and 1 or "none")
      list[i].after = after == "none" and 0 or number_of(list, after)
      if not list[i].after then
         return nil, i, "after", ("there is no object %s"):format(after),
            ("the name of an object, 1 to %d or none"):format(#list)
      elseif i == 1 and list[1].after ~= 0 then
         return nil, 1, "after", "the document waits for another object", "none"
      end
   end
   local circle = first_of_circle(list)
   if circle then
      return nil, circle, "after", ("%s waits for itself"):format(list[circle].name),
         "objects that do not wait for each other"
   end
   return list
end

-- The page of a plan. @return its objects, or nil, the path of the key, what is wrong and what was expected
local function objects_of(page)
   if page.har then
      local list, fault = har.read(page.har)
      if not list then
         return nil, "har", fault, "a HAR file as a browser saves it"
      elseif #list > MOST_OBJECTS then
         return nil, "har", ("%s has %d objects"):format(page.har, #list), "at most " .. MOST_OBJECTS
      end
      for _, object in ipairs(list) do
         if object.size > LARGEST then
            return nil, "har", ("%s: %s has %.0f bytes"):format(page.har, object.name, object.size),
               "at most 1GiB each"
         end
      end
      return list
   end
   local list, i, key, fault, expected = given(page.objects)
   return list, i and ("objects[%d].%s"):format(i, key), fault, expected
end

local LOAD = { "start", "per_second", "rate", "cycles", "requests", "hold", "think", "think_max" }

-- Pages follow each other, with a number of concurrent pages: no key of l4.load changes that.
local function follows_none(o, test, found)
   for _, key in ipairs(LOAD) do
      if o.load[key] and o.load[key] ~= 0 then
         found:add("l4.load." .. key, ("%s loads a page after the other"):format(test),
            "l4.connections alone, for how many at a time")
      end
   end
   if o.http.post > 0 then
      found:add("l4.http.post", test .. " asks by GET", "0")
   end
end

--- The rule of the group.
-- @param tests  set of the names of tests that load pages
function M.check(tests, values, found)
   local o, test = values.l4, nil
   for _, name in ipairs(o.tests) do
      test = test or tests[name] and name
   end
   if not test then
      return
   end
   follows_none(o, test, found)
   if (o.page.objects == nil) == (o.page.har == nil) then
      found:add("l4.page", o.page.har and "objects and a HAR file" or test .. " has nothing to load",
         "either objects or har")
      return
   end
   local list, key, fault, expected = objects_of(o.page)
   if not list then
      found:add("l4.page." .. key, fault, expected)
   elseif #list * o.connections > MOST_IN_ALL then
      found:add("l4.connections", ("%.0f objects at a time"):format(#list * o.connections),
         ("at most %d, of %d each"):format(MOST_IN_ALL, #list))
   end
end

--- Arguments of the client (traffic.l4.app). As in browsers and web servers, no request and no response waits
-- for an acknowledgement.
function M.fill(client, o, remote)
   client.page = { objects = assert(objects_of(o.page)), connections = o.page.connections }
   client.request, client.response, client.requests, client.path = 0, 0, 0, "/"
   client.host = o.ip == "ipv6" and "[" .. remote .. "]" or remote
   client.any_body, client.streams, client.window = o.http.any_body, o.http.streams, o.http.window
   client.tcp.nodelay = true
end

-- --- figures

local OBJECT = rows.record("page_object", "an object of a page; times since the page was begun", {
   { "name", "text", "name of the object", col = "Object", at = "html", left = true },
   { "bytes", "count", "of its body", col = "Bytes", at = "html" },
   { "after", "text", "the object that it waited for", optional = true, col = "After", at = "html" },
   { "ready_ns", "number", "it waited for nothing any more but a connection or a stream", col = "Ready",
      at = "html" },
   { "asked_ns", "number", "it was asked for", col = "Asked", at = "html" },
   { "first_byte_ns", "number", "the first byte of its response was there; of HTTP/2 and HTTP/3 its head",
      col = "First byte", at = "html" },
   { "end_ns", "number", "its last one", col = "End", at = "html" },
   { "connection", "ordinal", "of HTTP/1.1: which connection of the page's it came by", optional = true,
      col = "Connection", at = "html" },
})

M.OBJECT = OBJECT

--- The record of `page` in a row of results.
function M.record(times)
   local record = rows.record("page", "pages of PAGE, TLS_PAGE, PAGE2 and PAGE3", {
      { "loaded", "count", "pages that came whole, in all trials" },
      { "failed", "count", "pages with a failed object, in all trials. What the end of a trial cuts off is in neither" },
      { "bytes", "count", "of the bodies of a page" },
      { "load", times, "of the last repetition: first SYN or Initial of a page to the last byte of its last object; null when there were none", null = true },
      { "setup_ratio", "ratio", "share of `load` in which nothing was under way and an object waited for a connection: set-up of TCP, TLS or QUIC. The four shares are of all pages of `load` and are 1 together; of several things at a time `transfer_ratio` counts first, then `waiting_ratio`; absent without `load`", optional = true },
      { "waiting_ratio", "ratio", "share in which requests had no byte of a response yet, and nothing came", optional = true },
      { "transfer_ratio", "ratio", "share in which a response had begun and was not whole", optional = true },
      { "think_ratio", "ratio", "share in which the client paused (`think`)", optional = true },
      { "objects", rows.list(OBJECT), "the first page that was measured, of the last repetition",
         optional = true },
   })
   record.together = { { "setup_ratio", "waiting_ratio", "transfer_ratio", "think_ratio" } }
   return record
end

local function shown(list, moments)
   return tables.map(moments, function(m, i)
      local after = list[list[i].after]
      return {
         name = list[i].name, bytes = list[i].size, after = after and after.name or nil,
         ready_ns = m.ready, asked_ns = m.asked, first_byte_ns = m.first_byte, end_ns = m.over,
         connection = m.connection > 0 and m.connection or nil,
      }
   end)
end

local PARTS = { "setup", "waiting", "transfer", "think" }

-- The shares of the measured pages' time.
local function add_shares(out, spent)
   local sum = 0
   for _, part in ipairs(PARTS) do
      sum = sum + spent[part]
   end
   for _, part in ipairs(PARTS) do
      out[part .. "_ratio"] = sum > 0 and spent[part] / sum or nil
   end
end

--- The figures of a case from its trials.
function M.figures(records, o)
   local list, out = assert(objects_of(o.page)), { loaded = 0, failed = 0, bytes = 0 }
   for _, object in ipairs(list) do
      out.bytes = out.bytes + object.size
   end
   for _, one in ipairs(records) do
      local page = one.sides[1].apps[1].page
      out.loaded, out.failed = out.loaded + page.loaded, out.failed + page.failed
      out.load = page.load
      add_shares(out, page.spent)
      out.objects = page.moments[1] and shown(list, page.moments) or nil
   end
   return out
end

return M
