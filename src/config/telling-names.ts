/**
 * Public names that say themselves where they lead. Some name servers answer with the address that stands in the name
 * (`127.0.0.1.nip.io`), or always with the caller's own machine; a public name may be such a one too, but this text alone shows it.
 */
import { isPrivateV4, isPublicV4, isPublicV6, numbersOfV6, type V4 } from "./endpoints/ip-ranges.ts";

/** Any name below them is the machine that asks. */
const LOOPBACK_ZONES = ["localtest.me", "lvh.me", "vcap.me", "lacolhost.com", "fuf.me", "local.gd", "localho.st"];

/** A name below them is the address that it spells: dotted, dashed, eight hexadecimal digits, IPv6 with dashes for colons. Some spell two and change. */
const SPELLING_ZONES = ["nip.io", "sslip.io", "xip.io", "traefik.me", "backname.io", "rbndr.us", "1u.ms"];

const isBelow = (host: string, zones: readonly string[]): boolean => zones.some((zone) => host === zone || host.endsWith(`.${zone}`));

/**
 * Whether a name leads, or may lead, to an address that is not of the internet, as far as its own text tells. `host` is in lower case. What
 * any name server may do with a name that tells nothing is not known here.
 */
export function leadsAside(host: string): boolean {
  if (isBelow(host, LOOPBACK_ZONES)) return true;
  // No public name has a reason to spell one of these, under whatever zone.
  if (fourNumbers(host, /(?<![^.-])/).some(isKept)) return true;
  if (!isBelow(host, SPELLING_ZONES)) return false;
  const [numbers, groups] = [[...fourNumbers(host, /(?<!\d)/), ...hexadecimal(host)], dashedV6(host)];
  return numbers.length + groups.length === 0 || !numbers.every(isPublicV4) || !groups.every(isPublicV6);
}

/** Private, loopback, link-local, or shared by the customers of a provider (RFC 6598). */
const isKept = (address: V4): boolean => isPrivateV4(address) || (address[0] === 100 && address[1] >= 64 && address[1] < 128);

/** Every place after `start` at which four numbers stand side by side. */
function fourNumbers(host: string, start: RegExp): readonly V4[] {
  const found = [...host.matchAll(new RegExp(`${start.source}(?=(\\d{1,3})[.-](\\d{1,3})[.-](\\d{1,3})[.-](\\d{1,3})(?!\\d))`, "g"))];
  return found.map((match) => match.slice(1).map(Number) as unknown as V4).filter((numbers) => numbers.every((number) => number < 256));
}

function hexadecimal(host: string): readonly V4[] {
  const found = host.match(/(?<![0-9a-z])[0-9a-f]{8}(?![0-9a-z])/g) ?? [];
  return found.map((digits) => [0, 2, 4, 6].map((at) => Number.parseInt(digits.slice(at, at + 2), 16)) as unknown as V4);
}

/** A label that is an IPv6 address with dashes for colons, else every part of it that is one. A label has 63 characters at most. */
function dashedV6(host: string): readonly (readonly number[])[] {
  return host.split(".").flatMap((label) => {
    const pieces = label.slice(0, 63).split("-");
    const whole = v6Of(pieces);
    if (whole !== null) return [whole];
    const parts = pieces.flatMap((_, from) => pieces.slice(from).map((_, count) => v6Of(pieces.slice(from, from + count + 1))));
    return parts.filter((address) => address !== null);
  });
}

function v6Of(pieces: readonly string[]): readonly number[] | null {
  const text = `http://[${pieces.join(":")}]`;
  return pieces.length > 2 && URL.canParse(text) ? numbersOfV6(new URL(text).hostname) : null;
}
