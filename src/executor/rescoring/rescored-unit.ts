import type { Grant } from "../../../durable-objects/run/protocol.ts";
import type { RescoredFrom } from "../../config/plan/rescored-from.ts";
import { rescore } from "../../environments/unit/rescore.ts";
import { inOrder, type UnitRows } from "../../environments/unit/run-unit.ts";
import { scoresTogether } from "../../environments/unit/score-again.ts";
import { failureOf } from "../../errors/result.ts";
import type { RolloutInput } from "../../rollouts/types.ts";
import type { UnitWork } from "../session/session-events.ts";
import { poisonedRows } from "../units/poisoned.ts";
import type { TicketHost } from "../units/ticket-host.ts";
import type { UnitWatch } from "../units/unit-watch.ts";
import { NO_MODEL } from "./no-model.ts";
import { rowsToScore } from "./rescored-examples.ts";
import type { SourcePlace } from "./source-place.ts";
import { rowsAtPlace } from "./source-rows.ts";
import { lackingState } from "./trial.ts";

/**
 * The rows of a unit whose rollouts are another run's: those that are to be are scored, the others stay as they are. Null when it has none: cut off, or
 * the scorer asks for what rows lack, which ends the run. Rejects when storage does not answer.
 */
export async function rescoredUnit(
  host: TicketHost,
  grant: Grant,
  source: RescoredFrom,
  { block }: UnitWork,
  { input, place }: { readonly input: RolloutInput; readonly place: SourcePlace },
  watch: UnitWatch,
): Promise<UnitRows | null> {
  const { ports, budget, environment, judges, cache } = host;
  const { config } = grant;
  if (block.poisoned) return poisonedRows(host, grant, input, []);
  const rows = await rowsAtPlace(ports.store, config, place);
  const settings = { independent: config.independent_scoring, stateColumns: config.state_columns, clusterBy: config.cluster_by };
  const owed = rowsToScore(source, rows);
  const asked = owed.length > 0 && scoresTogether(environment.traits, settings) ? rows : owed;
  if (asked.length === 0) return inOrder(rows, config.rollouts_per_example);
  watch.onScoring(null);
  const again = await rescore(environment, input, asked, {
    ...settings,
    client: NO_MODEL,
    model: config.model,
    sampling_args: config.sampling_args,
    envDigest: grant.env_digest,
    judges,
    cache,
    rowOnly: source.examples === "rows",
    ...(watch.scoringTurn === undefined ? {} : { scoringTurn: watch.scoringTurn }),
    signal: watch.signal,
    deadlineMs: budget.unitDeadline,
    now: ports.now,
    sleep: ports.sleep,
  });
  if (again.fatal !== undefined) await watch.refused(again.fatal);
  if (again.aborted) return null;
  if (again.lacks.length > 0) {
    await watch.refused(failureOf(lackingState(again.lacks)));
    return null;
  }
  for (const { code, message } of again.firstErrors) host.noteFirst(code, message);
  const all = [...rows.filter((row) => !asked.includes(row)), ...again.rows];
  return { ...inOrder(all, config.rollouts_per_example), ...(again.changed ? { scoresChanged: true as const } : {}) };
}
