import { isTable, type TomlTable } from "../plan/toml-keys.ts";

/**
 * The evaluations of one `[[ablation]]`: the cartesian product of the swept values over the fixed ones, in the
 * order of the file, the last dimension varying fastest. An empty list gives none. They are counted before they are made, and
 * at most `most` are. `refuse(key, problem)` throws.
 */
export function expandAblation(
  globals: TomlTable,
  fixed: TomlTable,
  sweep: TomlTable,
  most: number,
  refuse: (key: string, problem: string) => never,
): readonly TomlTable[] {
  const { env_args: sweptArgs = {}, ...swept } = sweep;
  if (!isTable(sweptArgs)) refuse("sweep.env_args", "must be a table of lists");
  const dimensions = [
    ...Object.entries(swept).map(([key, values]) => ({ key, arg: null, values: listOf(`sweep.${key}`, values, refuse) })),
    ...Object.entries(sweptArgs).map(([arg, values]) => ({ key: "env_args", arg, values: listOf(`sweep.env_args.${arg}`, values, refuse) })),
  ];
  if (dimensions.length === 0) refuse("sweep", "must be a non-empty table: each key a list of values");
  const twice = isTable(fixed.env_args) ? Object.keys(fixed.env_args).filter((arg) => Object.hasOwn(sweptArgs, arg)) : [];
  if (twice.length > 0) refuse("env_args", `${twice.join(", ")} ${twice.length === 1 ? "is" : "are"} both fixed and swept: keep one of the two`);
  const combinations = dimensions.reduce((product, { values }) => product * values.length, 1);
  if (combinations > most) refuse("sweep", `comes to ${combinations} evaluations; beside the rest of the file ${most} are possible`);
  // The lists before an empty one would be multiplied out for nothing.
  if (combinations === 0) return [];

  const base = mergeTables(globals, fixed, new Set([...Object.keys(fixed), ...Object.keys(swept)]));
  return dimensions.reduce<readonly TomlTable[]>(
    (tables, { key, arg, values }) =>
      tables.flatMap((table) =>
        values.map((value) => ({ ...table, [key]: arg === null ? value : { ...(isTable(table.env_args) ? table.env_args : {}), [arg]: value } })),
      ),
    [base],
  );
}

/** What varies, in the order of expansion: `temperature`, `env_args.difficulty`. */
function listOf(path: string, values: unknown, refuse: (key: string, problem: string) => never): readonly unknown[] {
  return Array.isArray(values) ? (values as readonly unknown[]) : refuse(path, "must be a list of values: swept fields must be lists");
}

/**
 * Globals under a table of their own, shallowly: a table replaces one of the same key. A model given by its name
 * drops an inherited `endpoint_id`, and the other way round; `explicit` are the keys that count as given.
 */
export function mergeTables(globals: TomlTable, own: TomlTable, explicit: ReadonlySet<string> = new Set(Object.keys(own))): TomlTable {
  const { model, endpoint_id, ...rest } = globals;
  return {
    ...rest,
    ...(model !== undefined && !(explicit.has("endpoint_id") && !explicit.has("model")) ? { model } : {}),
    ...(endpoint_id !== undefined && !(explicit.has("model") && !explicit.has("endpoint_id")) ? { endpoint_id } : {}),
    ...own,
  };
}
