# SPDX-License-Identifier: BSD-3-Clause
"""Agents of a fleet in processes of their own, joined by memif. What left one must have arrived at the other;
a busy machine makes a trial tester-limited, but loses no frame. Agents are killed and controllers stopped."""

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
from tap import check

PROGRAM = sys.argv[1]
WORK = tempfile.TemporaryDirectory()
AGENT = """
test: agent
isolated_network: {isolated}
ports: {{east: {{device: 'memif:{work}/wire{role}'}}}}
agent: {{name: {name}, listen: {work}/{name}, state: {work}/state, limit: 10Mbps}}
host: {{max_lag: 1s}}
"""
PLAN = """
test: {test}
fleet: {{agents: {{rack1: {work}/rack1, rack2: {work}/rack2}}, ttl: {ttl}, wait: {wait}}}
ports:
  in: {{device: 'agent:rack1/east', ipv4: 198.18.1.2/24, line_rate: 100Mbps}}
  out: {{device: 'agent:rack2/east', ipv4: {to}/24, line_rate: 100Mbps}}
{more}
"""
STREAMS = """
streams:
  there: {{from: in, to: out, size: 128, rate: {rate}}}
  back: {{from: out, to: in, size: 256, rate: 500fps}}
traffic: {{duration: {seconds}, drain: 1s}}
"""
Y1564 = """
y1564:
  drain: 1s
  services: {voice: {frame_size: 218, cir: 100kbps, cbs: 16KiB, acceptance: {ftd: 1s, fdv: 1s}}}
  tests: [performance]
"""
QUICK = {"y1564": ["--set=y1564.performance.duration=1s"], "rfc2544": ["--web=127.0.0.1:0"]}
RFC2544 = "rfc2544: {drain: 1s, frame_sizes: [512], tests: [frame_loss], frame_loss: {max: 1%, trial: 1s}}"


def write(file_name, text, **values):
    path = os.path.join(WORK.name, file_name)
    with open(path, "w") as file:
        file.write(text.format(work=WORK.name, **values))
    return path


def start(name, isolated="true"):
    role = ",server" if name == "rack1" else ""
    path = write(name + ".yaml", AGENT, name=name, role=role, isolated=isolated)
    agent = subprocess.Popen([PROGRAM, "agent", path], stdout=subprocess.PIPE, text=True)
    assert agent.stdout.readline().startswith("agent " + name), name + " does not listen"
    return agent


def plan(name, test="traffic", more=STREAMS, to="198.18.1.3", wait="0s", rate="1kfps", seconds="1s",
         ttl="30s"):
    """@param ttl  of the leases; short only where a controller goes: a late one must not lose them"""
    more = more.format(rate=rate, seconds=seconds) if more is STREAMS else more
    return write(name + ".yaml", PLAN, test=test, more=more, to=to, wait=wait, ttl=ttl)


def begin(name, path, *options):
    out = os.path.join(WORK.name, name)
    return subprocess.Popen([PROGRAM, "run", path, "--out", out, *options], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def read(name):
    file = os.path.join(WORK.name, name, "result.json")
    return json.load(open(file)) if os.path.exists(file) else None


def run(name, path, *options):
    """@return exit status, result or None, what was said"""
    said = begin(name, path, *options)
    text = said.communicate(timeout=120)[0]
    return said.returncode, read(name), text


def trials(name):
    path = os.path.join(WORK.name, name, "trials.jsonl")
    return [json.loads(line) for line in open(path)] if os.path.exists(path) else []


def whole(result):
    """Every frame that left has arrived, in every direction of every trial."""
    wrong = [
        (trial["trial"], d["direction"], d["tx"], d["rx"], trial["reasons"])
        for trial in result["trials"]
        for d in trial["directions"]
        if not d["tx"] == d["rx"] > 0 or trial["validity"] == "invalid"
    ]
    return wrong


def away(result):
    """A tester that does not get the processor in time is limited by that, and says so."""
    return result and any(t["validity"] == "tester-limited" for t in result["trials"])


def check_whole(what, result, said):
    if result and whole(result) and away(result):
        tap.skip(what, "this machine is too busy")
    else:
        wrong = said[-800:] if result is None else whole(result)
        check(what, result is not None and not wrong, wrong)


def ports(path):
    return subprocess.run([PROGRAM, "fleet", "ports", path], capture_output=True, text=True).stdout


def await_journal(n):
    for _ in range(600):
        if len(journal(f"{WORK.name}/state")) == n:
            return
        time.sleep(0.1)


def await_running():
    """Ask the agent itself: on a busy machine a program takes longer to start than the trial lasts."""
    command = {"v": 1, "step": "ports", "by": "test", "body": {}}
    message = {"subject": "fg.v1.cmd.rack1.ports", "reply": "test.answer", "body": command}
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(f"{WORK.name}/rack1")
        with link.makefile("rw") as lines:
            print('{"want": "test.answer"}', file=lines)
            for _ in range(2400):
                print(json.dumps(message), file=lines, flush=True)
                answer = next(m for m in map(json.loads, lines) if m.get("subject") == "test.answer")
                if answer["body"]["body"]["ports"][0]["state"] == "running":
                    return
                time.sleep(0.05)
    raise TimeoutError("no trial runs at rack1")


agents = {name: start(name) for name in ("rack1", "rack2")}
try:
    traffic = plan("traffic")
    status, result, said = run("streams", traffic)
    check_whole("what leaves the port of one agent arrives at the other's", result, said)
    skew = result and result["trials"][0].get("start_skew_ns")
    check("the skew of the start is told", isinstance(skew, (int, float)) and skew >= 0, skew)
    for test, more in (("y1564", Y1564), ("rfc2544", RFC2544)):
        status, result, said = run(test, plan(test, test, more), "--quick", *QUICK[test])
        check_whole(test + " does not notice that its ports are of two agents", result, said)
    check("the ports are free again", ports(traffic).count(" free ") == 2, ports(traffic))

    for name, o, why in (
        ("fast", {"rate": "50kfps"}, "more than agent.limit"),
        ("far", {"to": "198.18.1.3", "more": STREAMS.format(rate="1kfps", seconds="1s").replace(
            "size: 256", "size: 256, frame: [ethernet, ipv4: {destination: 192.0.2.1}, udp]")},
         "192.0.2.1, which is not in agent.sends_to"),
    ):
        status, result, said = run(name, plan(name, **o))
        check("no controller widens what an agent permits: " + name, status != 0 and why in said, said[-600:])

    with socket.socket(socket.AF_UNIX) as one:
        one.connect(os.path.join(WORK.name, "rack1"))
        try:
            for _ in range(40):
                one.sendall(b"x" * 1024 * 1024)
            gone = one.recv(1) == b"" or True
        except OSError:
            gone = True
    check("a message without an end ends its connection, not the agent",
          gone and agents["rack1"].poll() is None and ports(traffic).count(" free ") == 2, ports(traffic))

    long = plan("long", seconds="5s", ttl="2s")
    first = begin("stopped", long)
    await_running()
    status, result, said = run("second", traffic)
    check("a second controller is told who has the port", status == 4 and "is in use by" in said, said[-600:])
    first.send_signal(signal.SIGSTOP)
    time.sleep(2.5)  # longer than the lease
    subprocess.run([PROGRAM, "fleet", "release", traffic], check=True, stdout=subprocess.DEVNULL)
    status, result, said = run("third", plan("patient", wait="20s"))
    check_whole("the ports of a stopped controller are free for another one", result, said)
    first.send_signal(signal.SIGCONT)
    text = first.communicate(timeout=120)[0]
    valid = [t for t in trials("stopped") if t["validity"] == "valid"]
    check("and its own trial is not valid", first.returncode != 0 and not valid, text[-600:])

    first = begin("gone", plan("gone", seconds="2s", ttl="2s"))
    await_running()
    first.kill()
    first.communicate()
    await_journal(2)
    kept = journal(f"{WORK.name}/state")
    resumed = subprocess.run([PROGRAM, "run", "--resume", f"{WORK.name}/gone"], capture_output=True,
                             text=True)
    result = read("gone")
    check_whole("the trial of a killed controller is had by the run that is resumed", result,
                resumed.stdout + resumed.stderr)
    check("and not sent again", result and len(kept) == 2 and
          start_skew(kept) == result["trials"][0]["start_skew_ns"], (kept, resumed.stderr))

    first = begin("killed", plan("short", seconds="2s"))
    await_running()
    agents["rack2"].kill()
    agents["rack2"].wait()
    text = first.communicate(timeout=120)[0]
    told = [r for t in trials("killed") for r in t["reasons"] if "agent rack2 was lost" in r]
    check("a killed agent makes its trial invalid, and is named", first.returncode == 4 and told, text[-800:])

    agents["rack2"] = start("rack2", isolated="false")
    status, result, said = run("open", traffic)
    check("an agent without isolated_network sends nothing", status != 0 and "isolated_network" in said,
          said[-600:])
finally:
    for agent in agents.values():
        agent.send_signal(signal.SIGINT)
    codes = [tap.ended(agent) for agent in agents.values()]
    check("the agents end when they are told to", codes == [0, 0], codes)
    WORK.cleanup()
tap.end()
