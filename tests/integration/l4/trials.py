# SPDX-License-Identifier: BSD-3-Clause
"""Whether ten trials after each other are alike.

trials.py RESULT LOGGED EACH: at a rate that is no burden to anybody each opens EACH connections. All but 5 %
of them have their transaction within its time, and the server has logged the same number; no connection
fails or waits for a SYN that is repeated. A trial that opens fewer than 95 % of EACH fails, as the one
before may have left it no port, unless the result says that the host held the tester up. A connection that
is opened right before the time is over asks for nothing any more. Ends with 77 where the host held the
tester up and a trial opened fewer than half, or they are not alike.
"""

import json
import pathlib
import sys

result = pathlib.Path(sys.argv[1])
row = json.loads(result.read_text())['results']['l4'][0]
lines = (result.parent / 'trials.jsonl').read_text().splitlines()
clients = [json.loads(line)['sides'][0]['apps'][0] for line in lines]
made = [client['total']['transactions'] for client in clients]
opened = [client['total']['opened'] for client in clients]
# a trial without a processor has set up nothing
slowest = max((client['setup']['max_ns'] for client in clients if client.get('setup')), default=0) / 1e9
failed = sum(row['failures'].values()) + row.get('outstanding', 0)
print(f'# {made} of {opened}, {sys.argv[2]} in the log, {failed} failed, set-up at most {slowest:.3f} s')
each = int(sys.argv[3])
near = all(o - 0.05 * each - 1 <= n <= 1.05 * each for n, o in zip(made, opened))
same = sum(made) == int(sys.argv[2])
alike = len(made) == 10 and near and same and failed == 0 and slowest < 0.9
busy = row['validity'] != 'valid' and any('host held the tester up' in reason for reason in row['reasons'])
least = min(opened, default=0)
if alike and (least >= 0.95 * each - 1 or (busy and least >= 0.5 * each)):
    sys.exit(0)
sys.exit(77 if same and busy and failed == 0 else 1)
