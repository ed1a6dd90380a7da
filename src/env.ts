import type { AiBinding } from "./clients/client.ts";
import { DEFAULT_KEY_VARS, type KeyPlaces } from "./config/endpoints/key-vars.ts";
import { OPTIONS } from "./config/options/options.ts";
import { fail, type Result } from "./errors/result.ts";
import { MASTER_KEYS_PATH, type MasterKeys, type MasterKeyTexts, masterKeysOf } from "./secrets/master-keys.ts";

/**
 * The environment of the Worker and its Durable Objects: what `wrangler types` derives from wrangler.toml, the secrets a deployment
 * sets, and what only the local service passes. Keys of model endpoints are in it too, under names a run chooses: see
 * config/secrets.ts, the only reader.
 */
export interface Env extends Cloudflare.Env {
  /** Work queues, `rollouts-0` first. */
  readonly [queue: `ROLLOUTS_${number}`]: Queue;

  /** Secret: bearer token of the HTTP door; a deployment without it refuses every request. */
  readonly EDGEWISE_TOKEN?: string;
  /** Secrets: what secrets of teams are encrypted with, and where that key is being replaced. Deployed; locally the command line has them. */
  readonly EDGEWISE_MASTER_KEY?: string;
  readonly EDGEWISE_MASTER_KEY_NEXT?: string;
  /** Cloudflare Access, where it stands before a deployment: `acme.cloudflareaccess.com`, and the audience of its application. Both or neither. */
  readonly ACCESS_TEAM_DOMAIN?: string;
  readonly ACCESS_AUD?: string;
  /** Hugging Face Hub and its data set viewer, where they are not the public ones. */
  readonly HF_ENDPOINT?: string;
  readonly HF_DATASETS_SERVER?: string;
  /** Where objects are to be made (`durable-objects/location-hint.ts`); absent = near whoever first calls them. */
  readonly LOCATION_HINT?: string;
  /** How much the library's own log says (`debug` to `silent`; default `warning`), the first that is a level. */
  readonly EDGEWISE_LOG_LEVEL?: string;
  readonly VF_LOG_LEVEL?: string;
  /** Milliseconds between two looks at a run for an event stream. */
  readonly EVENTS_POLL_MS?: string;
  /** Milliseconds for which a client of the Hub waits in one request for files that are being made. */
  readonly HUB_WAIT_MS?: string;

  /** Present in the local service only, which the command line starts. */
  readonly LOCAL?: string;
  /** "1" where the local service stays: it keeps schedules and watches monitors then. */
  readonly KEEPS_SCHEDULES?: string;
  /** Drawn at each start of the local service: leases of an older boot lapse at once. */
  readonly BOOT_ID?: string;
  /** Known to whoever may read the state folder: who sends it is a command of this user, at a terminal. */
  readonly COMMAND_SECRET?: string;
  /** Variables of the process that started the local service, looked up by name only; never stored, logged or put into errors. */
  readonly LOCAL_SECRETS?: Readonly<Record<string, string>>;
  /** Answers while the process that started the local service lives. */
  readonly PARENT?: Fetcher;
  /** Cloudflare's own models, for the client type `workers_ai`; a binding that a deployment adds. */
  readonly AI?: AiBinding;
  /** Objects of Cloudflare's Sandbox SDK, of a Worker beside this one; a binding that a deployment adds. */
  readonly SANDBOXES?: DurableObjectNamespace;
  /** Sends email; a binding that a deployment adds (`send_email`), and the address that alerts come from. */
  readonly EMAIL?: MailBinding;
  readonly ALERTS_FROM?: string;
  /** Whose sandboxes runs get where neither they nor their environments say (src/config/sandbox-names.ts); absent = `local` on one's own machine, deployed nobody's. */
  readonly SANDBOX?: string;
  /** Where their providers are, under the names that their own clients read; absent = the public ones. */
  readonly PRIME_API_BASE_URL?: string;
  readonly E2B_DOMAIN?: string;
  readonly E2B_API_URL?: string;
  readonly E2B_SANDBOX_URL?: string;
  /** Hosts that code of environments may send requests to where it has an isolate of its own: names between commas, `*` for any characters. */
  readonly ENVIRONMENT_HOSTS?: string;
  /** How long nothing may be heard of an example that an isolate plays, while no model is at work for it, in milliseconds; default ten minutes. */
  readonly WALLED_SILENCE_MS?: string;
  /** How long a run waits for an executor that has its code, in milliseconds; default ten minutes. */
  readonly CODE_WAIT_MS?: string;
  /** How long after a batch of requests was submitted it is looked at first, in milliseconds; later looks come ever later. Default five seconds. */
  readonly BATCH_LOOK_MS?: string;
  /** For how long after somebody began to create a batch it may still come into the provider's list, in milliseconds; default two and a half minutes. */
  readonly BATCH_SETTLE_MS?: string;
  /** How long a run outlasts an endpoint that answers nobody, in milliseconds; 0 = no longer than the retries of each request. */
  readonly OUTAGE_MS?: string;
  /** How long an endpoint may refuse everybody for want of room before that costs requests their retries, in milliseconds; 0 = at once. */
  readonly STORM_MS?: string;
  /** Time of a rollout that may be lost with its executor, in milliseconds; default ten seconds. */
  readonly KEEP_TURNS_MS?: string;
  /** Rollouts that a span of a divided unit has at least; units of fewer than twice as many are never divided. Default 8. */
  readonly SPAN_ROLLOUTS?: string;
  /** The embedded model's routes (`src/embedded-worker.ts`). */
  readonly EMBEDDED?: Fetcher;
  /** The network without what miniflare puts before it (`src/cli/service/runtime/network.ts`). */
  readonly NETWORK?: Fetcher;
}

/** The part of Cloudflare's `send_email` binding that is used. */
export interface MailBinding {
  send(mail: { readonly from: string; readonly to: string; readonly subject: string; readonly text: string }): Promise<unknown>;
}

/** Boot id of a deployment: there is one boot that never ends. */
const DEPLOYED_BOOT = "deployed";

/** Whether due times of schedules are begun and monitors watched here: not by a command that starts the local service for itself and ends it in a moment. */
export const keepsSchedules = (env: Env): boolean => !isLocal(env) || env.KEEPS_SCHEDULES === "1";
export const isLocal = (env: Env): boolean => env.LOCAL !== undefined;
/** Work queues; locally each has one consumer at a time. */
export const queueCount = (env: Env): number => Object.keys(env).filter((name) => QUEUE_BINDING.test(name)).length;
export const QUEUE_BINDING = /^ROLLOUTS_\d+$/;

/** Which deployment this is; undefined in the local service, which has no such binding. */
export const deploymentOf = (env: Partial<Env>): string | undefined => env.CF_VERSION_METADATA?.id;

/** What makes isolates for code that is not of this deployment; null where its wrangler.toml is of before there was such a binding. */
export const loaderOf = (env: Partial<Env>): WorkerLoader | null => env.LOADER ?? null;

export const bootOf = (env: Env): string => env.BOOT_ID ?? DEPLOYED_BOOT;

let life: { readonly id: string; readonly since: number } | undefined;

/**
 * Life of the process that runs this code: the local runtime may end and be started again under one boot. It is one isolate, whose objects and
 * executors share this; drawn when it is first asked for, since a Worker draws nothing while it loads. `since`: Unix milliseconds by the machine's clock; 0 = for ever.
 */
export function lifeOf(env: Env): { readonly id: string; readonly since: number } {
  if (!isLocal(env)) return { id: DEPLOYED_BOOT, since: 0 };
  life ??= { id: crypto.randomUUID(), since: Date.now() };
  return life;
}
export const runtimeOf = (env: Env): string => lifeOf(env).id;

/** Asked for anew each time: on one machine the key may be replaced while the service runs. */
export async function masterKeysIn(env: Env): Promise<Result<MasterKeys>> {
  if (!isLocal(env) || env.PARENT === undefined) return masterKeysOf(env);
  const answer = await env.PARENT.fetch(`http://parent${MASTER_KEYS_PATH}`);
  if (!answer.ok) return fail("missing_key", await answer.text());
  return masterKeysOf((await answer.json()) as MasterKeyTexts);
}

/** Where a run's model is called by default, and where keys may go. */
export const keyPlacesOf = (env: Env): KeyPlaces => ({
  local: isLocal(env),
  baseUrl: env.API_BASE_URL || OPTIONS.api_base_url.default,
  keyVar: env.API_KEY_VAR || OPTIONS.api_key_var.default,
  keyVars: env.KEY_VARS || DEFAULT_KEY_VARS,
});
