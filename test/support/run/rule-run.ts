import type { ImportSource, ResumeRequest } from "../../../durable-objects/run/control.ts";
import type { RunHead } from "../../../durable-objects/run/state/head.ts";
import type { BaselineScores } from "../../../durable-objects/run/stopping/stopping-store.ts";
import type { Outbox } from "../../../durable-objects/run/sending/outbox.ts";
import {
  type Block,
  type ClaimAnswer,
  type CommitPiece,
  type CommitVerdict,
  type Grant,
  type JoinAnswer,
  PROTOCOL,
  type UnitRange,
} from "../../../durable-objects/run/protocol.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import { type Answer, create, type Request, transit, type TransitionName } from "../../../durable-objects/run/transition.ts";
import { nextWake } from "../../../durable-objects/run/sending/wake.ts";
import type { ResultsShape, RunConfig } from "../../../src/config/plan/run-config.ts";
import { CONFIG } from "../door/fake-ports.ts";
import { MemoryLedger } from "./memory-ledger.ts";
import { NOTHING_NEW } from "./resume-request.ts";

export const summary = (changes: Partial<RolloutSummary> = {}): RolloutSummary => ({
  reward: 1,
  error: null,
  input_tokens: 20,
  output_tokens: 10,
  truncated: false,
  metrics: { similarity: 1 },
  ...changes,
});

/** A Run without a platform: its transitions over tables in memory, and a clock that only the test moves. */
export class RuleRun {
  readonly ledger: MemoryLedger;
  readonly timing = { lease: 10_000, grace: 2_000, beat: 1_000, heartbeat: 30_000, refusals: 30_000, code: 600_000, look: 5_000 };
  now = 1_000_000;
  boot = "boot-1";
  runtime = "runtime-1";
  /** Executors that the service can have. */
  executors = Number.POSITIVE_INFINITY;
  /** Rollouts that one turn may look at. */
  slice = 4_096;
  /** Events after which small segments are looked for. */
  mergeAfter = 1_024;
  outbox: Outbox | null = null;
  #joins = 0;
  #segments = 0;

  constructor(changes: Partial<RunConfig> = {}, source: ImportSource | null = null, ledger = new MemoryLedger()) {
    this.ledger = ledger;
    const config = { ...CONFIG, num_examples: 10, rollouts_per_example: 1, max_concurrent: 8, timeout_minutes: null, ...changes };
    const created = create(this.ledger, { config, boot: this.boot, import: source }, this.context);
    if (created.ok) this.outbox = created.value;
  }

  /** With `n` units pinned, waiting to be claimed. */
  static open(
    n: number,
    changes: Partial<RunConfig> = {},
    found: { readonly whole?: boolean; readonly results_shape?: ResultsShape | undefined } = {},
  ): RuleRun {
    const run = new RuleRun({ num_examples: n, ...changes });
    run.pin(n, found);
    return run;
  }

  get context() {
    return {
      now: this.now,
      boot: this.boot,
      runtime: this.runtime,
      timing: this.timing,
      executors: this.executors,
      slice: this.slice,
      merge_after: this.mergeAfter,
    };
  }
  get head(): RunHead {
    const head = this.ledger.head();
    if (head === null) throw new Error("the run is gone");
    return head;
  }
  get wake(): number | null {
    return nextWake(this.head, this.ledger.tickets(), this.timing);
  }

  call<N extends TransitionName>(name: N, request: Request<N>): Answer<N> {
    const done = this.ledger.transaction(() => transit(this.ledger, name, request, this.context));
    if (done === null) throw new Error("the run is gone");
    this.outbox = done.outbox;
    return done.answer;
  }

  join(
    executor: string,
    changes: {
      readonly seq?: number;
      readonly free?: number;
      readonly streams?: number;
      readonly boot?: string;
      readonly runtime?: string;
      readonly checks_code?: boolean;
      readonly adopts?: boolean;
      readonly merges?: boolean;
      readonly batches?: boolean;
      readonly sorts?: boolean;
      readonly scores_only?: true;
    } = {},
  ): JoinAnswer {
    return this.call("join", {
      protocol: PROTOCOL,
      executor,
      seq: changes.seq ?? ++this.#joins,
      free: changes.free ?? 4,
      ...(changes.streams === undefined ? {} : { streams: changes.streams }),
      boot: changes.boot ?? this.boot,
      runtime: changes.runtime ?? this.runtime,
      checks_code: changes.checks_code ?? true,
      ...(changes.adopts === true ? { adopts: true } : {}),
      ...(changes.merges === true ? { merges: true } : {}),
      ...(changes.batches === true ? { batches: true } : {}),
      ...(changes.sorts === false ? {} : { sorts: true }),
      ...(changes.scores_only === true ? { scores_only: true } : {}),
    });
  }
  /** A grant to take rows of a folder over. */
  adopter(executor = "adopting"): Grant {
    const answer = this.join(executor, { adopts: true });
    if (answer.kind !== "grant" || answer.task.kind !== "adopt") throw new Error(`nothing to take over: ${answer.kind}`);
    return answer;
  }
  /** A grant to merge small segments. */
  merger(executor: string): Grant {
    const answer = this.join(executor, { merges: true });
    if (answer.kind !== "grant" || answer.task.kind !== "merge") throw new Error(`nothing to merge: ${answer.kind}`);
    return answer;
  }
  grant(executor: string, free = 4, streams = 1): Grant {
    const answer = this.join(executor, { free, streams });
    if (answer.kind !== "grant") throw new Error(`no grant: ${answer.kind}`);
    return answer;
  }

  /** A preparation that finds `n` rows. */
  pin(
    n: number,
    {
      lacks,
      permuted,
      digest = `digest of ${n}`,
      concurrency = null,
      whole = false,
      results_shape,
      env_digest = "e",
      more = false,
      baseline,
      reward_range,
      grant = this.grant("preparing"),
      from = grant.task.kind === "prepare" ? (grant.task.pinned?.count ?? 0) : 0,
    }: {
      lacks?: readonly UnitRange[];
      permuted?: readonly UnitRange[];
      digest?: string;
      concurrency?: number | null;
      whole?: boolean;
      results_shape?: ResultsShape | undefined;
      env_digest?: string;
      /** Further rows are being read. */
      more?: boolean;
      /** What a run that this one is held against scored at them. */
      baseline?: BaselineScores;
      reward_range?: readonly [number, number];
      /** One under which rows were pinned already, those before `from`. */
      grant?: Grant;
      from?: number;
    } = {},
  ): Grant {
    if (grant.task.kind !== "prepare") throw new Error(`nothing to prepare: ${grant.task.kind}`);
    const chunks = n > from ? [{ lo: from, hi: n, digest: "d".repeat(64), bytes: 100 * (n - from) }] : [];
    const pinned = {
      attempt: grant.task.attempt,
      chunks,
      count: n,
      digest,
      env_digest,
      pass_threshold: 0.5,
      env_sampling_args: {},
      concurrency,
      ...(whole ? { whole } : {}),
      ...(results_shape === undefined ? {} : { results_shape }),
      ...(lacks === undefined ? {} : { lacks }),
      ...(permuted === undefined ? {} : { permuted }),
      ...(more ? { more: true as const } : {}),
      ...(baseline === undefined ? {} : { baseline }),
      ...(reward_range === undefined ? {} : { reward_range }),
    };
    this.call("prepared", { ...this.id(grant), ...pinned });
    return grant;
  }

  readonly id = ({ ticket, epoch }: Grant) => ({ protocol: PROTOCOL, ticket, epoch }) as const;

  claim(
    grant: Grant,
    seq: number,
    changes: { readonly free?: number; readonly soon?: number; readonly open?: number; readonly started?: readonly number[]; readonly spans?: true } = {},
  ): ClaimAnswer {
    return this.call("claim", { ...this.id(grant), seq, free: grant.lanes, soon: 0, open: 0, started: [], ...changes });
  }
  block(grant: Grant, seq: number, changes: Parameters<RuleRun["claim"]>[2] = {}): Block {
    const answer = this.claim(grant, seq, changes);
    if (answer.kind !== "block") throw new Error(`no block: ${answer.kind}`);
    return answer;
  }

  beat(grant: Grant, started: readonly number[] = []): string {
    return this.call("beat", { ...this.id(grant), started, vitals: { in_flight: 0, retries: 0, waiting: 0, paused_until: null } }).kind;
  }
  leave(grant: Grant, changes: { readonly undivided?: true } = {}): void {
    this.call("leave", { ...this.id(grant), ...changes });
  }
  /** Commits generated rollouts of units that are not done. Returns the segment that they are in. */
  keep(grant: Grant, pieces: readonly Omit<CommitPiece, "offset" | "length">[], segment = this.newSegment(grant)): string {
    this.call("commit", { ...this.id(grant), segment, units: [], pieces: pieces.map((piece) => ({ ...piece, offset: 0, length: 10 })) });
    return segment;
  }

  /** Units with one summary each, or as many as given. */
  commit(
    grant: Grant,
    units: readonly number[],
    rollouts: readonly RolloutSummary[] = [summary()],
    segment = this.newSegment(grant),
  ): readonly CommitVerdict[] {
    const answer = this.call("commit", { ...this.id(grant), segment, units: units.map((unit) => ({ unit, offset: 0, length: 10, rollouts })) });
    return answer.kind === "committed" ? answer.verdicts : [];
  }
  newSegment({ ticket, epoch }: Grant): string {
    return `${ticket}-${epoch}-${++this.#segments}`;
  }

  /** Claims and commits everything that is pending, with one executor. */
  work(rollouts: (unit: number) => readonly RolloutSummary[] = () => [summary()]): void {
    const grant = this.grant("worker", 64);
    for (let seq = 1; ; seq++) {
      const answer = this.claim(grant, seq, { free: 64 });
      if (answer.kind !== "block") break;
      for (let unit = answer.lo; unit < answer.hi; unit++) this.commit(grant, [unit], rollouts(unit));
    }
    this.leave(grant);
  }

  /** Writes the final files, as far as the Run knows. */
  settle(): void {
    const grant = this.grant("finishing");
    if (grant.task.kind !== "finalise") throw new Error(`nothing to finalise: ${grant.task.kind}`);
    this.call("finalised", this.id(grant));
  }

  resume(changes: Partial<ResumeRequest> = {}): Answer<"resume"> {
    return this.call("resume", { ...NOTHING_NEW, boot: this.boot, ...changes });
  }
}
