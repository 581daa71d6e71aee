// The bench: a command line of simt without its file, as words.

// "k --grid 4 'f32[8]={1,2}'" -> its words; quotes keep blanks and braces together, as in a shell. Throws an Error if one is
// not closed.
export function words_of(line) {
  const words = [];
  for (let rest = line.trim(); rest;) {
    const [word] = rest.match(/^(?:'[^']*'|"[^"]*"|[^\s'"])+/) ?? [];
    if (!word || /^\s*['"]/.test(rest.slice(word.length))) throw new Error(`a quote is not closed: ${rest.slice(0, 40)}`);
    words.push(word.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'));
    rest = rest.slice(word.length).trim();
  }
  return words;
}

// What simt draw is asked for a picture, by its view (enum simt_view).
export const views = [['--line'], ['--tiles'], ['--walk'], ['--timeline'], ['--bits', '--line']];

export function draw_words({ view, line, nth, execution, warp, global, large }) {
  const place = views[view].includes('--line') ? ['--line', line, '--nth', nth, '--warp', warp, ...(execution ? ['--execution', execution] : []), ...(global ? ['--global'] : [])] : [];
  return [...views[view].filter((word) => word !== '--line'), ...place, ...(large ? ['--large'] : []), '--out', '-'].map(String);
}

export const example = {
  text: `// y = a * x + y, in four blocks: which of x and y does a warp touch?
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
`,
  line: 'saxpy --grid 4 --block 256 i32:1000 f32:2 x=f32[1000]=iota y=f32[1000]=ones',
};
