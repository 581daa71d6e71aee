// What a page that answers shows, as the query of its address: a link brings the view back. A page has fields; a field has
// its plain value, take(text), which gives the value or undefined, and what it wants, in words.

export const whole = (least, most, plain) => ({ plain, what: `a whole number from ${least} to ${most}`,
  take: (text) => (/^\d{1,9}$/.test(text) && text >= least && text <= most ? Number(text) : undefined) });

const bare = (text) => String(text).toLowerCase().replaceAll(' ', '');
export const one_of = (values, plain = values[0]) => ({ plain, what: `one of ${values.map((v) => (v === '' ? 'nothing' : v)).join(', ')}`,
  take: (text) => values.find((value) => bare(value) === bare(text)) });

export const line = (longest, plain) => ({ plain, what: `a text of at most ${longest} letters`,
  take: (text) => (text.length <= longest ? text : undefined) });

export const plain_view = (fields) => Object.fromEntries(Object.entries(fields).map(([name, { plain }]) => [name, plain]));

const shown = (text) => (text.length > 40 ? `${text.slice(0, 40)}...` : text);

// The view that an address asks for, and a line for each part of it that cannot be; the plain value stands in for it.
export function read_address(query, fields) {
  const asked = plain_view(fields), wrong = [];
  for (const [name, text] of new URLSearchParams(query)) {
    if (!Object.hasOwn(fields, name)) {
      wrong.push(`The link has "${shown(name)}", which this page does not know.`);
      continue;
    }
    const { take, what, plain } = fields[name], value = take(text);
    if (value === undefined) wrong.push(`The link has ${name}=${shown(text)}: it must be ${what}. Shown is ${plain === '' ? 'none' : plain}.`);
    else asked[name] = value;
  }
  return { asked, wrong };
}

// "?name=value&..." of what is not plain.
export function write_address(asked, fields) {
  const query = new URLSearchParams();
  for (const [name, { plain }] of Object.entries(fields)) if (asked[name] !== plain) query.set(name, asked[name]);
  return query.size || [...query].length ? `?${query}` : '';
}

// Throws an Error if a field has a value that it cannot have: an input can be empty, or beyond its limits.
export function check_view(asked, fields) {
  for (const [name, { take, what }] of Object.entries(fields))
    if (take(String(asked[name])) === undefined) throw new Error(`${name} must be ${what}${asked[name] === '' ? '' : `, not ${shown(String(asked[name]))}`}`);
}
