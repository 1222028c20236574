# SPDX-License-Identifier: BSD-3-Clause
"""Whether ten trials after each other are alike.

trials.py RESULT LOGGED EACH: at a rate that is no burden to anybody each has EACH transactions, within 5 %,
and all together as many as the server has logged; no connection fails or waits for a SYN that is repeated.
Ends with 77 where the result says that the tester had no processor, so that it opened fewer: all that it
asked for was answered in any case. What it opened right before its time was over asks for nothing any more.
"""

import json
import pathlib
import sys

result = pathlib.Path(sys.argv[1])
row = json.loads(result.read_text())['results']['l4'][0]
lines = (result.parent / 'trials.jsonl').read_text().splitlines()
clients = [json.loads(line)['sides'][0]['apps'][0] for line in lines]
made = [client['total']['transactions'] for client in clients]
# a trial without a processor has set up nothing
slowest = max((client['setup']['max_ns'] for client in clients if client.get('setup')), default=0) / 1e9
failed = sum(row['failures'].values()) + row.get('outstanding', 0)
print(f'# {made}, {sys.argv[2]} in the log, {failed} failed, set-up at most {slowest:.3f} s')
near = all(abs(n - int(sys.argv[3])) <= 0.05 * int(sys.argv[3]) for n in made)
same = sum(made) == int(sys.argv[2])
if len(made) == 10 and near and same and failed == 0 and slowest < 0.9:
    sys.exit(0)
busy = row['validity'] != 'valid' and any('host held the tester up' in reason for reason in row['reasons'])
sys.exit(77 if same and busy and failed == 0 else 1)
