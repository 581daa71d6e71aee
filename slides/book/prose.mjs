// How lines of prose may break. A plugin of markdown-it.
const fixed = '\u00a0';  // a blank at which no line breaks

// A hyphenated word of code, "--profile" or "apt-get", stays in one line, and so does short code: "lane % 4".
const shortest = 12, longest = 20;
const whole = (code) => `<span class="whole">${code}</span>`;

function keep_code(content, escape) {
  if (content.length <= shortest) return whole(escape(content));
  return content.split(/(?<![\w-])([\w-]*-[\w-]*)/).map((part, i) => (i % 2 && part.length <= longest ? whole(escape(part)) : escape(part))).join('');
}

export function prose_plugin(md) {
  const { rules } = md.renderer, { escapeHtml } = md.utils, text = rules.text;
  // Vue drops the end of a line between two elements, so it has to be a blank: "[stalls](...)\n`bar.sync`".
  rules.softbreak = (tokens, i) => (tokens[i + 1]?.content.startsWith('%') ? fixed : ' ');
  // A number keeps its "%". The number may be the text of an element before.
  rules.text = (...args) => text(...args).replace(/(^|\d) %(?!\w)/g, `$1${fixed}%`);
  rules.code_inline = (tokens, i, options, env, self) =>
    `<code v-pre${self.renderAttrs(tokens[i])}>${keep_code(tokens[i].content, escapeHtml)}</code>`;
}
