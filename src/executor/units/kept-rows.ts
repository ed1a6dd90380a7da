import type { Block, Redo } from "../../../durable-objects/run/protocol.ts";
import { segmentKey } from "../../../r2-layout/keys.ts";
import { linesAt } from "../../../r2-layout/segment.ts";
import type { JsonObject, RunConfig } from "../../config/plan/run-config.ts";
import type { HostedEnvironment } from "../../environments/hosted/hosted-environment.ts";
import type { CacheMeter } from "../../rollouts/state/cache-meter.ts";
import type { JudgeMeter } from "../../rollouts/state/judge-usage.ts";
import { summariseRow } from "../../rollouts/rows/row.ts";
import type { UnitRows } from "../../environments/unit/run-unit.ts";
import type { KeptRollout } from "../../environments/unit/stored-rollout.ts";
import { scoreAgain, type ScoredAgain, scoresTogether } from "../../environments/unit/score-again.ts";
import type { Client, RolloutInput } from "../../rollouts/types.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { ExecutorPorts } from "../ports.ts";

/** A unit of which some rows stay. */
export interface KeptUnit {
  readonly environment: HostedEnvironment;
  /** Of its code, where rows are to carry it. */
  readonly envDigest: string | undefined;
  readonly judges: JudgeMeter;
  readonly cache?: CacheMeter | undefined;
  readonly input: RolloutInput;
  readonly redo: Redo;
  readonly client: Client;
  readonly scoringTurn?: () => Promise<void>;
}

/** What ends the scoring. */
export interface ScoringEnd {
  readonly signal: AbortSignal;
  /** Milliseconds from now; null = none. */
  readonly deadlineMs: number | null;
}

/** The rows that a repair leaves of a unit, read from their segment; those whose scores it owes are scored again. Rejects when storage does not answer. */
export async function keptRows(ports: ExecutorPorts, config: RunConfig, unit: KeptUnit, end: ScoringEnd): Promise<ScoredAgain> {
  const { environment, envDigest, judges, cache, input, redo, client, scoringTurn } = unit;
  const rows = await storedRows(ports, config, redo);
  const settings = { independent: config.independent_scoring, stateColumns: config.state_columns, clusterBy: config.cluster_by };
  const owed = redo.score ?? [];
  const asked = owed.length > 0 && scoresTogether(environment.traits, settings) ? rows : rows.filter(({ index }) => owed.includes(index));
  if (asked.length === 0) return { rows, unscored: null, aborted: false, firstErrors: [] };
  const again = await scoreAgain(environment, input, asked, {
    ...settings,
    ...end,
    envDigest,
    judges,
    cache,
    client,
    model: config.model,
    sampling_args: config.sampling_args,
    ...(scoringTurn === undefined ? {} : { scoringTurn }),
    now: ports.now,
    sleep: ports.sleep,
  });
  return { ...again, rows: [...rows.filter((row) => !asked.includes(row)), ...again.rows] };
}

async function storedRows({ store }: ExecutorPorts, { run_id, cluster_by }: RunConfig, { place, keep, other_prompts = [] }: Redo): Promise<KeptRollout[]> {
  if (keep.length === 0) return [];
  const bytes = await store.read(segmentKey(run_id, place.segment), place.offset, place.length);
  const lines = linesAt(bytes, { offset: 0, length: place.length });
  if (!lines.ok) throw new EdgewiseError(lines.error.code, lines.error.message);
  return lines.value.flatMap((line) => {
    const row = JSON.parse(line) as JsonObject;
    const index = Number(row.rollout_index);
    const mark = other_prompts.includes(index) ? { other_prompt: true as const } : {};
    return keep.includes(index) ? [{ index, line, summary: { ...summariseRow(row, cluster_by), ...mark } }] : [];
  });
}

/** What stays of a unit of the block; undefined for one that is new. */
export const redoOf = (unit: number, { redo }: Block): Redo | undefined => redo.find((each) => each.unit === unit);
export const NOTHING_KEPT: ScoredAgain = { rows: [], unscored: null, aborted: false, firstErrors: [] };
export const unscoredOf = ({ unscored }: ScoredAgain): Pick<UnitRows, "unscored"> => (unscored === null ? {} : { unscored });
