#!/usr/bin/env python3
"""Compares the speed of two builds of rt, run in turns on the same input.

    bench/compare-builds.py OLD NEW [--pairs 15] [--d-model 64,256,768] ...

OLD and NEW are paths of rt. Each pair runs both, in alternating order; a ratio
is the old time over the new one (above 1: the new one is faster). Prints, by
d_model and pass, the median of the ratios and the interval that holds the
median with at least 95% (order statistics, sign test).
"""
import argparse
import json
import math
import subprocess
import sys


def run(rt, options, d_model):
    command = [rt, 'run', '--text', options.text, '--vocab', 'word', '--seq-len',
               str(options.seq_len), '--d-model', str(d_model), '--backward',
               '--repeat', str(options.repeat), '--json']
    command += options.extra.split()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit('compare-builds: %s failed: %s' % (rt, done.stderr.strip()))
    result = json.loads(done.stdout)
    return {'forward': result['run_ms'], 'backward': result['backward']['run_ms'],
            'compile': result['compile_ms']}


def median_interval(values):
    """Median, and the narrowest symmetric pair of order statistics that holds
    the median with at least 95%."""
    values = sorted(values)
    n, below = len(values), 0.0
    rank = 0
    for k in range(n // 2):
        below += math.comb(n, k) / 2.0 ** n
        if 2 * below > 0.05:
            break
        rank = k + 1
    middle = (values[(n - 1) // 2] + values[n // 2]) / 2
    low = values[max(rank - 1, 0)]
    return middle, low, values[n - 1 - max(rank - 1, 0)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('old')
    parser.add_argument('new')
    parser.add_argument('--pairs', type=int, default=15)
    parser.add_argument('--repeat', type=int, default=5)
    parser.add_argument('--seq-len', type=int, default=2048)
    parser.add_argument('--d-model', default='64,256,768')
    parser.add_argument('--text', default='tests/data/plays.txt')
    parser.add_argument('--extra', default='', help='more options of rt run')
    options = parser.parse_args()
    for d_model in map(int, options.d_model.split(',')):
        times = {'forward': [], 'backward': [], 'compile': []}
        for pair in range(options.pairs):
            builds = [options.old, options.new]
            order = builds if pair % 2 == 0 else builds[::-1]
            measured = {rt: run(rt, options, d_model) for rt in order}
            for part, ratios in times.items():
                ratios.append((measured[options.old][part],
                               measured[options.new][part]))
        for part, pairs in times.items():
            middle, low, high = median_interval([a / b for a, b in pairs])
            old, new = (sorted(p[i] for p in pairs)[len(pairs) // 2]
                        for i in (0, 1))
            print('D = %-5d %-9s old / new %.3f  [%.3f, %.3f]  medians %.1f ms, '
                  '%.1f ms' % (d_model, part, middle, low, high, old, new),
                  flush=True)


if __name__ == '__main__':
    main()
