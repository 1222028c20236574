-- SPDX-License-Identifier: BSD-3-Clause

--- What the results of each method look like, in every form they are shown in. A view is a module
-- framegauge.report.view.<name of the method>; it reads result.json and knows nothing of how it was measured:
--
--    NAME                     what stands above a report: "RFC 2544 benchmark"
--    STANDARD                 what it keeps to, or not: "RFC 2544"; nil: there is none
--    ORDER                    keys of its results, in the order a person reads them
--    rows(results)            list of all that has a verdict and reasons
--    published(results)       the results with json.null where nothing is known
--    csv(result, moment)      list of { file name, text }: tables, and forms that other programs read
--    tables(result)           for the terminal: list of { title, columns, rows, bars = text or nil }, see
--                             framegauge.report.grid
--    notes(result, add, paint)  what one must know to believe them: add(line)
--    suites(result)           for JUnit: list of { name, cases }, see framegauge.report.junit
--    test_names(result)       which tests there are, in words
--    tiles(result)            figures to remember: list of { label, figure, unit, remark }
--    summary(result)          HTML: the table at the top
--    sections(result, moment)  HTML: list of { title, reference or nil, body }
--
-- and, where a search decides on the figures or they are shown otherwise than they are written:
--
--    deciding(result)         trials that decided: list of { frame_size =, role =, trial = }; default: none
--    shown(result)            the result as it is shown; default: as it is
--
-- and, where its trials are not of frames:
--
--    evidence(result)         HTML: why its figures are not the tester's own limits
--    TRIALS                   HTML: the columns of a table of them
local M = {}

local DEFAULTS = { __index = {
   deciding = function() return {} end,
   shown = function(result) return result end,
} }

--- The view of a result, or of the plan of one.
-- @param test  name of the method
function M.of(test)
   return setmetatable(require("framegauge.report.view." .. test), DEFAULTS)
end

return M
