import { diffLines, diffWordsWithSpace } from "diff";

/** A part of two texts: what both have, or one of them alone. */
export interface DiffPart {
  readonly kind: "same" | "left" | "right";
  readonly text: string;
}

/** Texts that differ in more places are not marked word by word, but line by line; in more lines than that not at all: hostile ones would take for ever. */
const MOST_EDITS = 1_500;
/** Texts this long are marked line by line. */
const MOST_WORDS = 60_000;
const LIMIT_MS = 400;

/** Parts of both texts in their order; null where they differ in too much to be marked. Ends in bounded time whatever the texts are. */
export function diffTexts(left: string, right: string): readonly DiffPart[] | null {
  if (left === right) return left === "" ? [] : [{ kind: "same", text: left }];
  const start = commonStart(left, right);
  const end = commonEnd(left.slice(start), right.slice(start));
  const [one, two] = [left.slice(start, left.length - end), right.slice(start, right.length - end)];
  const middle = middleParts(one, two);
  if (middle === null) return null;
  return [
    ...(start === 0 ? [] : [{ kind: "same" as const, text: left.slice(0, start) }]),
    ...middle,
    ...(end === 0 ? [] : [{ kind: "same" as const, text: left.slice(left.length - end) }]),
  ];
}

function middleParts(one: string, two: string): readonly DiffPart[] | null {
  if (one === "" || two === "")
    return [...(one === "" ? [] : [{ kind: "left" as const, text: one }]), ...(two === "" ? [] : [{ kind: "right" as const, text: two }])];
  const bounds = { maxEditLength: MOST_EDITS, timeout: LIMIT_MS };
  const changes = (one.length + two.length <= MOST_WORDS ? diffWordsWithSpace(one, two, bounds) : undefined) ?? diffLines(one, two, bounds);
  return changes?.map(({ value, added, removed }) => ({ kind: added ? "right" : removed ? "left" : "same", text: value })) ?? null;
}

/** How long the texts are the same from their beginning, up to the end of a word. */
function commonStart(left: string, right: string): number {
  const most = Math.min(left.length, right.length);
  let same = 0;
  while (same < most && left.charCodeAt(same) === right.charCodeAt(same)) same += 1;
  if (same === left.length || same === right.length) return wordStart(left.length > right.length ? left : right, same);
  return wordStart(left, same);
}

function commonEnd(left: string, right: string): number {
  const most = Math.min(left.length, right.length);
  let same = 0;
  while (same < most && left.charCodeAt(left.length - 1 - same) === right.charCodeAt(right.length - 1 - same)) same += 1;
  while (same > 0 && isWordPart(left.charCodeAt(left.length - same))) same -= 1;
  return same;
}

function wordStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && isWordPart(text.charCodeAt(start - 1))) start -= 1;
  return start;
}

/** Letters, digits and halves of surrogate pairs: texts are not parted between two of them. */
const isWordPart = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95 || code > 127;
