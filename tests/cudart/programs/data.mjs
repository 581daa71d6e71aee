// What Parboil's programs read, in their formats and of small sizes, since its repository has no data: node data.mjs FOLDER
// writes FOLDER/data, the same at every call.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const at = join(process.argv[2], 'data');
let state = 1;
const random = () => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
const list = (n, value) => Array.from({ length: n }, (_, i) => value(i));
const floats = (n, scale = 1) => Buffer.from(Float32Array.from(list(n, () => scale * random())).buffer);
const words = (values) => Buffer.from(Uint32Array.from(values).buffer);
const points = (n) => list(n, () => `${(360 * random()).toFixed(6)} ${(180 * random() - 90).toFixed(6)}\n`).join('');
const matrix = (rows, columns) => `${rows} ${columns} ${list(rows * columns, () => random().toFixed(6)).join(' ')}\n`;
const write = (name, ...parts) => writeFileSync(join(at, name), Buffer.concat(parts.map((part) => Buffer.from(part))));

mkdirSync(at, { recursive: true });
write('atoms.pqr', ...list(200, (i) => `ATOM  ${i + 1} C ALA 1 ${list(3, () => (20 * random()).toFixed(3)).join(' ')} ${(random() - 0.5).toFixed(3)} 1.0\n`));
write('histo.bin', words([256, 16, 256, 4096]), words(list(64 * 64, () => Math.floor(random() * random() * 256 * 4096))));
write('image.bin', words(list(996 * 1040 / 2, () => Math.floor(2 ** 32 * random()))));
write('lbm.of', ...list(150, () => `${list(120, () => `${list(120, () => random() < 0.1 ? '#' : '.').join('')}\n`).join('')}\n`));
write('mri.bin', words([64, 512]), floats(64 * 3, 0.1), floats(512 * 3), floats(64 * 4));
write('grid.uks', 'aquisition.numsamples=1000\naquisition.kmax=32 32 32\naquisition.matrixSize=32 32 32\nreconstruction.matrixSize=32 32 32\n',
  'gridding.matrixSize=32 32 32\ngridding.oversampling=2\nkernel.width=4\nkernel.useLUT=1\n');
write('grid.uks.data', floats(1000 * 6, 30));
write('a.txt', matrix(128, 96));
write('b.txt', matrix(96, 96));
write('stencil.bin', floats(64 * 64 * 16));
for (const name of ['sky0.txt', 'sky1.txt']) write(name, points(300));
