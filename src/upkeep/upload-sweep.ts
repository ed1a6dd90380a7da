import type { RunUploads } from "../../durable-objects/run/control.ts";
import { registryStub, runStub } from "../../durable-objects/stubs.ts";
import { readManifest } from "../../r2-layout/folder-manifest.ts";
import { datasetKey } from "../../r2-layout/keys.ts";
import { type Env, isLocal } from "../env.ts";
import { EdgewiseError, failureOf } from "../errors/result.ts";
import { UPLOAD_GRACE_MS, WATCHDOG_RUNS } from "../limits.ts";
import { count } from "../operations.ts";
import { steadyNow } from "../steady-clock.ts";
import { teamsInTurn } from "./team-turns.ts";
import { runName, teamField, teamPrefix } from "../teams/team-name.ts";

/** Runs asked at once, and in one page. */
const AT_ONCE = 20;
/** Digests told in one call. */
const TOLD = 1_000;

export interface SweepLimits {
  readonly grace_ms: number;
  /** Runs that are asked, and pages of uploads, in one invocation. */
  readonly most: number;
}

/**
 * Goes on with the sweep of uploads that no run points to, once a minute, until a round is over. A Run that cannot be asked holds it up: the page
 * is asked again, and a round that does not get further deletes nothing. Failures are logged.
 */
export async function sweepUploads(env: Env, limits: Partial<SweepLimits> = {}): Promise<void> {
  const { grace_ms = UPLOAD_GRACE_MS, most = isLocal(env) ? Number.POSITIVE_INFINITY : WATCHDOG_RUNS } = limits;
  let left = most;
  for (const team of await teamsInTurn(env, steadyNow())) left -= await sweepTeam(env, team, grace_ms, left);
}

/** How much of `most` it took. */
async function sweepTeam(env: Env, team: string, grace_ms: number, most: number): Promise<number> {
  let left = most;
  try {
    while (left > 0) {
      const turn = await registryStub(env, team).sweepUploads({ grace_ms, limit: Math.min(left, AT_ONCE), ...teamField(team) });
      if (turn.kind === "idle") break;
      left -= turn.kind === "ask" ? turn.runs.length : 1;
      if (turn.kind === "ask") await askRuns(env, team, turn.round, turn.runs);
    }
  } catch (thrown) {
    console.warn(`sweep of uploads: ${failureOf(thrown).message}`);
  }
  return Number.isFinite(most) ? most - left : 0;
}

async function askRuns(env: Env, team: string, round: number, runs: readonly string[]): Promise<void> {
  const tell = (digests: readonly string[], through: string) => registryStub(env, team).markUploads({ round, digests, through });
  const answers = await Promise.all(runs.map((run_id) => runStub(env, runName({ run_id, ...teamField(team) })).uploads()));
  // One after the other: a manifest may name 40,000 parts.
  for (const { manifest } of answers) {
    const parts = manifest === null ? [] : await partsOf(env, team, manifest);
    for (let at = 0; at < parts.length; at += TOLD) await tell(parts.slice(at, at + TOLD), "");
  }
  await tell(
    answers.flatMap(({ digests }: RunUploads) => digests),
    runs.at(-1) ?? "",
  );
}

/** Throws where a later version wrote it. One that is gone or damaged names no parts: its run will say so. */
async function partsOf(env: Env, team: string, manifest: string): Promise<readonly string[]> {
  const object = await env.BUCKET.get(`${teamPrefix(team)}${datasetKey(manifest)}`);
  count("r2_class_b");
  if (object === null) return [];
  const read = readManifest(new Uint8Array(await object.arrayBuffer()));
  if (read.ok) return read.value.parts.map(({ digest }) => digest);
  if (read.error.code === "stored_version_unknown") throw new EdgewiseError(read.error.code, read.error.message);
  return [];
}
