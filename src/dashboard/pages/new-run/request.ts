import { printableJson } from "../../../report/text/printable.ts";
import { quoted } from "../../../report/text/shell-word.ts";
import { type Draft, referenceOf } from "./draft.ts";
import { placeOptions, type Settings } from "./settings.ts";

/** Body of `POST /hosted-evaluations`. */
export interface Creation {
  readonly environment_ids: readonly [string];
  readonly inference_model: string;
  readonly eval_config: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** What a draft asks for. */
export function creationOf(draft: Draft, { env_args, sampling_args, model, options }: Settings): Creation {
  const inBody: Record<string, unknown> = {};
  const config: Record<string, unknown> = {
    ...(Object.keys(env_args).length === 0 ? {} : { env_args }),
    ...(Object.keys(sampling_args).length === 0 ? {} : { sampling_args }),
  };
  for (const { field, value } of options) {
    const { http } = field.option;
    if (http !== null) (http.in === "body" ? inBody : config)[http.field] = value;
  }
  return { environment_ids: [referenceOf(draft)], inference_model: model, ...inBody, eval_config: { ...config, ...placeOptions(draft, options) } };
}

interface Caller {
  /** Of the service, without a slash at its end. */
  readonly origin: string;
  /** Whether it asks for a token. */
  readonly asksToken: boolean;
  /** The team to name; null where the caller has one alone. */
  readonly team: string | null;
}

/** The same as a request that anybody can send; the token is one's own to fill in. */
export function requestText(creation: Creation, { origin, asksToken, team }: Caller): string {
  const headers = [
    ...(asksToken ? ['"Authorization: Bearer $EDGEWISE_TOKEN"'] : []),
    quoted("Content-Type: application/json"),
    ...(team === null ? [] : [quoted(`X-Edgewise-Team: ${team}`)]),
  ];
  return [
    `curl -X POST ${quoted(`${origin}/api/v1/hosted-evaluations`)}`,
    ...headers.map((header) => `  -H ${header}`),
    `  --data-binary ${quoted(printableJson(creation, 2))}`,
  ].join(" \\\n");
}
