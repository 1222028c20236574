# SPDX-License-Identifier: BSD-3-Clause
"""A server of the Open Traffic Generator API beside a script, and what scripts do with snappi: for otg.py and
otg_changes.py."""

import os
import re
import signal
import subprocess
import sys
import time

PROGRAM = sys.argv[1]
PLAN = '''
test: otg
ports:
  east: {device: wire0}
  west: {device: wire1}
reference_device: {time: real, rate: 1Gbps, latency: 20us%s}
otg:
  listen: ["http://127.0.0.1:0", "https://127.0.0.1:0", "grpc://127.0.0.1:0"]
  drain: 30ms
  locations:
    veth-a: {port: east}
    veth-z: {port: west}
'''
PATIENCE = 60  # seconds of real time; a busy machine is slow, not wrong


class Server:
    """The program, and the address that it says it listens on."""

    def __init__(self, folder, device=''):
        plan = os.path.join(folder, 'otg.yaml')
        with open(plan, 'w') as file:
            file.write(PLAN % device)
        self.process = subprocess.Popen([PROGRAM, 'otg', plan], stdout=subprocess.PIPE,
                                        universal_newlines=True)
        self.url, self.secure, self.grpc = (
            re.search(r'\w+://\S+?(?=,)', self.process.stdout.readline()).group(0) for _ in range(3))

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)


def base(api, size=128, capture=False):
    """Two ports, and a flow of 100 frames in 0.1 s."""
    config = api.config()
    config.ports.add(name='p1', location='veth-a')
    config.ports.add(name='p2', location='veth-z')
    config.layer1.add(name='l1', port_names=['p1', 'p2'], speed='speed_1_gbps')
    if capture:
        config.captures.add(name='ca', port_names=['p1', 'p2'], format='pcap')
    return config, add_flow(config, 'f1', size)


def add_flow(config, name, size=128):
    flow = config.flows.add(name=name)
    flow.tx_rx.port.tx_name, flow.tx_rx.port.rx_names = 'p1', ['p2']
    flow.metrics.enable = True
    flow.size.fixed, flow.rate.pps, flow.duration.fixed_packets.packets = size, 1000, 100
    return flow


def common(flow):
    ethernet, ip = flow.packet.ethernet().ipv4()
    ethernet.src.value, ethernet.dst.value = '00:00:01:01:01:01', '00:00:02:02:02:02'
    ip.src.value, ip.dst.value = '1.1.1.1', '1.1.1.2'


def transmit(api, state, names=()):
    control = api.control_state()
    control.traffic.flow_transmit.state = state
    control.traffic.flow_transmit.flow_names = list(names)
    return api.set_control_state(control)


def capture(api, state):
    control = api.control_state()
    control.port.capture.state = state
    api.set_control_state(control)


def row(api, name='f1'):
    request = api.metrics_request()
    request.flow.flow_names = [name]
    return api.get_metrics(request).flow_metrics[0]


def wait(api, name='f1'):
    """The row of a flow once it is stopped; no row before it may say so with other counts."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        one = row(api, name)
        if one.transmit == 'stopped':
            return one
        time.sleep(0.05)
    return one


def frames(api, folder, *fields):
    """Fields of the frames that p2 captured, by tshark."""
    request = api.capture_request()
    request.port_name = 'p2'
    path = os.path.join(folder, 'p2.pcap')
    with open(path, 'wb') as file:
        file.write(api.get_capture(request).read())
    words = ['tshark', '-r', path, '-T', 'fields', '-E', 'separator=;', '-E', 'occurrence=a',
             '-o', 'eth.fcs:Always', '-o', 'eth.check_fcs:TRUE', '-o', 'ip.check_checksum:TRUE',
             '-o', 'udp.check_checksum:TRUE',
             '-o', 'tcp.check_checksum:TRUE', '--disable-protocol', 'tapa', '-d', 'udp.port==4789,vxlan']
    for field in ('frame.len', 'eth.fcs.status', *fields):
        words += ['-e', field]
    text = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                          universal_newlines=True).stdout
    return [line.split(';') for line in text.splitlines()]


def run(api, config, captured=False):
    """Set, start, and wait for the end of f1."""
    api.set_config(config)
    if captured:
        capture(api, 'start')
    transmit(api, 'start')
    final = wait(api)
    if captured:
        capture(api, 'stop')
    return final


def refusal(api, call, *arguments):
    """Code and texts of an error."""
    try:
        call(*arguments)
    except Exception as error:  # as snappi raises them
        told = api.from_exception(error)
        return (told.code, list(told.errors)) if told else (None, [str(error)])
    return 200, []
