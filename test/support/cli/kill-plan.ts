/** When and how a run is killed, drawn from a seed. */
import { Random } from "../../simulation/world/random.ts";
import type { Kill } from "./local-stack.ts";

export interface PlannedKill {
  readonly what: Kill["what"];
  /**
   * So many requests after the start of the stack; or so many milliseconds after it, which hits its start and its take-over; or so many
   * milliseconds after the last answer of the run, which hits the end.
   */
  readonly when: { readonly requests: number } | { readonly ms: number } | { readonly msAfterLast: number };
}

/** `EDGEWISE_TEST_SEED`, or one that is printed, so that a failure can be had again. */
export function seedOf(test: string): number {
  const seed = Number(process.env.EDGEWISE_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`${test}: EDGEWISE_TEST_SEED=${seed}`);
  return seed;
}

export interface PlanSize {
  /** Kills of everything, and of the command alone. */
  readonly stack: number;
  readonly command: number;
  /** Most requests before a kill, as a rule; and at two kills, so that what a stack does every second has been done. */
  readonly requests: number;
  readonly manyRequests: number;
}

/** Kills in random order: the first leaves something to go on from, the last hits the end of the run. */
export function killPlan(seed: number, { stack, command, requests, manyRequests }: PlanSize): readonly PlannedKill[] {
  const random = new Random(seed);
  const kinds: Kill["what"][] = [...Array<"stack">(stack).fill("stack"), ...Array<"command">(command).fill("command")];
  for (let at = kinds.length - 1; at > 0; at -= 1) {
    const other = random.int(0, at);
    [kinds[at], kinds[other]] = [kinds[other] ?? "stack", kinds[at] ?? "stack"];
  }
  // One command at least dies in the middle of its work.
  const early = kinds.indexOf("command");
  return kinds.map((what, index, { length }) => {
    if (index === 0 || index === early) return { what, when: { requests } };
    if (index === length - 1) return { what, when: { msAfterLast: random.int(0, 200) } };
    if (index % 10 === 5) return { what, when: { requests: manyRequests } };
    return { what, when: random.chance(0.4) ? { ms: random.int(0, 1500) } : { requests: random.int(1, requests) } };
  });
}
