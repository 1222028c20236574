-- SPDX-License-Identifier: BSD-3-Clause

--- The calls of the API over gRPC: its methods, envelopes and streams, and errors as its clients read them.
--
-- Each request and answer of a call is the one field of an envelope. A method whose name begins with `stream`
-- has the bytes of a large message in pieces instead, without an envelope.
local protobuf = require "framegauge.services.otg.protobuf"
local read = require "framegauge.services.otg.read"
local refusal = require "framegauge.services.otg.refusal"
local Grpc = require "framegauge.web.grpc"

local M = {}

local MESSAGE, DATUM = 1, 2 -- fields of an envelope, and of a piece
local PIECE = 2 * 1024 * 1024 -- bytes of a stream's message; clients take 4 MiB
local MAX_MESSAGE = 7000 -- bytes of an error, for a header has an end
local MAX_TEXT = 1000 -- and of one of its texts

-- Message of the request and of the answer; no answer: bytes.
local METHODS = {
   SetConfig = { "set_config", "Config", "Warning" },
   UpdateConfig = { "update_config", "ConfigUpdate", "Warning" },
   AppendConfig = { "append_config", "ConfigAppend", "Warning" },
   DeleteConfig = { "delete_config", "ConfigDelete", "Warning" },
   SetControlState = { "set_control_state", "ControlState", "Warning" },
   SetControlAction = { "set_control_action", "ControlAction", "ControlActionResponse" },
   GetConfig = { "get_config", nil, "Config" }, GetVersion = { "get_version", nil, "Version" },
   GetMetrics = { "get_metrics", "MetricsRequest", "MetricsResponse" },
   GetStates = { "get_states", "StatesRequest", "StatesResponse" },
   GetCapture = { "get_capture", "CaptureRequest", nil },
}
local STREAMED_IN = { "SetConfig", "SetControlState", "SetControlAction" }
local STREAMED_OUT = { "GetConfig", "GetMetrics", "GetStates", "GetCapture" }

local STATUS = {
   [refusal.INVALID] = Grpc.INVALID_ARGUMENT, [refusal.NOT_THERE] = Grpc.UNIMPLEMENTED,
   [refusal.INTERNAL] = Grpc.INTERNAL,
}

-- As many faults as a header can carry.
local function shortened(errors)
   local list, octets = {}, 0
   for i, text in ipairs(errors) do
      text = read.printable({ text:sub(1, MAX_TEXT) })[1]
      octets = octets + #Grpc.encoded(text) + 3
      if octets > MAX_MESSAGE then
         list[i] = ("... and %d more"):format(#errors - i + 1)
         break
      end
      list[i] = text
   end
   return list
end

local function refuse(code, errors)
   Grpc.refuse(STATUS[code], refusal.text(refusal.as_error(code, shortened(errors))))
end

-- The bytes of a message in pieces.
local function pieces(octets)
   local list = {}
   for first = 1, math.max(1, #octets), PIECE do
      local datum = octets:sub(first, first + PIECE - 1)
      list[#list + 1] = protobuf.encode("Data", { chunk_size = #datum, datum = datum })
   end
   return list
end

-- A method: from bytes to bytes.
local function method(calls, o, field, streams_out)
   local call, request, answer = o[1], o[2], o[3]
   return function(messages, is_awaited)
      local value, wrong
      if request then
         value, wrong = protobuf.decode_field(request, table.concat(messages), field)
         if not value then
            refuse(refusal.INVALID, { wrong })
         end
      end
      local result, refused = refusal.caught(calls[call], calls, value, is_awaited)
      if refused then
         refuse(refused.code, refused.errors)
      end
      local octets = answer and protobuf.encode(answer, result) or result
      return streams_out and pieces(octets) or { protobuf.envelope(octets) }
   end
end

--- The methods of the calls, for framegauge.web.grpc.
function M.methods(calls)
   local out = {}
   for name, o in pairs(METHODS) do
      out["/otg.Openapi/" .. name] = method(calls, o, MESSAGE)
   end
   for _, name in ipairs(STREAMED_IN) do
      out["/otg.Openapi/stream" .. name] = method(calls, METHODS[name], DATUM)
   end
   for _, name in ipairs(STREAMED_OUT) do
      out["/otg.Openapi/stream" .. name] = method(calls, METHODS[name], MESSAGE, true)
   end
   return out
end

return M
