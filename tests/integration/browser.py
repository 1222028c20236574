# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium, over its DevTools protocol. Each page has a context of its own, without cookies."""
import json
import subprocess
import tempfile
import time
import urllib.request

import websocket

OPTIONS = ['--headless', '--no-sandbox', '--disable-background-networking', '--disable-gpu', '--no-first-run',
           '--disable-dev-shm-usage', '--hide-scrollbars', '--remote-debugging-port=0',
           '--remote-allow-origins=*', 'about:blank']


class Browser:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.process = subprocess.Popen(
            ['chromium', f'--user-data-dir={self.folder.name}', *OPTIONS],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        address = None
        while address is None:
            line = self.process.stderr.readline()
            if line.startswith('DevTools listening on '):
                address = line.split()[-1]
            elif not line:
                raise RuntimeError('chromium has ended')
        self.host = address.split('/')[2]
        targets = json.load(urllib.request.urlopen(f'http://{self.host}/json'))
        page = next(target for target in targets if target['type'] == 'page')
        self.socket = websocket.create_connection(page['webSocketDebuggerUrl'], timeout=60)
        self.last, self.events = 0, []
        for domain in 'Page', 'Runtime', 'Network', 'Log':
            self.call(domain + '.enable')

    def call(self, method, **parameters):
        self.last += 1
        self.socket.send(json.dumps({'id': self.last, 'method': method, 'params': parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get('id') == self.last:
                if 'error' in message:
                    raise RuntimeError(message['error'])
                return message['result']
            self.events.append(message)

    def of(self, method):
        return [event['params'] for event in self.events if event.get('method') == method]

    def value(self, expression):
        result = self.call('Runtime.evaluate', expression=expression, awaitPromise=True, returnByValue=True)
        if 'exceptionDetails' in result:
            raise RuntimeError(result['exceptionDetails'])
        return result['result'].get('value')

    def wait(self, expression, seconds=60):
        """Until the expression is true. @return its value, None: it never was"""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.value(expression)
            if value:
                return value
            time.sleep(0.05)
        return None

    def look(self, width, height, dark=False):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        self.call('Emulation.setEmulatedMedia',
                  features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])

    def findings(self, axe):
        """What axe-core (its text is given) finds serious or worse: at a desk, and in a hand at night."""
        found = []
        for width, height, dark in ((1280, 900, False), (390, 844, True)):
            self.look(width, height, dark)
            if self.value('typeof axe') == 'undefined':
                self.value(axe + '; 1')
            found += self.value("""axe.run(document, { resultTypes: ['violations'] })
                .then(({ violations }) => violations
                    .filter((one) => ['serious', 'critical'].includes(one.impact))
                    .flatMap((one) => one.nodes.map((node) =>
                        one.id + ': ' + node.html + node.failureSummary)))""")
            if self.value('document.documentElement.scrollWidth') > width:
                found.append(f'wider than {width}')
        return found

    def work(self):
        """Processor time of the page's thread, s; after Performance.enable with threadTicks"""
        return next(one['value'] for one in self.call('Performance.getMetrics')['metrics']
                    if one['name'] == 'TaskDuration')

    def open(self, url):
        self.call('Page.navigate', url=url)

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait()
        self.process.stderr.close()
        self.folder.cleanup()
