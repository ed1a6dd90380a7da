import { type GivenOptions, OPTION_NAMES } from "../options/options.ts";
import { isPlainText } from "../plain-text.ts";

/** What a label is made from. */
export interface Labelled {
  readonly envId: string;
  readonly given: GivenOptions;
}

/** Longest value in a label; a longer one tells nobody anything at a glance. */
const MAX_VALUE = 40;
/** Settings made of settings, each of which may vary by itself. */
const PARTS = ["env_args", "sampling_args", "extra_env_kwargs"] as const;

/**
 * What to call each of several evaluations: its environment, and where that is evaluated more than once the settings that vary
 * (`gsm8k temperature=0.5 difficulty=hard`). Evaluations that are alike in everything are numbered.
 */
export function evalLabels(evals: readonly Labelled[]): readonly string[] {
  const settings = evals.map(({ given }) => settingsOf(given));
  const named = evals.map(({ envId }, index) => {
    const same = settings.filter((_, other) => evals[other]?.envId === envId);
    const own = settings[index];
    if (same.length < 2 || own === undefined) return envId;
    const keys = [...new Set(same.flatMap((each) => [...each.keys()]))].filter((key) => new Set(same.map((each) => each.get(key)?.text)).size > 1);
    return [envId, ...keys.flatMap((key) => label(own.get(key)))].join(" ");
  });
  const seen = new Map<string, number>();
  return named.map((name) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return named.indexOf(name) === named.lastIndexOf(name) ? name : `${name} #${count}`;
  });
}

/** Characters of a name that is made: two UTF-16 units each at most, of which a name has 200. */
const MAX_NAME = 100;

/** What a run is called in lists that is one of several of its environment, and was given no name; nothing for any other. */
export const nameOfLabel = (envId: string, label: string, { eval_name }: GivenOptions): { readonly eval_name?: string } =>
  eval_name !== undefined || label === envId ? {} : { eval_name: [...label].filter(isPlainText).slice(0, MAX_NAME).join("") };

interface Setting {
  readonly name: string;
  readonly text: string;
}

function settingsOf(given: GivenOptions): ReadonlyMap<string, Setting> {
  const found = new Map<string, Setting>();
  for (const option of OPTION_NAMES) {
    const value = given[option];
    if (value === undefined) continue;
    // Its path may be a secret, and who watches is no difference.
    if (option === "heartbeat_url" || option === "monitor") continue;
    if (!PARTS.some((part) => part === option)) found.set(option, { name: option, text: textOf(value) });
    else for (const [name, part] of Object.entries(value as object)) found.set(`${option}.${name}`, { name, text: textOf(part) });
  }
  return found;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

function label(setting: Setting | undefined): readonly string[] {
  if (setting === undefined) return [];
  const { name, text } = setting;
  return [`${name}=${text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE - 1)}…` : text}`];
}
