// Numbers: formulas, and how a value is written.
import { fail } from './project.mjs';

export const grouped = (text) => String(text).replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','));

// As C's printf rounds: what lies exactly between two goes to the even one, 51.25 to 51.2.
export function fixed(x, digits) {
  const tie = x.toFixed(60).match(new RegExp(`^(.*\\.\\d{${digits}})50*$`));  // all its digits; cut, if it is a tie
  if (!tie) return x.toFixed(digits);
  return /[02468]\.?$/.test(tie[1]) ? tie[1].replace(/\.$/, '') : x.toFixed(digits);
}

export const rate = (tflops) => fixed(tflops, tflops >= 9.995 ? 1 : 2);
const three_digits = (x) => fixed(x, x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2);
export const time = (ms) => (ms < 1 ? `${three_digits(ms * 1000)} us` : `${three_digits(ms)} ms`);

// A gain, "+12.2 %", of how many times as fast something is.
export const signed = (times) => `${times < 1 ? '' : '+'}${fixed(100 * (times - 1), 1)} %`;

const functions = { ceil: Math.ceil, floor: Math.floor, round: Math.round, min: Math.min, max: Math.max, log2: Math.log2 };

// A formula in numbers, + - * / % ( ) < > ? : and **, the functions above, and the names that are given.
export function evaluate(formula, names, where) {
  const value = (name) => names[name] ?? fail(`${where}: ${name} is unknown`);
  const js = formula.replace(/[A-Za-z_]\w*/g, (name) => (name in functions ? `$${name}` : `(${value(name)})`));
  if (!/^([\d\s.,+\-*/%()<>?:]|e[+-]?\d|\$\w+(?=\())+$/.test(js)) fail(`${where}: "${formula}" is no formula`);
  try {
    return Function(...Object.keys(functions).map((name) => `$${name}`), `return (${js});`)(...Object.values(functions));
  } catch {
    return fail(`${where}: "${formula}" is no formula`);
  }
}

// A value that a text quotes: x for formulas, text as it is written, unit behind it. shown: x in that unit.
export const quantity = (x, text, unit = '', shown = x) => ({ x, text, unit, shown });

const in_general = (x) => (Number.isInteger(x) ? String(x) : String(Number(x.toPrecision(4))));

export const number = (x) => quantity(x, grouped(in_general(x)));

export const percent = (r) => quantity(r, `${fixed(100 * r, 1)} %`, ' %', 100 * r);

// With as many decimals.
export const with_digits = (q, digits) => grouped(fixed(q.shown, digits)) + q.unit;
