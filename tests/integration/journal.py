# SPDX-License-Identifier: BSD-3-Clause
"""What agents keep of trials that nobody has collected."""
import glob
import json


def journal(folder):
    """The results, as agents of one host wrote them."""
    return [json.load(open(path)) for path in glob.glob(folder + "/*.trial")]


def start_skew(results):
    """How far the ports of one trial began apart, ns: no other trial has the same."""
    starts = [ns for result in results for ns in result["starts_ns"]]
    return max(starts) - min(starts)
