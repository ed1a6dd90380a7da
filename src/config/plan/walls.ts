import { ISOLATES_AT_ONCE } from "../../limits.ts";
import type { RunConfig } from "./run-config.ts";

/** As many characters of a digest as tell environments of one service apart. */
const SHORT = 16;

/**
 * A short name of the isolate that a run needs; undefined = its environment has none of its own. Runs that may share one have the same, no two others do: another
 * team, other code, and a run with secrets, whose values may be others than a second run's, have isolates of their own.
 */
export function wallOf({ wall, published, team, secrets, run_id }: Pick<RunConfig, "wall" | "published" | "team" | "secrets" | "run_id">): string | undefined {
  const code = wall ?? published?.digest;
  if (code === undefined) return undefined;
  const own = secrets === undefined || secrets.length === 0 ? [] : [run_id];
  return [team ?? "", code.slice(0, SHORT), ...own].join(" ");
}

/** The isolates of one executor, of which the platform allows few different ones. A run without one always has room. */
export class Walls {
  readonly #taken: Set<string>;

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  get taken(): readonly string[] {
    return [...this.#taken];
  }

  /** Whether it is there, or there is room for it. */
  has(wall: string | undefined): boolean {
    return wall === undefined || this.#taken.has(wall) || this.#taken.size < ISOLATES_AT_ONCE;
  }

  /** Takes it where there is room. */
  take(wall: string | undefined): boolean {
    if (!this.has(wall)) return false;
    if (wall !== undefined) this.#taken.add(wall);
    return true;
  }
}
