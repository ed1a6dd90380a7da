/** Kills of the local stack, and what the model server's ledger says they may have cost. */
import { isAlive, markOf } from "../../../src/cli/state/processes.ts";
import { readLock } from "../../../src/cli/state/state-lock.ts";
import { type CliProcess, until, type Workplace } from "./cli-process.ts";
import type { Ledger, LedgerEntry } from "../model-server/model-ledger.ts";

/** Clock of the model server's ledger: Unix milliseconds with a fraction. */
export const clock = (): number => performance.timeOrigin + performance.now();

export interface Kill {
  readonly what: "stack" | "command";
  /** When the signals were sent. */
  readonly at: number;
  /** When the last process that could still call the model was gone. */
  readonly over: Promise<number>;
}

/** SIGKILL to the command and its runtime, or to the command alone, with which the runtime ends. */
export async function kill(place: Workplace, cli: CliProcess, what: Kill["what"]): Promise<Kill> {
  const at = clock();
  sigkill(-cli.pid);
  const runtime = markOf(readLock(place.state)?.workerd_pid ?? 0);
  if (what === "stack" && runtime.started !== "") sigkill(runtime.pid);
  await cli.ended;
  const over = (async () => {
    if (runtime.started !== "")
      await until(
        () => !isAlive(runtime),
        30_000,
        () => `the end of runtime ${runtime.pid}`,
      );
    return clock();
  })();
  // Awaited by whoever asks what the kill cost; until then its failure is nobody's.
  over.catch(() => undefined);
  if (what === "stack") await over;
  return { what, at, over };
}

function sigkill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself a moment before.
  }
}

/** Requests that were open, or answered within `windowMs`, when the last caller was gone. */
async function lostAt(ledger: Ledger, { over }: Kill, windowMs: number): Promise<readonly LedgerEntry[]> {
  const end = await over;
  return ledger.entries().filter(({ start_ms, end_ms }) => start_ms <= end && (end_ms === null || end_ms >= end - windowMs));
}

export interface LossRules {
  /** Units open at once. */
  readonly lanes: number;
  /** Within this time an answered rollout is committed, as a rule: the age at which rows are flushed, and the time to store them. */
  readonly flushMs: number;
  /** Within this time it is for sure, however busy the machine. */
  readonly committedMs: number;
}

/** What kills may cost: the units that were open, and one flush window. One executor. */
export class Losses {
  /** By example: how many kills came when it may have been open, or answered and not committed. */
  readonly byExample = new Map<string, number>();
  /** Requests that may be repeated because of all kills so far. */
  allowed = 0;
  private readonly ledger: Ledger;
  private readonly rules: LossRules;
  private readonly counting: Promise<void>[] = [];

  constructor(ledger: Ledger, rules: LossRules) {
    this.ledger = ledger;
    this.rules = rules;
  }

  /** Counts once the last process of the killed stack is gone. */
  add(blow: Kill): void {
    this.counting.push(this.count(blow));
  }

  /** Resolves when every kill is counted. */
  async counted(): Promise<void> {
    await Promise.all(this.counting);
  }

  /** Examples that were asked for more often than the kills explain; must be empty. */
  unexplained(rolloutsPerExample: number): readonly string[] {
    return [...countByExample(this.ledger.entries())].flatMap(([example, requests]) =>
      requests <= rolloutsPerExample * (1 + (this.byExample.get(example) ?? 0)) ? [] : [`example ${example}: ${requests} requests`],
    );
  }

  private async count(blow: Kill): Promise<void> {
    for (const example of countByExample(await lostAt(this.ledger, blow, this.rules.committedMs)).keys()) {
      this.byExample.set(example, (this.byExample.get(example) ?? 0) + 1);
    }
    const requests = await lostAt(this.ledger, blow, this.rules.flushMs);
    // And one more for every open unit, of which another rollout was answered earlier.
    if (requests.length > 0) this.allowed += requests.length + this.rules.lanes;
  }
}

/** Requests by example, which the client names in `X-Session-ID`. */
function countByExample(entries: readonly LedgerEntry[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { session } of entries) counts.set(session ?? "", (counts.get(session ?? "") ?? 0) + 1);
  return counts;
}

/** Whether every rollout of a run has had an answer. */
export function isAllAnswered(entries: readonly LedgerEntry[], examples: number, rolloutsPerExample: number): boolean {
  const answers = countByExample(entries.filter(({ outcome }) => outcome === "answered"));
  return answers.size === examples && [...answers.values()].every((count) => count >= rolloutsPerExample);
}
