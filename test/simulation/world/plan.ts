import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { SteerRequest } from "../../../durable-objects/run/steering/steer-request.ts";
import type { Random } from "./random.ts";

/** What one schedule consists of, all drawn from its seed. */
export interface Plan {
  readonly config: RunConfig;
  readonly executors: number;
  /** Isolates that they are in, some of them together. */
  readonly isolates: number;
  /** Runs that share them; the further ones have plans of their own for what is theirs. */
  readonly runs: number;
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
  /** The platform ends each executor's invocation after a while. */
  readonly walled: boolean;
  /** How long a model takes, from and to. Milliseconds. */
  readonly request: readonly [number, number];
  /** How often an environment cannot be loaded by something that passes, while faults are on. */
  readonly unloadable: number;
  /** The final files can never be written. */
  readonly unwritable: boolean;
  readonly infraError: number;
  /** Shares of executors: of those with the code of before the last deployment, and of those of a version that compares no digests. */
  readonly late: number;
  readonly unchecked: number;
  /** Share of executors that the model server refuses while faults are on. */
  readonly misplaced: number;
  readonly scorerError: number;
  /** What scoring a unit takes at most; 0 = it is done at once, and what waits for it is not kept. Milliseconds. */
  readonly scoringMs: number;
  /** Calls of the model that a rollout takes; the time of a request is that of all of them together. */
  readonly turns: number;
  /** Time of a rollout after which its turns are written. Milliseconds. */
  readonly keepTurns: number;
  /** No function judges the rollouts of a unit together: each is scored when it is generated. */
  readonly scoresAlone: boolean;
  /** Units are played in one piece: nothing of one is kept before it is over. */
  readonly whole: boolean;
  /** How often whoever scores a unit dies of something else before it is done, per unit while faults are on. */
  readonly scorerDies: number;
  /** How often an executor is told to give some of its requests to another run, per opportunity while faults are on. */
  readonly narrowing: number;
  /** Units an executor holds unscored where scoring is postponed. */
  readonly held: number;
  /** Of a run that may stop early: how often a resume drops its rule, and what rewards are said to be within. */
  readonly rule?: { readonly drops: number; readonly range: readonly [number, number] };
  /** Faults and interventions end here; from then on the run must come to its end by itself. Milliseconds. */
  readonly calmAt: number;
  /** Interventions: what happens to the run from outside, and when. */
  readonly interventions: readonly {
    readonly at: number;
    readonly what: "cancel" | "interrupt" | "resume" | "grow" | "mend" | "restart" | "runtime-death" | "forget-offers" | "watchdog" | "deploy";
  }[];
  /** How the run is steered, and when. */
  readonly steering: readonly { readonly at: number; readonly request: SteerRequest }[];
}

/** Units take long. */
export const isSlow = ({ request }: Pick<Plan, "request">): boolean => request[1] > SHORT[1];
const SHORT = [1, 1_200] as const;

/** With turns no unit ends as late: what has many rollouts and a slow model would take days. */
const turnsOf = (turns: number, rollouts: number, request: Plan["request"]): number => (rollouts > 8 && isSlow({ request }) ? 1 : turns);

/** `beside`: for what was added later, so that the schedule of a seed stays what it was. */
export function drawPlan(random: Random, beside: Random): Plan {
  const walled = random.chance(0.25);
  const request = walled
    ? random.pick([SHORT, [3_000, 12_000], [20_000, 50_000], [60_000, 75_000]] as const)
    : random.pick([SHORT, SHORT, SHORT, SHORT, [500, 30_000]] as const);
  const slow = isSlow({ request });
  const runs = random.pick(slow ? [1, 1, 2] : [1, 1, 1, 1, 1, 2, 3, 5]);
  const r = random.pick([1, 1, 1, 2, 2, 3, 3, 4, 8, 64]);
  const n = random.int(1, r > 8 ? 4 : slow ? 8 : runs > 1 ? 12 : 40);
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
  const turns = beside.pick([1, 1, 1, 2, 5]);
  // Not drawn: seeds that break a rule would be others.
  const whole = calmAt % 10 === 2;
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
      // Not drawn: seeds that break a rule would be others.
      ...(n % 2 === 0 ? { order_seed: n } : {}),
      ...(random.chance(0.3) ? { no_interleave_scoring: true } : {}),
      ...(random.chance(0.3) ? { max_concurrent_generation: random.int(1, 9) } : {}),
      ...(random.chance(0.3) ? { max_concurrent_scoring: random.int(1, 9) } : {}),
      ...(random.chance(0.3) ? { num_workers: random.int(1, 4) } : {}),
    },
    held: random.int(1, 20),
    executors: random.int(1, runs > 1 ? 6 : 4),
    isolates: random.int(1, 3),
    runs,
    capacity: random.pick([1, 2, 5, 64]),
    killers,
    killAfter: random.pick([0, 50, 700]),
    fault: { lost: nasty, late: nasty / 4, lostAnswer: nasty, doubled: nasty, crash: nasty / 20, partition: nasty / 10, putFails: nasty },
    outage,
    walled,
    request,
    unloadable: random.pick([0, 0, 0, 0.3]),
    unwritable: random.chance(0.03),
    infraError: random.pick([0, 0, 0.1]),
    misplaced: random.pick([0, 0, 0, 0.3, 1]),
    scorerError: random.pick([0, 0.2]),
    scoringMs: random.pick([0, 0, 500, 5_000]),
    turns: turnsOf(whole ? Math.min(1, turns) : turns, r, request),
    keepTurns: beside.pick([0, 500, 5_000]),
    scoresAlone: beside.chance(0.3) && !whole,
    whole,
    scorerDies: nasty / 2,
    late: random.pick([0, 0.2, 0.5]),
    unchecked: random.pick([0, 0, 0.2]),
    narrowing: random.pick([0, 0, 0.02, 0.2]),
    calmAt,
    interventions,
    // Not drawn: seeds that break a rule would be others.
    steering: calmAt % 6 === 1 ? drawSteering(beside, calmAt) : [],
  };
}

/** Limits that rise and fall, some of them at once after each other, and pauses. */
function drawSteering(beside: Random, calmAt: number): Plan["steering"] {
  return Array.from({ length: beside.int(1, 8) }, () => {
    const kind = beside.pick(["pause", "continue", "continue", "set", "set", "set", "set"] as const);
    const at = beside.int(500, calmAt);
    if (kind !== "set") return { at, request: { kind } };
    const generation = beside.chance(0.2) ? { max_concurrent_generation: beside.int(0, 9) } : {};
    const scoring = beside.chance(0.2) ? { max_concurrent_scoring: beside.int(0, 9) } : {};
    return { at, request: { kind, settings: { max_concurrent: beside.pick([1, 2, 5, 9, 32, 64, 0]), ...generation, ...scoring } } };
  });
}

/** What a further run of a schedule has for itself; it shares all else with the first. */
export function drawRunPlan(random: Random, beside: Random, shared: Plan, index: number): Plan {
  const own = drawPlan(random, beside);
  const most = Math.min(own.config.num_examples, isSlow(shared) ? 4 : 12);
  const config = { ...own.config, run_id: String(index).padStart(8, "0"), num_examples: most };
  const outside = own.interventions.filter(({ at }) => at < shared.calmAt).slice(0, 2);
  const killers = new Set([...own.killers].map((unit) => unit % most));
  const turns = turnsOf(shared.turns, config.rollouts_per_example, shared.request);
  return { ...shared, config, turns, killers, held: own.held, interventions: outside };
}
