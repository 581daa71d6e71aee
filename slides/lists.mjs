// A sum that is broken before its sign, or a bullet without a blank line above: Markdown takes such a line for a list.
const blank = (text) => text.replace(/[^\n]/g, ' ');

// A list of { line, message }.
export function unmeant_lists(text) {
  const lines = [/```[^]*?\n```/g, /<!--[^]*?-->/g].reduce((left, pattern) => left.replace(pattern, blank), text).split('\n');
  const in_paragraph = (line = '') => line.trim() && !/^ *([-+*]|\d+\.) |^ {2,}/.test(line);
  return lines.flatMap((line, i) => (/^ {0,3}[-+*] /.test(line) && in_paragraph(lines[i - 1])
    ? [{ line: i + 1, message: `"${line.trim().slice(0, 20)}" begins a list in the middle of a paragraph` }] : []));
}
