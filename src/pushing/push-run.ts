import { sendHubPushTask } from "../../durable-objects/run/sending/hub-push-task.ts";
import type { HubPushOutcome, RunView } from "../../durable-objects/run/control.ts";
import { registryStub, runStub } from "../../durable-objects/stubs.ts";
import { parseUrl } from "../config/endpoints/addresses.ts";
import { HUB_ENDPOINT } from "../datasets/host.ts";
import { type Env, masterKeysIn } from "../env.ts";
import { EdgewiseError, failureOf } from "../errors/result.ts";
import { askExport } from "../exporting/ask-export.ts";
import { ExportPlace } from "../exporting/export-place.ts";
import type { ExportState } from "../exporting/export-state.ts";
import { cardRunOf, metadataOf } from "../exporting/make-export.ts";
import { configStatement } from "../exports/card-statement.ts";
import { shardPath } from "../exports/shards.ts";
import { HubClient } from "../hub/hub-client.ts";
import { configPath, type Pushed, pushRuns, shardOf } from "../hub/push.ts";
import type { PushFile } from "../hub/push-file.ts";
import { freshCard, runSection } from "../hub/pushed-card.ts";
import { configName, defaultName } from "../hub/target.ts";
import { grantHint, grantProblem, HUB_TOKEN, hubGrants } from "../secrets/hub-grants.ts";
import { openSecrets } from "../secrets/run-secrets.ts";
import { steadyNow } from "../steady-clock.ts";
import { DEFAULT_TEAM } from "../teams/team-name.ts";

/** After this time the rest is another invocation's: what has arrived at the Hub is there. */
const SLICE_MS = 60_000;
/** Between two looks at Parquet that is being made. */
const AGAIN_S = 10;

/** As it is before the code of an environment runs in this isolate: the token goes through it. */
const platformFetch = fetch;

export interface PushLimits {
  readonly slice_ms?: number;
  /** In the place of the network. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  readonly sleep?: (ms: number) => Promise<void>;
}

/**
 * Pushes a settled run to the Hub as its config says, from R2, as far as its slice goes, and has the rest sent on; then tells the run what came of it.
 * Whoever is killed is followed by another who sends nothing twice.
 */
export async function pushRun(env: Env, run: string, limits: PushLimits = {}): Promise<void> {
  const view = await runStub(env, run).view();
  if (view === null || view.phase !== "settled" || view.hub_push?.status !== "pushing") return;
  const { generation } = view;
  const outcome = await attempt(env, view, limits).then(
    (pushed): HubPushOutcome | number => (typeof pushed === "number" ? pushed : { generation, kind: "pushed", url: pushed.url, commit: pushed.commit }),
    (thrown: unknown): HubPushOutcome => {
      const failure = failureOf(thrown);
      // A mistake of ours, or of the platform: perhaps not the next time.
      return { generation, kind: "failed", failure, passing: thrown instanceof EdgewiseError ? thrown.passing : true };
    },
  );
  if (typeof outcome === "number") await sendHubPushTask(env, run, outcome);
  else await runStub(env, run).hubPushed(outcome);
}

/** A number: seconds after which it is to be gone on with. */
async function attempt(env: Env, view: RunView, { slice_ms = SLICE_MS, fetch: network, sleep = pause }: PushLimits): Promise<Pushed | number> {
  const { config, generation } = view;
  const asked = config.hub_push;
  if (asked === undefined) throw new EdgewiseError("internal", "this run is not to be pushed");
  const began = steadyNow();
  const isOver = (): boolean => steadyNow() - began > slice_ms;
  const endpoint = (env.HF_ENDPOINT || HUB_ENDPOINT).replace(/\/+$/, "");
  const isPublic = asked.public === true;
  const token = await tokenOf(env, config.team ?? DEFAULT_TEAM, { endpoint, owner: asked.owner, isPublic });
  const state = await askExport(env, view);
  if (!state.done) return AGAIN_S;
  const place = new ExportPlace(env.BUCKET, config, generation);
  const { facts, value } = await metadataOf(place);
  const id = `${asked.owner}/${asked.name ?? defaultName(facts)}`;
  const name = configName(facts, config.run_id);
  const of = cardRunOf(view, value, facts);
  const files = filesOf(place, state, name);
  const stated = state.files.map((file, at) => ({ ...file, path: files[at]?.path ?? "" }));
  const told = {
    ...{ config: name, run: config.run_id, path: configPath(name), section: runSection(id, name, of, []), files },
    statement: configStatement(name, { runs: [of], metrics: state.metrics.map(({ metric }) => metric), files: stated }),
  };
  const reach = network ?? (env.NETWORK === undefined ? platformFetch : (url: string, init: RequestInit) => (env.NETWORK as Fetcher).fetch(url, init));
  const client = new HubClient({ endpoint, token, fetch: (url, init) => reach(url, init), sleep });
  const pushed = await pushRuns(client, {
    ...{ id, visibility: isPublic ? "public" : "private", runs: [told], card: freshCard([facts.env_id]), summary: `Rows of ${name}, by Edgewise` },
    ...{ tell: () => undefined, isOver },
  });
  return pushed ?? 0;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Wanted {
  readonly endpoint: string;
  readonly owner: string;
  readonly isPublic: boolean;
}

/** The team's token, where it may be used for this; it may have been changed since the run was created. */
async function tokenOf(env: Env, team: string, { endpoint, owner, isPublic }: Wanted): Promise<string> {
  const { secrets } = await registryStub(env, team).secretsFor({ environment: "", run: null, names: [HUB_TOKEN] });
  const sealed = secrets.filter(({ name, from }) => name === HUB_TOKEN && from === "global");
  const hint = grantHint(parseUrl(endpoint)?.hostname ?? endpoint, owner, isPublic);
  if (sealed.length === 0) throw new EdgewiseError("missing_key", `There is no secret ${HUB_TOKEN} of the team any more.`, { hint });
  const problem = grantProblem(hubGrants(sealed[0]?.hosts ?? [], endpoint), owner, isPublic);
  if (problem !== null) throw new EdgewiseError("missing_key", `${problem}.`, { hint });
  const keys = await masterKeysIn(env);
  const opened = keys.ok ? await openSecrets(keys.value, team, sealed) : keys;
  if (!opened.ok) throw new EdgewiseError(opened.error.code, opened.error.message, opened.error.hint === undefined ? {} : { hint: opened.error.hint });
  return opened.value[0]?.value.trim() ?? "";
}

function filesOf(place: ExportPlace, { files }: ExportState, config: string): readonly PushFile[] {
  return files.map(({ bytes, sha256 = "" }, at) => ({
    path: shardOf(config, shardPath("parquet", at, files.length)),
    size: bytes,
    sha256,
    read: async (offset, length) => await place.piece(`${at}.parquet`, offset, length),
  }));
}
