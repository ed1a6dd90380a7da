/**
 * A clock for a whole isolate that goes on only when nothing is under way: hours of a slow model pass in seconds, and everything between them is
 * the real code. Takes the place of the isolate's timers and clocks; so it is imported before anything that keeps one of them.
 */
const realTimeout = globalThis.setTimeout;

interface Timer {
  readonly id: number;
  readonly at: number;
  readonly run: () => void;
}

const START = 1_800_000_000_000;
/** Turns of the runtime in which nothing may be under way before time goes on: what was read and answered is taken up in them. */
const QUIET_TURNS = 1;

let now = START;
let ids = 0;
let underWay = 0;
const waiting = new Map<number, Timer>();
/** Timers by their time, a heap: the earliest first, of one time in the order in which they were set. */
const heap: Timer[] = [];

const before = (a: Timer | undefined, b: Timer | undefined): boolean => a !== undefined && b !== undefined && (a.at < b.at || (a.at === b.at && a.id < b.id));

function swap(a: number, b: number): void {
  const [left, right] = [heap[a], heap[b]];
  if (left !== undefined && right !== undefined) [heap[a], heap[b]] = [right, left];
}

function push(timer: Timer): void {
  let at = heap.push(timer) - 1;
  for (let parent = (at - 1) >> 1; at > 0 && before(heap[at], heap[parent]); parent = (at - 1) >> 1) {
    swap(at, parent);
    at = parent;
  }
}

function pop(): Timer | undefined {
  const [first] = heap;
  const last = heap.pop();
  if (first === undefined || last === undefined || heap.length === 0) return first;
  heap[0] = last;
  for (let at = 0; ; ) {
    const [left, right] = [2 * at + 1, 2 * at + 2];
    const least = [left, right].reduce((best, child) => (before(heap[child], heap[best]) ? child : best), at);
    if (least === at) return first;
    swap(at, least);
    at = least;
  }
}

/** Calls `run` in `ms`. */
export function after(ms: number, run: () => void): number {
  const timer = { id: ++ids, at: now + Math.max(0, Math.ceil(Number.isFinite(ms) ? ms : 0)), run };
  waiting.set(timer.id, timer);
  push(timer);
  return timer.id;
}

/** Time does not go on before this has ended. */
export function tracked<T>(work: Promise<T>): Promise<T> {
  underWay++;
  return work.finally(() => {
    underWay--;
  });
}

async function quiet(): Promise<void> {
  for (let turns = 0; turns < QUIET_TURNS; ) {
    await new Promise<void>((resolve) => realTimeout(resolve, 0));
    turns = underWay === 0 ? turns + 1 : 0;
  }
}

/** Lets time go on until `done`, for at most so long. Answers how long it was; throws when there is nothing left to wait for. */
export async function run(done: () => boolean, most: number): Promise<number> {
  const from = now;
  for (;;) {
    await quiet();
    if (done()) return now - from;
    const timer = nextTimer();
    if (timer === undefined) throw new Error("nothing is left to wait for");
    if (timer.at - from > most) throw new Error(`not over after ${most} ms`);
    now = timer.at;
    for (let due: Timer | undefined = timer; due !== undefined; due = heap[0]?.at === now ? nextTimer() : undefined) due.run();
  }
}

function nextTimer(): Timer | undefined {
  for (;;) {
    const timer = pop();
    if (timer === undefined || waiting.delete(timer.id)) return timer;
  }
}

const cancel = (id: unknown): void => void waiting.delete(Number(id));
Object.assign(globalThis, {
  setTimeout: (run: () => void, ms = 0) => after(ms, run),
  clearTimeout: cancel,
});
Date.now = () => now;
performance.now = () => now - START;
