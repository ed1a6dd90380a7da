import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import type { UnitWork } from "../../../src/executor/session/session-events.ts";
import type { WatchedCall } from "../../../src/environments/unit/call-waits.ts";
import type { UnitTime } from "../../../src/environments/unit/unit-time.ts";
import { broken } from "../invariants.ts";
import type { Made } from "../world/loose.ts";
import { pieceAt } from "../world/merging.ts";
import type { Plan } from "../world/plan.ts";
import type { Scene } from "../world/scene.ts";
import { summary } from "../world/storage.ts";

/** A unit as the simulated executor has it open. */
export interface Unit {
  /** Rollouts to be generated. */
  readonly left: Set<number>;
  /** Of each of them the turns that are answered. */
  readonly turns: Map<number, number>;
  /** Those of them that stopped between two turns. */
  readonly parked: Set<number>;
  /** Rollouts that are generated and wait for scores of their own. */
  readonly unscored: Set<number>;
  /** The others of the unit are with others: what is generated here is kept, and not scored. */
  readonly span: boolean;
  readonly summaries: RolloutSummary[];
  refused: boolean;
  /** Model requests of it that are under way. */
  readonly inFlight: Set<number>;
  /** Its deadline; null without one, or before it has begun. */
  time: UnitTime | null;
  /** Calls of its rollouts, for its time. */
  readonly calls: Map<number, WatchedCall>;
  /** When it had its first permit, or its last turn, true time; null before. */
  permittedAt: number | null;
  /** When it began, by the executor's clock. */
  readonly begun: number;
}

/** Whether nothing judges the rollouts of a unit together. */
export const isScoredAlone = ({ scoresAlone, config }: Plan): boolean => scoresAlone && config.no_interleave_scoring !== true;

/** The same answer with scores that are made now. */
export const scoredAs = (world: Scene, said: RolloutSummary, made: Made): RolloutSummary => ({
  ...said,
  error: world.strikes(world.plan.scorerError) ? "scorer_error" : null,
  ...made,
});

const isFinal = ({ error }: RolloutSummary): boolean => error !== null && error !== "scorer_error";

/** Where a unit begins: rows that stay, rollouts that are generated already and are scored by this executor, those that stand between two turns, and the rest. `made`: what its rows say of its code. */
export function beginUnit(world: Scene, work: UnitWork, rollouts: number, made: Made, begun: number): Unit {
  const { unit, block } = work;
  const { lo, hi } = block.span ?? { lo: 0, hi: rollouts };
  const state: Unit = {
    left: new Set(Array.from({ length: hi - lo }, (_, at) => lo + at)),
    turns: new Map(),
    parked: new Set(),
    unscored: new Set(),
    span: block.span !== undefined,
    summaries: [],
    refused: false,
    inFlight: new Set(),
    time: null,
    calls: new Map(),
    permittedAt: null,
    begun,
  };
  const redo = block.redo.find((each) => each.unit === unit);
  for (const index of redo?.keep ?? []) {
    const kept = redo === undefined ? undefined : world.segments.get(pieceAt(world, redo.place) ?? "")?.[index];
    if (kept === undefined) broken(`rollout ${index} of unit ${unit} is to be kept, and has no row`);
    state.left.delete(index);
    state.summaries[index] = redo?.score?.includes(index) && !block.poisoned && world.random.chance(0.7) ? { ...kept, error: null, ...made } : kept;
  }
  if (!block.poisoned) openKept(world, work, state, made);
  if (block.poisoned) endUnit(world, state, "poisoned", made);
  return state;
}

function openKept(world: Scene, { unit, block }: UnitWork, state: Unit, made: Made): void {
  const alone = isScoredAlone(world.plan);
  for (const { segment, rollouts, begun = [] } of (block.pieces ?? []).filter((piece) => piece.unit === unit)) {
    for (const index of [...rollouts, ...begun]) {
      const standing = world.standings.get(`${segment}/${unit}/${index}`);
      if (standing === undefined) broken(`rollout ${index} of unit ${unit} is kept where there is none`);
      if (!state.left.has(index)) continue;
      const { said, turns, unscored } = standing;
      if (said === null) {
        state.turns.set(index, Math.max(turns, state.turns.get(index) ?? 0));
        continue;
      }
      state.left.delete(index);
      const isOwn = said.metrics.version === made.metrics.version;
      state.summaries[index] = isFinal(said) || (alone && isOwn && unscored !== true) ? said : { ...said, ...made };
      if (isFinal(said)) continue;
      if (alone && !(isOwn && unscored !== true)) state.unscored.add(index);
      if (!alone) state.summaries[index] = scoredAs(world, said, made);
    }
  }
  for (const index of state.left) {
    const [turns, kept] = [state.turns.get(index) ?? 0, world.turnsKept.get(`${unit}/${index}`) ?? 0];
    if (turns !== kept) broken(`rollout ${unit}/${index} goes on from turn ${turns}, ${kept} are kept`);
  }
}

/** What is not answered never will be. */
export function endUnit(world: Scene, { left, summaries }: Unit, error: "poisoned" | "timeout", made: Made): void {
  for (const index of left) summaries[index] = { ...summary(0, error, world.generated()), ...made };
  left.clear();
}
