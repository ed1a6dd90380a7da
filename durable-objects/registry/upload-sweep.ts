import { DATASET_PREFIX, datasetKey, uploadOf } from "../../r2-layout/keys.ts";
import type { Env } from "../../src/env.ts";
import { count } from "../../src/operations.ts";
import { teamPrefix } from "../../src/teams/team-name.ts";
import type { NamedDatasetStore } from "./named-dataset-store.ts";
import type { InUse, SweepRequest, SweepTurn } from "./registry-control.ts";
import type { SweepRound, UploadStore } from "./upload-store.ts";
import type { UseStore } from "./use-store.ts";

/** Uploads looked at in one turn: as many as one call of R2 lists and deletes. */
const PAGE = 1_000;
/** A round that nobody took further for so long is over, and nothing more is deleted by it: runs may have changed meanwhile. */
const STALE_MS = 10 * 60_000;
const IDLE: SweepTurn = { kind: "idle" };

/** Names uploads by their digests, for runs that are yet to be made: schedules, evaluators. */
export interface Namer {
  uploads(): readonly string[];
}

/**
 * Deletes uploads that no run, no data set, no schedule and no evaluator points to. Whoever is to name one has just uploaded it or asked for it: what is younger than the grace, or was
 * asked for since, stays. Asking for one that is being deleted waits until it is gone, so that it is seen to be missing and uploaded again.
 */
export class UploadSweep {
  readonly #store: UploadStore;
  readonly #use: UseStore;
  readonly #datasets: NamedDatasetStore;
  readonly #namers: readonly Namer[];
  readonly #env: Pick<Env, "BUCKET">;
  #listing = false;
  #going: { readonly digests: ReadonlySet<string>; readonly gone: Promise<void> } | null = null;

  constructor(store: UploadStore, use: UseStore, datasets: NamedDatasetStore, namers: readonly Namer[], env: Pick<Env, "BUCKET">) {
    this.#store = store;
    this.#use = use;
    this.#datasets = datasets;
    this.#namers = namers;
    this.#env = env;
  }

  async use(digests: readonly string[], now: number, graceMs: number): Promise<void> {
    const going = this.#going;
    // What became of the deletion is its caller's to know.
    if (going !== null && digests.some((digest) => going.digests.has(digest))) await going.gone.catch(() => undefined);
    this.#store.use(digests, now, now - graceMs / 2);
  }

  mark({ round, digests, through }: InUse, now: number): void {
    const at = this.#store.round();
    if (at.round !== round || at.phase !== "asking") return;
    this.#store.mark(digests, round);
    if (through > at.after) this.#store.putRound({ ...at, after: through, stepped_at: now });
  }

  /** The next thing to do of the round that goes on, or of one that begins; at most one a grace. */
  async turn({ grace_ms, limit, team }: SweepRequest, now: number): Promise<SweepTurn> {
    let at = this.#store.round();
    if (at.phase === "done" || now - at.stepped_at > STALE_MS) {
      if (now - at.started_at < grace_ms || this.#listing) return IDLE;
      at = { round: at.round + 1, phase: "asking", after: "", started_at: now, stepped_at: now };
      this.#store.putRound(at);
    }
    if (at.phase === "asking") {
      const runs = this.#store.runsAfter(at.after, limit);
      if (runs.length > 0) return { kind: "ask", round: at.round, runs };
      at = { ...at, phase: "deleting", after: "", stepped_at: now };
      this.#store.putRound(at);
    }
    // Two at once could delete what was uploaded again after the first.
    if (this.#listing) return IDLE;
    this.#listing = true;
    try {
      return await this.#deletePage(teamPrefix(team), at, grace_ms, now);
    } finally {
      this.#listing = false;
    }
  }

  async #deletePage(own: string, { round, after, started_at }: SweepRound, graceMs: number, now: number): Promise<SweepTurn> {
    const since = started_at - graceMs;
    const page = await this.#env.BUCKET.list({ prefix: `${own}${DATASET_PREFIX}`, limit: PAGE, ...(after === "" ? {} : { startAfter: after }) });
    count("r2_class_a");
    const old = page.objects.filter(({ uploaded }) => uploaded.getTime() < since);
    const named = new Set(this.#namers.flatMap((each) => each.uploads()));
    const digests = old
      .map(({ key }) => uploadOf(key.slice(own.length)))
      .filter((digest) => digest !== null && !this.#store.keeps(digest, round, since) && !this.#datasets.holds(digest) && !named.has(digest)) as string[];
    if (digests.length > 0) await this.#delete(own, digests);
    const at = this.#store.round();
    const last = page.objects.at(-1)?.key;
    const done = !page.truncated || last === undefined;
    const gone = new Set(digests);
    const there = page.objects.flatMap(({ key, size }) => {
      const digest = uploadOf(key.slice(own.length));
      return digest === null || gone.has(digest) ? [] : [{ digest, bytes: size }];
    });
    for (const digest of digests) this.#use.dropUpload(digest);
    const names = `${own}${DATASET_PREFIX}`;
    this.#use.agree(after.slice(names.length), done ? null : last.slice(names.length), there, since, now);
    this.#store.putRound({ ...at, phase: done ? "done" : "deleting", after: done ? "" : last, stepped_at: now });
    if (done) this.#store.forget(since);
    return done ? IDLE : { kind: "more" };
  }

  async #delete(own: string, digests: readonly string[]): Promise<void> {
    const gone = this.#env.BUCKET.delete(digests.map((digest) => `${own}${datasetKey(digest)}`));
    this.#going = { digests: new Set(digests), gone };
    try {
      await gone;
    } finally {
      this.#going = null;
    }
  }
}
