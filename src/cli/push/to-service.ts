/** `edgewise push FOLDER…`: results folders as evaluations of the service, whoever made them. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { sha256Hex } from "../../config/sha256.ts";
import { singleLine } from "../../report/text/printable.ts";
import { withRuns } from "../exports/open-runs.ts";
import type { OpenedRun } from "../exports/opened-run.ts";
import { sparingMemory } from "../exports/sparing-memory.ts";
import type { Evaluation } from "../connection/api-types.ts";
import { ServiceError, type ServiceClient } from "../connection/http-client.ts";
import { type Patience, patiently } from "../connection/patience.ts";
import type { CommandContext } from "../service/command-context.ts";
import { explain } from "../service/explain.ts";
import { openService } from "../service/open-service.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { type Batch, batchesOf, bodyOf } from "./pushed-folder.ts";
import { patienceWith, whenSettled } from "./settling.ts";

/** Refusals that say something of what was sent, and nothing of the service. */
const OF_THE_FOLDER: ReadonlySet<string> = new Set(["invalid_request", "body_too_large"]);
/** Evaluations of one folder that may have been deleted. */
const GENERATIONS = 100;

export interface ServiceWish {
  readonly isPublic: boolean;
  readonly config: string | null;
}

export async function pushToService(context: CommandContext, named: readonly string[], { isPublic, config }: ServiceWish): Promise<ExitCode> {
  if (config !== null) throw usageError("--config is of a data set of the Hub: name one with --to hf:owner/name");
  for (const name of named)
    if (!existsSync(resolve(context.cwd, name)))
      throw usageError(`${name} is no folder that is there`, "Name results folders; runs of a service go to the Hub with --to hf:owner/name.");
  const { terminal } = context;
  sparingMemory();
  return await withRuns(context, "edgewise push", { named, partial: true }, async (runs) => {
    const service = await openService({ ...context, command: "edgewise push", port: 0, keyNames: [], attended: false, idle: false, onCrash: () => undefined });
    const patience = patienceWith({ ...service, tell: (line) => terminal.tell(line) });
    let refused = 0;
    try {
      for (const run of runs) {
        for (const note of run.notes) terminal.tell(`warning: ${note}`);
        const lines = await pushOne(service.client, run, isPublic, patience).catch((error: unknown) => {
          // What is wrong with one folder need not be wrong with the next.
          if (!(error instanceof ServiceError) || !OF_THE_FOLDER.has(error.code)) throw error;
          refused += 1;
          terminal.tell(singleLine(`error: ${run.name} is not pushed: ${error.message}`));
          return [];
        });
        for (const line of lines) terminal.print(line);
      }
      if (refused > 0 && runs.length > 1) terminal.tell(`${refused} of ${runs.length} could not be pushed`);
      return refused === 0 ? EXIT.completed : EXIT.failed;
    } catch (error) {
      throw explain(error, { service, env: context.env, wish: null });
    } finally {
      await service.close();
    }
  });
}

/** Pushes one folder, and returns what came of it: nothing new where it was pushed before. */
export async function pushOne(client: ServiceClient, run: OpenedRun, isPublic: boolean, patience: Patience): Promise<readonly string[]> {
  const id = await evaluationOf(client, bodyOf(run, isPublic));
  let added = 0;
  for await (const batch of batchesOf(run.rows())) if (await send(client, id, batch)) added += batch.rows.length;
  const { viewer_url } = await patiently(() => client.finalizeRun(id), patience);
  return pushedLines(await whenSettled(client, id, patience), viewer_url, added);
}

/** Whether any of them was new. What the service does not take is named by the row it is in. */
async function send(client: ServiceClient, id: string, { samples, rows }: Batch): Promise<boolean> {
  try {
    return (await client.pushSamples(id, samples)).added;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const message = error.message.replace(/\bsamples\.(\d+)/, (_, position: string) => `row ${rows[Number(position)] ?? "?"}`);
    throw new ServiceError(error.status, error.code, message, error.hint);
  }
}

/** The same folder is the same evaluation, unless that was deleted. */
async function evaluationOf(client: ServiceClient, body: unknown): Promise<string> {
  const key = await sha256Hex(JSON.stringify(body));
  for (let generation = 0; ; generation++) {
    try {
      return (await client.pushRun(body, `push-${key}-${generation}`)).evaluation_id;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "idempotency_conflict" || generation >= GENERATIONS) throw error;
    }
  }
}

interface Difference {
  readonly name: string;
  readonly pushed: number;
  readonly computed: number | null;
}

function pushedLines({ evaluation_id, status, total_samples = 0, metrics, edgewise }: Evaluation, url: string, added: number): readonly string[] {
  const { pushed } = edgewise as typeof edgewise & { pushed?: { differences: readonly Difference[] } };
  const reward = metrics.reward === undefined ? "" : `, average reward ${metrics.reward.toFixed(4)}`;
  return [
    `Pushed: evaluation ${evaluation_id}, ${status}, ${total_samples} samples${added === 0 && total_samples > 0 ? ", all of them there already" : ""}${reward}`,
    ...(pushed?.differences ?? []).map((each) => `warning: the folder says ${each.name} ${each.pushed}, its rows ${each.computed ?? "have none"}`),
    `See it: ${url}`,
  ];
}
