/** Where in the sources of an environment an error came from: frames of stacks through the source maps of the code that this host was given. */
import { originalPositionFor, TraceMap } from "@jridgewell/trace-mapping";

/** Source maps by the name of the script, as text until one is needed: most runs never do. */
const maps = new Map<string, string | TraceMap>();

/** Causes followed, and characters and frames of a stack that are looked at: stacks are written by whoever throws. */
const MAX_CHAIN = 6;
const MAX_STACK = 20_000;
const MAX_FRAMES = 50;
const MAX_NAME = 200;
/** Characters from the end of a frame, where its place stands. */
const MAX_FRAME = 300;

/** The code in `script` (the last part of its address) was made from what `map` says, a source map as JSON with sources named as they are to be shown. */
export function knowSources(script: string, map: string): void {
  maps.set(script, map);
}

/** Places of errors that were thrown where their sources are known, and are here without a stack. */
const told = new WeakMap<object, string>();

/** Whoever has its sources says that `error` was thrown at `place`; they may be anybody. */
export function knowPlace(error: Error, place: string): void {
  told.set(error, place.replace(/\s+/g, " ").slice(0, MAX_FRAME));
}

/** `file.ts:line:column` of the first frame in sources that are known and no package's, of the deepest cause that has one; null when none has. */
export function ownFrame(thrown: unknown): string | null {
  let found: string | null = thrown instanceof Object ? (told.get(thrown) ?? null) : null;
  for (const stack of stacksOf(thrown)) {
    for (const frame of stack) {
      const place = placeOf(frame);
      if (place === null || place.includes("node_modules/")) continue;
      found = place;
      break;
    }
  }
  return found;
}

/** The name of the function that threw, as its stack has it; null when it has none. For code whose sources nobody knows. */
export function throwingFunction(thrown: unknown): string | null {
  const named = stacksOf(thrown).map(([top = ""]) => /^at (?:async )?(?:new )?([\p{L}\p{N}_$.<>]+) (?:\[as [^\]]*\] )?\(/u.exec(top)?.[1] ?? null);
  return named.at(-1) ?? null;
}

/** A text with addresses in known scripts replaced by places in their sources: stacks that environment code prints. */
export function withSources(text: string): string {
  if (maps.size === 0) return text;
  let done = 0;
  let result = "";
  for (const { 0: found, 1: script = "", 2: line, 3: column, index } of text.matchAll(/([^\s()/]{1,80}\.js):(\d{1,9}):(\d{1,9})/g)) {
    const place = traced(script, Number(line), Number(column));
    if (place === null) continue;
    let start = index;
    while (start > done && !/[\s(]/.test(text.charAt(start - 1))) start--;
    result += text.slice(done, start) + place;
    done = index + found.length;
  }
  return result + text.slice(done);
}

/** Frames of the errors of a chain, the outermost first. */
function stacksOf(thrown: unknown): (readonly string[])[] {
  const stacks: (readonly string[])[] = [];
  try {
    for (let next = thrown; next instanceof Object && stacks.length < MAX_CHAIN; next = (next as { cause?: unknown }).cause) {
      const { stack } = next as { stack?: unknown };
      const lines = typeof stack === "string" ? stack.slice(0, MAX_STACK).split("\n") : [];
      const frames = lines.map((line) => line.trim()).filter((line) => line.startsWith("at "));
      stacks.push(frames.slice(0, MAX_FRAMES));
    }
  } catch {
    // A getter of the thrown object throws in its turn: what was read so far is what there is.
  }
  return stacks;
}

function placeOf(frame: string): string | null {
  const [, script, line, column] = /([^\s()/]{1,80}):(\d{1,9}):(\d{1,9})\)?$/.exec(frame.slice(-MAX_FRAME)) ?? [];
  return script === undefined ? null : traced(script, Number(line), Number(column));
}

function traced(script: string, line: number, column: number): string | null {
  const map = mapOf(script);
  if (map === null || line < 1 || column < 1) return null;
  const { source, line: at, column: before } = originalPositionFor(map, { line, column: column - 1 });
  return source === null ? null : `${source.slice(0, MAX_NAME)}:${at}:${before + 1}`;
}

function mapOf(script: string): TraceMap | null {
  const known = maps.get(script);
  if (typeof known !== "string") return known ?? null;
  const map = new TraceMap(known);
  maps.set(script, map);
  return map;
}
