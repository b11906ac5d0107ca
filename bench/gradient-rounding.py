#!/usr/bin/env python3
"""Measures what rounding leaves of gradients that are 0.

    bench/gradient-rounding.py RT [options of rt run ...]

In a sequence of one token the softmax has no gradient: dq is 0, and what a path
computes is rounding alone. For every type, D, number of keys, with a dy that is
drawn or one that is the key, and with the norm of a row above and below its
floor, prints how much of it there is, in unit roundoffs of the terms that cancel
("roundings" of rt run --check --json); the bound is termRoundoffs() in
tools/oracle/GradientCheck.h.
"""
import array
import json
import os
import random
import subprocess
import sys
import tempfile

WIDTHS = [1, 4, 32, 52, 128, 300, 2048, 8192]
KEYS = [1, 4, 16, 64, 192, 300, 1000, 3000]


def save(name, code, shape, values):
    """A .npy file."""
    kind = {'i': '<i4', 'f': '<f4', 'd': '<f8'}[code]
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (
        kind, tuple(shape))
    header = header.encode() + b' ' * (-(len(header) + 11) % 64) + b'\n'
    with open(name, 'wb') as file:
        file.write(b'\x93NUMPY\x01\x00' + len(header).to_bytes(2, 'little'))
        file.write(header)
        file.write(array.array(code, values).tobytes())


def measure(rt, dtype, channel, width, keys, scale, along, extra):
    """The roundings of dq, None where rt says nothing."""
    code = {'f32': 'f', 'f64': 'd'}[dtype]
    generator = random.Random(width * 10000 + keys)
    batch, rows = (64, 1) if keys == 1 else (1, min(keys, 100))

    def draw(count):
        return [generator.gauss(0, scale) for _ in range(count)]

    table = draw(batch * width)
    save('ids.npy', 'i', (batch, keys),
         (b for b in range(batch) for _ in range(keys)))
    save('queries.npy', code, (batch, rows, width), draw(batch * rows * width))
    save('table.npy', code, (batch, width), table)
    command = [rt, 'run', '--ids', 'ids.npy', '--queries', 'queries.npy',
               '--table', 'table.npy', '--dtype', dtype, '--channels',
               channel + ',top:1', '--query-offset', str(keys - rows),
               '--backward', '--check', '--json'] + extra
    if along:  # all terms of G . k have one sign
        gradient = []
        for b in range(batch):
            row = [x / scale for x in table[b * width:(b + 1) * width]]
            gradient += (row + [0.0] * width) * rows
        save('grad.npy', code, (batch, rows, 2 * width), gradient)
        command += ['--grad', 'grad.npy']
    if channel.startswith('decay'):
        command += ['--gammas', '0.999']
    done = subprocess.run(command, capture_output=True, text=True)
    if not done.stdout:
        sys.exit('gradient-rounding: %s' % done.stderr.strip())
    for item in json.loads(done.stdout)['check']['items']:
        if item['name'] == 'dq':
            return item.get('roundings')


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    rt, extra = os.path.abspath(sys.argv[1]), sys.argv[2:]
    largest = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for scale, norm in ((1, 'above'), (1e-14, 'below')):
            for dtype in ('f32', 'f64'):
                for channel in ('centroid', 'decay:backward:0'):
                    for along in (False, True):
                        for width in WIDTHS:
                            found = []
                            for keys in KEYS:
                                if width * keys > 200000:
                                    continue
                                value = measure(rt, dtype, channel, width, keys,
                                                scale, along, extra) or 0
                                cell = (width, keys)
                                largest[cell] = max(value, largest.get(cell, 0))
                                found.append('%d: %.1f' % (keys, value))
                            print('norm %s its floor, %s, %s, %s dy, D = %d, by '
                                  'keys:  %s' % (norm, dtype, channel,
                                                 'the key as' if along else
                                                 'a drawn', width,
                                                 '  '.join(found)), flush=True)
    print('largest by D and keys:')
    for width in WIDTHS:
        print('%5d:  ' % width + '  '.join(
            '%d: %.1f' % (keys, largest[width, keys]) for keys in KEYS
            if (width, keys) in largest))


if __name__ == '__main__':
    main()
