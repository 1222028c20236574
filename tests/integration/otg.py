# SPDX-License-Identifier: BSD-3-Clause
"""`framegauge otg` as scripts see it: snappi, unmodified, over HTTP and gRPC, and the reference device
between two ports. What the metrics say is held against what the configuration asked for, and captured frames
are read by tshark. Prints TAP.

usage: otg.py FRAMEGAUGE
"""

import json
import os
import re
import socket
import sys
import tempfile
import time
import urllib.error
import urllib.request

import grpc
import snappi
from snappi import otg_pb2, otg_pb2_grpc

sys.path.insert(0, os.path.dirname(__file__))
from otg_changes import both_ways, by_bits, by_port, changes  # noqa: E402
from otg_client import (  # noqa: E402
    PATIENCE, Server, add_flow, base, capture, common, frames, refusal, row, run, transmit, wait)
from otg_link_protocols import lag, lldp  # noqa: E402
from otg_search import search  # noqa: E402
from tap import check, end  # noqa: E402


def packets(api, folder):
    """The suites of conformance, by packet."""
    config, flow = base(api, capture=True)
    common(flow)
    udp = flow.packet.udp()[-1]
    udp.src_port.value, udp.dst_port.value = 5000, 6000
    final = run(api, config, True)
    check('a flow of UDP ends with all its frames',
          (final.frames_tx, final.frames_rx, final.bytes_tx, final.bytes_rx, final.loss) ==
          (100, 100, 12800, 12800, 0), final)
    seen = frames(api, folder, 'ip.checksum.status', 'udp.checksum.status', 'udp.srcport', 'udp.dstport')
    check('its frames are what the configuration says, FCS included',
          seen == [['128', '1', '1', '1', '5000', '6000']] * 100, seen[:2])

    config, flow = base(api, capture=True)
    common(flow)
    udp = flow.packet.udp()[-1]
    udp.src_port.increment.start, udp.src_port.increment.step, udp.src_port.increment.count = 5000, 2, 10
    udp.dst_port.decrement.start, udp.dst_port.decrement.step, udp.dst_port.decrement.count = 6000, 2, 10
    run(api, config, True)
    seen = frames(api, folder, 'udp.checksum.status', 'udp.srcport', 'udp.dstport')
    check('ports count up and down',
          seen == [['128', '1', '1', str(5000 + 2 * (i % 10)), str(6000 - 2 * (i % 10))]
                   for i in range(100)], seen[:2])

    config, flow = base(api, capture=True)
    common(flow)
    tcp = flow.packet.tcp()[-1]
    tcp.src_port.values, tcp.dst_port.values = [5000, 5050, 5015, 5040], [6000, 6015, 6050]
    run(api, config, True)
    seen = frames(api, folder, 'tcp.checksum.status', 'tcp.hdr_len', 'tcp.srcport', 'tcp.dstport')
    check('lists of TCP ports have each its own period',
          seen == [['128', '1', '1', '20', str([5000, 5050, 5015, 5040][i % 4]),
                    str([6000, 6015, 6050][i % 3])]
                   for i in range(100)], seen[:2])


def vxlan(api, folder):
    config, flow = base(api, 256, capture=True)
    flow.packet.ethernet().ipv6().udp().vxlan().ethernet().ipv4().tcp()
    flow.packet[2].dst_port.value = 4789
    flow.packet[3].vni.values = list(range(1000, 1005))
    final = run(api, config, True)
    seen = frames(api, folder, 'ipv6.plen', 'udp.length', 'ip.len', 'vxlan.vni')
    check('VXLAN over IPv6 leaves room for the FCS of the inner frame',
          [one[2:] for one in seen] == [['198', '198', '164', str(1000 + i % 5)] for i in range(100)] and
          final.frames_rx == 100, seen[:2])


def life(api):
    """Two flows; one goes on."""
    config, flow = base(api)
    common(flow)
    flow.packet.udp()
    other = add_flow(config, 'f2')
    common(other)
    other.packet.udp()
    other.duration.continuous.gap = 12
    api.set_config(config)
    check('the configuration comes back as it was sent',
          json.loads(api.get_config().serialize()) == json.loads(config.serialize()))
    before = row(api)
    check('before its start a flow is stopped, with zeros',
          (before.transmit, before.frames_tx, before.frames_rx, before.frames_tx_rate) ==
          ('stopped', 0, 0, 0))
    transmit(api, 'start')
    first, going = wait(api), row(api, 'f2')
    transmit(api, 'start', ['f1'])
    again, later = wait(api), row(api, 'f2')
    check('a flow that is started again counts anew, and another one goes on',
          (first.frames_rx, again.frames_tx, again.frames_rx) == (100, 100, 100) and
          going.transmit == later.transmit == 'started' and later.frames_tx > going.frames_tx > 0 and
          later.frames_tx_rate > 0, later)
    update = api.config_update()
    update.flows.property_names = ['rate']
    other.rate.pps = 2000
    update.flows.flows.append(other)
    check('a rate changes while its flow runs', list(api.update_config(update).warnings) == [])
    transmit(api, 'pause', ['f2'])
    paused = row(api, 'f2')
    time.sleep(0.1)
    still = row(api, 'f2')
    transmit(api, 'resume', ['f2'])
    deadline = time.monotonic() + PATIENCE
    while row(api, 'f2').frames_tx <= still.frames_tx and time.monotonic() < deadline:
        time.sleep(0.05)
    transmit(api, 'stop')
    stopped = row(api, 'f2')
    time.sleep(0.2)
    check('a flow that was paused has lost nothing when it is stopped',
          paused.transmit == 'paused' and still.frames_tx_rate == 0 and stopped.transmit == 'stopped' and
          stopped.frames_tx == stopped.frames_rx > still.frames_tx and stopped.loss == 0, stopped)
    check('counts of a flow that is stopped do not change', row(api, 'f2').serialize() == stopped.serialize())
    request = api.metrics_request()
    request.port.port_names = []
    rows = {one.name: one for one in api.get_metrics(request).port_metrics}
    sent = first.frames_tx + again.frames_tx + stopped.frames_tx
    check('a port has sent the sum of its flows, and the other one received as many',
          rows['p1'].frames_tx == sent and rows['p2'].frames_rx == sent and rows['p1'].link == 'up', rows)


def neighbours(api, version):
    """Rows of neighbours, once every one has its MAC."""
    request = api.states_request()
    getattr(request, 'ipv%d_neighbors' % version).ethernet_names = []
    deadline = time.monotonic() + PATIENCE
    while True:
        rows = getattr(api.get_states(request), 'ipv%d_neighbors' % version)
        if all(one.link_layer_address for one in rows) or time.monotonic() > deadline:
            return [(one.ethernet_name, getattr(one, 'ipv%d_address' % version), one.link_layer_address)
                    for one in rows]
        time.sleep(0.05)


def devices(api, folder):
    """The suite of conformance about neighbours: two devices, each other's gateway."""
    config, flow = base(api, capture=True)
    macs = {'d1': '00:00:01:01:01:01', 'd2': '00:00:02:02:02:02'}
    for name, port, own, peer in (('d1', 'p1', '1', '2'), ('d2', 'p2', '2', '1')):
        one = config.devices.add(name=name).ethernets.add(name=name + '.eth', mac=macs[name])
        one.connection.port_name = port
        one.ipv4_addresses.add(name=name + '.v4', address='1.1.1.' + own, gateway='1.1.1.' + peer)
        one.ipv6_addresses.add(name=name + '.v6', address='2001:1::' + own, gateway='2001:1::' + peer)
    common(flow)
    flow.packet[0].dst.choice = 'auto'
    flow.tx_rx.device.tx_names, flow.tx_rx.device.rx_names = ['d1.v4'], ['d2.v4']
    final = run(api, config, True)
    check('devices find each other',
          neighbours(api, 4) == [('d1.eth', '1.1.1.2', macs['d2']), ('d2.eth', '1.1.1.1', macs['d1'])] and
          neighbours(api, 6) == [('d1.eth', '2001:1::2', macs['d2']), ('d2.eth', '2001:1::1', macs['d1'])],
          (neighbours(api, 4), neighbours(api, 6)))
    seen = [one[2:] for one in frames(api, folder, 'eth.dst') if one[0] == '128']
    check('a flow between them goes to the MAC of the gateway', seen == [[macs['d2']]] * 100 and
          (final.frames_tx, final.frames_rx, final.port_tx, final.port_rx) == (100, 100, 'p1', 'p2'),
          (final, seen[:2]))
    action = api.control_action()
    for name, to in (('d1.v4', '1.1.1.2'), ('d2.v4', '1.1.1.7')):
        action.protocol.ipv4.ping.requests.add(src_name=name, dst_ip=to)
    answers = api.set_control_action(action).response.protocol.ipv4.ping.responses
    check('one of them answers the other, and nobody answers for an address that is not there',
          [(one.src_name, one.result) for one in answers] ==
          [('d1.v4', 'succeeded'), ('d2.v4', 'failed')], answers)


def refusals(api):
    config, flow = base(api)
    common(flow)
    final = run(api, config)
    flow.tx_rx.port.rx_names = ['p9']
    config.devices.add(name='d1').bgp.router_id = '1.1.1.1'
    code, errors = refusal(api, api.set_config, config)
    check('a request with two faults is refused with the path of each',
          code == 400 and len(errors) == 2 and errors[0].startswith('devices') and
          errors[1].startswith('flows[0] "f1".tx_rx.port.rx_names[0]:'), (code, errors))
    check('what was there is still there', row(api).frames_rx == final.frames_rx == 100)
    request = api.metrics_request()
    request.bgpv4.peer_names = []
    check('metrics of what is not configured are an empty list',
          len(api.get_metrics(request).bgpv4_metrics) == 0)
    action = api.control_action()
    action.port.reboot.port_names = ['p1']
    check('an action that is not there is refused', refusal(api, api.set_control_action, action)[0] == 501)


def post(url, body):
    request = urllib.request.Request(url, body, {'Content-Type': 'application/json'})
    try:
        with urllib.request.urlopen(request) as one:
            return one.status, json.load(one)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def transport(url):
    host, port = re.match(r'http://(.*):(\d+)', url).groups()
    idle = [socket.create_connection((host, int(port))) for _ in range(3)]
    check('connections that are idle do not keep another client waiting',
          post(url + '/monitor/metrics', b'{"choice":"port"}')[0] == 200)
    for one in idle:
        one.close()
    check('an unknown path is answered with an error of the API', post(url + '/flows', b'{}')[1] == {
        'code': 404, 'kind': 'validation', 'errors': ['there is nothing at /flows']})
    check('what is no JSON is refused', post(url + '/config', b'{"ports":')[0] == 400)


def status(call, *arguments):
    try:
        call(*arguments, timeout=PATIENCE)
    except grpc.RpcError as error:
        return error.code().name
    return 'OK'


def by_grpc(api, address, folder):
    """What the transport by itself has to do; the calls are the same as over HTTP."""
    channel = grpc.insecure_channel(address)
    unknown = channel.unary_unary('/otg.Openapi/Nothing')
    check('an unknown method is told as such', status(unknown, b'') == 'UNIMPLEMENTED')
    broken = channel.unary_unary('/otg.Openapi/SetConfig')
    check('octets that are no message are refused', status(broken, b'\x0a\xff') == 'INVALID_ARGUMENT')
    check('a request that is too large is refused, and the connection goes on',
          status(broken, bytes(33 << 20)) == 'RESOURCE_EXHAUSTED' and status(unknown, b'') == 'UNIMPLEMENTED')
    config, _ = base(api)
    config.ports[0].name = ''
    code, errors = refusal(api, api.set_config, config)
    check('a name that is empty is refused with its path', code == 400 and errors[0].startswith('ports[0]'),
          (code, errors))

    config, flow = base(api, capture=True)
    common(flow)
    udp = flow.packet.udp()[-1]
    udp.src_port.value = 5007
    for i in range(2):
        config.layer1.add(name=str(i) * (600 << 10), port_names=['p1'])
    api.enable_grpc_streaming, api.chunk_size = True, 1  # MiB; with its 4 the client takes long to write
    final = run(api, config, True)
    seen = frames(api, folder, 'udp.srcport')
    check('a configuration that is longer than a piece comes in two, and a capture goes in pieces',
          final.frames_rx == 100 and seen == [['128', '1', '5007']] * 100, (final, seen[:2]))

    stub = otg_pb2_grpc.OpenapiStub(channel)
    request = otg_pb2.GetMetricsRequest()
    request.metrics_request.choice = otg_pb2.MetricsRequest.Choice.flow
    calls = [stub.GetMetrics.future(request) for _ in range(20)]
    for one in calls[1::2]:
        one.cancel()
    check('calls on one connection are answered beside others that are given up',
          all(len(one.result(PATIENCE).metrics_response.flow_metrics) == 1 for one in calls[::2]))
    many = [grpc.insecure_channel(address, [('grpc.use_local_subchannel_pool', 1)]) for _ in range(40)]
    calls = [otg_pb2_grpc.OpenapiStub(one).GetMetrics.future(request) for one in many]
    check('many clients are answered',
          all(len(one.result(PATIENCE).metrics_response.flow_metrics) == 1 for one in calls))
    for one in [channel] + many:
        one.close()


def main():
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder)
        api = snappi.api(location=server.url, version_check=True)
        check('an empty configuration clears all', list(api.set_config(api.config()).warnings) == [])
        secure = snappi.api(location=server.secure)
        config, _ = base(secure)
        check('over TLS the server tells its version, and takes a configuration',
              secure.get_version().api_spec_version == '^1.0.0' and
              list(secure.set_config(config).warnings) == [] and
              json.loads(secure.get_config().serialize()) == json.loads(config.serialize()))
        packets(api, folder)
        vxlan(api, folder)
        life(api)
        changes(api, folder)
        devices(api, folder)
        both_ways(api)
        by_port(api)
        by_bits(api)
        lldp(api, folder)
        lag(api, folder)
        refusals(api)
        transport(server.url)
        address = server.grpc[len('grpc://'):]
        api = snappi.api(location=address, transport=snappi.Transport.GRPC, version_check=True)
        life(api)
        changes(api, folder)
        devices(api, folder)
        both_ways(api)
        by_port(api)
        by_bits(api)
        lldp(api, folder)
        lag(api, folder)
        refusals(api)
        by_grpc(api, address, folder)
        check('Ctrl-C ends the server', server.end() == 0)
        search(folder)
    end()


main()
