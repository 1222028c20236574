# SPDX-License-Identifier: BSD-3-Clause
"""The protocols of links by snappi: two agents of LLDP that find each other, two LAGs with LACP."""

import time

from otg_client import PATIENCE, base, capture, common, frames, transmit, wait
from tap import check


def neighbours(api, count):
    """Rows of neighbours, once their number is count."""
    request = api.states_request()
    request.lldp_neighbors.lldp_names = []
    deadline = time.monotonic() + PATIENCE
    while True:
        rows = api.get_states(request).lldp_neighbors
        if len(rows) == count or time.monotonic() > deadline:
            return rows
        time.sleep(0.05)


def counts(api):
    request = api.metrics_request()
    request.lldp.lldp_names = []
    return {one.name: one for one in api.get_metrics(request).lldp_metrics}


def protocols(api, state):
    control = api.control_state()
    control.protocol.all.state = state
    api.set_control_state(control)


def lldp(api, folder):
    """The suite of conformance about LLDP, and what tshark reads of the frames."""
    config, _ = base(api, capture=True)
    for name, port in (('a1', 'p1'), ('a2', 'p2')):
        agent = config.lldp.add(name=name, hold_time=120, advertisement_interval=5)
        agent.connection.port_name = port
        agent.chassis_id.mac_address_subtype.value = '00:00:00:00:00:0' + name[1]
        agent.org_infos.add(oui='0080c2', subtype=1).information.info = '0007'
    config.options.protocol_options.auto_start_all = False
    api.set_config(config)
    check('agents that are not started have no neighbours', len(neighbours(api, 0)) == 0)
    capture(api, 'start')
    protocols(api, 'start')
    rows = {one.lldp_name: one for one in neighbours(api, 2)}
    check('two agents of LLDP find each other',
          [(name, one.chassis_id_type, one.chassis_id, one.port_id_type, one.ttl)
           for name, one in sorted(rows.items())] ==
          [('a1', 'mac_address', '00:00:00:00:00:02', 'interface_name', 120),
           ('a2', 'mac_address', '00:00:00:00:00:01', 'interface_name', 120)], rows)
    deadline = time.monotonic() + PATIENCE
    while min(counts(api)[name].frames_rx for name in rows) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    seen = counts(api)
    check('they speak again, and no frame has an error',
          all(one.frames_rx >= 2 and one.frames_tx >= 2 and
              one.frames_error_rx == one.tlvs_discard == one.tlvs_unknown == 0
              for one in seen.values()), seen)
    protocols(api, 'stop')
    check('agents that are stopped know nobody', len(neighbours(api, 0)) == 0)
    capture(api, 'stop')
    read = frames(api, folder, 'eth.dst', 'lldp.chassis.id.mac', 'lldp.time_to_live',
                  'lldp.ieee.802_1.port_vlan.id', '_ws.malformed')
    check('tshark reads their frames',
          len(read) >= 2 and all(
              one == ['64', '1', '01:80:c2:00:00:0e', '00:00:00:00:00:01', '120', '7', '']
              or one[2:5] == ['01:80:c2:00:00:0e', '00:00:00:00:00:01', '0'] for one in read), read)


def add_lag(config, name, port, system):
    one = config.lags.add(name=name, min_links=1)
    one.protocol.lacp.actor_system_id = system
    one.protocol.lacp.actor_system_priority, one.protocol.lacp.actor_key = 1, 1
    member = one.ports.add(port_name=port)
    member.lacp.actor_port_number, member.lacp.actor_port_priority = 1, 1
    member.lacp.actor_activity = 'active'
    member.ethernet.name, member.ethernet.mac = name + '.eth', '00:00:01:01:01:0' + port[1]


def lag_rows(api):
    request = api.metrics_request()
    request.lag.lag_names = []
    return {one.name: one for one in api.get_metrics(request).lag_metrics}


def lacp_rows(api):
    request = api.metrics_request()
    request.lacp.lag_names = []
    return {one.lag_name: one for one in api.get_metrics(request).lacp_metrics}


def lag(api, folder):
    """The suite of conformance about the partners of LACP, and what tshark reads of the frames."""
    config, flow = base(api, capture=True)
    systems = {'lagTx': '01:01:01:01:01:01', 'lagRx': '02:02:02:02:02:02'}
    add_lag(config, 'lagTx', 'p1', systems['lagTx'])
    add_lag(config, 'lagRx', 'p2', systems['lagRx'])
    flow.tx_rx.port.tx_name, flow.tx_rx.port.rx_names = 'lagTx', ['lagRx']
    common(flow)
    config.options.protocol_options.auto_start_all = False
    api.set_config(config)
    check('LAGs without their protocol are down',
          {one.oper_status for one in lag_rows(api).values()} == {'down'}, lag_rows(api))
    capture(api, 'start')
    protocols(api, 'start')
    deadline = time.monotonic() + PATIENCE
    while any(one.oper_status == 'down' for one in lag_rows(api).values()) and time.monotonic() < deadline:
        time.sleep(0.1)
    rows = lacp_rows(api)
    check('two agents of LACP agree',
          [(name, one.system_id, one.partner_id, one.synchronization, one.collecting, one.distributing,
            one.port_num, one.partner_port_num, one.lacp_rx_errors) for name, one in sorted(rows.items())] ==
          [(name, systems[name], systems[other], 'in_sync', True, True, 1, 1, 0)
           for name, other in (('lagRx', 'lagTx'), ('lagTx', 'lagRx'))], rows)
    transmit(api, 'start')
    final, lags = wait(api), lag_rows(api)
    check('a flow goes from LAG to LAG',
          (final.frames_tx, final.frames_rx, final.port_tx, final.port_rx) == (100, 100, 'lagTx', 'lagRx') and
          (lags['lagTx'].frames_tx, lags['lagTx'].member_ports_up) == (100, 1) and
          lags['lagRx'].frames_rx >= 100, (final, lags))
    control = api.control_state()
    control.protocol.lacp.admin.state, control.protocol.lacp.admin.lag_member_names = 'down', ['p1']
    api.set_control_state(control)
    deadline = time.monotonic() + PATIENCE
    while lag_rows(api)['lagRx'].oper_status == 'up' and time.monotonic() < deadline:
        time.sleep(0.05)
    check('a port is taken out of sync, and both ends know',
          lacp_rows(api)['lagTx'].synchronization == 'out_sync' and
          {one.oper_status for one in lag_rows(api).values()} == {'down'}, lacp_rows(api))
    capture(api, 'stop')
    read = [one[2:] for one in frames(api, folder, 'lacp.actor.sysid', 'lacp.actor.key', 'lacp.actor.state',
                                      '_ws.malformed') if one[0] == '128' and one[2]]
    check('tshark reads their frames', len(read) >= 3 and ['01:01:01:01:01:01', '1', '0x3d', ''] in read and
          all(one[:2] == ['01:01:01:01:01:01', '1'] and one[3] == '' for one in read), read)
