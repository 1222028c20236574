#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The page of a tester in headless Chromium: its figures are the console's and the result's, it asks
nobody else, it says when there is no data, and it lets nobody do what he may not."""
import contextlib
import json
import os
import re
import resource
import signal
import socket
import subprocess
import tempfile
import time

import jsonschema

from browser import Browser
from served import FRAMEGAUGE, Tester
from tap import check, end, skip

PLAN = """
name: looked at
test: rfc2544
dut: {name: SW-9, firmware: "2.1"}
ports: {east: {device: wire0}, west: {device: wire1}}
reference_device: {time: free, rate: 1Gbps, latency: 20us, loss_every: 1000}
streams:
  voice: {size: 218, rate: 2Mbps L2}
  back: {from: west, size: 1518, rate: 10%}
rfc2544: {frame_sizes: [1518], tests: [throughput], throughput: {resolution: 5%, loss_tolerance: 1%}}
"""
AGENT = """
test: agent
ports: {north: {device: 'vdev:net_null0', line_rate: 1Gbps}}
agent: {name: rack1, listen: FOLDER/rack1, state: FOLDER}
"""
AGENTS = 'fleet: {agents: {rack1: FOLDER/rack1, rack2: FOLDER/rack2}}\n'

AXE = os.environ.get('AXE', '')
SEEN = {}  # by the name of a page: what keeps people out of it


def look(page, name):
    """Note what axe-core finds on the page that is open."""
    if os.path.exists(AXE):
        with open(AXE, encoding='utf-8') as file:
            SEEN[name] = page.findings(file.read())


FIGURES = """Object.fromEntries([...document.querySelectorAll('[data-figure]')].map(
    (cell) => [cell.dataset.figure, +cell.dataset.value]))"""
CLICK = """[...document.querySelectorAll('button')].find((b) => b.textContent.trim() === '%s').click()"""


def console_figures(tester):
    """Sent, received and missing of each row of 'stats'."""
    figures = {}
    for line in tester.attach('stats').splitlines():
        row = re.match(r'\s*(port \S+|\S+)\s+([\d,]+)\s+([\d,]+)\s+([\d,]+)\s', line)
        if row:
            name = row[1].replace('port ', '')
            for key, text in zip(('tx', 'rx', 'lost'), row.groups()[1:]):
                figures[f'{name}.{key}'] = int(text.replace(',', ''))
    return figures


# The firmware of the run that a chart names when the pointer is at an end of it.
POINT = """(() => {
    const svg = document.querySelector('.series svg'), box = svg.getBoundingClientRect();
    svg.dispatchEvent(new PointerEvent('pointermove', { clientX: box.%s }));
    return document.querySelector('.series .run').textContent.split(', ')[2]; })()"""
MAX_URL_S, MAX_PAGE_S = 1, 0.5  # of processor time: the machine may be busy

# In the page, before its own scripts: after which state the ports are there, and how long that took.
FIRST = """window.first = { states: 0, opened: 0 };
window.EventSource = class extends EventSource {
    constructor(...of) {
        super(...of);
        this.addEventListener('open', () => first.opened++);
        this.addEventListener('message', () => {
            first.states++;
            setTimeout(() => {
                if (first.at === undefined && document.querySelector('#ports') !== null) {
                    first.at = first.states;
                    first.ms = performance.now();
                }
            });
        });
    }
}"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def traffic(tester, page):
    check('the tester takes at most 1 s of processor time to its URL', tester.printed_cpu_s <= MAX_URL_S,
          tester.printed_cpu_s)
    page.call('Performance.enable', timeDomain='threadTicks')
    page.call('Page.addScriptToEvaluateOnNewDocument', source=FIRST)
    page.open(tester.urls['operator'])
    check('the page shows the ports', page.wait("document.querySelectorAll('#ports tbody tr').length === 2"))
    work = page.work()
    check('and takes at most 0.5 s of processor time to its first figures', work <= MAX_PAGE_S, work)
    first = page.wait('first.at && first')
    check('they are those of the first state that came', first and first['at'] == 1, first)
    print(f'# processor time: {tester.printed_cpu_s:.2f} s to the URL, {work:.2f} s to the figures; on the '
          f'clock: {page.value(PAINT):.0f} ms to the first paint, {first["ms"]:.0f} ms to the figures',
          flush=True)
    check('and the token is gone from its address', 'token' not in page.value('location.href'))
    tester.attach('start all for=1')
    check('traffic is seen while it runs or after', page.wait(f"({FIGURES})['voice.tx'] > 0"))
    page.wait("!document.body.innerText.includes('stop ')")
    expected = console_figures(tester)
    page.wait(f"({FIGURES})['east.tx'] === {expected.get('east.tx')}")
    shown = page.value(FIGURES)
    check('every count is that of the console', len(expected) == 12 and expected == {
        key: value for key, value in shown.items() if key in expected}, f'{expected}\n{shown}')
    look(page, 'now')
    check('frames were lost, so there was something to compare', expected.get('back.lost', 0) > 0, expected)


def test_run(tester, page):
    page.value(CLICK % 'Run rfc2544 quick')
    link = page.wait("[...document.querySelectorAll('a')].find((a) => a.textContent === 'report')?.href")
    check('a test is started by its button and ends with a report', link)
    folder = os.path.join(tester.folder, 'framegauge-runs', link.split('/')[-2])
    page.value("document.querySelector('a[href^=\"#trials\"]').click()")
    with open(os.path.join(folder, 'trials.jsonl'), encoding='utf-8') as file:
        trials = [json.loads(line) for line in file]
    page.wait(f"document.querySelectorAll('#trials tbody tr').length === {len(trials)}")
    shown = page.value(FIGURES)
    wanted = {f"trial{one['trial']}.load": one['intended_fps'] for one in trials}
    check('the loads of its trials are those of trials.jsonl', shown == wanted, f'{shown}\n{wanted}')
    verdicts = page.value("""[...document.querySelectorAll('#trials tbody tr')].map(
        (row) => row.cells[6].textContent)""")
    check('and so are the verdicts', verdicts == [one['validity'] for one in trials], verdicts)
    look(page, 'trials')
    page.value("location.hash = '#runs'")
    check('the list of runs has it', page.wait("document.querySelectorAll('#runs tbody tr').length === 1"))
    name = folder.split('/')[-1]
    status, text = tester.ask(f'/runs/{name}/result.json', 'viewer')
    with open(os.path.join(folder, 'result.json'), encoding='utf-8') as file:
        check('its result.json is the one on the disk', status == 200 and text == file.read())
    for path in ('../../plan.yaml', f'{name}/../../plan.yaml', f'{name}/..%2f..%2fplan.yaml',
                 '%2e%2e/plan.yaml', f'{name}/nothing.json', f'{name}/', 'x/result.json'):
        check(f'no file outside of a run: {path}', tester.ask('/runs/' + path, 'viewer')[0] == 404)


def earlier_runs(tester):
    """Makes runs of the past with twice the throughput, known to 1 % as in the run that was made.
    @return the name of that, and theirs"""
    runs = os.path.join(tester.folder, 'framegauge-runs')
    newest = next(name for name in os.listdir(runs) if not name.startswith('.'))
    with open(os.path.join(runs, newest, 'result.json'), encoding='utf-8') as file:
        result = json.load(file)

    def write(name, path, content):
        with open(os.path.join(runs, name, path), 'w', encoding='utf-8') as file:
            json.dump(content, file)

    row = result['results']['throughput'][0]
    fps, known = row['throughput_fps'], {'kind': 'interval', 'coverage': 0.95, 'components': []}
    names = [f'past-{day}' for day in range(1, 6)]
    for day, (name, value) in enumerate([(newest, fps)] + [(name, 2 * fps) for name in names]):
        row['throughput_fps'] = value
        row['uncertainty'] = {'throughput_fps': {
            **known, 'low': 0.99 * value, 'high': 1.01 * value, 'expanded': 0.01 * value}}
        if name != newest:
            result['plan']['device_under_test']['firmware'] = '2.0'
            os.mkdir(os.path.join(runs, name))
            write(name, 'run.json', {'started': f'2001-01-0{day}T09:00:00Z'})
        write(name, 'result.json', result)
    return newest, names


def printed(tester, *arguments):
    return json.loads(subprocess.run([FRAMEGAUGE, *arguments, '--json'], cwd=tester.folder, text=True,
                                     capture_output=True, check=False).stdout)


def past(tester, page):
    """The list of runs leads to the history of their plan and to what changed."""
    newest, names = earlier_runs(tester)
    page.value("location.hash = '#now'")
    page.wait("document.querySelector('#ports') !== null")
    page.value("location.hash = '#runs'")
    page.wait(f"document.querySelectorAll('#runs tbody tr').length === {len(names) + 1}")
    look(page, 'runs')
    page.value("document.querySelector('#runs a[href^=\"#history\"]').click()")
    trend = printed(tester, 'history', 'looked at', '--trend')
    wanted = {f'{i}.{k}.{side}': change[side] for i, series in enumerate(trend['series'])
              for k, change in enumerate(series['changes']) for side in ('before', 'after')}
    check('the history has a change', page.wait("document.querySelector('#changes tbody tr') !== null"))
    shown = page.value(FIGURES)
    check('with the figures that the program prints', shown == wanted, f'{shown}\n{wanted}')
    check('and a chart of each figure, with all its runs', page.value(
        "[...document.querySelectorAll('.points')].map((one) => one.getAttribute('d').split('M').length - 1)")
          == [len(series['points']) for series in trend['series']])
    check('which names the run below the pointer', all(
        page.wait(f"{POINT % end} === '{named}'") for end, named in (('left', '2.0'), ('right', '2.1'))))
    look(page, 'history')
    page.value("document.querySelector('#changes a').click()")
    found = printed(tester, 'compare', f'framegauge-runs/{names[-1]}', f'framegauge-runs/{newest}')
    page.wait("document.querySelector('.comparison') !== null")
    check('which leads to the comparison of the runs around it',
          page.value("location.hash") == f'#compare={names[-1]}&{newest}')
    page.value("document.querySelector('input[type=checkbox]').click()")
    rows = [[line.get(key, '-') for key in ('mark', 'before_text', 'after_text', 'change_text')]
            for table in found['tables'] for line in table['lines']]
    check('its rows are those of the program', page.wait(
        f"document.querySelectorAll('.comparison tbody tr').length === {len(rows)}") and page.value(
            """[...document.querySelectorAll('.comparison tbody tr')].map(
                ({ cells }) => [1, 2, 3, 4].map((i) => cells[i].textContent))""") == rows, rows)
    look(page, 'comparison')
    described(tester, names[-1], newest)
    check('and it says how many are worse', found['worse'] > 0 and page.value(
        "document.querySelector('#judgement').textContent").startswith(f"Worse: {found['worse']}."))


def devices(tester, page):
    """What was tested: by its name and firmware, with its plans."""
    page.value("location.hash = '#devices'")
    page.wait("document.querySelector('.device-runs') !== null")
    runs = json.loads(tester.ask('/api/v1/runs', 'viewer')[1])
    wanted = [[name, 'looked at', 'rfc2544', str(sum(run.get('firmware') == name for run in runs))]
              for name in dict.fromkeys(run.get('firmware') for run in runs)]
    shown = page.value("""[...document.querySelectorAll('.device-runs tbody tr')].map(
        ({ cells }) => [0, 1, 2, 3].map((i) => cells[i].textContent))""")
    check('the devices have their firmware, plans and numbers of runs', shown == wanted, f'{shown}\n{wanted}')
    look(page, 'devices')


def fleet(tester, page):
    """The agents of the plan, one missing; then all missing."""
    with open(os.path.join(tester.folder, 'agent.yaml'), 'w', encoding='utf-8') as file:
        file.write(AGENT.replace('FOLDER', tester.folder))
    agent = subprocess.Popen([FRAMEGAUGE, 'agent', 'agent.yaml'], cwd=tester.folder, stdout=subprocess.PIPE)
    try:
        agent.stdout.readline()
        page.value("location.hash = '#fleet'")
        page.wait("document.querySelector('#agents .good') !== null")  # an answer of before is kept for 2 s
        rows = page.value("""[...document.querySelectorAll('#agents tbody tr')].map(
            ({ cells }) => [...cells].map((cell) => cell.textContent))""")
        with open(os.path.join(tester.folder, 'one.yaml'), 'w', encoding='utf-8') as file:
            file.write(PLAN + f'fleet: {{agents: {{rack1: {tester.folder}/rack1}}}}\n')
        printed_rows = subprocess.run([FRAMEGAUGE, 'fleet', 'ports', 'one.yaml'], cwd=tester.folder,
                                      text=True, capture_output=True, check=False).stdout
        check('the ports of an agent are those that the program prints',
              rows and rows[0] == printed_rows.splitlines()[-1].split(), f'{rows}\n{printed_rows}')
        check('an agent that is not there is named, with the reason', rows and rows[1][0] == 'rack2'
              and 'no agent rack2 listens' in rows[1][1] and 'Without an answer: 1 of 2'
              in page.value("document.querySelector('#fleet-age').textContent"), rows)
        look(page, 'fleet')
    finally:
        agent.terminate()
        agent.wait()
        agent.stdout.close()
    check('and one that has ended is not shown as if it were there', page.wait(
        "document.querySelector('#fleet-age').textContent.includes('Without an answer: 2 of 2')"))


# Of each chart: how much of its width, in the middle of its height, has the colour of a time without data.
BANDS = """[...document.querySelectorAll('.chart canvas')].map((canvas) => {
    const wanted = getComputedStyle(document.documentElement).getPropertyValue('--gap').trim().slice(1)
        .match(/../g).map((two) => parseInt(two, 16));
    const { data } = canvas.getContext('2d').getImageData(0, canvas.height >> 1, canvas.width, 1);
    let n = 0;
    for (let i = 0; i < data.length; i += 4) {
        n += data[i + 3] === 255 && wanted.every((value, k) => Math.abs(data[i + k] - value) <= 2);
    }
    return n / canvas.width; })"""


def silence(tester, page):
    page.value("location.hash = '#now'")
    page.wait("document.querySelector('.chart canvas') !== null")
    shares, points = page.value(BANDS), json.loads(tester.ask('/api/v1/series', 'viewer')[1])
    # a tester that did not get the processor has such times, too
    silent = any(after[0] - before[0] > 2 for before, after in zip(points, points[1:]))
    check('no time without data is shown where there was none', silent == (shares != [0, 0]), shares)
    tester.process.send_signal(signal.SIGSTOP)
    check('without data the page says so and greys', page.wait(
        "document.body.innerText.includes('no data since') && document.querySelector('.old') !== null"))
    look(page, 'without data')
    tester.process.send_signal(signal.SIGCONT)
    check('and goes on when there is some', page.wait("document.querySelector('.old') === null"))
    check('the time without is a band in each chart', page.wait(f"{BANDS}.every((share) => share > 0.01)"),
          page.value(BANDS))


def started_anew(tester, page):
    """Its tokens are others then, and a page that was open knows only the old ones."""
    tester.close()
    other = Tester(tester.folder, PLAN, address=tester.base.removeprefix('http://'))
    check('a page whose tester was started anew asks for the URL',
          page.wait("document.body.innerText.includes('open the URL that it printed')"))
    other.close()


def accessible():
    """No page keeps out who needs contrast, keys or a reader."""
    if not SEEN:
        skip('axe-core finds nothing serious', 'axe-core cannot be had from npm')
    for name, found in SEEN.items():
        check(f'axe-core finds nothing serious: {name}', not found, '\n'.join(found))


def described(tester, *runs):
    """What is answered is what the description says, and nothing more."""
    document = json.loads(tester.ask('/api/v1/openapi.json', 'viewer')[1])
    for path, query in (('state', ''), ('me', ''), ('series', ''), ('trials', '?job=2'), ('runs', ''),
                        ('devices', ''), ('fleet', ''),
                        ('history', '?plan=looked%20at'), ('compare', '?before=%s&after=%s' % runs)):
        content = document['paths']['/api/v1/' + path]['get']['responses']['200']['content']
        schema = content['application/json']
        answer = json.loads(tester.ask(f'/api/v1/{path}{query}', 'viewer')[1])
        problems = [f'{list(problem.absolute_path)}: {problem.message}' for problem in
                    jsonschema.Draft202012Validator({'components': document['components'], **schema['schema']}
                                                    ).iter_errors(answer)]
        check(f'the answer is as described: {path}', answer and not problems, '\n'.join(problems))


HALVES = b'', b'GET / HTTP/1.1\r\nX-Slow: ', b'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx'


def is_closed(connection):
    """By the other side."""
    with connection:
        connection.setblocking(False)
        try:
            return connection.recv(1) == b''
        except BlockingIOError:
            return False
        except ConnectionError:
            return True


def flood(tester, page):
    """More connections that send no request, or half of one, than the server has."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (2048, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    host, port = tester.base.removeprefix('http://').split(':')
    opened, began = page.value('first.opened'), time.monotonic()
    half_open = [socket.create_connection((host, int(port))) for _ in range(1000)]
    for i, one in enumerate(half_open):
        with contextlib.suppress(ConnectionError):  # it may be gone already
            one.sendall(HALVES[i % len(HALVES)])
    check('a newcomer is served beside 1,000 half-open connections',
          tester.ask('/api/v1/state', 'viewer')[0] == 200)
    print(f'# after {time.monotonic() - began:.1f} s', flush=True)
    states = page.value('first.states')
    check('and who looks already goes on to see, by the same stream of states',
          page.wait(f'first.states > {states} + 2') and page.value('first.opened') == opened)
    closed = sum(map(is_closed, half_open))
    check('of those 1,000 at most 256 are kept', closed >= 1000 - 256, closed)


def requests(tester, page):
    urls = {event['request']['url'].split('#')[0] for event in page.of('Network.requestWillBeSent')}
    elsewhere = [url for url in urls if not url.startswith((tester.base, 'data:', 'about:'))]
    check('the page asks nobody else', not elsewhere, elsewhere)
    parts = {url for url in urls if url.startswith(tester.base) and not url.startswith(
        (tester.base + '/api/', tester.base + '/runs/'))}
    check('it has at most 12 parts', 5 < len(parts) <= 12, parts)
    errors = page.of('Runtime.exceptionThrown') + [
        event for event in page.of('Log.entryAdded') if event['entry']['level'] == 'error']
    check('and has no error', not errors, errors)


def access(tester, page):
    start = {'stream': 'start'}
    check('without a token there is nothing', tester.ask('/api/v1/state')[0] == 401)
    check('nor with a wrong one', tester.ask('/api/v1/login', body={'token': '0' * 32})[0] == 401)
    check('a viewer sees', tester.ask('/api/v1/state', 'viewer')[0] == 200)
    check('but nothing that is no run', tester.ask(
        '/api/v1/compare?before=past-1&after=..%2f..', 'viewer')[0] == 404)
    check('and may do nothing', tester.ask('/api/v1/actions', 'viewer', start)[0] == 403)
    check('a page of another origin may do nothing', tester.ask(
        '/api/v1/actions', 'operator', start, Origin='http://elsewhere')[0] == 403)
    check('also where the browser says so itself', tester.ask(
        '/api/v1/actions', 'operator', start, Sec_Fetch_Site='cross-site')[0] == 403)
    check('nor may a form', tester.ask(
        '/api/v1/actions', 'operator', start, Content_Type='text/plain')[0] == 415)
    check('another name of the server is rejected', tester.ask('/', Host='elsewhere:80')[0] == 400)
    check('a body that is too large is, too', tester.ask(
        '/api/v1/actions', 'operator', {'stream': 'x' * 2 ** 21})[0] == 413)
    check('a mistake is a message', tester.ask('/api/v1/actions', 'operator', {
        'stream': 'rate', 'target': 'vioce', 'rate': '1%'}) == (
            409, "there is no stream or port 'vioce'; did you mean 'voice'?\n"))
    jobs = json.loads(tester.ask('/api/v1/state', 'viewer')[1])['jobs']
    check('nothing was started by all that', not any(job['state'] == 'running' for job in jobs), jobs)
    page.call('Network.clearBrowserCookies')
    page.open('about:blank')
    page.open(tester.urls['viewer'])
    check('a viewer has no buttons', page.wait("document.querySelector('#ports') !== null")
          and page.value("document.querySelectorAll('button').length") == 0)


def main():
    with tempfile.TemporaryDirectory() as folder:
        tester, page = Tester(folder, PLAN + AGENTS.replace('FOLDER', folder)), Browser()
        try:
            traffic(tester, page)
            test_run(tester, page)
            past(tester, page)
            devices(tester, page)
            fleet(tester, page)
            silence(tester, page)
            flood(tester, page)
            accessible()
            requests(tester, page)
            access(tester, page)
            started_anew(tester, page)
        finally:
            tester.close()
            page.close()
        reader = Tester(folder, PLAN, '--web-read-only')
        check('read-only: there is no operator', list(reader.urls) == ['viewer'])
        reader.close()
    wrong = subprocess.run([FRAMEGAUGE, 'serve', '--web', '0.0.0.0:0'], capture_output=True, text=True,
                           check=False)
    check('an open address without TLS is refused', wrong.returncode == 2 and '--web-tls' in wrong.stderr,
          wrong.stderr)
    end()


main()
