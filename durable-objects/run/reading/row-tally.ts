import { inTurns } from "../course/turns.ts";
import { ROLLOUTS_A_TURN } from "../course/repair.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import { metadataAge } from "./run-metadata.ts";
import { RowValues } from "./row-values.ts";

/** Commits that are read at once. */
const EVENT_PAGE = 200;

interface Counted {
  readonly mark: string;
  readonly values: RowValues;
  /** Commits up to this event are counted. */
  through: number;
  /** When the units were looked through. Unix milliseconds. */
  readonly at: number;
  /** Rows were replaced since, or some are there that no commit names: it is counted anew, once it is old enough. */
  isOff: boolean;
}

/**
 * The values of a run's rows, kept in memory while somebody asks: the done units are looked through once, in turns, and each commit is counted on. Nothing is
 * written for it, and an object that wakes up counts anew. Rows that wait for a repair count until it is committed, as in the totals.
 */
export class RowTally {
  #counted: Counted | null = null;
  /** What all who ask meanwhile wait for. */
  #looking: Promise<RowValues | null> | null = null;

  /** Null when the run is gone. `pause` as for `inTurns`. */
  look(ledger: Ledger, pause: () => Promise<boolean>, now: () => number): Promise<RowValues | null> {
    this.#looking ??= this.#look(ledger, pause, now).finally(() => {
      this.#looking = null;
    });
    return this.#looking;
  }

  async #look(ledger: Ledger, pause: () => Promise<boolean>, now: () => number): Promise<RowValues | null> {
    const head = ledger.head();
    if (head === null) return null;
    const known = this.#counted;
    const isOld = known === null || known.mark !== markOf(head) || (known.isOff && now() - known.at >= metadataAge(head.done));
    const counted = isOld ? await lookedThrough(ledger, head, pause, now) : known;
    const after = counted === null ? null : await followed(ledger, counted, pause);
    this.#counted = after;
    return after?.values ?? null;
  }
}

/** A run of this id that was deleted and made again, a resume, and what a repair hands out again are counted anew. */
const markOf = ({ created_at, generation, repair }: RunHead): string => JSON.stringify([created_at, generation, repair === undefined]);

async function lookedThrough(ledger: Ledger, head: RunHead, pause: () => Promise<boolean>, now: () => number): Promise<Counted | null> {
  const values = new RowValues();
  const order = ledger.order.get();
  let [isThere, isOff] = [true, false];
  const stay = async (): Promise<boolean> => {
    isThere = await pause();
    return isThere;
  };
  for await (const done of inTurns(ledger, stay)) {
    // Its rows will be replaced, maybe before this is through.
    isOff ||= done.owed;
    values.add(done, order.rankOf(done.unit));
  }
  return isThere ? { mark: markOf(head), values, through: head.seq, at: now(), isOff } : null;
}

/** With the commits since. */
async function followed(ledger: Ledger, counted: Counted, pause: () => Promise<boolean>): Promise<Counted | null> {
  const order = ledger.order.get();
  let seen = 0;
  for (;;) {
    const seq = ledger.head()?.seq ?? counted.through;
    const commits = ledger.commitsAfter(counted.through, EVENT_PAGE);
    for (const commit of commits) {
      const { units, rollouts } = commit;
      if (seen >= ROLLOUTS_A_TURN && !(await pause())) return null;
      if (seen >= ROLLOUTS_A_TURN) seen = 0;
      seen += rollouts;
      for (const done of ledger.donesOf(units.filter((unit) => !counted.values.has(unit)))) counted.values.add(done, order.rankOf(done.unit));
      counted.through = commit.seq;
    }
    if (commits.length === EVENT_PAGE) continue;
    // Lines of the log that follow the last of them are not gone through again.
    counted.through = Math.max(counted.through, seq);
    break;
  }
  const head = ledger.head();
  if (head === null) return null;
  counted.isOff ||= counted.values.rollouts !== head.totals.rollouts;
  return counted;
}
