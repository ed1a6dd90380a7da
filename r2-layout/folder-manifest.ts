import { fail, ok, type Result } from "../src/errors/result.ts";
import { MAX_MANIFEST_BYTES } from "../src/limits.ts";
import { isDigest } from "./keys.ts";

/** Some rows of a results folder, uploaded under the digest of their bytes: whole examples, ascending, each in one part only. */
export interface FolderPart {
  readonly digest: string;
  readonly bytes: number;
}

/** Example ids from `first` to `last`, both among them. */
export type IdRange = readonly [first: number, last: number];

/**
 * A results folder as it was uploaded: its rows in parts, in the order in which they are taken over, and the examples that it has rows of.
 * An example outside of `held` has none; one inside may have none, where there are more holes than ranges.
 */
export interface FolderManifest {
  readonly parts: readonly FolderPart[];
  /** Ascending, apart from each other; at most `MAX_HELD_RANGES`. */
  readonly held: readonly IdRange[];
}

/** A manifest names the holes in a folder that hold the most examples; all others are found when its rows are taken over. */
export const MAX_HELD_RANGES = 4_096;

const VERSION = 1;

export const manifestText = ({ parts, held }: FolderManifest): string => JSON.stringify({ version: VERSION, parts, held });

/** Refuses with `stored_version_unknown` what a later version wrote, with `resume_mismatch` what is no manifest. */
export function readManifest(bytes: Uint8Array): Result<FolderManifest> {
  const broken = fail("resume_mismatch", "The upload that names the parts of the result folder is damaged.", "Resume from the folder again.");
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, MAX_MANIFEST_BYTES + 1)));
  } catch {
    return broken;
  }
  if (typeof value !== "object" || value === null) return broken;
  const { version, parts, held } = value as Record<string, unknown>;
  if (typeof version === "number" && version !== VERSION)
    return fail("stored_version_unknown", `The upload of a result folder has version ${version}; this version knows ${VERSION}.`);
  if (!Array.isArray(parts) || !parts.every(isPart) || !isHeld(held)) return broken;
  return ok({ parts, held });
}

function isPart(value: unknown): value is FolderPart {
  const { digest, bytes } = (value ?? {}) as Record<string, unknown>;
  return typeof digest === "string" && isDigest(digest) && Number.isSafeInteger(bytes);
}

function isHeld(value: unknown): value is IdRange[] {
  if (!Array.isArray(value) || value.length > MAX_HELD_RANGES) return false;
  let last = Number.NEGATIVE_INFINITY;
  for (const range of value as unknown[]) {
    if (!Array.isArray(range) || range.length !== 2 || !range.every(Number.isSafeInteger)) return false;
    const [from, to] = range as [number, number];
    if (from <= last || to < from) return false;
    last = to;
  }
  return true;
}

/** Ascending ids as at most `most` ranges: where there are more, the smallest holes are counted among them. */
export function rangesOfIds(ids: Iterable<number>, most = MAX_HELD_RANGES): IdRange[] {
  const ranges: [number, number][] = [];
  for (const id of ids) {
    const open = ranges.at(-1);
    if (open !== undefined && id === open[1] + 1) open[1] = id;
    else ranges.push([id, id]);
  }
  if (ranges.length <= most) return ranges;
  const holes = ranges.slice(1).map(([first], index) => first - (ranges[index]?.[1] ?? first));
  const kept = new Set(
    holes
      .map((size, index) => ({ size, index }))
      .sort((a, b) => b.size - a.size || a.index - b.index)
      .slice(0, most - 1)
      .map(({ index }) => index),
  );
  const merged: [number, number][] = [];
  for (const [index, range] of ranges.entries()) {
    const open = merged.at(-1);
    if (open === undefined || kept.has(index - 1)) merged.push(range);
    else open[1] = range[1];
  }
  return merged;
}

/** Units without a row: `ids` are the example ids by unit, ascending. */
export function unitsOutside(ids: readonly number[], held: readonly IdRange[]): { readonly lo: number; readonly hi: number }[] {
  const outside: { lo: number; hi: number }[] = [];
  let next = 0;
  for (const [unit, id] of ids.entries()) {
    while (next < held.length && (held[next]?.[1] ?? 0) < id) next++;
    const range = held[next];
    if (range !== undefined && id >= range[0]) continue;
    const open = outside.at(-1);
    if (open !== undefined && open.hi === unit) open.hi++;
    else outside.push({ lo: unit, hi: unit + 1 });
  }
  return outside;
}
