# SPDX-License-Identifier: BSD-3-Clause
"""Agents of a fleet as processes behind the interfaces of a bridge (bridge.bash), each with its ports."""

import os
import signal
import subprocess
import time

AGENT = """
test: agent
isolated_network: true
ports: {{{ports}}}
agent: {{name: {name}, listen: {work}/{name}, state: {work}/state{permits}}}
host: {{max_lag: 1s}}
"""
PLAN = """
test: {test}
fleet: {{agents: {{{agents}}}, ttl: 5s}}
ports:
{ports}
{keys}
"""
PORT = "  {port}: {{device: 'agent:{name}/{port}', ipv4: 198.18.1.{number}/24, line_rate: {rate}}}"


class Fleet:
    """@param agents  names, each with a list of its ports: a, b ... at the interfaces fg-1, fg-2 ...
    @param permits  what stands in their files besides, such as ", sends_to: [...]"
    """

    def __init__(self, program, work, agents, rate="100Mbps", permits=""):
        self.program, self.work, self.agents, self.rate = program, work, agents, rate
        self.permits, self.running = permits, {}
        for name in agents:
            self.start(name)

    def write(self, file_name, text):
        path = os.path.join(self.work, file_name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def start(self, name):
        ports = ", ".join(f"{port}: {{device: 'kernel:fg-{number(port)}'}}" for port in self.agents[name])
        path = self.write(name + ".yaml", AGENT.format(name=name, ports=ports, work=self.work,
                                                       permits=self.permits))
        agent = subprocess.Popen([self.program, "agent", path], stdout=subprocess.PIPE, text=True)
        assert agent.stdout.readline().startswith("agent " + name), name + " does not listen"
        self.running[name] = agent

    def kill(self, name):
        self.running[name].kill()
        self.running[name].wait()

    def plan(self, file_name, test, keys):
        return self.write(file_name, PLAN.format(
            agents=", ".join(f"{name}: {self.work}/{name}" for name in self.agents), test=test, keys=keys,
            ports="\n".join(PORT.format(port=port, name=name, number=number(port), rate=self.rate)
                            for port, name in sorted((port, name) for name, ports in self.agents.items()
                                                     for port in ports))))

    def begin(self, plan, out, *options):
        return subprocess.Popen([self.program, "run", plan, "--out", os.path.join(self.work, out), *options],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, plan, out, *options):
        """@return what was said"""
        return self.begin(plan, out, *options).communicate(timeout=180)[0]

    def state(self, plan):
        return subprocess.run([self.program, "fleet", "ports", plan], capture_output=True, text=True).stdout

    def await_trial(self, plan, run):
        """A trial is under way, or the run is over."""
        for _ in range(600):
            told = self.state(plan)
            if "armed" in told or "running" in told or run.poll() is not None:
                return
            time.sleep(0.1)

    def end(self):
        """@return whether all ended when they were told to, and how"""
        for agent in self.running.values():
            agent.send_signal(signal.SIGINT)
        codes = [agent.wait(60) for agent in self.running.values()]
        return codes == [0] * len(codes), codes


def number(port):
    """Of the interface."""
    return ord(port) - ord("a") + 1
