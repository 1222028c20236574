-- SPDX-License-Identifier: BSD-3-Clause

--- The command table: one row gives parsing, help and the function.
--
-- A row: { name, summary (for the first page), help (for its own) }, arguments { "[FILE...]", help } and options
-- { "--out DIR", help, many (it may be repeated) }, both as they stand in the synopsis and below by name,
-- takes_eal (what follows "--" is DPDK's), verbatim (nothing behind the first argument is an option of ours),
-- without_modules (it runs without the modules of core.native), examples, module and call (default: main): a
-- function(arguments, options, eal, the command's name) -> exit status. Modules are loaded when the command
-- runs, so that each starts as fast as it can.
local tables = require "framegauge.core.tables"

local SET = { "--set PATH=VALUE", "change one key of the plan, such as --set reference_device.capacity=700kfps",
   many = true }

local DURATION = { "--duration TIME", "end after this time (default: at Ctrl-C)" }

local PLAN = { "PLAN.yaml", "the plan: ports, test and its parameters; see 'help plan'" }

-- what others may look at while the tester works
local LOOKED_AT = require "framegauge.cli.served"

local OPTIONAL_PLAN = { "[PLAN.yaml]", PLAN[2] }
local PLAN_OF_PORTS = { "PLAN.yaml", "a plan; only its ports and host are used" }
local ON = { "--on FILE", "use the reference device of this file instead of the devices of the ports, such as twin.yaml of 'characterise'; or the folder with twin.yaml" }
local OUT = { "--out DIR", "result folder (default: framegauge-runs/<name>-<date>)" }
local MAX_FRAME = { "--max-frame BYTES", "largest frame that the ports accept, with FCS (default: 1522)" }

local MEASURING = {
   { "run", "run the test of a plan and write a result folder",
      "Run the test of a plan. Progress goes to the terminal, results go to a new folder. A run that was killed or interrupted continues with --resume; finished trials are not repeated.",
      arguments = { OPTIONAL_PLAN },
      options = {
         { "--quick", "trials of about a second, also where the plan says otherwise (the keys that it replaces are printed); the report is marked 'not conforming to ...'" },
         SET,
         ON, OUT,
         { "--learned DIR", "begin the searches of rfc2544.throughput at the capacity in this result folder, of a characterisation or an earlier run. The searches need fewer trials; the deciding trials are the same" },
         { "--dry-run", "print the expected trials and their duration, with --repeat of all runs; send nothing" },
         { "--resume DIR", "continue the run of this folder with its own plan; if a plan is given too, both must be the same" },
         { "--repeat N", "run the plan N times, each in a folder of its own, and report the spread between runs" },
         { "--repeat-time TIME", "repeat the plan for this time, such as 8h; with --repeat at most N times" },
         { "--expect EXPR", "a criterion, in addition to the plan's: FIGURE>=VALUE or FIGURE<=VALUE, optionally with @ and a test, frame size, direction, stream or service: 'throughput>=95%', 'latency_max<=50us@512@fully_meshed', 'voice.flr<=10ppm', 'TCP_STREAM.goodput>=900Mbps'; 'throughput>=95% with 95% confidence': the bound of its uncertainty, not the figure. The exit status is 1 if the device does not meet a criterion, and 3 if a criterion is not decided. The message about a wrong criterion lists the figures of the plan",
           many = true },
         { "--capture PORT=FILE", "write what this port receives in all trials to a pcap or pcapng file; once per port",
           many = true },
         unpack(LOOKED_AT),
      },
      takes_eal = true,
      examples = {
         "run configs/rfc2544-reference.yaml --quick",
         "run lab.yaml --expect 'throughput>=95%' --out results/today",
         "run lab.yaml --dry-run", "run --resume results/today", "run lab.yaml --repeat 10",
      },
      module = "framegauge.cli.plan", call = "run",
   },
   { "characterise", "find out what the device between a plan's ports is",
      "Run 'test: characterise' between the ports of a plan, whatever its test is: the rates, buffer, delays and losses of the device, each with its bounds, verified by trials that were not used to fit the model; between three ports also the address table of a switch. The result folder has twin.yaml, a reference device or switch that behaves like it, for 'run --on'.",
      arguments = { PLAN },
      options = {
         { "--quick", "as for run" }, SET, ON, OUT,
         { "--dry-run", "print the expected trials and their duration; send nothing" },
         { "--expect EXPR", "a criterion, such as 'capacity>=1Mfps' or 'latency<=20us'", many = true },
      },
      takes_eal = true,
      examples = {
         "characterise lab.yaml --out results/today", "run lab.yaml --on results/today/twin.yaml",
      },
      module = "framegauge.cli.plan", call = "characterise",
   },
   { "check", "check a plan: report every error with its line and the expected value",
      "Read a plan and report all its errors. Opens no port and sends nothing.",
      arguments = { PLAN },
      options = { SET, { "--quick", "check the plan as for run --quick" },
         { "--expect EXPR", "also check a criterion of 'run --expect'", many = true },
      },
      takes_eal = true,
      module = "framegauge.cli.plan", call = "check",
   },
   { "calibrate", "measure the tester itself in a loop",
      "Find the highest load of the tester and the latency it adds. First connect the two ports by a cable, without the device. (Two memif ports are joined automatically; wire ports work without their reference device.) Later runs on these ports never exceed that load, and report latency and FTD raw and with the tester's own latency subtracted.\n\nThen measure the transmit timing error of the smallest frames, at 1, 10, 50 and 100 % of that load and in bursts, and the interruptions of an idle lcore by the host.",
      arguments = { PLAN },
      options = {
         { "--quick", "trials of about a second" },
         SET,
         { "--out FILE", "output file, for the key calibration of a plan (default: a file in $XDG_DATA_HOME/framegauge/calibration, where runs on these ports find it)" },
      },
      takes_eal = true,
      examples = { "calibrate lab.yaml", "calibrate lab.yaml --quick --out loop.json" },
      module = "framegauge.cli.plan", call = "calibrate",
   },
   { "emulate", "emulate a network between ports: delay, loss, rate limit and other impairments",
      "Forward frames between two ports as a network would: with delay, jitter, loss, reordering, duplication, corruption and a rate limit, separately for each direction. Runs until Ctrl-C. Reports every second, and at the end, how many frames were forwarded, dropped or changed.",
      arguments = { { "PLAN.yaml", "a plan with test: emulate; see 'help plan'" } },
      options = { SET, DURATION },
      takes_eal = true,
      examples = {
         "emulate configs/emulate.yaml",
         "emulate configs/emulate.yaml --set emulate.delay=50ms --duration 60s",
      },
      module = "framegauge.cli.plan", call = "serve",
   },
   { "reflect", "reflect test frames to their sender, for round-trip tests",
      "Send test frames back through the port that received them, with MAC addresses, IP addresses and ports swapped, for a tester that measures the round trip. Answers ARP, neighbour discovery and echo requests for its own addresses; drops and counts all other frames. With reflect.mode it answers probes of STAMP, TWAMP Light or Y.1731 instead. Runs until Ctrl-C.",
      arguments = { { "PLAN.yaml", "a plan with test: reflect; see 'help plan'" } },
      options = { SET, DURATION },
      takes_eal = true,
      examples = { "reflect configs/reflect.yaml" },
      module = "framegauge.cli.plan", call = "serve",
   },
   { "otg", "a server of the Open Traffic Generator API, for snappi and its relatives",
      "Serve the Open Traffic Generator API over HTTP: scripts configure flows on the ports of the plan, start and stop them, and read metrics and captures. The API has no authentication; the server listens on the loopback interface unless the plan says otherwise. Runs until Ctrl-C.",
      arguments = { { "PLAN.yaml", "a plan with test: otg; see 'help plan'" } },
      options = { SET, DURATION },
      takes_eal = true,
      examples = { "otg configs/otg.yaml", "otg configs/otg.yaml --set otg.listen=http://127.0.0.1:8080" },
      module = "framegauge.cli.plan", call = "serve",
   },
   { "iperf3", "an iperf3 server on a port, for ordinary hosts",
      "Serve hosts that run 'iperf3 -c', one at a time, like 'iperf3 -s': TCP and UDP, up to 128 streams, both directions. The port has the addresses of the plan. Prints one line per stream and second, and runs until Ctrl-C.",
      arguments = { { "PLAN.yaml", "a plan with test: iperf3; see 'help plan'" } },
      options = {
         SET, DURATION,
         { "--one-off", "serve one client, then exit" },
         { "--json", "print each test as JSON after its end, with iperf3's field names" },
      },
      takes_eal = true,
      examples = {
         "iperf3 configs/iperf3.yaml", "iperf3 configs/iperf3.yaml --set iperf3.port=5202 --one-off",
      },
      module = "framegauge.cli.plan", call = "serve",
   },
   { "console", "interactive prompt: ports, traffic, tests, Lua",
      "Open the ports of a plan, or of the reference device, and a prompt for interactive work: short commands and Lua; type 'help' there. The reference device keeps step with the clock unless reference_device.time says otherwise. Input that is not a terminal is read as a script: errors go to stderr, and the exit status is 1 after an error.",
      arguments = { OPTIONAL_PLAN },
      options = { SET, { "--quick", "as for run" } },
      takes_eal = true,
      examples = { "console", "console lab.yaml", "console <<< 'test rfc2544 quick frame_sizes=64'" },
      module = "framegauge.console",
   },
   { "serve", "a tester without a prompt; users attach to it",
      "Open the ports of a plan and listen on a Unix socket for 'framegauge attach', until Ctrl-C or SIGTERM. The reference device keeps step with the clock unless reference_device.time says otherwise. Only the user who started it can attach (mode 0600). From another machine use ssh: 'ssh -t HOST framegauge attach'.",
      arguments = { OPTIONAL_PLAN },
      options = {
         SET, { "--quick", "as for run" },
         { "--socket PATH", "path of the socket (default: one in $XDG_RUNTIME_DIR/framegauge)" },
         unpack(LOOKED_AT),
      },
      takes_eal = true,
      module = "framegauge.console.serve",
   },
   { "attach", "a prompt at a running tester (serve or console)",
      "Open a prompt at a tester that was started by 'framegauge serve' or 'framegauge console'. Several users can attach; each has its own Lua variables, and all share the ports and jobs. Detaching stops nothing.",
      arguments = { { "[SOCKET]", "of the tester; default: the only one that runs" } },
      options = { { "--read-only", "only commands that show something, and no Lua" } },
      examples = { "attach", "attach --read-only" },
      module = "framegauge.console.attach",
   },
   { "script", "run a Lua script with Framegauge's modules",
      "Run a Lua file as a job on the event loop. Its arguments are in 'arg'; Framegauge's modules are loaded by require 'framegauge.…'. If the script returns a number, this is the exit status.",
      arguments = {
         { "FILE.lua", "the script" },
         { "[ARG...]", "arguments of the script" },
      },
      options = {},
      verbatim = true,
      module = "framegauge.cli.script",
   },
}

local MORE = {
   { "frames", "show the frames that a plan would send",
      "Print the frames that a plan's streams would send, decoded layer by layer, or write them to a capture file. Opens no port: MAC addresses that only an open port knows are shown as 02:46:67:00:00:NN for the plan's NN-th port and 02:46:67:00:01:NN for its gateway.",
      arguments = { PLAN },
      options = {
         { "--count N", "frames per stream (default: 1)" },
         { "--stream NAME", "only this stream", many = true },
         { "--pcap FILE", "write them to a capture file instead" },
         SET,
      },
      examples = { "frames lab.yaml", "frames lab.yaml --count 1000 --pcap frames.pcap" },
      module = "framegauge.cli.frames",
   },
   { "replay", "replay a capture file and verify what arrives",
      "Send the frames of a capture file (pcap or pcapng) from one port of a plan: with the recorded timing, faster, slower, or at a constant rate. The file is checked first, so no frame of a damaged file is sent; a file larger than --memory is read while it is sent. Reports what was sent, how late frames left, and what the other port of the pair received.",
      arguments = { PLAN_OF_PORTS, { "FILE", "the capture file, of Ethernet frames" } },
      options = {
         { "--port NAME", "transmitting port (default: the first)" },
         { "--speed FACTOR", "2x: twice as fast as recorded (default: 1x)" },
         { "--rate RATE", "constant rate: 1Mfps, '5Gbps L2', 40% of the line" },
         { "--loops N", "send it N times; 0: until --duration ends (default: 1)" },
         { "--duration TIME", "send no frame that is due later" },
         { "--verify", "compare received frames with sent frames, including their order; a difference gives exit status 1" },
         { "--capture FILE", "write what the other port receives to a file" },
         { "--rewrite-source-mac MAC", "source MAC address of every frame" },
         { "--rewrite-destination-mac MAC", "destination MAC address of every frame" },
         { "--rewrite-vlan ID", "ID of the outermost VLAN tag, or none" },
         { "--rewrite-network A=B", "move addresses to another network: 10.0.0.0/8=198.18.0.0/8",
           many = true },
         { "--fcs HOW", "FCS in the file: auto: drop it where the file says so; strip: drop the last 4 bytes; keep: send it as payload (default: auto)" },
         { "--memory BYTES", "largest file read into memory (default: 256MiB)" },
         MAX_FRAME, SET,
      },
      takes_eal = true,
      examples = {
         "replay lab.yaml site.pcapng --verify", "replay lab.yaml site.pcapng --rate '5Gbps L2' --loops 10",
         "replay lab.yaml site.pcapng --rewrite-destination-mac 02:00:00:00:00:01 --capture back.pcapng",
      },
      module = "framegauge.cli.replay",
   },
   { "capture", "write what a port receives to a file",
      "Write what a port of a plan receives to a capture file with nanosecond timestamps. Sends only ARP and neighbour discovery messages. Ends after --duration or --frames, or at Ctrl-C. The exit status is 3 if the tester dropped frames that should have been captured.",
      arguments = { PLAN_OF_PORTS },
      options = {
         { "--port NAME", "receiving port" },
         { "--out FILE", "the file; pcapng if its name ends so, otherwise pcap" },
         { "--filter BPF", "frames to keep, as 'udp port 7' (pcap-filter(7))" },
         { "--trigger BPF", "wait for a frame that matches" },
         { "--before N", "with --trigger: keep the N frames before it" },
         { "--after N", "with --trigger: keep N frames from it on" },
         { "--slice BYTES", "keep only the first bytes of each frame" },
         { "--frames N", "end after N frames" },
         { "--duration TIME", "end after this time" },
         { "--file-size BYTES", "then begin a new file: FILE.0, FILE.1 ..." },
         { "--files N", "with --file-size: keep only the latest N files" },
         { "--buffer BYTES", "buffer between port and disk (default: 64MiB)" },
         MAX_FRAME, SET,
      },
      takes_eal = true,
      examples = {
         "capture lab.yaml --port west --out west.pcapng --duration 60s",
         "capture lab.yaml --port west --out ring.pcapng --filter udp --file-size 100MB --files 10",
      },
      module = "framegauge.cli.capture",
   },
   { "theory", "theoretical limits of Ethernet: frame rates and goodput",
      "Print the theoretical maximum of Ethernet, without measuring: frames per second of each frame size and line rate, and payload rates of UDP and TCP. Without TABLE: both tables.",
      arguments = { { "[TABLE]", "'frames' or 'goodput'" } },
      options = {
         { "--rate RATE", "line rate, such as 10Gbps (default: all up to 400 Gb/s; goodput: 10 Gb/s)",
           many = true },
         { "--size BYTES", "frames: size with FCS", many = true },
         { "--mtu BYTES", "goodput: IP packet size", many = true },
         { "--vlan TAGS", "goodput: VLAN tags in each frame, 0 to 2" },
      },
      examples = { "theory", "theory frames --rate 10Gbps --rate 25Gbps --size 64 --size 9018",
         "theory goodput --rate 1Gbps --mtu 1500 --vlan 1" },
      module = "framegauge.cli.theory",
   },
   { "doctor", "check this machine before a test",
      "Check huge pages, IOMMU, network cards, NUMA, cores and clocks. Reports the effect of each problem and the command that fixes it. Without a plan: opens no port and changes nothing. With a plan: also opens its ports, sends nothing, and reports the link, the optical module, the PCI Express slot, what the driver can do on each port, and its known limits.",
      without_modules = true,
      arguments = { { "[PLAN.yaml]", PLAN_OF_PORTS[2] } },
      options = {
         SET,
         { "--measure", "also send for a second from each port as fast as it takes frames, and report the rate to expect, and which driver of a kernel interface carries more; the plan needs isolated_network: true" },
         { "--changes", "only print a table of the present changes of this user's testers to this host, and of the commands that undo them" },
         { "--restore", "only undo the changes to this host that killed testers have left" },
         { "--clock", "only the sources of a common time for one-way delays between testers: their bounds, and what is missing" },
      },
      takes_eal = true,
      examples = { "doctor", "doctor --clock", "doctor plan.yaml", "doctor plan.yaml --measure" },
      module = "framegauge.doctor",
   },
   { "setup", "bind a network card to DPDK, or return it to the kernel",
      "Without an option: list the network cards. A card is named by its PCI address or its interface. The card of the default route is never changed.",
      arguments = {},
      options = {
         { "--bind CARD", "bind it to vfio-pci for DPDK (without an IOMMU: to uio_pci_generic)",
           many = true },
         { "--unbind CARD", "return it to the kernel's driver", many = true },
      },
      examples = { "setup", "setup --bind 0000:03:00.0 --bind 0000:03:00.1", "setup --unbind 0000:03:00.0" },
      module = "framegauge.doctor.setup",
   },
   { "completion", "shell completion, or a manual page",
      "Print a script that completes commands and options in a shell, or a manual page: framegauge(1), or framegauge-plan(5) with the keys of a plan.",
      without_modules = true,
      arguments = {
         { "KIND", "'bash', 'zsh', 'man' or 'man-plan'", words = { "bash", "zsh", "man", "man-plan" } },
         { "[KEY]", "for the scripts, behind 'values': a key of a plan" },
      },
      options = {},
      examples = {
         "completion bash > /usr/share/bash-completion/completions/framegauge",
         "completion zsh > /usr/share/zsh/vendor-completions/_framegauge",
         "completion man | man -l -",
      },
      module = "framegauge.cli.completion",
   },
   { "help", "help on a command or a topic",
      "Print the overview, the help of a command, or a topic.",
      without_modules = true,
      arguments = {
         { "[TOPIC]", "a command, 'plan', 'protocols', 'results', 'exit', or a key of plans" },
         { "[NAME]", "name of a key, a protocol, a test or a figure" },
      },
      options = {},
      module = "framegauge.cli.topics",
   },
}

-- An argument or option with its parts by name: value is the placeholder; a switch has none.
local function named(row)
   if row[1] then
      local text, rest = row[1]:gsub("%.%.%.", "")
      local argument, option, value = text:match "^%[(.*)%]$", text:match "^%-%-(%S+) ?(.*)$"
      row.name, row.value, row.help = argument or option or text, value ~= "" and value or nil, row[2]
      row.optional, row.rest, row[1], row[2] = argument and true, rest > 0 or nil, nil, nil
   end
   return row
end

local commands = tables.joined(MEASURING, require "framegauge.cli.fleet_commands",
   require "framegauge.cli.result_commands", require "framegauge.cli.plan_commands", MORE)
for _, command in ipairs(commands) do
   tables.named(command, { "name", "summary", "help" })
   tables.map(command.arguments, named)
   tables.map(command.options, named)
end
return commands
