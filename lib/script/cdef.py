#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Turn the API's C header into a Lua module that returns its declarations for LuaJIT's FFI.

usage: cdef.py OUT.lua OUT.d HEADER 'COMPILER...' [INCLUDE_FOLDER]...

The C compiler's preprocessor does the reading, so what Lua declares is what C compiled. System headers are
replaced by empty ones: LuaJIT knows the fixed-width types itself, and nothing else of them may appear in
the API. Inline functions, and types of the compiler's own, are left out: LuaJIT cannot read them, and no
script needs them. Our own constants (#define FG_X 12) become static const int where they fit one: LuaJIT's
constants have 32 bits.
"""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SYSTEM_HEADERS = ['stdint.h', 'stddef.h', 'stdbool.h', 'stdarg.h', 'inttypes.h', 'string.h',
                  'sys/cdefs.h', 'sys/types.h']
INLINE = re.compile(r'^static inline\b[^;{]*\{.*?^\}\n|^__extension__ typedef [^\n]*\n',
                    re.MULTILINE | re.DOTALL)
CONSTANT = re.compile(r'^#define (FG_\w+) \(?(-?(?:0[xX][0-9a-fA-F]+|\d+))[uUlL]*\)?$', re.MULTILINE)


def main(out, depfile, header, compiler, *folders):
    with tempfile.TemporaryDirectory() as stubs:
        for name in SYSTEM_HEADERS:
            path = pathlib.Path(stubs, name)
            path.parent.mkdir(exist_ok=True)
            path.touch()
        base = shlex.split(compiler) + ['-E', '-nostdinc', '-isystem', stubs]
        base += ['-D__BEGIN_DECLS=', '-D__END_DECLS='] + [f'-I{folder}' for folder in folders]
        run = lambda *more: subprocess.run(base + [*more, header], check=True, capture_output=True,
                                           text=True).stdout
        declarations = INLINE.sub('', run('-P'))
        constants = [c for c in CONSTANT.findall(run('-dM')) if -2**31 <= int(c[1], 0) < 2**31]
        rule = run('-MM', '-MT', out)
    lines = [f'static const int {name} = {value};' for name, value in sorted(constants)] + [declarations]
    pathlib.Path(out).write_text('return [==[\n' + '\n'.join(lines) + ']==]\n')
    pathlib.Path(depfile).write_text(rule)


main(*sys.argv[1:])
