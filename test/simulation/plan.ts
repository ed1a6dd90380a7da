import type { RunConfig } from "../../src/config/run-config.ts";
import type { Random } from "./random.ts";

/** What one schedule consists of, all drawn from its seed. */
export interface Plan {
  readonly config: RunConfig;
  readonly executors: number;
  /** Model requests one executor can carry. */
  readonly capacity: number;
  /** Units whose start kills the executor, every time. */
  readonly killers: ReadonlySet<number>;
  /** How long after its start. Milliseconds. */
  readonly killAfter: number;
  /** Probabilities per opportunity while faults are on. */
  readonly fault: {
    readonly lost: number;
    readonly late: number;
    readonly lostAnswer: number;
    readonly doubled: number;
    readonly crash: number;
    readonly partition: number;
    readonly putFails: number;
  };
  /** Nothing can be stored from one moment to another; null = at no time. Milliseconds. */
  readonly outage: { readonly from: number; readonly to: number } | null;
  readonly infraError: number;
  /** Shares of executors: of those with the code of before the last deployment, and of those of a version that compares no digests. */
  readonly late: number;
  readonly unchecked: number;
  /** Share of executors that the model server refuses while faults are on. */
  readonly misplaced: number;
  readonly scorerError: number;
  /** What scoring a unit takes at most; 0 = it is done at once, and what waits for it is not kept. Milliseconds. */
  readonly scoringMs: number;
  /** How often an executor is told to give some of its requests to another run, per opportunity while faults are on. */
  readonly narrowing: number;
  /** Units an executor holds unscored where scoring is postponed. */
  readonly held: number;
  /** Faults and interventions end here; from then on the run must come to its end by itself. Milliseconds. */
  readonly calmAt: number;
  /** Interventions: what happens to the run from outside, and when. */
  readonly interventions: readonly {
    readonly at: number;
    readonly what: "cancel" | "interrupt" | "resume" | "grow" | "mend" | "restart" | "runtime-death" | "forget-offers" | "watchdog" | "deploy";
  }[];
}

export function drawPlan(random: Random): Plan {
  const n = random.int(1, 40);
  const r = random.pick([1, 1, 2, 3, 4, 8]);
  const calmAt = random.int(20_000, 240_000);
  const nasty = random.pick([0, 0.02, 0.1]);
  const deploys = random.chance(0.5) ? (["deploy", "deploy"] as const) : [];
  const interventions = Array.from({ length: random.int(0, 5) }, () => ({
    at: random.int(500, calmAt),
    what: random.pick([
      "cancel",
      "interrupt",
      "resume",
      "grow",
      "restart",
      "forget-offers",
      "watchdog",
      "resume",
      "restart",
      "runtime-death",
      "mend",
      ...deploys,
    ] as const),
  }));
  const outageAt = random.int(500, calmAt);
  const outage = random.chance(0.2) ? { from: outageAt, to: outageAt + random.int(500, 30_000) } : null;
  const killers = new Set(random.chance(0.15) ? [random.int(0, n - 1)] : []);
  return {
    config: {
      version: 1,
      run_id: "00000001",
      name: null,
      env_id: "sim",
      env_version: "1",
      env_args: {},
      model: "m",
      base_url: "http://127.0.0.1:1/v1",
      api_key_var: "K",
      api_client_type: "openai_chat_completions",
      num_examples: n,
      rollouts_per_example: r,
      max_concurrent: random.pick([1, 2, 3, 6, 9, 32, 0]),
      sampling_args: { max_tokens: null },
      independent_scoring: random.chance(0.3),
      max_retries: 0,
      timeout_minutes: random.chance(0.1) ? random.int(1, 3) : null,
      state_columns: [],
      hosted: {},
      attended: random.chance(0.3),
      created_at: 0,
      ...(random.chance(0.3) ? { no_interleave_scoring: true } : {}),
      ...(random.chance(0.3) ? { max_concurrent_generation: random.int(1, 9) } : {}),
      ...(random.chance(0.3) ? { max_concurrent_scoring: random.int(1, 9) } : {}),
      ...(random.chance(0.3) ? { num_workers: random.int(1, 4) } : {}),
    },
    held: random.int(1, 20),
    executors: random.int(1, 4),
    capacity: random.pick([1, 2, 5, 64]),
    killers,
    killAfter: random.pick([0, 50, 700]),
    fault: { lost: nasty, late: nasty / 4, lostAnswer: nasty, doubled: nasty, crash: nasty / 20, partition: nasty / 10, putFails: nasty },
    outage,
    infraError: random.pick([0, 0, 0.1]),
    misplaced: random.pick([0, 0, 0, 0.3, 1]),
    scorerError: random.pick([0, 0.2]),
    scoringMs: random.pick([0, 0, 500, 5_000]),
    late: random.pick([0, 0.2, 0.5]),
    unchecked: random.pick([0, 0, 0.2]),
    narrowing: random.pick([0, 0, 0.02, 0.2]),
    calmAt,
    interventions,
  };
}
