-- SPDX-License-Identifier: BSD-3-Clause

--- Options of the commands that serve a tester by HTTP while it works: rows of framegauge.cli.commands.
return {
   { "--metrics ADDRESS", "serve figures for Prometheus at http://ADDRESS/metrics: 127.0.0.1:9464, or unix:PATH" },
   { "--web ADDRESS", "serve a web page that shows and controls the tester, and print its URL: 127.0.0.1:8080, or unix:PATH" },
   { "--web-read-only", "the page shows everything and does nothing" },
   { "--web-tls FILE", "certificate and key (PEM) of the page; needed where other machines can reach it" },
   { "--web-behind NAME", "the page is reached as NAME through a proxy, which encrypts" },
}
