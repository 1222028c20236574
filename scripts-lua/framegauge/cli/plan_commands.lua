-- SPDX-License-Identifier: BSD-3-Clause

--- Commands that make plans: rows of framegauge.cli.commands, which says what is in them.
return {
   { "init", "write a plan to begin with",
      "Write a plan for a test, with comments: the reference plan of that test, on the reference device or, with --device, on ports of yours. Without TEST it asks, at a terminal.",
      arguments = {
         { "[TEST]", "such as rfc2544, y1564 or l4; or a plan of configs/ without '-reference.yaml', such as l4-tls" },
      },
      options = {
         { "--device DEVICE", "device of a port, in the order of the plan, such as kernel:eth1",
           many = true },
         { "--out FILE", "the plan (default: plan.yaml); it must not exist" },
      },
      examples = { "init rfc2544", "init l4-tls",
         "init y1564 --device kernel:eth1 --device kernel:eth2 --out access.yaml" },
      module = "framegauge.cli.new_plan",
   },
}
