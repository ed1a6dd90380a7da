import { OPTIONS } from "../config/options/options.ts";
import { PROVIDERS } from "../config/endpoints/providers.ts";
import { quoted } from "../report/text/shell-word.ts";

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {});

/**
 * The command that makes a run of these settings, from the `metadata.json` of one of ours; null for another program's, which need not have been
 * started by a command of ours. Headers are left out: they are nobody else's business.
 */
export function evalCommand(metadata: unknown): string | null {
  const file = fieldsOf(metadata);
  const own = fieldsOf(file.edgewise);
  if (typeof own.run_id !== "string" || typeof file.env_id !== "string" || typeof file.model !== "string") return null;
  const settings = fieldsOf(own.settings);
  const sampling = Object.fromEntries(Object.entries(fieldsOf(settings.sampling_args)).filter(([name, value]) => name !== "max_tokens" || value !== null));
  const seed = own.shuffle_seed;
  const words = [
    ...["npx", "edgewise", "eval", "run", file.env_id, "-m", file.model],
    ...placeWords(file.base_url),
    ...(settings.api_client_type === undefined || settings.api_client_type === OPTIONS.api_client_type.default
      ? []
      : ["--api-client-type", String(settings.api_client_type)]),
    ...["-n", String(file.num_examples), "-r", String(file.rollouts_per_example)],
    ...jsonWords("-a", file.env_args),
    ...jsonWords("-S", sampling),
    ...jsonWords("-x", own.extra_env_kwargs),
    ...(settings.independent_scoring === true ? ["-i"] : []),
    ...(typeof seed === "number" ? ["--shuffle", "--shuffle-seed", String(seed)] : []),
    ...(Array.isArray(file.state_columns) && file.state_columns.length > 0 ? ["-C", file.state_columns.join(",")] : []),
    ...(typeof own.cluster_by === "string" ? ["-g", own.cluster_by] : []),
  ];
  return words.map(quoted).join(" ");
}

/** Of several addresses none: a registry named them. */
function placeWords(base: unknown): readonly string[] {
  if (typeof base !== "string" || base === "" || base.includes(",")) return [];
  const provider = Object.entries(PROVIDERS).find(([, { base_url }]) => base_url.replace(/\/+$/, "") === base.replace(/\/+$/, ""));
  return provider === undefined ? ["-b", base] : ["--provider", provider[0]];
}

const jsonWords = (flag: string, value: unknown): readonly string[] => (Object.keys(fieldsOf(value)).length === 0 ? [] : [flag, JSON.stringify(value)]);
