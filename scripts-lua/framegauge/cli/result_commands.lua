-- SPDX-License-Identifier: BSD-3-Clause

--- Commands that begin with results: rows of framegauge.cli.commands, which says what is in them.
return {
   {
      name = "report",
      summary = "render the reports of a result folder again, or several runs side by side",
      help = "Write report.html, junit.xml and the CSV tables of a result folder again from its result.json, and print the tables. Of several folders, of runs of one test, write nothing there and print their figures side by side. Measures nothing and does not change result.json.",
      arguments = {
         { "DIR", "the result folder of a run, or one that holds several" },
         { "[OTHER...]", "further ones" },
      },
      options = {
         { "--pdf FILE", "print report.html to a PDF file as well; needs Debian's chromium or weasyprint" },
         { "--summary", "also write summary.html, one page; with --pdf: print that" },
         { "--html FILE", "of several runs: also write them to an HTML file" },
      },
      examples = {
         "report framegauge-runs/lab-20260314-093000", "report results/today --pdf today.pdf --summary",
         "report results/sw-9 results/sw-10 results/sw-11 --html switches.html",
      },
      module = "framegauge.cli.report",
   },
   {
      name = "compare",
      summary = "compare runs of a plan: what has become better or worse",
      help = "Print the figures of two result folders side by side. A change is called better or worse only where it is more than both runs leave open together: the bounds of a search, the spread of what was averaged, the error of timestamps, the chance of losses; where nothing is known of these, 10 % of each time and 5 % of each rate. A row that no longer passes, or is no longer valid, is worse. Of three runs or more on each side the medians are compared, and a change must also be more than the spread of the runs explains: Welch's test at 5 %, adjusted by Holm for the number of figures. The exit status is 1 if something is worse, 3 if nothing could be compared or a run was interrupted.",
      arguments = {
         { "[BEFORE]", "a result folder, the twin.yaml in it, or a folder that holds several, as of run --repeat" },
         { "[AFTER]", "later runs, or runs of another device" },
      },
      options = {
         { "--before DIR...", "several runs before", many = true },
         { "--after DIR...", "several runs after", many = true },
         { "--all", "print figures that are the same too" },
         { "--json", "print the comparison as JSON" },
         { "--html FILE", "also write the comparison to an HTML file that needs nothing else, as report.html" },
      },
      examples = {
         "compare results/monday results/today", "compare results/one/twin.yaml results/other/twin.yaml",
         "compare results/monday results/today --html change.html",
         "compare --before old/run-01 old/run-02 old/run-03 --after new/run-01 new/run-02 new/run-03",
      },
      module = "framegauge.cli.compare",
   },
   {
      name = "history",
      summary = "earlier runs: their figures, and where these changed",
      help = "List the runs in a folder, or of one plan, with their main figures. --trend shows each figure of a plan over all its runs, and where its level changed: by PELT, and by more than the figures leave open. An index in the folder (.framegauge-history.sqlite) keeps what the result.json files say; it is made again whenever it is missing or damaged.",
      arguments = { { "[PLAN]", "the name of a plan, or its file" } },
      options = {
         { "--in DIR", "the folder with the runs (default: framegauge-runs)" },
         { "--trend", "levels and changes of each figure; needs PLAN" },
         { "--expect EXPR", "'no regression': the exit status is 1 if the level of a figure became worse within the last five runs; needs PLAN" },
         { "--csv FILE", "write every figure of every run to a CSV file" },
         { "--json", "print runs or trend as JSON" },
         { "--rebuild", "make the index anew first" },
         { "--database URL", "share the runs with other testers in a PostgreSQL database, and show all testers' runs: postgresql://USER@HOST/DATABASE; the password is in ~/.pgpass or PGPASSWORD" },
      },
      examples = {
         "history", "history lab --trend", "history lab.yaml --in results --expect 'no regression'",
         "history lab --csv lab.csv",
      },
      module = "framegauge.cli.history",
   },
   {
      name = "sign",
      summary = "sign a result folder with a private key",
      help = "Write SHA256SUMS with the digests of result.json and trials.jsonl, and its Ed25519 signature, SHA256SUMS.sig. A key is made by 'openssl genpkey -algorithm ed25519 -out key.pem', its public half by 'openssl pkey -in key.pem -pubout -out key.pub'.",
      arguments = { { "DIR", "the result folder of a run" } },
      options = { { "--key FILE", "the private key, in PEM" } },
      examples = { "sign framegauge-runs/lab-20260314-093000 --key key.pem" },
      module = "framegauge.cli.sign", call = "sign",
   },
   {
      name = "verify",
      summary = "check that a signed result was not changed",
      help = "Check SHA256SUMS and SHA256SUMS.sig of a result folder with the public key of the one that measured, and name each file that was changed. The exit status is 1 then.",
      arguments = { { "DIR", "a result folder that was signed" } },
      options = { { "--key FILE", "the public key, in PEM" } },
      examples = { "verify results/from-the-lab --key lab.pub" },
      module = "framegauge.cli.sign", call = "verify",
   },
}
