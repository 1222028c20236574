#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A page for Chromium and for our test PAGE, for tools/compare-pages: the same objects, sizes and order.

  chromium_page.py make FOLDER             its files
  chromium_page.py plan                    its objects, as lines of l4.page.objects
  chromium_page.py load LOADS URL          by Chromium, each time as if for the first time: the median, JSON
  chromium_page.py ours RESULT.json        a load by our test, from the first row of its result
  chromium_page.py picture A.json B.json   both as a waterfall, SVG

A load is {"ttfb": ms, "load": ms, "loads": N, "objects": [[name, asked, first, last], ...]}, from the first
SYN.
"""
import html
import json
import os
import statistics
import struct
import sys
import zlib

KIB = 1024
# Name, bytes, after which object. References stand at the end of their file: no object is asked for before
# the object that names it is whole, as it is in our test.
PAGE = [('index.html', 30 * KIB, None), ('style.css', 20 * KIB, 'index.html'),
        ('app.js', 150 * KIB, 'index.html'), ('logo.svg', 4 * KIB, 'index.html'), ('font.woff2', 40 * KIB, 'style.css'),
        ('background.jpg', 90 * KIB, 'style.css'), ('data.json', 8 * KIB, 'app.js'),
        *((f'photo-{i}.jpg', 60 * KIB, 'data.json') for i in range(1, 9))]


def url(name):
    """Our test names a file by its size; Chromium would ask once for eight files of one name."""
    return f'/octets/{dict((n, size) for n, size, _ in PAGE)[name]:010}?{name}'


def padded(before, after, size, comment=('/*', '*/')):
    fill = size - len(before) - len(after) - len(comment[0]) - len(comment[1])
    return (before + comment[0] + ' ' * fill + comment[1] + after).encode()


def image(size):
    """A PNG of one pixel, which stands at its end: Chromium ends the load of what cannot be an image."""
    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))

    head = b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 1, 1, 8, 0, 0, 0, 0))
    pixel = chunk(b'IDAT', zlib.compress(bytes(2))) + chunk(b'IEND', b'')
    return head + chunk(b'fgPd', bytes(size - len(head) - len(pixel) - 12)) + pixel


def make(folder):
    os.makedirs(folder + '/octets', exist_ok=True)
    images = [name for name, _, _ in PAGE if name.startswith('photo')]
    texts = {
        'index.html': ('<!doctype html><meta charset=utf-8><title>page</title><link rel=icon href=data:,>', f'''
<link rel=stylesheet href="{url('style.css')}"><script async src="{url('app.js')}"></script>
<img src="{url('logo.svg')}"><p>text</p>''', ('<!--', '-->')),
        'style.css': ('', f'''
@font-face {{ font-family: f; src: url("{url('font.woff2')}"); }}
body {{ font-family: f; background: url("{url('background.jpg')}"); }}'''),
        'app.js': ('', f'''
fetch("{url('data.json')}").then((got) => got.text()).then(() => {json.dumps([url(name) for name in images])}
    .forEach((src) => document.body.append(Object.assign(new Image(), {{ src }}))));'''),
    }
    for name, size, _ in PAGE:
        body = image(size) if name.endswith('.jpg') else bytes(size)
        if name in texts:
            body = padded(texts[name][0], texts[name][1], size, *texts[name][2:])
        with open(folder + url(name).partition('?')[0], 'wb') as file:
            file.write(body)


def plan():
    for name, size, after in PAGE:
        print(f'      - {{name: {name}, size: {size}' + (f', after: {after}}}' if after else '}'))


ALL = "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
ENTRIES = '''(() => {
    const all = %s;
    return all.length == %d && all.every((one) => one.responseEnd > 0) && JSON.stringify(
        all.map((one) => [one.name, one.connectStart, one.requestStart, one.responseStart, one.responseEnd,
            one.encodedBodySize]));
})()''' % (ALL, len(PAGE))


def load_once(browser, address):
    outer, browser.session = browser.session, None
    context = browser.call('Target.createBrowserContext')['browserContextId']
    try:
        target = browser.call('Target.createTarget', url='about:blank', browserContextId=context)['targetId']
        browser.session = browser.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        browser.open(address + url('index.html'))
        entries = browser.wait(ENTRIES, 120)
        if not entries:
            there = browser.value(ALL + '.map((one) => [one.name, one.responseEnd])')
            raise RuntimeError(f'{address}: the page was not whole within 120 s: {there}')
    finally:
        browser.session = None
        browser.call('Target.disposeBrowserContext', browserContextId=context)
        browser.session = outer
    entries = json.loads(entries)
    sizes = {name: size for name, size, _ in PAGE}
    cut = {name.partition('?')[2]: got for name, *_, got in entries if got != sizes[name.partition('?')[2]]}
    if cut:
        raise RuntimeError(f'{address}: objects that are not whole, bytes: {cut}')
    begin = entries[0][1]
    objects = sorted(([name.partition('?')[2] or name, asked - begin, first - begin, last - begin]
                      for name, _, asked, first, last, _ in entries), key=lambda one: one[1])
    return {'ttfb': objects[0][2], 'load': max(one[3] for one in objects), 'objects': objects}


def load(loads, address):
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + '/..')
    import browser as chromium
    chromium.OPTIONS.insert(0, '--ignore-certificate-errors')
    browser = chromium.Browser()
    try:
        got = sorted((load_once(browser, address) for _ in range(int(loads))), key=lambda one: one['load'])
    finally:
        browser.close()
    median = got[len(got) // 2]
    median.update(ttfb=statistics.median(one['ttfb'] for one in got), loads=len(got), least=got[0]['load'],
                  most=got[-1]['load'])
    json.dump(median, sys.stdout)


def ours(file):
    with open(file) as text:
        row = json.load(text)['results']['l4'][0]
    page = row['page']
    if row['validity'] == 'invalid' or page['failed'] > 0 or page['loaded'] == 0:
        sys.exit(f'{row["test"]} is {row["validity"]}, {page["failed"]} pages have failed')
    objects = [[one['name'], *(one[key] / 1e6 for key in ('asked_ns', 'first_byte_ns', 'end_ns'))]
               for one in page['objects']]
    json.dump({'ttfb': row['first_byte']['p50_ns'] / 1e6, 'load': page['load']['p50_ns'] / 1e6,
               'loads': page['loaded'], 'validity': row['validity'],
               'least': page['load']['min_ns'] / 1e6, 'most': page['load']['max_ns'] / 1e6,
               'objects': sorted(objects, key=lambda one: one[1])}, sys.stdout)


def picture(*files):
    line, left, width, head = 13, 105, 640, 18
    loads = []
    for file in files:
        with open(file) as text:
            loads.append((os.path.basename(file).partition('.')[0], json.load(text)))
    most = max(one[3] for _, load in loads for one in load['objects'])
    step = next(n for n in (50, 100, 200, 500, 1000, 2000, 5000) if most / n <= 8)
    height = sum(2 * head + line * len(load['objects']) for _, load in loads)

    def x(ms):
        return round(left + ms / most * (width - left - 10), 1)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif"'
           f' font-size="10"><rect width="{width}" height="{height}" fill="#fff"/>']
    y = 0
    for name, load in loads:
        end = y + 2 * head + line * len(load['objects'])
        out.append(f'<text x="4" y="{y + 13}" font-size="12" font-weight="bold">{html.escape(name)}: '
                   f'{load["load"]:.0f} ms</text>')
        y += head
        for ms in range(0, int(most) + 1, step):
            out.append(f'<path d="M{x(ms)} {y}V{end - head}" stroke="#ddd"/>'
                       f'<text x="{x(ms)}" y="{end - 6}" text-anchor="middle">{ms} ms</text>')
        for what, asked, first, last in load['objects']:
            out.append(f'<text x="{left - 5}" y="{y + 10}" text-anchor="end">{html.escape(what)}</text>')
            for begin, until, colour in ((asked, first, '#f2a33a'), (first, last, '#3a7bd5')):
                out.append(f'<rect x="{x(begin)}" y="{y + 2}" width="{round(max(x(until) - x(begin), 0.5), 1)}" '
                           f'height="{line - 4}" fill="{colour}"/>')
            y += line
        y = end
    print('\n'.join(out + ['</svg>']))


if __name__ == '__main__':
    {'make': make, 'plan': plan, 'load': load, 'ours': ours, 'picture': picture}[sys.argv[1]](*sys.argv[2:])
