-- SPDX-License-Identifier: BSD-3-Clause

--- Options of the commands that serve a tester by HTTP while it works: rows of framegauge.cli.commands.
return {
   {
      name = "metrics", value = "ADDRESS",
      help = "serve figures for Prometheus at http://ADDRESS/metrics: 127.0.0.1:9464, or unix:PATH",
   },
   {
      name = "web", value = "ADDRESS",
      help = "serve a page to look at, and print its URL: 127.0.0.1:8080, or unix:PATH",
   },
   { name = "web-read-only", help = "the page shows everything and does nothing" },
   {
      name = "web-tls", value = "FILE",
      help = "certificate and key (PEM) of the page; needed where other machines can reach it",
   },
   {
      name = "web-behind", value = "NAME",
      help = "the page is reached as NAME through a proxy, which encrypts",
   },
}
