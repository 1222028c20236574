-- SPDX-License-Identifier: BSD-3-Clause

--- The command table: one row gives parsing, help and the function.
--
-- A row: name, summary (for the first page), help (for its own), arguments {name, help, optional, rest},
-- options {name, help, value (its placeholder; none: a switch), many}, takes_eal (what follows "--" is
-- DPDK's), verbatim (nothing behind the first argument is an option of ours), without_modules (it runs
-- without framegauge.native's), examples, run(arguments, options, eal) -> exit status. Modules are loaded
-- when the command runs, so that each starts as fast as it can.
local SET = {
   name = "set", value = "PATH=VALUE", many = true,
   help = "change one key of the plan, as in --set reference_device.capacity=700kfps; any number of times",
}

local DURATION = { name = "duration", value = "TIME", help = "end after this time (default: at Ctrl-C)" }

local PLAN = { name = "PLAN.yaml", help = "what to test, and with which ports; see 'help plan'" }

local PLAN_OF_PORTS = { name = "PLAN.yaml", help = "a plan, of which only the ports and the host matter" }
local MAX_FRAME = {
   name = "max-frame", value = "BYTES",
   help = "the largest frame the ports must pass, with FCS (default: 1522)",
}

return {
   {
      name = "run",
      summary = "run the test of a plan and write a result folder",
      help = "Run the test of a plan. Progress goes to the terminal, results into a folder of their own. A\n"
         .. "run that was killed or interrupted goes on with --resume: no finished trial is made again.",
      arguments = { { name = PLAN.name, help = PLAN.help, optional = true } },
      options = {
         {
            name = "quick",
            help = "trials of about a second; the report is marked 'not RFC-conformant: short trials'",
         },
         SET,
         { name = "out", value = "DIR", help = "the result folder (default: framegauge-runs/<name>-<date>)" },
         {
            name = "dry-run",
            help = "only say which trials would be made and how long they would take; nothing is sent",
         },
         {
            name = "resume", value = "DIR",
            help = "go on with the run of this folder, with the plan it was begun with; a plan given beside "
               .. "it must be the same",
         },
         {
            name = "expect", value = "EXPR", many = true,
            help = "what the device must reach, as 'throughput>=95%', 'throughput>=800kfps@64' (frame size "
               .. "64) or, of a service, 'voice.flr<=10ppm', or of TCP 'TCP_STREAM.goodput>=900Mbps'; else "
               .. "exit status 1. Any number of times",
         },
         {
            name = "capture", value = "PORT=FILE", many = true,
            help = "keep what this port receives in all trials, pcap or pcapng; once for each port",
         },
      },
      takes_eal = true,
      examples = {
         "run configs/rfc2544-reference.yaml --quick",
         "run lab.yaml --expect 'throughput>=95%' --out results/today",
         "run lab.yaml --dry-run", "run --resume results/today",
      },
      run = function(...)
         return require("framegauge.cli.plan").run(...)
      end,
   },
   {
      name = "check",
      summary = "check a plan: every error with its line and what was expected",
      help = "Read a plan and say everything that is wrong with it. Opens no port and sends nothing.",
      arguments = { PLAN },
      options = { SET, { name = "quick", help = "check it as run --quick would take it" } },
      takes_eal = true,
      run = function(...)
         return require("framegauge.cli.plan").check(...)
      end,
   },
   {
      name = "calibrate",
      summary = "measure the tester itself, looped to itself",
      help = "Find the load that the tester carries and the latency it adds, with a cable in place of the\n"
         .. "device: plug it between the two ports first. (Two memif ports are joined by themselves, and\n"
         .. "wire ports lose their reference device.) Searches on this machine and these ports then try no\n"
         .. "load above that, and latency and FTD are published also with the tester's own taken off.\n\n"
         .. "Then see how exactly the smallest frames depart, at 1, 10, 50 and 100 % of the load it\n"
         .. "carries and in bursts, and for how long the host takes an idle lcore away.",
      arguments = { PLAN },
      options = {
         { name = "quick", help = "trials of about a second" },
         SET,
         {
            name = "out", value = "FILE",
            help = "where to keep it, for the key calibration of a plan (default: a file under "
               .. "$XDG_DATA_HOME/framegauge/calibration, where runs on these ports find it)",
         },
      },
      takes_eal = true,
      examples = { "calibrate lab.yaml", "calibrate lab.yaml --quick --out loop.json" },
      run = function(...)
         return require("framegauge.cli.plan").calibrate(...)
      end,
   },
   {
      name = "relay",
      summary = "pass frames on between ports, with the delay and the faults of a plan",
      help = "Pass frames on between two ports, as a network between them would: with delay, jitter, loss,\n"
         .. "reordering, duplication, corruption and a limit of the rate, each way its own. Goes on until\n"
         .. "Ctrl-C and says each second, and in the end, what was done to how many frames.",
      arguments = { { name = "PLAN.yaml", help = "a plan with test: relay; see 'help plan'" } },
      options = { SET, DURATION },
      takes_eal = true,
      examples = {
         "relay configs/relay.yaml", "relay configs/relay.yaml --set relay.delay=50ms --duration 60s",
      },
      run = function(...)
         return require("framegauge.cli.plan").relay(...)
      end,
   },
   {
      name = "reflect",
      summary = "send test frames back to where they come from: the far end of a test",
      help = "Send test frames back to the port they come in at, with MAC and IP addresses and ports\n"
         .. "swapped, for a tester that measures the way there and back. Answers ARP, neighbour discovery\n"
         .. "and echo for its own addresses; all other frames are dropped and counted. Goes on until Ctrl-C.",
      arguments = { { name = "PLAN.yaml", help = "a plan with test: reflect; see 'help plan'" } },
      options = { SET, DURATION },
      takes_eal = true,
      examples = { "reflect configs/reflect.yaml" },
      run = function(...)
         return require("framegauge.cli.plan").reflect(...)
      end,
   },
   {
      name = "far",
      summary = "be the far end of a test between two testers",
      help = "Listen for another Framegauge, on a loopback address or a socket, and do what it says: open\n"
         .. "the port with the addresses of its plan, send, receive and tell what came of it. The near\n"
         .. "tester has a plan with topology: two-testers and a port far:ADDRESS:PORT. Goes on until Ctrl-C.",
      arguments = { { name = "PLAN.yaml", help = "a plan with test: far; see 'help plan'" } },
      options = { SET, DURATION },
      takes_eal = true,
      examples = { "far configs/far.yaml" },
      run = function(...)
         return require("framegauge.cli.plan").far(...)
      end,
   },
   {
      name = "iperf3",
      summary = "an iperf3 server behind a port, for ordinary hosts",
      help = "Serve hosts that run 'iperf3 -c', one after the other, as 'iperf3 -s' would: TCP and UDP, any\n"
         .. "number of streams, both directions. The port answers for the addresses that the plan gives it.\n"
         .. "Shows each test, a line a second, and goes on until Ctrl-C.",
      arguments = { { name = "PLAN.yaml", help = "a plan with test: iperf3; see 'help plan'" } },
      options = {
         SET, DURATION,
         { name = "one-off", help = "serve one client, then end" },
         { name = "json", help = "show each test when it is over, by iperf3's field names" },
      },
      takes_eal = true,
      examples = {
         "iperf3 configs/iperf3.yaml", "iperf3 configs/iperf3.yaml --set iperf3.port=5202 --one-off",
      },
      run = function(...)
         return require("framegauge.cli.plan").iperf3(...)
      end,
   },
   {
      name = "console",
      summary = "a prompt at the tester: ports, traffic, tests, Lua",
      help = "Open the ports of a plan, or of the reference device, and a prompt for what is done by hand:\n"
         .. "short commands and the whole of Lua; 'help' there tells the rest. Input that is no terminal is\n"
         .. "read as a script: errors go to stderr, and the exit status is 1 if there was one.",
      arguments = { { name = PLAN.name, help = PLAN.help, optional = true } },
      options = { SET, { name = "quick", help = "as of run" } },
      takes_eal = true,
      examples = { "console", "console lab.yaml", "console <<< 'test rfc2544 quick frame_sizes=64'" },
      run = function(...)
         return require("framegauge.console").main(...)
      end,
   },
   {
      name = "serve",
      summary = "a tester that others attach to",
      help = "Open the ports of a plan and wait on a Unix socket for 'framegauge attach', until Ctrl-C or\n"
         .. "SIGTERM. Only the user who started it can attach (mode 0600); from another machine by ssh:\n"
         .. "'ssh -t HOST framegauge attach'.",
      arguments = { { name = PLAN.name, help = PLAN.help, optional = true } },
      options = {
         SET, { name = "quick", help = "as of run" },
         {
            name = "socket", value = "PATH",
            help = "where to listen (default: a socket in $XDG_RUNTIME_DIR/framegauge)",
         },
      },
      takes_eal = true,
      run = function(...)
         return require("framegauge.console.serve").main(...)
      end,
   },
   {
      name = "attach",
      summary = "a prompt at a tester that runs: one of serve or console",
      help = "Open a prompt at a tester that 'framegauge serve' or 'framegauge console' runs already. Any\n"
         .. "number may; each has its own Lua names, and all have the same ports and jobs. Leaving stops\n"
         .. "nothing.",
      arguments = {
         { name = "SOCKET", help = "of the tester; default: the only one that runs", optional = true },
      },
      options = { { name = "read-only", help = "look and not touch: the commands that show, and no Lua" } },
      examples = { "attach", "ssh -t tester framegauge attach --read-only" },
      run = function(...)
         return require("framegauge.console.attach").main(...)
      end,
   },
   {
      name = "script",
      summary = "run a Lua script with Framegauge's modules",
      help = "Run a Lua file as a job on the event loop. It finds its arguments in 'arg' and Framegauge's\n"
         .. "modules with require 'framegauge.…'; a number it returns becomes the exit status.",
      arguments = {
         { name = "FILE.lua", help = "the script" },
         { name = "ARG", help = "arguments of the script", optional = true, rest = true },
      },
      options = {},
      verbatim = true,
      run = function(...)
         return require("framegauge.cli.script").main(...)
      end,
   },
   {
      name = "report",
      summary = "render a result folder again",
      help = "Make report.html, junit.xml and the CSV tables of a result folder again from its result.json,\n"
         .. "and print the tables. Nothing is measured, and result.json stays as it is.",
      arguments = { { name = "DIR", help = "the result folder of a run" } },
      options = {},
      examples = { "report framegauge-runs/lab-20260314-093000" },
      run = function(...)
         return require("framegauge.cli.report").main(...)
      end,
   },
   {
      name = "frames",
      summary = "show the frames that a plan would send",
      help = "Print the frames that a plan's streams would send, layer by layer as they are read back from\n"
         .. "their octets, or write them into a capture. No port is opened: MAC addresses that only an open\n"
         .. "port knows are 02:46:67:00:00:NN for the plan's NN-th port, 02:46:67:00:01:NN for its gateway.",
      arguments = { PLAN },
      options = {
         { name = "count", value = "N", help = "so many frames of each stream (default: 1)" },
         { name = "stream", value = "NAME", many = true, help = "only this stream; any number of times" },
         { name = "pcap", value = "FILE", help = "write them to a capture file, and print nothing" },
         SET,
      },
      examples = { "frames lab.yaml", "frames lab.yaml --count 1000 --pcap frames.pcap" },
      run = function(...)
         return require("framegauge.cli.frames").main(...)
      end,
   },
   {
      name = "replay",
      summary = "send a capture again, and compare what arrives",
      help = "Send the frames of a capture (pcap or pcapng) from one port of a plan: at the times they\n"
         .. "were recorded at, faster or slower, or at a rate. The file is read through first, so nothing\n"
         .. "of a broken one is sent; one too large for the memory is read while it is sent. Shows what was\n"
         .. "sent and how far behind its times, and what the other port of the pair received. See\n"
         .. "docs/captures.md.",
      arguments = { PLAN_OF_PORTS, { name = "FILE", help = "the capture, of Ethernet" } },
      options = {
         { name = "port", value = "NAME", help = "port that sends (default: the first)" },
         { name = "speed", value = "FACTOR", help = "2x: twice as fast as recorded (default: 1x)" },
         { name = "rate", value = "RATE", help = "instead: 1Mfps, '5Gbps L2' (or L1), or 40% of the line" },
         { name = "loops", value = "N", help = "send it N times; 0: until --duration is over (default: 1)" },
         { name = "duration", value = "TIME", help = "send nothing that is due later" },
         {
            name = "verify",
            help = "compare what the other port receives with what was sent: same frames, same order; else "
               .. "exit status 1",
         },
         { name = "capture", value = "FILE", help = "keep what the other port receives" },
         { name = "rewrite-source-mac", value = "MAC", help = "every frame comes from this station" },
         { name = "rewrite-destination-mac", value = "MAC", help = "every frame goes to this station" },
         { name = "rewrite-vlan", value = "ID", help = "number of the outermost VLAN tag, or none" },
         {
            name = "rewrite-network", value = "A=B", many = true,
            help = "addresses of one network become those of another, as in 10.0.0.0/8=198.18.0.0/8",
         },
         { name = "memory", value = "BYTES", help = "read up to so much beforehand (default: 256MiB)" },
         MAX_FRAME, SET,
      },
      takes_eal = true,
      examples = {
         "replay lab.yaml site.pcapng --verify", "replay lab.yaml site.pcapng --rate '5Gbps L2' --loops 10",
         "replay lab.yaml site.pcapng --rewrite-destination-mac 02:00:00:00:00:01 --capture back.pcapng",
      },
      run = function(...)
         return require("framegauge.cli.replay").main(...)
      end,
   },
   {
      name = "capture",
      summary = "write what a port receives into a file",
      help = "Listen on a port of a plan and write what it receives into a capture with nanoseconds.\n"
         .. "Nothing is sent but answers to neighbours (ARP, ND) and questions for gateways. Ends after\n"
         .. "--duration or --frames, or with Ctrl-C; the exit status is 3 if the tester lost frames that\n"
         .. "were wanted. See docs/captures.md.",
      arguments = { PLAN_OF_PORTS },
      options = {
         { name = "port", value = "NAME", help = "port that listens" },
         { name = "out", value = "FILE", help = "the file: pcapng where it ends so, else pcap" },
         { name = "filter", value = "BPF", help = "which frames, as 'udp port 7' (pcap-filter(7))" },
         { name = "trigger", value = "BPF", help = "wait for a frame like this" },
         { name = "before", value = "N", help = "with --trigger: keep the N frames before it" },
         { name = "after", value = "N", help = "with --trigger: keep N from it on, and wait for the next" },
         { name = "slice", value = "BYTES", help = "keep so much of each frame" },
         { name = "frames", value = "N", help = "end after so many" },
         { name = "duration", value = "TIME", help = "end after this time" },
         { name = "file-size", value = "BYTES", help = "then begin another file: FILE.0, FILE.1 ..." },
         { name = "files", value = "N", help = "with --file-size: keep the latest N files" },
         { name = "buffer", value = "BYTES", help = "between the port and the disk (default: 64MiB)" },
         MAX_FRAME, SET,
      },
      takes_eal = true,
      examples = {
         "capture lab.yaml --port west --out west.pcapng --duration 60s",
         "capture lab.yaml --port west --out ring.pcapng --filter udp --file-size 100MB --files 10",
      },
      run = function(...)
         return require("framegauge.cli.capture").main(...)
      end,
   },
   {
      name = "theory",
      summary = "what a line can carry: frame rates and goodput",
      help = "Print what Ethernet allows, without measuring anything: the most frames per second of each\n"
         .. "size and line rate, and the payload that UDP and TCP can carry. Both tables, or one by name.",
      arguments = { { name = "TABLE", help = "'frames' or 'goodput'", optional = true } },
      options = {
         {
            name = "rate", value = "RATE", many = true,
            help = "line rate, as 10Gbps; repeatable (default: all up to 400 Gb/s; goodput: 10 Gb/s)",
         },
         { name = "size", value = "OCTETS", many = true, help = "frames: size with FCS; repeatable" },
         { name = "mtu", value = "OCTETS", many = true, help = "goodput: IP packet size; repeatable" },
         { name = "vlan", value = "TAGS", help = "goodput: VLAN tags in each frame, 0 to 2" },
      },
      examples = { "theory", "theory frames --rate 10Gbps --rate 25Gbps --size 64 --size 9018",
         "theory goodput --rate 1Gbps --mtu 1500 --vlan 1" },
      run = function(...)
         return require("framegauge.theory").main(...)
      end,
   },
   {
      name = "doctor",
      without_modules = true,
      summary = "look over this machine before a test",
      help = "Look at huge pages, IOMMU, network cards, NUMA, cores and clocks; say what each costs\n"
         .. "and which command mends it. Only looks: opens no port, changes nothing.",
      arguments = {},
      options = {},
      run = function(...)
         return require("framegauge.doctor").main(...)
      end,
   },
   {
      name = "setup",
      summary = "hand a network card to DPDK, or back to the kernel",
      help = "Without an option: list the network cards. A card is named by its PCI address or its\n"
         .. "interface. The one that carries the default route is never touched.",
      arguments = {},
      options = {
         { name = "bind", value = "CARD", many = true,
           help = "give it the driver vfio-pci, for DPDK (uio_pci_generic where there is no IOMMU)" },
         { name = "unbind", value = "CARD", many = true, help = "give it back to the kernel's own driver" },
      },
      examples = { "setup", "setup --bind 0000:03:00.0 --bind 0000:03:00.1", "setup --unbind 0000:03:00.0" },
      run = function(...)
         return require("framegauge.doctor.setup").main(...)
      end,
   },
   {
      name = "completion",
      without_modules = true,
      summary = "completion for a shell, or the manual page",
      help = "Print a script that completes this program's commands and options in a shell, or its manual\n"
         .. "page, both made from the same table as this help.",
      arguments = { { name = "KIND", help = "'bash', 'zsh' or 'man'", words = { "bash", "zsh", "man" } } },
      options = {},
      examples = {
         "completion bash > /usr/share/bash-completion/completions/framegauge",
         "completion zsh > /usr/share/zsh/vendor-completions/_framegauge",
         "completion man > /usr/local/share/man/man1/framegauge.1",
      },
      run = function(...)
         return require("framegauge.cli.completion").main(...)
      end,
   },
   {
      name = "help",
      without_modules = true,
      summary = "help on a command or a topic",
      help = "Print the first page, the page of a command, or a topic.",
      arguments = {
         { name = "TOPIC", help = "a command, 'plan', 'protocols' or 'exit'", optional = true },
         { name = "NAME", help = "of a protocol", optional = true },
      },
      options = {},
      run = function(...)
         return require("framegauge.main").help(...)
      end,
   },
}
