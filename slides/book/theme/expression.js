// Expressions of whole numbers, as in C: + - * / % & | ^ ~ << >> ( ), names and numbers. Where C's int would overflow, they
// have no value.
const levels = [['|'], ['^'], ['&'], ['<<', '>>'], ['+', '-'], ['*', '/', '%']];

const operate = {
  '|': (a, b) => a | b, '^': (a, b) => a ^ b, '&': (a, b) => a & b, '<<': (a, b) => a * 2 ** b, '>>': (a, b) => a >> b,
  '+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b, '/': (a, b) => Math.trunc(a / b), '%': (a, b) => a % b,
};

function fitting(value) {
  if (value !== (value | 0)) throw new Error(`${value} does not fit in an int, which ends at 2147483647`);
  return value;
}

function tokens(text) {
  const found = text.match(/\d+|[A-Za-z_]\w*|<<|>>|\S/g) ?? [];
  return found.length ? found : ['(nothing)'];
}

// A function of names -> value. Throws an Error that says what is wrong.
export function parse(text) {
  const rest = tokens(text);

  function factor() {
    const token = rest.shift();
    if (token === undefined) throw new Error('something is missing at the end');
    if (/^\d/.test(token)) return () => fitting(Number(token));
    if (/^[A-Za-z_]/.test(token))
      return (names) => { if (!(token in names)) throw new Error(`there is no "${token}"; there are ${Object.keys(names).join(', ')}`); return names[token]; };
    if (token === '-' || token === '~') {
      const value = factor();
      return token === '-' ? (names) => fitting(0 - value(names)) : (names) => ~value(names);
    }
    if (token !== '(') throw new Error(`"${token}" is not expected here`);
    const value = level(0);
    if (rest.shift() !== ')') throw new Error('a ")" is missing');
    return value;
  }

  function level(at) {
    if (at === levels.length) return factor();
    let value = level(at + 1);
    while (levels[at].includes(rest[0])) {
      const sign = rest.shift(), left = value, right = level(at + 1);
      value = (names) => {
        const b = right(names);
        if (b === 0 && '/%'.includes(sign)) throw new Error('a division by 0');
        if ((b < 0 || b > 31) && ['<<', '>>'].includes(sign)) throw new Error(`a shift by ${b}: an int has 32 bits`);
        return fitting(operate[sign](left(names), b) + 0);
      };
    }
    return value;
  }

  const value = level(0);
  if (rest.length) throw new Error(`"${rest[0]}" is not expected here`);
  return value;
}
