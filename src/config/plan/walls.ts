import { ISOLATES_AT_ONCE } from "../../limits.ts";
import { canonicalJson } from "../canonical-json.ts";
import { sha256Hex } from "../sha256.ts";

/** What the isolate of an environment is told from others by, where a run is planned. */
export interface WallOf {
  readonly team: string;
  /** Digest of the environment's code. */
  readonly code: string;
  /** The run, where it has secrets: their values may be others than a second run's. */
  readonly run: string | null;
}

/** A short name of the isolate that a run needs. Runs that may share one have the same; no two others do. */
export const wallOf = async (of: WallOf): Promise<string> => (await sha256Hex(canonicalJson(of))).slice(0, 16);

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
