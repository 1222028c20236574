-- SPDX-License-Identifier: BSD-3-Clause

local Machine = require "framegauge.core.machine"
local doctor = require "framegauge.doctor"
local measure = require "framegauge.doctor.measure"
local scratch = require "scratch"

local ffi = require "ffi"
local uv = require "luv"

local roots = {}

-- A machine made of files: path = content, or { link = target } for a symbolic link.
local function machine_of(files)
   local root = assert(uv.fs_mkdtemp("/tmp/framegauge-doctor-XXXXXX"))
   roots[#roots + 1] = root
   for path, content in pairs(files) do
      for slash in path:gmatch(".()/") do
         uv.fs_mkdir(root .. path:sub(1, slash - 1), 493) -- rwxr-xr-x
      end
      if type(content) == "table" then
         assert(uv.fs_symlink(content.link, root .. path))
      else
         local file = assert(io.open(root .. path, "w"))
         file:write(content)
         file:close()
      end
   end
   return Machine.at(root)
end

local ROUTES = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"

local function good_machine()
   return {
      ["/proc/self/status"] = "Cpus_allowed_list:\t0-3\nCapEff:\t000001ffffffffff\n",
      ["/proc/cpuinfo"] = "flags\t\t: fpu sse4_2 constant_tsc nonstop_tsc\n",
      ["/proc/meminfo"] = "MemTotal:  8000000 kB\nMemAvailable:  4000000 kB\n",
      ["/proc/net/protocols"] = "protocol size\nXDP 1088\n",
      ["/proc/net/route"] = ROUTES .. "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\n",
      ["/sys/devices/system/cpu/isolated"] = "1-3\n",
      ["/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"] = "performance\n",
      ["/sys/devices/system/clocksource/clocksource0/current_clocksource"] = "tsc\n",
      ["/sys/devices/system/node/node0/cpulist"] = "0-3\n",
      ["/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"] = "512\n",
      ["/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"] = "500\n",
      ["/sys/kernel/iommu_groups/0/type"] = "DMA\n",
      ["/sys/bus/pci/drivers/vfio-pci/bind"] = "",
   }
end

local function with_card(files, address, name, driver)
   files["/sys/bus/pci/devices/" .. address .. "/class"] = "0x020000\n"
   files["/sys/bus/pci/devices/" .. address .. "/numa_node"] = "0\n"
   if driver then
      files["/sys/bus/pci/devices/" .. address .. "/driver"] = { link = "../../drivers/" .. driver }
   end
   if name then
      files["/sys/bus/pci/devices/" .. address .. "/net/" .. name .. "/mtu"] = "1500\n"
      files["/sys/class/net/" .. name .. "/mtu"] = "1500\n"
      files["/sys/class/net/" .. name .. "/device"] = { link = "../../" .. address }
   end
   return files
end

local function row_of(files, topic)
   for _, row in ipairs(doctor.examine(machine_of(files))) do
      if row.topic == topic then
         return row
      end
   end
end

-- Take away the folders of all machines.
local function forget()
   os.execute("rm -rf '" .. table.concat(roots, "' '") .. "'")
   roots = {}
end

-- What it says of an open port, as words: state and finding of each row.
local function of_port(about, o)
   local ports = require "framegauge.doctor.ports"
   local port = {
      name = "east", driver = o.driver or "net_x", mode = "PCI 0000:03:00.0", numa = -1, pcie = o.pcie,
   }
   local list = {}
   for i, row in ipairs(ports.rows(port, about, { needed = o.needed or 0, notes = o.notes })) do
      assert.equal("east", row.topic)
      assert.truthy(row.state == "ok" or row.effect and row.fix)
      list[i] = row.state .. " " .. row.finding
   end
   return list
end

local function about_of(o)
   local about = {
      link_up = true, speed_mbps = 10000, duplex = "full", driver = { rx_path = "", rss = true },
   }
   for key, value in pairs(o or {}) do
      about[key] = value
   end
   return about
end

describe("the doctor on open ports", function()
   it("says what the driver can do and what not, by its own answers", function()
      local rows = of_port(about_of(), {})
      assert.equal("ok net_x, PCI 0000:03:00.0, link up, 10 Gbit/s, full duplex", rows[1])
      assert.equal("ok can: RSS", rows[2])
      assert.equal(2, #rows)
      assert.same({ "ok net_x, PCI 0000:03:00.0" }, of_port(nil, {})) -- it cannot be asked
   end)

   it("warns of half duplex, of lcores far from the card, and of a hot module", function()
      assert.equal("warning the link is half duplex", of_port(about_of { duplex = "half" }, {})[2])
      assert.equal("warning CPU 3 is far", of_port(about_of(), { notes = { "CPU 3 is far" } })[2])
      local module = { type = "SFP", media = "10GBASE-LR", vendor = "ACME", part = "X", temperature_c = 70 }
      assert.equal("ok SFP 10GBASE-LR, ACME X, 70.0 °C", of_port(about_of { module = module }, {})[3])
      module.temperature_c, module.tx_power_mw, module.rx_power_mw = 70.1, 1, 0
      assert.equal("warning SFP 10GBASE-LR, ACME X, 70.1 °C, sends 0.0 dBm, receives no light",
         of_port(about_of { module = module }, {})[3])
   end)

   it("warns of a slot that carries less than the card's ports need", function()
      local slot = { lanes = 4, gts = 5, lanes_max = 8, gts_max = 5, gbps = 13.4 }
      assert.matches("^ok PCIe x4 at 5 GT/s carries 13.4 Gbit/s .* need 10$",
         of_port(about_of(), { pcie = slot, needed = 10 })[3])
      assert.matches("^warning .* need 20$", of_port(about_of(), { pcie = slot, needed = 20 })[3])
   end)

   it("tells what a driver is known not to do, with what follows from it", function()
      local rows = of_port(about_of(), { driver = "net_ixgbe" })
      assert.equal("warning this build of DPDK's driver takes no transmit timestamps", rows[3])
      assert.equal(7, #rows)
   end)
end)

describe("the drivers of a kernel interface", function()
   local east = { name = "east", device = "kernel:eth1" }

   it("are left to the plan where the one that is taken is not much slower", function()
      local row = measure.judge_drivers(east, { 90000, 100000, 300000 }, { 109000, 1, 200000 })
      assert.equal("ok", row.state)
      assert.equal("64 bytes: 100,000 frames/s by AF_XDP, which is taken, 109,000 by AF_PACKET", row.finding)
      assert.is_nil(row.fix)
   end)

   it("are a warning where the other is, with what to write", function()
      local row = measure.judge_drivers(east, { 100000, 90000, 300000 }, { 111000, 1, 200000 })
      assert.equal("warning", row.state)
      assert.equal("ports.east.device: 'kernel:eth1,af_packet'", row.fix)
   end)
end)

describe("the doctor", function()
   after_each(forget)

   it("finds nothing wrong with a good machine", function()
      local rows = doctor.examine(machine_of(good_machine()))
      for _, row in ipairs(rows) do
         assert.equal("ok", row.state, row.topic)
      end
      local text, problems = doctor.text(rows)
      assert.equal(0, problems)
      assert.truthy(text:find("0 problems, 0 warnings: this machine can run tests", 1, true))
   end)

   it("says of each weakness its effect and what fixes it", function()
      local files = good_machine()
      files["/proc/self/status"] = "Cpus_allowed_list:\t0-3,8\nCapEff:\t0000000000000000\n"
      files["/proc/cpuinfo"] = "flags\t\t: fpu sse4_2 constant_tsc hypervisor\n"
      files["/proc/net/protocols"] = "protocol size\nUDP 1\n"
      files["/sys/devices/system/cpu/isolated"] = "\n"
      files["/sys/devices/system/cpu/cpu8/cpufreq/scaling_governor"] = "powersave\n"
      files["/sys/devices/system/clocksource/clocksource0/current_clocksource"] = "hpet\n"
      files["/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"] = "0\n"
      files["/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"] = "0\n"
      files["/sys/kernel/iommu_groups/0/type"] = nil
      files["/sys/bus/pci/drivers/vfio-pci/bind"] = nil
      local weak = {}
      for _, row in ipairs(doctor.examine(machine_of(files))) do
         if row.state == "warning" then
            assert.truthy(row.effect and row.fix, row.topic)
            weak[#weak + 1] = row.topic
         end
      end
      assert.same({
         "isolated cores", "virtual machine", "CPU governor", "clock source", "TSC", "huge pages",
         "permission", "IOMMU", "driver for DPDK", "AF_XDP",
      }, weak)
   end)

   it("gives the size of huge pages in MB of 1024 kB", function()
      local files = good_machine()
      files["/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"] = "4\n"
      files["/sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages"] = "3\n"
      local text = doctor.text(doctor.examine(machine_of(files)))
      assert.matches("4 of 1024 MB, 3 free", text, 1, true)
      assert.matches("512 of 2 MB, 500 free", text, 1, true)
   end)

   it("calls a machine that cannot run a test a problem", function()
      local files = good_machine()
      files["/proc/meminfo"] = "MemAvailable:  100000 kB\n"
      files["/proc/cpuinfo"] = "flags\t\t: fpu constant_tsc nonstop_tsc\n"
      local text, problems = doctor.text(doctor.examine(machine_of(files)))
      assert.equal(2, problems)
      assert.truthy(text:find("2 problems, 0 warnings: this machine cannot run tests", 1, true))
   end)

   it("says how each card is named in a plan", function()
      local files = good_machine()
      with_card(files, "0000:03:00.0", "eth2", "ixgbe")
      with_card(files, "0000:04:00.0", "eth3", "be2net")
      with_card(files, "0000:05:00.0", nil, "vfio-pci")
      with_card(files, "0000:06:00.0", "eth4", "mlx5_core")
      with_card(files, "0000:07:00.0", nil, nil)
      assert.matches("^kernel:eth2 .*; for DPDK: framegauge setup %-%-bind 0000:03:00.0",
         row_of(files, "0000:03:00.0").use)
      assert.matches("^kernel:eth3 %(AF_XDP on socket buffers: be2net has no XDP of its own%); DPDK has no driver for it%. Rate to expect: framegauge doctor PLAN.yaml %-%-measure$",
         row_of(files, "0000:04:00.0").use)
      assert.matches("^ready for DPDK: device 0000:05:00.0", row_of(files, "0000:05:00.0").use)
      assert.matches("with this driver", row_of(files, "0000:06:00.0").use)
      assert.matches("^no driver", row_of(files, "0000:07:00.0").use)
   end)

   it("never offers the card of the default route, nor one below a bridge that has it", function()
      local files = with_card(good_machine(), "0000:03:00.0", "eth0", "ixgbe")
      assert.matches("never changed", row_of(files, "0000:03:00.0").use)
      files["/proc/net/route"] = ROUTES .. "br0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\n"
      files["/sys/class/net/br0/mtu"] = "1500\n"
      files["/sys/class/net/br0/brif/eth0/state"] = "3\n"
      assert.matches("never changed", row_of(files, "0000:03:00.0").use)
      assert.matches("br0 %(in use", row_of(files, "other interfaces").finding)
      files["/proc/net/route"] = ROUTES
      assert.matches("^kernel:eth0", row_of(files, "0000:03:00.0").use)
      files["/proc/net/ipv6_route"] = ("0"):rep(32) .. " 00 " .. ("0"):rep(32) .. " 00 fe80 0 3 eth0\n"
      assert.matches("never changed", row_of(files, "0000:03:00.0").use)
   end)

   it("sees a card in too small a slot", function()
      local files = with_card(good_machine(), "0000:03:00.0", "eth2", "ixgbe")
      local card = "/sys/bus/pci/devices/0000:03:00.0/"
      files[card .. "current_link_width"], files[card .. "max_link_width"] = "4\n", "8\n"
      files[card .. "current_link_speed"] = "5.0 GT/s PCIe\n"
      files[card .. "max_link_speed"] = "5.0 GT/s PCIe\n"
      local found
      for _, row in ipairs(doctor.examine(machine_of(files))) do
         found = row.state == "warning" and row.topic == "0000:03:00.0" and row or found
      end
      assert.equal("PCIe x4 at 5 GT/s, the card can x8 at 5 GT/s", found.finding)
      assert.matches("13.4 Gbit/s each way instead of 26.9", found.effect)
   end)

   it("sees who else works on the packet cores", function()
      local files = good_machine()
      files["/proc/7/stat"] = "7 (a (b) c) R" .. (" 0"):rep(35) .. " 2 0\n"
      files["/proc/8/stat"] = "8 (asleep) S" .. (" 0"):rep(35) .. " 2 0\n"
      files["/proc/9/stat"] = "9 (control) R" .. (" 0"):rep(35) .. " 0 0\n"
      local row = row_of(files, "other work")
      assert.equal("a (b) c (7) on CPU 2", row.finding)
      assert.equal("warning", row.state)
   end)

   it("goes on where a file is missing", function()
      assert.truthy(#doctor.examine(machine_of { ["/proc/meminfo"] = "" }) > 0)
   end)
end)

describe("setup", function()
   after_each(forget)

   local setup = require "framegauge.doctor.setup"

   -- The kernel's part: a bus that gives a card the driver its override names when it is asked to look again.
   local function with_bus(files, address)
      files["/sys/bus/pci/devices/" .. address .. "/driver_override"] = "(null)\n"
      files["/sys/bus/pci/devices/" .. address .. "/iommu_group"] = {
         link = "../../../../kernel/iommu_groups/0",
      }
      files["/sys/bus/pci/drivers_probe"] = ""
      local machine = machine_of(files)
      local write = machine.write
      function machine:write(path, text)
         local ok, err = write(self, path, text)
         local device = self.root .. "/sys/bus/pci/devices/" .. address
         if path:find "/unbind$" then
            uv.fs_unlink(device .. "/driver")
         elseif path:find "drivers_probe$" then
            local override = self:read("/sys/bus/pci/devices/" .. address .. "/driver_override")
            uv.fs_symlink("../../drivers/" .. (override:match "^[vu][%w_-]+" or "ixgbe"), device .. "/driver")
         end
         return ok, err
      end
      return machine
   end

   local function refused(pattern, ...)
      local ok, err = pcall(...)
      assert.falsy(ok)
      assert.matches(pattern, tostring(err))
   end

   it("hands a card to DPDK and back, by its address or its interface", function()
      local files = with_card(good_machine(), "0000:03:00.0", "eth2", "ixgbe")
      for _, driver in ipairs { "ixgbe", "vfio-pci" } do
         files["/sys/bus/pci/drivers/" .. driver .. "/unbind"] = ""
      end
      local machine = with_bus(files, "0000:03:00.0")
      assert.matches("^0000:03:00.0: driver vfio%-pci instead of ixgbe", setup.bind(machine, "eth2"))
      assert.matches("has the driver vfio%-pci already", setup.bind(machine, "03:00.0"))
      assert.matches("^0000:03:00.0: driver ixgbe instead of vfio%-pci", setup.unbind(machine,
         "0000:03:00.0"))
   end)

   it("never touches what carries the default route", function()
      local machine = with_bus(with_card(good_machine(), "0000:03:00.0", "eth0", "ixgbe"), "0000:03:00.0")
      refused("default route: it is never changed", setup.bind, machine, "0000:03:00.0")
      refused("default route: it is never changed", setup.unbind, machine, "eth0")
      assert.equal("(null)", machine:read "/sys/bus/pci/devices/0000:03:00.0/driver_override")
      assert.equal("ixgbe", machine:link_name "/sys/bus/pci/devices/0000:03:00.0/driver")
   end)

   it("takes uio_pci_generic where nothing stands between the card and memory", function()
      local files = with_card(good_machine(), "0000:03:00.0", "eth2", "ixgbe")
      files["/sys/kernel/iommu_groups/0/type"] = nil
      files["/sys/bus/pci/drivers/ixgbe/unbind"] = ""
      refused("modprobe uio_pci_generic %(there is no IOMMU", setup.bind, with_bus(files, "0000:03:00.0"),
         "eth2")
      files["/sys/bus/pci/drivers/uio_pci_generic/bind"] = ""
      local machine = with_bus(files, "0000:03:00.0")
      assert.matches("^0000:03:00.0: driver uio_pci_generic instead of ixgbe", setup.bind(machine, "eth2"))
      assert.matches("uio_pci_generic is loaded", row_of(files, "driver for DPDK").finding)
      files["/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"] = "Y\n"
      assert.matches("^0000:03:00.0: driver vfio%-pci instead of ixgbe",
         setup.bind(with_bus(files, "0000:03:00.0"), "eth2"))
   end)

   it("gives a card back that does not take the driver", function()
      local files = with_card(good_machine(), "0000:03:00.0", "eth2", "ixgbe")
      files["/sys/bus/pci/drivers/ixgbe/unbind"] = ""
      local machine = with_bus(files, "0000:03:00.0")
      local write = machine.write
      function machine:write(path, text)
         local refuses = path:find "drivers_probe$" and self:read(
            "/sys/bus/pci/devices/0000:03:00.0/driver_override"):match "^vfio"
         return refuses or write(self, path, text)
      end
      refused("did not take the driver vfio%-pci and has ixgbe again", setup.bind, machine, "eth2")
      assert.equal("ixgbe", machine:link_name "/sys/bus/pci/devices/0000:03:00.0/driver")
   end)

   it("writes down what a card had, until it has its driver", function()
      local files = with_card(good_machine(), "0000:03:00.0", "eth2", "ixgbe")
      files["/sys/bus/pci/drivers/ixgbe/unbind"] = ""
      local machine = with_bus(files, "0000:03:00.0")
      local write = machine.write
      function machine:write(path, text)
         return not path:find "drivers_probe$" and write(self, path, text) or nil, "EACCES"
      end
      refused("EACCES; this needs root", setup.bind, machine, "eth2")
      local undo, problems = require "framegauge.core.undo", {}
      undo.each_left(function(journal) problems[#problems + 1] = journal end)
      assert.same({}, problems) -- this process lives
      local kinds = require "framegauge.core.undo_kinds"
      local step = { kind = "driver", about = {
         root = machine.root, card = "0000:03:00.0", driver = "ixgbe", override = "",
      } }
      assert.equal("0000:03:00.0 has the driver none, it had ixgbe", kinds.left(step)[1].text)
      undo.finish() -- as at the end of the process; no kernel is here to give the driver back
      local card = machine.root .. "/sys/bus/pci/devices/0000:03:00.0/"
      assert.matches("^\n", scratch.read(card .. "driver_override"))
      uv.fs_symlink("../../drivers/ixgbe", card .. "driver")
      scratch.write(card .. "driver_override", "(null)\n")
      assert.same({}, kinds.left(step))
      undo.finish()
      step.about.card = "0000:04:00.0" -- such as a virtual function that was taken away
      assert.same({}, kinds.left(step))
   end)

   -- sysfs opens such files for writing alone, for any user; here we are a user that the mode concerns
   it("writes to files that nobody may read", function()
      local machine = machine_of { ["/unbind"] = "" }
      local fs_user = pcall(ffi.cdef, "int setfsuid(unsigned);") and ffi.C.setfsuid(-1)
      local NOBODY = 65534
      if fs_user == 0 then
         uv.fs_chown(machine.root .. "/unbind", NOBODY, NOBODY)
         uv.fs_chmod(machine.root, 493) -- rwxr-xr-x
         ffi.C.setfsuid(NOBODY)
      end
      uv.fs_chmod(machine.root .. "/unbind", 128) -- -w-------
      local ok, message = machine:write("/unbind", "0000:03:00.0")
      ffi.C.setfsuid(fs_user)
      assert.equal(true, ok, message)
      uv.fs_chmod(machine.root .. "/unbind", 384) -- rw-------
      assert.equal("0000:03:00.0", machine:read "/unbind")
   end)

   it("refuses what cannot be done, and says why", function()
      local files = with_card(good_machine(), "0000:03:00.0", "eth2", "ixgbe")
      refused("no network card 'eth9'; there are: 0000:03:00.0 %(eth2%)",
         setup.bind, machine_of(files), "eth9")
      files["/sys/bus/pci/devices/0000:03:00.0/iommu_group/type"] = "DMA\n"
      files["/sys/bus/pci/drivers/vfio-pci/bind"] = nil
      refused("modprobe vfio%-pci", setup.bind, machine_of(files), "eth2")
      files["/sys/bus/pci/drivers/vfio-pci/bind"] = ""
      local group = "/sys/bus/pci/devices/0000:03:00.0/iommu_group/devices/0000:04:00.0/class"
      files[group] = "0x010000\n"
      files["/sys/bus/pci/devices/0000:04:00.0/driver"] = { link = "../../drivers/nvme" }
      files["/sys/bus/pci/devices/0000:04:00.0/class"] = "0x010000\n"
      refused("shares its IOMMU group with 0000:04:00.0, which nvme drives", setup.bind, machine_of(files),
         "eth2")
   end)
end)
