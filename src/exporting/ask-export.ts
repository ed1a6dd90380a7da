import type { RunView } from "../../durable-objects/run/control.ts";
import type { Env } from "../env.ts";
import { EdgewiseError } from "../errors/result.ts";
import { runFacts } from "../exports/run-facts.ts";
import { steadyNow } from "../steady-clock.ts";
import { runName } from "../teams/team-name.ts";
import { ExportPlace } from "./export-place.ts";
import { type ExportState, lacksDigests } from "./export-state.ts";
import { exportsQueue, sendExportTask } from "./export-task.ts";
import { begun } from "./make-export.ts";

/** Whoever works on an export writes a file in less time than this: beyond it the task is lost, or its executor was killed. */
const SILENT_MS = 120_000;

/** How far the Parquet files of a settled run are. The first question begins them, and one that finds nobody at work has them gone on with. */
export async function askExport(env: Env, view: RunView, silent_ms = SILENT_MS): Promise<ExportState> {
  if (exportsQueue(env) === undefined)
    throw new EdgewiseError("invalid_request", "This deployment has no queue for exports.", {
      hint: "Deploy it with the wrangler.toml of this version; csv and jsonl need none.",
    });
  const place = new ExportPlace(env.BUCKET, view.config, view.generation);
  const run = runName(view.config);
  const found = await place.state();
  if (found === null || lacksDigests(found.state)) {
    const stream = await place.read("metadata.json");
    const facts = stream === null ? null : runFacts(await new Response(stream).json());
    // Else an export without rows would be kept.
    const isWhole = view.totals.rollouts === 0 || (await place.size("results.jsonl")) !== null;
    if (facts === null || !isWhole) throw new EdgewiseError("storage_unavailable", "The results of this run are missing in storage.");
    const { state } = await begun(place, facts, found?.etag ?? null);
    await sendExportTask(env, run);
    return state;
  }
  const { state, etag } = found;
  if (state.done || steadyNow() - state.updated_at < silent_ms) return state;
  // Of several who find nobody at work one sends for somebody.
  const asked = { ...state, updated_at: steadyNow() };
  if ((await place.store(asked, etag)) !== null) await sendExportTask(env, run);
  return asked;
}
