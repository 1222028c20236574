#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reports of all methods in Chromium: no text overlaps another, none is cut, no page is wider than a screen.

    tests/integration/report_page.py REPORT.html...

axe-core finds nothing serious in any, at a desk and on a phone at night. Each is laid out at the widths of a
desk, a tablet and a phone, and for paper, upright and on its side. At a desk no table is scrolled.
"""
import json
import os
import pathlib
import sys
import tempfile

from browser import Browser
from tap import check, end, skip

MM = 96 / 25.4
# name, media, width in pixels of CSS: pages of A4 without their margins (report/html/style.lua), on its side?
VIEWS = [('at 1280 px', 'screen', 1280, False), ('at 768 px', 'screen', 768, False),
         ('at 390 px', 'screen', 390, False), ('on paper', 'print', round((210 - 28) * MM), False),
         ('on paper on its side', 'print', round((297 - 24) * MM), True)]

# Boxes of all pieces of text that are seen: how many, and which of them are not where they should be.
LOOK = r'''
(function (paper, aside) {
  const style = document.createElement('style');
  style.textContent = 'section{content-visibility:visible!important}';
  document.head.append(style);
  const found = [], texts = [], ROOM = 1.5;
  const name = (e) => (e.closest('section')?.querySelector('h2')?.firstChild?.textContent ?? 'top') + ': ' +
    e.tagName.toLowerCase() + ' "' + e.textContent.trim().slice(0, 40) + '"';
  const onThisPage = (e) => {
    const section = e.closest('section');
    const wide = section !== null && (section.classList.contains('wide') || section.querySelector('.broad'));
    return !paper || aside === Boolean(wide);
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, e = node.parentElement;
    if (node.textContent.trim() === '' || e.closest('title,desc,style') || !e.checkVisibility()) continue;
    if (!onThisPage(e)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const r of e instanceof SVGElement ? [e.getBoundingClientRect()] : range.getClientRects())
      if (r.width > 0.5 && r.height > 0.5)
        texts.push({e, l: r.left + scrollX, r: r.right + scrollX, t: r.top + scrollY, b: r.bottom + scrollY});
  }
  const width = document.documentElement.clientWidth;
  if (!paper && document.documentElement.scrollWidth > width + 1)
    found.push('the page is ' + document.documentElement.scrollWidth + ' px wide');
  for (const one of !paper && width >= 1280 ? document.querySelectorAll('.scroll') : [])
    if (one.scrollWidth > one.clientWidth + 1)
      found.push('scrolls by ' + (one.scrollWidth - one.clientWidth) + ' px: ' + name(one));
  for (const one of paper ? [] : document.querySelectorAll('.scroll,figure'))
    if (one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).backgroundImage === 'none')
      found.push('scrolls without a hint: ' + name(one));
  for (const one of texts) {
    const scrolls = !paper && one.e.closest('.scroll,figure');
    if (!scrolls && (one.r > width + ROOM || one.l < -ROOM)) found.push('beyond the page: ' + name(one.e));
    const box = one.e.closest('svg,td,th,.tiles div,.facts div,.verdictbox');
    if (box === null) continue;
    const at = box.getBoundingClientRect();
    const l = at.left + scrollX, r = at.right + scrollX, t = at.top + scrollY, b = at.bottom + scrollY;
    if (one.l < l - ROOM || one.r > r + ROOM || one.t < t - ROOM - 2 || one.b > b + ROOM + 2)
      found.push('out of its ' + box.tagName.toLowerCase() + ': ' + name(one.e));
  }
  const shrunk = (x) => ({...x, t: x.t + (x.b - x.t) * 0.2, b: x.b - (x.b - x.t) * 0.2});
  const boxes = texts.map(shrunk).sort((x, y) => x.t - y.t);
  const sticky = (e) => e.closest('tbody th:first-child,thead th:first-child') !== null;
  for (let i = 0; i < boxes.length; i++)
    for (let k = i + 1; k < boxes.length && boxes[k].t < boxes[i].b; k++) {
      const x = boxes[i], y = boxes[k];
      if (Math.min(x.r, y.r) - Math.max(x.l, y.l) < ROOM || Math.min(x.b, y.b) - y.t < ROOM) continue;
      if (sticky(x.e) !== sticky(y.e) && !paper && x.e.closest('table') === y.e.closest('table')) continue;
      found.push('overlap: ' + name(x.e) + ' and ' + name(y.e));
    }
  style.remove();
  return [texts.length, [...new Set(found)]];
})'''


def look(page, path):
    page.open(path.as_uri())
    here = f'location.href === {json.dumps(path.as_uri())}'
    if page.wait(here + ' && document.readyState === "complete"') is None:
        raise RuntimeError(f'{path} does not load')
    for view, media, width, aside in VIEWS:
        page.call('Emulation.setEmulatedMedia', media=media)
        page.call('Emulation.setDeviceMetricsOverride', width=width, height=1000, deviceScaleFactor=1,
                  mobile=False)
        texts, found = page.value(f'{LOOK}({json.dumps(media == "print")},{json.dumps(aside)})')
        check(f'{path.parent.name} {view}', not found and (texts > 50 or aside), '\n'.join(found) or texts)


def accessible(page, path):
    axe = pathlib.Path(os.environ.get('AXE', '/nonexistent'))
    name = f'axe-core finds nothing serious in {path.parent.name}'
    if not axe.exists():
        skip(name, 'axe-core cannot be had')
        return
    page.call('Emulation.setEmulatedMedia', media='screen')
    found = page.findings(axe.read_text(encoding='utf-8'))
    check(name, not found, '\n'.join(found))


# What must be found: in a tile and in its neighbour, out of a cell, across another text, beyond the page.
PLANTED = {
    'out of its div': '.tiles{display:grid;grid-template-columns:4rem 4rem}.tiles b{white-space:nowrap}',
    'out of its td': 'table{table-layout:fixed;width:8rem}td{white-space:nowrap}',
    'overlap': 'p{margin:-1.2rem 0 0}',
    'scrolls without a hint': '.scroll{width:8rem;overflow-x:auto}h2{width:20rem}',
    'beyond the page': 'p{white-space:nowrap;width:3000px;text-align:right}',
}
BODY = """<section><div class="scroll"><h2>Head</h2></div>
<div class="tiles"><div><b>12,345 transactions</b></div><div><b>1</b></div></div>
<table><tr><td>1,234,567,890</td><td>2,345,678,901</td></tr></table><p>one line</p><p>another</p></section>"""


def find_planted(page, folder):
    for what, style in {'nothing': '', **PLANTED}.items():
        path = pathlib.Path(folder, 'planted.html')
        path.write_text(f'<!doctype html><title>{what}</title><style>{style}</style>{BODY}', encoding='utf-8')
        page.open(path.as_uri())
        page.wait(f'document.title === {json.dumps(what)} && document.readyState === "complete"')
        page.call('Emulation.setDeviceMetricsOverride', width=1280, height=1000, deviceScaleFactor=1,
                  mobile=False)
        _, found = page.value(f'{LOOK}(false,false)')
        seen = [one for one in found if one.startswith(what)]
        check(f'{what} is found where it is planted',
              bool(seen) == bool(style) and bool(found) == bool(style), found)


def main():
    page = Browser()
    page.call('Page.setBypassCSP', enabled=True)  # a report allows no script
    with tempfile.TemporaryDirectory() as folder:
        find_planted(page, folder)
    check('there are reports', len(sys.argv) > 1)
    for path in sys.argv[1:]:
        look(page, pathlib.Path(path).resolve())
        accessible(page, pathlib.Path(path).resolve())
    page.close()
    end()


if __name__ == '__main__':
    main()
