import { describe, expect, test } from "vitest";
import { isDue } from "../../../src/evaluators/due.ts";
import { mixSeed } from "../../../src/mix.ts";
import type { Creator } from "../../../src/schedules/state.ts";
import { seededRandom } from "../../../src/seeded-random.ts";
import type { EvaluatorDefinition } from "../../../src/training/definition.ts";
import { type EvaluatorEvent, newEvaluator, step } from "../../../src/training/policy.ts";
import type { Action, EvaluatorState, SeenRun, StepEnd, StepOrder } from "../../../src/training/state.ts";

/**
 * Histories of one evaluator on a simulated clock: steps that come out of order, twice or late, messages that are lost or doubled, answers that are lost after
 * their effect, creations refused for a while, edits. Whatever happens, each due step of each evaluation has at most one run, and ends as its policy says.
 */

const ADA: Creator = { user: "ada", token: null, owner: false };
const definitionOf = (on_older: EvaluatorDefinition["on_older"], everys = [2, 3]): EvaluatorDefinition => ({
  evaluations: everys.map((run_every, index) => ({ name: `e${index}`, run_every, metrics: ["mean_reward"], eval: { env_id: "gsm8k" } })),
  on_older,
  early_stopping: { metric: "val/e0/mean_reward", mode: "max", min_delta: 0 },
});
const seen = (status: SeenRun["status"]): SeenRun => ({
  over: true,
  status,
  suspended: false,
  failure: null,
  rollouts: 2,
  errored: 0,
  values: { mean_reward: { value: 0.5 } },
});

interface Made {
  readonly id: string;
  readonly order: StepOrder;
  over: number;
  cancelled: boolean;
}

class World {
  now = 1_000_000;
  state: EvaluatorState;
  wakeAt: number | null = null;
  /** By the key of their creation. */
  readonly runs = new Map<string, Made>();
  readonly ends = new Map<string, StepEnd>();
  readonly known = new Map<string, number>();
  /** Runs at work at a time, of one evaluation. */
  most = 0;
  readonly #random: () => number;
  #messages: Action[] = [];

  constructor(definition: EvaluatorDefinition, random: () => number) {
    this.#random = random;
    this.state = newEvaluator("loop", "id", definition, ADA, this.now);
  }

  chance = (of: number): boolean => this.#random() < of;
  between = (low: number, high: number): number => low + Math.floor(this.#random() * (high - low));

  happen(event: EvaluatorEvent): void {
    const { state, actions, notes, wake_at } = step(this.state, this.now, event);
    // Killed in the transaction: nothing of it is stored, and whoever asked asks again.
    this.state = JSON.parse(JSON.stringify(state)) as EvaluatorState;
    this.wakeAt = wake_at;
    for (const note of notes) {
      if (note.note === "posted") this.known.set(`${note.posted.step} ${note.evaluation}`, 1);
      if (note.note !== "ended") continue;
      const at = `${note.step} ${note.evaluation}`;
      expect(this.ends.has(at)).toBe(false);
      this.ends.set(at, note.end);
    }
    for (const action of actions) for (let times = this.chance(0.2) ? 0 : this.chance(0.2) ? 2 : 1; times > 0; times -= 1) this.#messages.push(action);
  }

  post(index: number, final = false): void {
    const known = ["e0", "e1"].filter((name) => this.known.has(`${index} ${name}`));
    this.happen({ type: "posted", posted: { step: index, model: `ckpt-${index}`, ...(final ? { final: true } : {}) }, known, creator: ADA });
  }

  pass(ms: number): void {
    this.now += ms;
    for (const action of this.#messages.splice(0)) this.#perform(action);
    if (this.wakeAt !== null && this.wakeAt <= this.now && !this.chance(0.2)) this.happen({ type: "tick" });
    const names = [...this.runs.values()].filter(({ over, cancelled }) => !cancelled && over > this.now).map(({ order }) => order.evaluation.name);
    for (const name of new Set(names)) this.most = Math.max(this.most, names.filter((each) => each === name).length);
  }

  #perform(action: Action): void {
    if (action.do === "create") {
      const open = this.state.open.find(({ order }) => order.posted.step === action.step && order.evaluation.name === action.evaluation);
      if (open === undefined || open.queued || open.run_id !== null) return;
      const { order } = open;
      if (this.chance(0.1))
        return this.happen({
          type: "refused",
          step: action.step,
          evaluation: action.evaluation,
          failure: { code: "limit_reached", message: "full" },
          passing: true,
        });
      const made = this.runs.get(order.key) ?? { id: `run-${this.runs.size}`, order, over: this.now + this.between(1, 60_000), cancelled: false };
      this.runs.set(order.key, made);
      // Killed between creating and writing down.
      if (this.chance(0.2)) return;
      this.happen({ type: "created", step: action.step, evaluation: action.evaluation, run_id: made.id });
    } else if (action.do === "cancel") {
      for (const run of this.runs.values()) if (run.id === action.run_id && run.over > this.now) run.cancelled = true;
    } else if (action.do === "look") {
      const run = [...this.runs.values()].find(({ id }) => id === action.run_id);
      if (run === undefined || (run.over > this.now && !run.cancelled)) return;
      this.happen({ type: "looked", run_id: run.id, seen: seen(run.cancelled ? "CANCELLED" : "COMPLETED") });
    }
  }
}

function play(seed: number, on_older: EvaluatorDefinition["on_older"], edits: boolean): { readonly world: World; readonly posted: Set<number> } {
  const world = new World(definitionOf(on_older), seededRandom(mixSeed(seed)));
  const posted = new Set<number>();
  const steps = Array.from({ length: 14 }, (_, index) => index);
  while (steps.length > 0) {
    // Mostly in order; some are late, some come again.
    const [index = 0] = steps.splice(world.chance(0.2) ? world.between(0, steps.length) : 0, 1);
    world.post(index);
    posted.add(index);
    if (world.chance(0.3)) world.post(index);
    if (edits && world.chance(0.1))
      world.happen({ type: "put", definition: { ...definitionOf(on_older), mlflow: { tracking_uri: "https://x", run_id: "r" } }, creator: ADA });
    for (let passes = world.between(0, 6); passes > 0; passes -= 1) world.pass(world.between(1, 20_000));
  }
  for (let left = 2_000; world.state.open.length > 0 && left > 0; left -= 1) world.pass(30_000);
  return { world, posted };
}

describe("each due step of each evaluation", () => {
  test.each(["keep", "replace", "queue"] as const)("has at most one run and one end, as %s says, through 500 histories", (on_older) => {
    for (let seed = 1; seed <= 500; seed += 1) {
      const { world, posted } = play(seed, on_older, seed % 3 === 0);
      expect(world.state.open).toEqual([]);
      const due = [...posted].flatMap((index) => [2, 3].flatMap((every, at) => (isDue(index, every) ? [`${index} e${at}`] : [])));
      expect([...world.ends.keys()].toSorted()).toEqual(due.toSorted());
      const made = [...world.runs.values()].map(({ order }) => `${order.posted.step} ${order.evaluation.name}`);
      expect(new Set(made).size).toBe(made.length);
      const kinds = [...world.ends.values()].map(({ kind }) => kind);
      if (on_older === "replace") expect(kinds.every((kind) => kind === "evaluated" || kind === "replaced")).toBe(true);
      else {
        expect(new Set(kinds)).toEqual(new Set(["evaluated"]));
        expect(made.toSorted()).toEqual(due.toSorted());
      }
      if (on_older === "queue") expect(world.most).toBeLessThanOrEqual(1);
      // The highest step of each evaluation is nobody's to replace.
      for (const name of ["e0", "e1"]) {
        const highest = Math.max(...due.filter((at) => at.endsWith(name)).map((at) => Number(at.split(" ")[0])));
        expect(world.ends.get(`${highest} ${name}`)?.kind).toBe("evaluated");
      }
    }
  });
});

test("a step that is final is due at what has no cadence, and at nothing else", () => {
  const world = new World(definitionOf("keep", [0, 2]), seededRandom(1));
  world.post(3);
  expect(world.state.open.map(({ order }) => order.evaluation.name)).toEqual(["e1"]);
  world.post(9, true);
  expect(world.state.open.map(({ order }) => `${order.posted.step} ${order.evaluation.name}`)).toEqual(["3 e1", "9 e0"]);
});

test("what a step is evaluated by is as it was when it was posted, whatever becomes of the definition", () => {
  const world = new World(definitionOf("queue", [1, 0]), seededRandom(1));
  for (const index of [0, 1]) world.post(index);
  const changed = definitionOf("keep", [1, 0]);
  world.happen({
    type: "put",
    definition: { ...changed, evaluations: changed.evaluations.map((each) => ({ ...each, eval: { env_id: "other" } })) },
    creator: ADA,
  });
  world.post(2);
  expect(world.state.open.map(({ order, queued }) => [order.evaluation.eval.env_id, queued])).toEqual([
    ["gsm8k", false],
    ["gsm8k", true],
    ["other", false],
  ]);
});

test("where more than fifty are not finished the next one fails by that name, and no run is made of it", () => {
  const world = new World(definitionOf("queue", [1, 0]), seededRandom(1));
  for (let index = 0; index < 51; index += 1) world.post(index);
  expect(world.state.open).toHaveLength(50);
  expect(world.ends.get("50 e0")).toMatchObject({ kind: "failed", failure: { code: "limit_reached" } });
});
