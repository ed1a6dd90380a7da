import { canonicalJson } from "../../config/canonical-json.ts";
import { sha256Hex } from "../../config/sha256.ts";
import type { Question } from "../../clients/known-answers.ts";
import type { ClientType, JsonObject } from "../../config/plan/run-config.ts";
import { placeUrl } from "../../endpoint-limits/limiter-name.ts";
import type { AskedRole } from "../../rollouts/state/cache-meter.ts";
import { DEFAULT_TEAM } from "../../teams/team-name.ts";

/** Changes when equal questions are to have other digests: what was kept by those of before is asked for anew, and expires. */
const VERSION = 1;

/** Where questions are sent, and who sends them. */
export interface AskedPlace {
  readonly team: string | undefined;
  readonly role: AskedRole;
  readonly base_url: string;
  readonly client_type: ClientType;
  /** Those of the run and its replica, which may choose what answers; none that belong to the key. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers whose values are the state's, by their keys there; absent = none but the usual one, which names the example and chooses nothing. */
  readonly headers_from_state?: Readonly<Record<string, string>> | undefined;
}

/** How an answer is brought, which is the same answer in pieces. */
const DELIVERY = ["stream", "stream_options"] as const;
/** The limit of tokens under its other name: which one is sent depends on what the server was found to know. */
const LIMIT_NAMES = ["max_completion_tokens", "max_tokens"] as const;

/** The body of a client's own route as far as its answer depends on it. Whoever makes a request himself gets its answer as it was asked for. */
function decisive({ route, body }: Pick<Question, "route" | "body">): JsonObject {
  if (route !== null) return body;
  const own = { ...body };
  for (const name of DELIVERY) delete own[name];
  const [name, usual] = LIMIT_NAMES;
  if (own[name] !== undefined && own[usual] === undefined) {
    own[usual] = own[name];
    delete own[name];
  }
  return own;
}

/** What names a question whatever the attempt: everything that its answer depends on. Values of keys are no part of it. */
export async function questionName(place: AskedPlace, question: Question): Promise<string> {
  const { team = DEFAULT_TEAM, role, base_url, client_type, headers, headers_from_state } = place;
  const { state, route, model, beside = null } = question;
  const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const values = Object.fromEntries(Object.entries(headers_from_state ?? {}).map(([name, key]) => [name.toLowerCase(), state[key] ?? null]));
  const whole = { v: VERSION, team, role, place: placeUrl(base_url), client_type, headers: named, values, route, model, body: decisive(question), beside };
  return await sha256Hex(canonicalJson(whole));
}

/** The digest that an answer is kept under: of the question, and of which attempt at it this is. */
export const questionDigest = (name: string, rollout: number, time: number): Promise<string> => sha256Hex(`${name} ${rollout} ${time}`);
