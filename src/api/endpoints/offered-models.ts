import { EMBEDDED_BASE_URL, EMBEDDED_MODEL } from "../../config/endpoints/providers.ts";
import { isPlainText } from "../../config/plain-text.ts";
import type { ClientType } from "../../config/plan/run-config.ts";
import { createClient } from "../../clients/create-client.ts";
import { endpointBlotter, shownUrl } from "../../clients/secrets.ts";
import { HttpClient } from "../../clients/transport/http-client.ts";
import { MAX_LISTED_MODELS } from "../../limits.ts";
import type { RunSecrets } from "../../secrets/run-secrets.ts";
import type { AppPorts } from "../app-ports.ts";
import { keyOfPlace } from "../secrets/secrets-of-run.ts";

/** Where a run would call its model. */
export interface ModelPlace {
  readonly base_url: string;
  readonly api_key_var: string;
  readonly api_client_type: ClientType;
  readonly headers: Readonly<Record<string, string>>;
}

export interface OfferedModels {
  readonly names: readonly string[];
  /** The server lists more than are kept. */
  readonly more: boolean;
  /** Why nothing is listed; null where something is. */
  readonly problem: string | null;
}

/** Whoever waits for it fills in a form. */
const LOOK_MS = 5_000;
/** What a server lists is the same for a while, and so is that it does not: it is not asked by every key that somebody types. */
const KEPT_MS = { listed: 60_000, failed: 15_000 };
const MOST_KEPT = 100;
/** Characters of a name. */
const NAME_CHARACTERS = 256;

interface Kept {
  readonly models: OfferedModels;
  readonly until: number;
}

/** Of all requests of this isolate; data only, since none may wait for another. */
const kept = new Map<string, Kept>();

/** The models that the server of a place lists, asked with the place's own key, of which nothing is in what is given; as it was a moment ago. Never throws. */
export async function offeredModels(ports: AppPorts, secrets: RunSecrets, place: ModelPlace): Promise<OfferedModels> {
  const name = JSON.stringify([ports.team, place]);
  const now = ports.now();
  const known = kept.get(name);
  if (known !== undefined && known.until > now) return known.models;
  const models = await lookAt(ports, secrets, place);
  kept.delete(name);
  kept.set(name, { models, until: now + (models.problem === null ? KEPT_MS.listed : KEPT_MS.failed) });
  for (const [oldest] of kept) {
    if (kept.size <= MOST_KEPT) break;
    kept.delete(oldest);
  }
  return models;
}

const none = (problem: string): OfferedModels => ({ names: [], more: false, problem });

async function lookAt(ports: AppPorts, secrets: RunSecrets, place: ModelPlace): Promise<OfferedModels> {
  const { base_url, api_key_var, api_client_type } = place;
  const key = keyOfPlace(ports, secrets, api_key_var, base_url);
  if (!key.ok) return none(key.error.message);
  if (base_url === EMBEDDED_BASE_URL) return { names: [EMBEDDED_MODEL], more: false, problem: null };
  const headers = { ...place.headers, ...key.value.headers };
  let status: number | null = null;
  const client = createClient(
    api_client_type,
    { base_url, api_key: key.value.key, api_key_var, headers },
    {
      fetch: async (url, init) => {
        const response = await ports.fetch(url, init);
        ({ status } = response);
        return response;
      },
    },
  );
  if (!(client instanceof HttpClient)) return none("Models that are called without an address are listed nowhere.");
  const signal = AbortSignal.timeout(LOOK_MS);
  const offered = await client.offeredModels(signal);
  if (offered === null) return none(`${shownUrl(base_url)} ${refusal(status, signal.aborted, api_key_var)}`);
  const blot = endpointBlotter(key.value.key, headers);
  // A server may list anything, what it was just sent among it.
  const names = [...new Set(offered)].filter((each) => each.length <= NAME_CHARACTERS && isPlainText(each) && blot(each) === each);
  if (names.length === 0) return none(`${shownUrl(base_url)} lists no models.`);
  return { names: names.slice(0, MAX_LISTED_MODELS).sort(), more: names.length > MAX_LISTED_MODELS, problem: null };
}

function refusal(status: number | null, isLate: boolean, keyVar: string): string {
  if (isLate) return `did not list its models within ${LOOK_MS / 1_000} s.`;
  if (status === null) return "cannot be reached.";
  if (status === 401 || status === 403) return `does not take the key in ${keyVar} (${status}).`;
  return status < 300 ? "answers with no list of models." : `lists no models (${status}).`;
}
