"""Draws what practice.py measured: for each set of shapes, how many of them are at least so many times as fast as cuBLAS.

    python3 draw_practice.py SHAPES.csv "NVIDIA H200" > practice.svg
"""
import csv, math, sys

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 400, 60, 40, 190, 50
LEAST, MOST = 0.5, 4  # times as fast
SETS = (('random', 'random, halves and bf16', '#0b63b5'), ('layers_nn', 'layers, halves', '#2f7d32'),
        ('layers_nt', 'layers, B as n x k, bf16', '#8a5a00'), ('f32_random', 'random, floats', '#b3261e'))


def x_of(share):
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def y_of(ratio):
    ratio = min(max(ratio, LEAST), MOST)
    return HEIGHT - BOTTOM - math.log(ratio / LEAST) / math.log(MOST / LEAST) * (HEIGHT - TOP - BOTTOM)


def text(x, y, words, anchor='start', colour='#222'):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def main():
    ratios = {name: [] for name, _, _ in SETS}
    for row in csv.DictReader(open(sys.argv[1])):
        if row['set'] in ratios:
            ratios[row['set']].append(float(row['ratio']))
    title = f'Times as fast as cuBLAS, {sys.argv[2]}: the shapes of each set from the slowest to the fastest'
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="14" '
           f'role="img"><title>{title}</title><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', text(10, 22, title)]
    for ratio in (0.5, 0.75, 1, 1.5, 2, 3, 4):
        y, colour = y_of(ratio), '#222' if ratio == 1 else '#ccc'
        out += [f'<path d="M{x_of(0):.0f} {y:.1f}H{x_of(1):.0f}" stroke="{colour}"/>', text(LEFT - 8, y + 5, f'{ratio:g}', 'end')]
    for share in (0.05, 0.25, 0.5, 0.75, 1):
        out += [f'<path d="M{x_of(share):.0f} {y_of(LEAST):.0f}v6" stroke="#222"/>',
                text(x_of(share), HEIGHT - BOTTOM + 22, f'{100 * share:.0f} %', 'middle')]
    for i, (name, words, colour) in enumerate(SETS):
        all = sorted(ratios[name])
        points = ' '.join(f'{x_of(j / (len(all) - 1)):.1f},{y_of(r):.1f}' for j, r in enumerate(all))
        out += [f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>',
                text(x_of(1) + 12, TOP + 40 + 24 * i, words, colour=colour)]
    print('\n'.join(out + ['</svg>']))


main()
