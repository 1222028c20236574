# SPDX-License-Identifier: BSD-3-Clause
"""A tester with a page: `framegauge serve --web`."""
import json
import os
import re
import shlex
import signal
import subprocess
import urllib.error
import urllib.request

FRAMEGAUGE = os.path.abspath(os.environ.get('FRAMEGAUGE', 'build/app/framegauge'))


class Tester:
    def __init__(self, folder, plan, *options, address='127.0.0.1:0'):
        self.folder, self.socket = folder, os.path.join(folder, 'socket')
        with open(os.path.join(folder, 'plan.yaml'), 'w', encoding='utf-8') as file:
            file.write(plan)
        self.process = subprocess.Popen(
            [FRAMEGAUGE, 'serve', 'plan.yaml', '--socket', self.socket, '--web', address, *options],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.urls, line = {}, ''
        while 'to open a prompt' not in line:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError('the tester has ended')
            found = re.match(r'(operator|viewer|metrics): (\S+)', line)
            if found:
                self.urls[found[1]] = found[2]
        assert shlex.split(line)[-1] == self.socket, line
        with open(f'/proc/{self.process.pid}/stat', encoding='ascii') as file:
            ticks = file.read().rpartition(')')[2].split()[11:13]
        self.printed_cpu_s = sum(map(int, ticks)) / os.sysconf('SC_CLK_TCK')
        self.base, self.token = self.urls['viewer'].split('/#')[0], {
            role: url.split('=')[1] for role, url in self.urls.items() if role != 'metrics'}

    def attach(self, line):
        return subprocess.run([FRAMEGAUGE, 'attach', self.socket], input=line + '\n', text=True,
                              capture_output=True, check=False).stdout

    def ask(self, path, role=None, body=None, **headers):
        """Status and text of an answer."""
        headers = {name.replace('_', '-'): value for name, value in headers.items()}
        if role:
            headers['Authorization'] = 'Bearer ' + self.token[role]
        if body is not None:
            headers.setdefault('Content-Type', 'application/json')
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data=data, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait()
        self.process.stdout.close()
