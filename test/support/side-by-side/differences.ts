import type { Folder } from "./played.ts";

/** One place in which two folders differ; texts of JSON, numbers as they are written. */
export interface Difference {
  /** `row 2.metrics.correct`, `metadata.tools.0.parameters`; `(keys)` behind an object means their order or number. */
  readonly path: string;
  readonly theirs: string;
  readonly ours: string;
}

const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** JSON in which a number is a text that says whether it is one of Python's integers or floats. */
const typed = (text: string): unknown =>
  JSON.parse(
    text.replace(TEXT_OR_NUMBER, (found) => (found.startsWith('"') ? found : JSON.stringify(`${/[.eE]/.test(found) ? "float" : "int"} ${Number(found)}`))),
  );

/** Ours beyond verifiers' keys, and what no two runs have in common. */
const UNCOMPARED: ReadonlySet<string> = new Set(["rollout_index", "edgewise", "version_info"]);
const ALWAYS_OTHER = /^(row \d+\.timing(\.|$).*|metadata\.(time|base_url)$)/;

/** Every place in which the folders differ, rows in the order of the files. */
export function differencesOf(theirs: Folder, ours: Folder): readonly Difference[] {
  const found: Difference[] = [];
  const length = Math.max(theirs.rows.length, ours.rows.length);
  for (let at = 0; at < length; at++) compare(`row ${at}`, typed(theirs.rows[at] ?? "null"), typed(ours.rows[at] ?? "null"), found);
  compare("metadata", typed(theirs.metadata), typed(ours.metadata), found);
  return found;
}

function compare(path: string, theirs: unknown, ours: unknown, found: Difference[]): void {
  if (isObject(theirs) && isObject(ours)) {
    const [a, b] = [keysOf(theirs, path), keysOf(ours, path)];
    if (a.join() !== b.join()) found.push({ path: `${path}(keys)`, theirs: a.join(), ours: b.join() });
    for (const key of a) if (b.includes(key)) compare(`${path}.${key}`, theirs[key], ours[key], found);
    return;
  }
  if (Array.isArray(theirs) && Array.isArray(ours) && theirs.length === ours.length) {
    for (const [at, item] of theirs.entries()) compare(`${path}.${at}`, item, ours[at], found);
    return;
  }
  const [a, b] = [JSON.stringify(theirs), JSON.stringify(ours)];
  if (a === b || (ALWAYS_OTHER.test(path) && sameKind(theirs, ours))) return;
  found.push({ path, theirs: a, ours: b });
}

const keysOf = (value: object, path: string): string[] =>
  Object.keys(value).filter((key) => !UNCOMPARED.has(key) && !(key === "code" && path.endsWith(".error")));

/** Both floats, or both texts, or both null. */
const sameKind = (a: unknown, b: unknown): boolean => kindOf(a) === kindOf(b);
const kindOf = (value: unknown): string => (typeof value === "string" ? (/^(int|float) /.exec(value)?.[1] ?? "text") : value === null ? "null" : typeof value);

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
