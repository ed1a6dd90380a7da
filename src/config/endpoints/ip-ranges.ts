/** Addresses as numbers, and which of them the internet does not reach. */

export type V4 = readonly [number, number, number, number];
export type V6 = readonly number[];

/** URL parsing has brought every notation (decimal, hexadecimal, octal, short) to four numbers. */
export function numbersOfV4(host: string): V4 | null {
  const found = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(host)?.slice(1).map(Number);
  return found === undefined ? null : (found as unknown as V4);
}

/** The eight groups; null for anything but `[…]`. An IPv4 address at the end is two groups already, by URL parsing. */
export function numbersOfV6(host: string): V6 | null {
  if (!host.startsWith("[")) return null;
  const groups = (text: string | undefined): number[] => (text === undefined || text === "" ? [] : text.split(":").map((part) => Number.parseInt(part, 16)));
  const [before, after] = host.slice(1, -1).split("::");
  const [head, tail] = [groups(before), groups(after)];
  return after === undefined ? head : [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
}

/** RFC 1918, loopback, link-local, and 0.0.0.0, which reaches this machine. */
export function isPrivateV4([a, b, c, d]: V4): boolean {
  return a === 127 || a === 10 || (a === 172 && b >= 16 && b <= 31) || (a === 192 && b === 168) || (a === 169 && b === 254) || a + b + c + d === 0;
}

/** ::1, ::, fc00::/7 (unique local), fe80::/10 (link-local), and IPv4 mapped into IPv6. */
export function isPrivateV6(groups: V6): boolean {
  const [first = 0] = groups;
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff ? v4In(groups, 6) : null;
  if (mapped !== null) return isPrivateV4(mapped);
  return (groups.slice(0, 7).every((group) => group === 0) && (groups[7] ?? 0) <= 1) || (first & 0xfe00) === 0xfc00 || (first & 0xffc0) === 0xfe80;
}

/** First and last address of what IANA's registry of special-purpose IPv4 addresses keeps from the internet; multicast and reserved at the end. */
const SPECIAL_V4: readonly (readonly [from: V4, bits: number])[] = [
  [[0, 0, 0, 0], 8],
  [[10, 0, 0, 0], 8],
  [[100, 64, 0, 0], 10],
  [[127, 0, 0, 0], 8],
  [[169, 254, 0, 0], 16],
  [[172, 16, 0, 0], 12],
  [[192, 0, 0, 0], 24],
  [[192, 0, 2, 0], 24],
  [[192, 88, 99, 0], 24],
  [[192, 168, 0, 0], 16],
  [[198, 18, 0, 0], 15],
  [[198, 51, 100, 0], 24],
  [[203, 0, 113, 0], 24],
  [[224, 0, 0, 0], 3],
];

const asNumber = ([a, b, c, d]: V4): number => ((a * 256 + b) * 256 + c) * 256 + d;
export const isPublicV4 = (address: V4): boolean =>
  !SPECIAL_V4.some(([from, bits]) => Math.floor(asNumber(address) / 2 ** (32 - bits)) === Math.floor(asNumber(from) / 2 ** (32 - bits)));

/** Only 2000::/3 is given out to the internet; in it, 6to4 carries an IPv4 address, and Teredo and documentation are no places. */
export function isPublicV6(groups: V6): boolean {
  const [first = 0, second = 0] = groups;
  if ((first & 0xe000) !== 0x2000) return false;
  if (first === 0x2002) return isPublicV4(v4In(groups, 1));
  return !(first === 0x2001 && (second < 0x200 || second === 0xdb8)) && !(first === 0x3fff && second < 0x1000);
}

function v4In(groups: V6, at: number): V4 {
  const [high = 0, low = 0] = groups.slice(at, at + 2);
  return [high >> 8, high & 255, low >> 8, low & 255];
}
