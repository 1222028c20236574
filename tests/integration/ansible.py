# SPDX-License-Identifier: BSD-3-Clause
"""The Ansible role that makes hosts agents: what it writes for the hosts of its example are plans that the
program accepts, and say what the inventory says. Nothing is installed, and no host is reached."""
import os
import shutil
import subprocess
import sys
import tempfile

import yaml

import tap
from tap import check

PROGRAM = os.path.abspath(sys.argv[1])
FOLDER = os.path.abspath("integrations/ansible")
ROLE = FOLDER + "/roles/framegauge_agent"
PLAYBOOK = """
- name: Write the files of the example
  hosts: testers
  connection: local
  gather_facts: false
  roles: [{role: framegauge_agent, when: false}]
  tasks:
    - name: Write
      ansible.builtin.template: {src: "%s/templates/agent.yaml.j2", dest: "%s/{{ inventory_hostname }}.yaml"}
"""

if not shutil.which("ansible-playbook") or not shutil.which("ansible-lint"):
    print("1..0 # SKIP ansible is missing")
    sys.exit()


def run(*arguments, **environment):
    return subprocess.run(arguments, cwd=FOLDER, env={**os.environ, **environment}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


with tempfile.TemporaryDirectory() as work:
    own = {"ANSIBLE_HOME": work, "ANSIBLE_LOCAL_TEMP": work, "ANSIBLE_ROLES_PATH": FOLDER + "/roles",
           "XDG_CACHE_HOME": work}
    lint = run("ansible-lint", "--offline", "--nocolor", "site.yml", "inventory.yml", ROLE, **own)
    check("ansible-lint finds nothing", lint.returncode == 0, lint.stdout[-2000:])

    with open(work + "/play.yml", "w") as file:
        file.write(PLAYBOOK % (ROLE, work))
    play = run("ansible-playbook", "-i", "inventory.yml", work + "/play.yml", **own)
    check("the files of the example are written", play.returncode == 0, play.stdout[-2000:])
    with open(FOLDER + "/inventory.yml") as file:
        hosts = yaml.safe_load(file)["testers"]["hosts"]
    for name, of_host in hosts.items() if play.returncode == 0 else ():
        path = f"{work}/{name}.yaml"
        checked = run(PROGRAM, "check", path)
        check(f"the program accepts that of {name}", checked.returncode == 0, checked.stdout)
        with open(path) as file:
            plan = yaml.safe_load(file)
        limit = of_host.get("framegauge_agent_options", {}).get("limit")
        check("which says what the inventory says", plan["ports"] == of_host["framegauge_agent_ports"]
              and plan["agent"]["name"] == name and plan["isolated_network"] is True
              and plan["agent"].get("limit") == limit, plan)

    nothing = run("ansible-playbook", "-i", "inventory.yml", "site.yml", "--check", "-c", "local",
                  "-l", "rack1", "-e", '{"framegauge_agent_ports": {}, "ansible_become": false}', **own)
    check("a host without ports is refused before anything is done", nothing.returncode != 0
          and "names the ports of the host" in nothing.stdout and "Copy the package" not in nothing.stdout,
          nothing.stdout[-2000:])
tap.end()
