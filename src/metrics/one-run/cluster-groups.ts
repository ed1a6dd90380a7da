import { textHash } from "../grouping.ts";
import { valueUnder } from "./row-key.ts";

/**
 * Groups of examples that are told apart, so that the memory of a run's numbers has a bound. Each further one is put to one of these, whichever its name
 * falls on: groups that share nothing with each other are as good an observation together as each alone, and of so many none is missed.
 */
export const MOST_GROUPS = 20_000;

/** The groups of a run by a number each, which all means over it share: names are kept once, and not for each metric. */
export class ClusterGroups {
  readonly #numbers = new Map<string, number>();

  /** Of a cluster, from 0 on and without gaps. */
  numberOf(cluster: string): number {
    const known = this.#numbers.get(cluster);
    if (known !== undefined) return known;
    if (this.#numbers.size >= MOST_GROUPS) return textHash(cluster) % MOST_GROUPS;
    const number = this.#numbers.size;
    this.#numbers.set(cluster, number);
    return number;
  }

  /** Names by number. */
  names(): readonly string[] {
    return [...this.#numbers.keys()];
  }
}

/**
 * What stands for the value that a row has under `key`, wherever examples are told apart by it: a digest, since a value may be as long as a passage, and
 * is nothing that the ledger of a run may keep.
 */
export const clusterOf = (row: Readonly<Record<string, unknown>>, key: string): string => textHash(valueUnder(row, key)).toString(36);
