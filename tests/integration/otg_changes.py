# SPDX-License-Identifier: BSD-3-Clause
"""What may change while flows run, by snappi: flows that are added, started again, resized and removed; and a
flow that goes both ways."""

import time

from otg_client import (
    PATIENCE, add_flow, base, capture, common, frames, refusal, row, run, transmit, wait)
from tap import check


def update(api, flow, *names):
    """Give a flow another rate or size."""
    request = api.config_update()
    request.flows.property_names = list(names)
    request.flows.flows.append(flow)
    return api.update_config(request)


def append(api, config, name):
    """Add a flow of 100 frames to what runs. Returns code and texts of a refusal."""
    request = api.config_append()
    part = request.config_append_list.add()
    flow = add_flow(config, name)
    common(flow)
    flow.packet.udp()
    part.flows.append(flow)
    return refusal(api, api.append_config, request)


def delete(api, name):
    request = api.config_delete()
    request.config_delete_list.add().flows = [name]
    return refusal(api, api.delete_config, request)


def await_frames(api, name, frames_tx):
    deadline = time.monotonic() + PATIENCE
    while row(api, name).frames_tx < frames_tx and time.monotonic() < deadline:
        time.sleep(0.02)


def await_rate(api, name, rate):
    """The rate of a flow once it is within 2 % of one; it is a mean of a second."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        seen = row(api, name)
        if abs(seen.frames_tx_rate - rate) <= 0.02 * rate:
            break
        time.sleep(0.1)
    return seen


def rates(api, flow):
    """Behaviour 23: another rate while the flow runs, and another port, which is refused."""
    await_frames(api, 'f1', 20)
    before = row(api, 'f1')
    flow.rate.pps = 500
    update(api, flow, 'rate')
    faster = await_rate(api, 'f1', 500)
    check('a rate changes while its flow runs, and its counts go on',
          abs(faster.frames_tx_rate - 500) <= 10 and faster.frames_tx > before.frames_tx, faster)
    flow.tx_rx.port.tx_name, flow.tx_rx.port.rx_names = 'p2', ['p1']
    code, errors = refusal(api, update, api, flow, 'rate')
    check('another port is refused by name, and the rate stays',
          code == 400 and any('tx_rx' in one and 'f1' in one for one in errors) and
          abs(await_rate(api, 'f1', 500).frames_tx_rate - 500) <= 10, (code, errors))
    flow.tx_rx.port.tx_name, flow.tx_rx.port.rx_names = 'p1', ['p2']


def sizes(api, folder, flow):
    """Another size while the flow runs: frames of one size, then of the other, and their ports go on."""
    capture(api, 'start')
    await_frames(api, 'f1', row(api, 'f1').frames_tx + 20)
    flow.size.fixed = 256
    check('a size changes while its flow runs', list(update(api, flow, 'size').warnings) == [])
    await_frames(api, 'f1', row(api, 'f1').frames_tx + 20)
    transmit(api, 'stop')
    capture(api, 'stop')
    seen, last = frames(api, folder, 'udp.dstport'), row(api, 'f1')
    lengths, ports = [one[0] for one in seen], [int(one[2]) for one in seen]
    check('no frame is lost with that, and their header values go on',
          lengths == sorted(lengths) and set(lengths) == {'128', '256'} and
          ports == list(range(ports[0], ports[0] + len(ports))) and last.frames_tx == last.frames_rx and
          last.bytes_tx == last.bytes_rx, (lengths[0], lengths[-1], ports[0], ports[-1], len(ports), last))


def additions(api, config):
    """Behaviour 24: flows are added, started beside one that runs, and removed."""
    transmit(api, 'start', ['f1'])
    check('a flow is added while another runs', append(api, config, 'f2') == (200, []))
    config.flows.remove(1)
    code, errors = append(api, config, 'f2')
    check('the same again is refused, and the configuration stays',
          code == 400 and len(api.get_config().flows) == 2, (code, errors))
    transmit(api, 'start', ['f2'])
    first = wait(api, 'f2')
    transmit(api, 'start', ['f2'])
    again, going = wait(api, 'f2'), row(api, 'f1')
    check('it starts beside the other one, and again with counts from 0',
          (first.frames_tx, first.frames_rx, again.frames_tx, again.frames_rx) == (100, 100, 100, 100) and
          going.transmit == 'started', (first, again, going))
    check('a flow that runs is removed', delete(api, 'f1') == (200, []))
    request = api.metrics_request()
    request.flow.flow_names = []
    left = api.get_metrics(request).flow_metrics
    check('its row is gone, and those of others are as they were',
          [(one.name, one.frames_rx) for one in left] == [('f2', 100)], left)
    check('what is not there is not removed', delete(api, 'x')[0] == 400)


def changes(api, folder):
    config, flow = base(api, capture=True)
    common(flow)
    udp = flow.packet.udp()[-1]
    udp.dst_port.increment.start, udp.dst_port.increment.count = 1, 60000
    flow.duration.continuous.gap = 12
    flow.rate.pps = 200
    api.set_config(config)
    transmit(api, 'start')
    rates(api, flow)
    sizes(api, folder, flow)
    additions(api, config)


def both_ways(api):
    """A flow between devices and back."""
    config, flow = base(api)
    for name, port, own, peer in (('d1', 'p1', '1', '2'), ('d2', 'p2', '2', '1')):
        one = config.devices.add(name=name).ethernets.add(name=name + '.eth')
        one.connection.port_name = port
        one.ipv4_addresses.add(name=name + '.v4', address='1.1.1.' + own, gateway='1.1.1.' + peer)
    common(flow)
    flow.packet[0].dst.choice = 'auto'
    flow.tx_rx.device.tx_names, flow.tx_rx.device.rx_names = ['d1.v4'], ['d2.v4']
    flow.tx_rx.device.bidirectional = True
    api.set_config(config)
    transmit(api, 'start', ['f1'])
    request = api.metrics_request()
    request.flow.flow_names = ['f1']
    deadline = time.monotonic() + PATIENCE
    rows = []
    while time.monotonic() < deadline:
        rows = api.get_metrics(request).flow_metrics
        if all(one.transmit == 'stopped' for one in rows):
            break
        time.sleep(0.05)
    check('a bidirectional flow has a row for each way',
          [(one.name, one.port_tx, one.port_rx, one.frames_tx, one.frames_rx) for one in rows] ==
          [('f1', 'p1', 'p2', 100, 100), ('f1', 'p2', 'p1', 100, 100)], rows)


def by_port(api):
    """A flow whose metrics are told apart by the port that received it."""
    config, flow = base(api)
    common(flow)
    flow.metrics.predefined_metric_tags.rx_name = True
    run(api, config)
    rows = row(api).tagged_metrics
    check('tagged metrics name the port that has received a flow',
          [(one.tags[0].name, one.tags[0].value.str, one.frames_tx, one.frames_rx, one.loss)
           for one in rows] == [('rx_name', 'p2', 100, 100, 0)], rows)


def by_bits(api):
    """A flow whose metrics are told apart by bits of its headers on arrival."""
    config, flow = base(api)
    common(flow)
    flow.packet.udp()
    flow.packet[1].priority.dscp.phb.values = [10, 46]
    flow.egress_packet.ethernet().ipv4()
    flow.egress_packet[1].priority.dscp.phb.metric_tags.add(name='dscp')
    run(api, config)
    rows = row(api).tagged_metrics
    check('tagged metrics have the values with which a flow has arrived',
          [(one.tags[0].name, one.tags[0].value.hex, one.frames_tx, one.frames_rx) for one in rows] ==
          [('dscp', '0a', 100, 50), ('dscp', '2e', 100, 50)], rows)
