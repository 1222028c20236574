# SPDX-License-Identifier: BSD-3-Clause
"""What a result claims of the device, for tests on cards that lose nothing by themselves."""


def rows(result):
    """All rows of a result that have a validity, at whatever depth its method keeps them"""
    found = []

    def look(value):
        if isinstance(value, dict):
            found.extend([value] * ('validity' in value))
            value = list(value.values())
        for one in value if isinstance(value, list) else []:
            look(one)

    look((result or {}).get('results'))
    return found


def lies(result):
    """Rows that claim a loss: the wire between the cards loses nothing"""
    return [
        row
        for row in rows(result)
        if row['validity'] == 'valid' and any(row.get(key) for key in ('lost', 'loss_ratio'))
    ]
