# SPDX-License-Identifier: BSD-3-Clause
"""Three agents and controllers over a NATS server with TLS and keys: what left one agent arrives at another,
whether the server stays or goes; who has no right to is refused, and nobody waits for ever."""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

import tap
from journal import journal, start_skew
from nats_server import Nonces, Server, wait_for
from tap import check

PROGRAM = sys.argv[1]
BRIDGE = os.path.join(os.path.dirname(PROGRAM), "bridge", "framegauge-bridge")
FOLDER = tempfile.TemporaryDirectory()
WORK = FOLDER.name
AGENT = """
test: agent
isolated_network: true
ports: {{{ports}}}
agent: {{name: {name}, listen: {work}/{name}, state: {work}/state}}
host: {{max_lag: 1s}}
"""
PORTS = {
    "rack1": "east: {{device: 'memif:{work}/one,server'}}",
    "rack2": "east: {{device: 'memif:{work}/one'}}, west: {{device: 'memif:{work}/two,server'}}",
    "rack3": "east: {{device: 'memif:{work}/two'}}",
}
PLAN = """
test: traffic
fleet: {{bus: {work}/bus, ttl: 8s, wait: 10s}}
ports:
  a: {{device: 'agent:rack1/east', ipv4: 198.18.1.1/24, line_rate: 100Mbps}}
  b: {{device: 'agent:rack2/east', ipv4: 198.18.1.2/24, line_rate: 100Mbps}}
  c: {{device: 'agent:rack2/west', ipv4: 198.18.2.1/24, line_rate: 100Mbps}}
  d: {{device: 'agent:rack3/east', ipv4: 198.18.2.2/24, line_rate: 100Mbps}}
streams:
  there: {{from: a, to: b, rate: 500fps}}
  back: {{from: b, to: a, rate: 300fps}}
  further: {{from: c, to: d, rate: 200fps}}
traffic: {{duration: {seconds}s, drain: 1s}}
"""


NEW = """
test: traffic
fleet: {{bus: {work}/bus}}
ports:
  a: {{device: 'agent:rack9/east', ipv4: 198.18.0.1/24}}
  b: {{device: 'agent:rack9/west', ipv4: 198.18.0.2/24}}
streams: {{s: {{rate: 1fps}}}}
"""


def write(file_name, text, **values):
    path = os.path.join(WORK, file_name)
    with open(path, "w") as file:
        file.write(text.format(work=WORK, **values))
    return path


def start(name):
    path = write(name + ".yaml", AGENT, name=name, ports=PORTS[name].format(work=WORK))
    agent = subprocess.Popen([PROGRAM, "agent", path], stdout=subprocess.PIPE, text=True)
    assert agent.stdout.readline().startswith("agent " + name), name + " does not listen"
    server.begin(name, "--agent", f"{WORK}/{name}")
    return agent


def check_nonces():
    """libnats 3.4 sends no signature whose first octet is 0, as for the first two nonces."""
    nonces = Nonces(["nonce-155", "nonce-723", "nonce-1"])
    key = write("fixed.nkey", "SUAAAAICAMCAKBQHBAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4H776Y\n")
    os.chmod(key, 0o600)
    server_there = ["--server", f"nats://127.0.0.1:{nonces.port}", "--plain"]
    bridge = subprocess.Popen([BRIDGE, *server_there, "--nkey", key, "--listen", WORK + "/nonces"],
                              stderr=subprocess.PIPE, text=True)
    said = bridge.stderr.readline()  # that it listens
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(WORK + "/nonces")
        said += bridge.stderr.readline()
    bridge.kill()
    check("a bridge asks for another nonce when it cannot send the signature of one", "connected to" in said
          and [told.get("sig", "")[:2] for told in nonces.told] == ["Aj"], (said, nonces.told))


def begin(name, plan):
    return subprocess.Popen([PROGRAM, "run", plan, "--out", os.path.join(WORK, name)], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def end(name, running):
    text = running.communicate(timeout=120)[0]
    file = os.path.join(WORK, name, "result.json")
    return json.load(open(file)) if os.path.exists(file) else None, text


def whole(result):
    """Every frame that left has arrived."""
    directions = result["trials"][0]["directions"] if result and len(result["trials"]) == 1 else []
    return len(directions) == 3 and result["trials"][0]["validity"] != "invalid" and all(
        d["tx"] == d["rx"] > 0 for d in directions)


def late(result):
    """A tester that does not get the processor in time is limited by that, and says so; of one that could not
    tell the others what it had left out, the trial is invalid."""
    return any(t["validity"] == "tester-limited" or "the tester was late" in " ".join(t["reasons"])
               for t in result["trials"])


def check_whole(what, result, said):
    if result and not whole(result) and late(result):
        tap.skip(what, "this machine is too busy")
    else:
        check(what, whole(result), said[-1000:])


def ports(plan):
    return subprocess.run([PROGRAM, "fleet", "ports", plan], capture_output=True, text=True).stdout


def threads(pid):
    """Names of the threads of a process."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/comm") as comm:
            found.append(comm.read().strip())
    return sorted(found)


def poll_gap(result):
    return "%.1f ms" % (result["trials"][0]["poll_gap_max_ns"] / 1e6) if result else "none"


def blocked():
    """How often the packet lcores of each agent have blocked."""
    found = {name: [] for name in agents}
    for name, agent in agents.items():
        for task in os.listdir(f"/proc/{agent.pid}/task"):
            folder = f"/proc/{agent.pid}/task/{task}/"
            if "worker" in open(folder + "comm").read():
                status = open(folder + "status").read()
                found[name].append(int(status.split("voluntary_ctxt_switches:")[1].split()[0]))
        assert found[name], name + " has no packet lcore"
    return found


def watched(name, plan):
    """A run, and whether its packet lcores never blocked during a part of its trial; None: it was over."""
    running = begin(name, plan)
    wait_for("the trial does not run", lambda: ports(plan).count(" running ") == 4)
    before = blocked()
    time.sleep(0.5)
    never = blocked() == before
    in_time = ports(plan).count(" running ") == 4
    result, said = end(name, running)
    return result, said, never if in_time else None


def check_flood(plan):
    """Behind an agent there is a bus, not in it: threads of libnats and questions by the thousand take no
    frame, the agent has the threads that it had, and its packet lcores wait for none of them: with and
    without questions nothing but the scheduler keeps them from polling. How long it did so is told, not
    judged: on few processors the flood itself takes them."""
    before = {name: threads(agent.pid) for name, agent in agents.items()}
    quiet, said, alone = watched("quiet", plan)
    flood = subprocess.Popen([PROGRAM, "script", "tests/integration/bus_flood.lua", WORK + "/bus", *PORTS],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    asking = flood.stdout.readline()
    result, said, beside = watched("flooded", plan)
    after = {name: threads(agent.pid) for name, agent in agents.items()}
    answers = flood.communicate(timeout=120)[0].strip()
    check_whole("questions by the thousand on the bus take no frame of a trial", result, said)
    check("and thousands were answered", asking == "asking\n" and int(answers or 0) > 500, answers)
    check("by the threads that the agents had before", before == after, (before, after))
    what = "packet lcores never block, with questions or without"
    if alone is None or beside is None:
        tap.skip(what, "this machine is too busy")
    else:
        check(what, alone and beside, (alone, beside))
    print(f"# longest poll gap: quiet {poll_gap(quiet)}, with {answers} questions {poll_gap(result)}",
          flush=True)


def check_restart(plan):
    for name in "restart", "again", "third":
        running = begin(name, plan)
        wait_for("the trial does not run", lambda: "running" in ports(plan))
        server.kill()
        time.sleep(5)
        server.start()
        result, said = end(name, running)
        if whole(result) or not result or not late(result):
            break
    check_whole("a server that goes for 5 s while a trial runs changes no figure", result, said)


def check_enrolment():
    """What docs/how-to/fleet.md says of a new host, while the server runs: its line is all it is given."""
    began = time.monotonic()
    server.invite("rack9", ports=["east=vdev:net_null0", "west=vdev:net_null1"])
    server.reload()
    agents["rack9"] = subprocess.Popen([PROGRAM, "agent", f"{WORK}/rack9.etc/agent.yaml", "--set",
                                        f"agent.listen={WORK}/rack9", "--set", f"agent.state={WORK}/state"],
                                       stdout=subprocess.PIPE, text=True)
    agents["rack9"].stdout.readline()
    server.begin("rack9", "--agent", f"{WORK}/rack9")
    plan = write("new.yaml", NEW)
    wait_for("the new host is not ready", lambda: ports(plan).count(" free ") == 2)
    check("a host that was invited while others work is ready within a minute", True)
    print("# ready after %.1f s" % (time.monotonic() - began), flush=True)


server = Server(PROGRAM, BRIDGE, WORK, list(PORTS))
agents = {}
try:
    server.start()
    agents = {name: start(name) for name in PORTS}
    server.begin("control", "--listen", WORK + "/bus")
    wait_for("the bridge of the controllers does not listen", lambda: os.path.exists(WORK + "/bus"))
    plan, long = write("plan.yaml", PLAN, seconds=1), write("long.yaml", PLAN, seconds=8)
    result, said = end("run", begin("run", plan))
    check_whole("what leaves an agent arrives at the others, over NATS with TLS and keys", result, said)
    check("the ports are free again", ports(plan).count(" free ") == 4, ports(plan))

    loaded = {pid: "libnats" in open(f"/proc/{pid}/maps").read()
              for pid in [one.pid for one in (*agents.values(), *server.processes)]}
    check("libnats and its threads are in the bridges alone, away from the packets",
          all(loaded[one.pid] for one in server.processes) and
          not any(loaded[one.pid] for one in agents.values()), loaded)
    check_flood(write("some.yaml", PLAN, seconds=3))

    check_restart(long)

    server.begin("stranger", "--agent", f"{WORK}/rack1", key="rack2")
    wait_for("the stranger is not refused", lambda: "Permissions Violation" in server.said("stranger"))
    check("an agent's key opens no other agent's subjects", "rack1" in server.said("stranger"),
          server.said("stranger"))
    check_nonces()
    check_enrolment()
    os.mkdir(WORK + "/unknown.etc")
    os.link(WORK + "/ca.pem", WORK + "/unknown.etc/bridge-ca.pem")
    subprocess.run([BRIDGE, "--new-key", f"{WORK}/unknown.etc/bridge.nkey"], check=True,
                   stdout=subprocess.DEVNULL)
    server.begin("unknown", "--listen", WORK + "/unknown")
    wait_for("the bridge does not listen", lambda: os.path.exists(WORK + "/unknown"))
    for _ in range(3):  # a busy machine takes its time once, an answer that is not given always does
        began = time.monotonic()
        said = subprocess.run([PROGRAM, "fleet", "ports", plan, "--set", f"fleet.bus={WORK}/unknown"],
                              capture_output=True, text=True)
        seconds = time.monotonic() - began
        if seconds < 8:
            break
    check("an unknown key is refused at once, and the user is told", said.returncode == 4 and
          "Authorization Violation" in said.stderr and seconds < 8, (seconds, said.stderr))
    server.begin("imposter", "--agent", f"{WORK}/rack1", "--ca", WORK + "/server.pem", key="rack1")
    server.begin("misnamed", "--agent", f"{WORK}/rack1", "--server-name", "other", key="rack1")
    for name in ("imposter", "misnamed"):
        wait_for("nothing is said of the server", lambda: "no connection" in server.said(name))
    check("a server that nobody vouches for, or with another name, is not believed", all(
        "SSL Error" in server.said(name) for name in ("imposter", "misnamed")),
          server.said("imposter") + server.said("misnamed"))

    running = begin("gone", long)
    wait_for("the trial does not run", lambda: "running" in ports(long))
    server.kill()
    result, said = end("gone", running)
    check("a server that stays away ends the run, which is not valid",
          not (result and any(t["validity"] == "valid" for t in result["trials"])), said[-800:])
    server.start()
    free = lambda: ports(plan).count(" free ") == 4
    wait_for("the ports are not free", free)
    check("and every port is free again in time", free())
    kept = journal(f"{WORK}/state")
    result, said = end("gone", subprocess.Popen([PROGRAM, "run", "--resume", f"{WORK}/gone"], text=True,
                                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    check_whole("the run is resumed with what the agents have kept", result, said)
    check("and nothing is sent again", result and len(kept) == 3 and start_skew(kept) ==
          result["trials"][0]["start_skew_ns"] and not journal(f"{WORK}/state"), (kept, said[-800:]))
finally:
    for agent in agents.values():
        agent.send_signal(signal.SIGINT)
    codes = [tap.ended(agent) for agent in agents.values()]
    check("the agents end when they are told to", codes == [0] * len(agents), codes)
    server.end()
    FOLDER.cleanup()
tap.end()
