/** A run of the service as one to be exported or verified. */
import { runFacts } from "../../exports/run-facts.ts";
import { chunksOf } from "../connection/http-client.ts";
import { readLines } from "../disk/read-lines.ts";
import { aboutRun } from "../runs/ask-service.ts";
import type { Service } from "../service/service.ts";
import { CliError } from "../terminal/cli-error.ts";
import { type OpenedRow, type OpenedRun, openedRow } from "./opened-run.ts";

/** Rows asked for at a time of a run that goes on. */
const PAGE = 100;

/** Of a run that has not ended, the rows of units that are done: the service has no others. */
export async function openServiceRun(service: Service, runId: string): Promise<OpenedRun> {
  const { edgewise } = await aboutRun(runId, service, service.client.run(runId));
  const metadata: unknown = await (await service.client.file(runId, "metadata.json")).json();
  const facts = runFacts(metadata);
  if (facts === null) throw new CliError(`the metadata of run ${runId} name no environment and model`);
  const common = { name: runId, facts, metadata, metrics: facts.metrics, kept: { client: service.client, id: runId } };
  if (edgewise.settled) return { ...common, notes: [], bytes: () => finalBytes(service, runId), rows: () => finalRows(service, runId) };
  return {
    ...common,
    bytes: null,
    notes: [`Run ${runId} has not ended: these are the rows of its examples that are done.`],
    rows: () => rowsSoFar(service, runId),
  };
}

async function* finalBytes({ client }: Service, runId: string): AsyncGenerator<Uint8Array> {
  yield* chunksOf(await client.file(runId, "results.jsonl"));
}

async function* finalRows(service: Service, runId: string): AsyncGenerator<OpenedRow> {
  let number = 0;
  for await (const line of readLines(finalBytes(service, runId))) yield openedRow(line, ++number, runId);
}

/** Rows that are committed meanwhile may move those behind them: each is given once, in ascending order. */
async function* rowsSoFar({ client }: Service, runId: string): AsyncGenerator<OpenedRow> {
  let number = 0;
  let last: readonly [number, number] = [-1, -1];
  for (let page = 1; ; page += 1) {
    const { samples, has_more } = await client.samples(runId, page, PAGE);
    for (const value of samples) {
      const place = [Number(value.example_id), Number(value.rollout_index ?? 0)] as const;
      if (place[0] < last[0] || (place[0] === last[0] && place[1] <= last[1])) continue;
      last = place;
      yield openedRow(JSON.stringify(value), ++number, runId);
    }
    if (!has_more) return;
  }
}
