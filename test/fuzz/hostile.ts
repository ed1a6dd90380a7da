import type { Random } from "../simulation/world/random.ts";

/** Texts and values that break what does not count: long, deep, wide, cut off, of the wrong kind. Everything comes from the seed. */

const PIECES = [
  " ",
  "\n",
  "\t",
  '"',
  '""',
  "\\",
  "{",
  "[",
  "]",
  "}",
  ",",
  ":",
  "a,b",
  '{"a":',
  "[1,",
  "NaN",
  "\0",
  "é",
  "\ud800",
  "漢",
  "-1e999",
  "data: ",
  "\r\n",
];

/** A power of two up to `most`. */
export const size = (random: Random, most: number): number => 2 ** random.int(0, Math.log2(most));

/** A run of one piece, or a mixture. */
export function noise(random: Random, most: number): string {
  const length = size(random, most);
  if (random.chance(0.5)) return random.pick(PIECES).repeat(length);
  return Array.from({ length: Math.min(length, 200) }, () => random.pick(PIECES)).join("");
}

/** Any JSON value as text, sometimes far too deep. */
export function deepJson(random: Random): string {
  const levels = size(random, 32_768);
  const [open, close] = random.pick([
    ["[", "]"],
    ['{"a":', "}"],
    ['[{"b":[', "]}]"],
  ] as const);
  return open.repeat(levels) + (random.chance(0.9) ? `1${close.repeat(levels)}` : "");
}

/** Any value that a person, a script or an attacker may put where another is wanted. */
export function value(random: Random, levels = 3): unknown {
  switch (random.int(0, levels > 0 ? 9 : 6)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
      return random.pick([0, -1, 1.5, 1e308, -1e308, 2 ** 53, 30, 1_000_000]);
    case 3:
      return "";
    case 4:
      return noise(random, 4_096);
    case 5:
      return random.pick(["arithmetic", "gsm8k", "m", "__proto__", "constructor", "../..", "sha256:", "http://127.0.0.1/", "NaN"]);
    case 6:
      return random.int(-10, 100);
    case 7:
      return Array.from({ length: random.int(0, 40) }, () => value(random, levels - 1));
    case 8:
      return Object.fromEntries(Array.from({ length: random.int(0, 8) }, (_, at) => [random.chance(0.1) ? "__proto__" : `k${at}`, value(random, levels - 1)]));
    default:
      return Array.from({ length: size(random, 4_096) }, (_, at) => at);
  }
}

/** The bytes with some of them changed, taken out, doubled, or cut off at one end. */
export function damaged(random: Random, bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0 || random.chance(0.3)) return bytes;
  const copy = bytes.slice();
  for (let flips = random.int(0, 8); flips > 0; flips--) copy[random.int(0, copy.length - 1)] = random.int(0, 255);
  const at = random.int(0, copy.length - 1);
  switch (random.int(0, 5)) {
    case 0:
      return copy.slice(0, at);
    case 1:
      return copy.slice(at);
    case 2:
      return new Uint8Array(Buffer.concat([copy.subarray(0, at), copy.subarray(Math.max(0, at - 64)), copy.subarray(at)]));
    default:
      return copy;
  }
}
