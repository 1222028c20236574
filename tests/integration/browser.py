# SPDX-License-Identifier: BSD-3-Clause
"""A headless Chromium, by its DevTools protocol over a pipe. Each page has a profile of its own."""
import fcntl
import json
import os
import select
import subprocess
import tempfile
import time

OPTIONS = ['--headless=new', '--no-sandbox', '--disable-background-networking', '--disable-gpu',
           '--no-first-run', '--disable-dev-shm-usage', '--hide-scrollbars', '--remote-debugging-pipe',
           'about:blank']
PATIENCE = 60  # seconds until the browser answers, or is taken for stuck


class Browser:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs, self.out = os.pipe()
        self.into, answers = os.pipe()

        def pipes():  # as descriptors 3 and 4, whatever had these numbers
            high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (theirs, answers)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            ['chromium', f'--user-data-dir={self.folder.name}', *OPTIONS], close_fds=False, preexec_fn=pipes,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs)
        os.close(answers)
        self.last, self.events, self.rest, self.session = 0, [], b'', None
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in 'Page', 'Runtime', 'Network', 'Log':
            self.call(domain + '.enable')

    def receive(self):
        while b'\0' not in self.rest:
            if not select.select([self.into], [], [], PATIENCE)[0]:
                raise RuntimeError(f'chromium has said nothing for {PATIENCE} s')
            got = os.read(self.into, 1 << 20)
            if not got:
                raise RuntimeError('chromium has ended')
            self.rest += got
        message, self.rest = self.rest.split(b'\0', 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.last += 1
        order = {'id': self.last, 'method': method, 'params': parameters}
        if self.session:
            order['sessionId'] = self.session
        data = json.dumps(order).encode() + b'\0'
        while data:
            data = data[os.write(self.out, data):]
        while True:
            message = self.receive()
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
        self.process.terminate()
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        self.folder.cleanup()
