import type { HostedEnvironment } from "../hosted/hosted-environment.ts";
import { firstErrorsOf, freshRow, inOrder, runUnit, type UnitOptions, type UnitOutcome } from "./run-unit.ts";
import type { KeptRollout, Stored } from "./stored-rollout.ts";
import { rescored } from "./score-again.ts";
import { NO_JUDGES } from "../../rollouts/state/judge-usage.ts";
import { openKeptState, StateSnapshot } from "../../rollouts/kept/kept-state.ts";
import type { RolloutInput, State } from "../../rollouts/types.ts";

/**
 * Runs the missing rollouts of an example whose rollouts are judged together, and scores all of them anew: the others from their rows, in which what
 * was generated stays byte for byte. What a function wants of a rollout and its row does not hold cannot be had so: then the rollouts that
 * lack it are generated again too.
 */
export async function repairGroup(environment: HostedEnvironment, input: RolloutInput, options: UnitOptions): Promise<UnitOutcome> {
  const { client, judges, cache, rolloutsPerExample, generated = new Map<number, State>() } = options;
  const indices = Array.from({ length: rolloutsPerExample }, (_, index) => index);
  const base = { input, tools: environment.traits.toolDefs };
  const keeps = new Set(options.kept.map(({ index }) => index));
  const fresh = new Map([...generated].filter(([index]) => !keeps.has(index)));
  const unscored = new Map<number, StateSnapshot>();
  const {
    states,
    stored = new Map<number, Stored>(),
    fatal,
    aborted,
  } = await environment.play(input, indices, {
    ...options,
    generated: new Map(fresh),
    stored: { rows: options.kept, stateColumns: options.stateColumns },
    onRollout: (index, state) => {
      fresh.set(index, state);
      options.onRollout?.(index, state);
    },
    onScoring: (one) => {
      for (const [index, state] of fresh) unscored.set(index, new StateSnapshot(state, base));
      options.onScoring?.(one);
    },
  });
  if (states === null) return { lines: [], summaries: [], firstErrors: [], fatal, aborted };
  if ([...stored.values()].some(({ lacks }) => lacks.size > 0)) {
    const again = [...unscored].flatMap(([index, snapshot]) => {
      const text = snapshot.text();
      return text.ok ? [[index, openKeptState(text.text, base, client).state] as const] : [];
    });
    return runUnit(environment, input, { ...options, kept: [], generated: new Map(again) });
  }
  const rows = states.map((state, index): KeptRollout => {
    const row = stored.get(index);
    if (row === undefined) return freshRow(state, input, index, options);
    return rescored(row, { ...options, judges: judges?.take(state) ?? NO_JUDGES, cache: cache?.take(state) }) ?? row.kept;
  });
  return { ...inOrder(rows, rolloutsPerExample), fatal: null, aborted: false, firstErrors: firstErrorsOf([...fresh.values()]) };
}
