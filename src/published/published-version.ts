/** Versions of published environments: those of https://semver.org, without build metadata, so that of two different ones the later is always known. */

const NUMBER = "(?:0|[1-9]\\d{0,8})";
const PART = `(?:${NUMBER}|\\d*[A-Za-z-][0-9A-Za-z-]*)`;
const VERSION = new RegExp(`^(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})(?:-(${PART}(?:\\.${PART})*))?$`);
const MAX_LENGTH = 64;

export const VERSION_RULE = "must be MAJOR.MINOR.PATCH, such as 1.2.0, or with a pre-release behind it, such as 1.2.0-beta.1 (semver.org, without +BUILD)";
export const isVersion = (text: string): boolean => text.length <= MAX_LENGTH && VERSION.test(text);

/** Negative where `a` comes before `b`, by the precedence of semver 2.0. Both are versions. */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [partsOf(a), partsOf(b)];
  for (const [at, number] of one.numbers.entries()) {
    const less = number - (other.numbers[at] ?? 0);
    if (less !== 0) return less;
  }
  return comparePreReleases(one.preRelease, other.preRelease);
}

/** The version that `latest` means: the highest release, or, where nothing was released, the highest of all; null of none. */
export function latestOf<Version extends { readonly version: string }>(all: readonly Version[]): Version | null {
  const released = all.filter(({ version }) => !version.includes("-"));
  const [first, ...others] = released.length > 0 ? released : all;
  return first === undefined ? null : others.reduce((highest, each) => (compareVersions(each.version, highest.version) > 0 ? each : highest), first);
}

interface Parts {
  readonly numbers: readonly number[];
  readonly preRelease: readonly string[];
}

function partsOf(version: string): Parts {
  const [, major, minor, patch, preRelease] = VERSION.exec(version) ?? [];
  return { numbers: [major, minor, patch].map(Number), preRelease: preRelease?.split(".") ?? [] };
}

/** A release comes behind its pre-releases; numbers come before words, and fewer parts before more. */
function comparePreReleases(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (const [at, part] of a.entries()) {
    const other = b[at];
    if (other === undefined) return 1;
    if (part === other) continue;
    const [isNumber, otherIsNumber] = [/^\d+$/.test(part), /^\d+$/.test(other)];
    if (isNumber && otherIsNumber) return Number(part) - Number(other);
    if (isNumber !== otherIsNumber) return isNumber ? -1 : 1;
    return part < other ? -1 : 1;
  }
  return a.length - b.length;
}
