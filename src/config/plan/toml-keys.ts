import type { Option } from "../options/option.ts";
import { OPTION_NAMES, OPTIONS, type OptionName } from "../options/options.ts";
import { withMirroredReasoning } from "../options/sampling.ts";
import type { JsonObject } from "./run-config.ts";

/** The keys of a TOML table, derived from the table of options. */

/** How a key of a table is read. */
export interface TomlKey {
  /** Key under which tables are merged: what an alias stands for. */
  readonly key: string;
  /** Null: the environment's id, which is no option. */
  readonly option: OptionName | null;
}

/** The same table in two notations: `headers = { Name = "value" }` and `header = ["Name: value"]`, which wins. */
export const linesKeyOf = (name: OptionName): string | null => {
  const { kind, flag }: Option = OPTIONS[name];
  return kind === "table" && flag !== null ? flag.replaceAll("-", "_") : null;
};

function keysOf(name: OptionName): readonly (readonly [string, TomlKey])[] {
  const { only, aliases, kind }: Option = OPTIONS[name];
  if (only === "flag") return [];
  const lines = linesKeyOf(name);
  return [
    [name, { key: name, option: name }],
    // What `resume` may be left out for is another key until tables are merged.
    ...aliases.map((alias) => [alias, { key: kind === "optional_path" ? alias : name, option: name }] as const),
    ...(lines === null ? [] : [[lines, { key: lines, option: name }] as const]),
  ];
}

export const TOML_KEYS: ReadonlyMap<string, TomlKey> = new Map([
  ["env_id", { key: "env_id", option: null }],
  ["id", { key: "env_id", option: null }],
  ...OPTION_NAMES.flatMap(keysOf),
]);

/** Values by the key they are merged under. */
export type TomlTable = Readonly<Record<string, unknown>>;

/** A table under the keys that it is merged by. `both(a, b)` is called where two keys mean the same. */
export function canonicalTable(table: TomlTable, both: (key: string, other: string) => never): TomlTable {
  const canonical: Record<string, unknown> = {};
  const from = new Map<string, string>();
  for (const [key, value] of Object.entries(table)) {
    const name = TOML_KEYS.get(key)?.key ?? key;
    const other = from.get(name);
    if (other !== undefined) both(other, key);
    from.set(name, key);
    canonical[name] = key === "sampling" && isTable(value) ? withMirroredReasoning(value as JsonObject) : value;
  }
  return canonical;
}

export const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
