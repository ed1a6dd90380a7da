import { EdgewiseError } from "../errors/result.ts";
import { expandAblation, mergeTables } from "./ablations.ts";
import type { Option } from "./option.ts";
import { type GivenOptions, OPTIONS, type OptionName } from "./options.ts";
import { canonicalTable, isTable, linesKeyOf, TOML_KEYS, type TomlTable } from "./toml-keys.ts";

/** One evaluation of a config file. */
export interface PlannedEval {
  readonly envId: string;
  /** What the file says of it; nothing is filled in. */
  readonly given: GivenOptions;
  /** Where the file says it: `[[eval]] #2`. */
  readonly place: string;
}

export interface EvalPlan {
  /** All `[[eval]]` in the order of the file, then each `[[ablation]]`. */
  readonly evals: readonly PlannedEval[];
  /** Requests in flight of all of them together; null = no common limit. */
  readonly maxConcurrentTotal: number | null;
  /** What the file says that has no effect. */
  readonly warnings: readonly string[];
}

const SECTIONS = ["eval", "ablation"] as const;
/** Holds for all evaluations of a file. */
const TOTAL = "max_concurrent_total" satisfies OptionName;

/**
 * The evaluations that a config file asks for: globals, `[[eval]]` and `[[ablation]]`. `document` is the parsed file,
 * or the same as JSON; `file` is what errors call it. Throws `invalid_request` for the first thing that is wrong, with file, table and key,
 * in the order in which `verifiers` finds it: shape of the arrays, unknown keys, what an evaluation lacks; values are checked last.
 */
export function planEvals(document: unknown, file: string): EvalPlan {
  if (!isTable(document)) throw new EdgewiseError("invalid_request", `${file}: must be a table with [[eval]] or [[ablation]]`);
  const reader = new PlanReader(file);
  const [evals, ablations] = SECTIONS.map((name) => reader.section(document, name)) as [readonly TomlTable[], readonly TomlTable[]];
  if (evals.length + ablations.length === 0) reader.refuse("", "", "has no [[eval]] and no [[ablation]]: add at least one [[eval]] with an env_id");
  for (const [index, table] of evals.entries()) {
    if (!("env_id" in table) && !("id" in table)) reader.refuse(placeOf("eval", index), "env_id", "is missing: every [[eval]] names its environment");
  }
  const { eval: _eval, ablation: _ablation, ...top } = document;
  const globals = reader.table(top, "global settings", "Invalid global field");
  const own = evals.map((table, index) => reader.table(table, placeOf("eval", index), "Invalid field"));
  const merged = own.map((table, index) => ({ table: mergeTables(globals, table), place: placeOf("eval", index) }));
  const blocks = ablations.map((table, index) => reader.ablation(globals, table, placeOf("ablation", index)));
  const tables = [...merged, ...blocks.flatMap(({ tables }) => tables)];
  for (const { table, place } of tables) {
    if (!("env_id" in table)) reader.refuse(place, "env_id", "is missing: name it in the block, in its sweep or at the top of the file");
  }
  // Values last, each where it stands.
  reader.values(globals, "global settings");
  for (const [index, table] of own.entries()) reader.values(table, placeOf("eval", index));
  for (const [index, { fixed }] of blocks.entries()) reader.values(fixed, placeOf("ablation", index));
  const planned = tables.map(({ table, place }) => reader.evaluation(table, place));
  return { evals: planned, maxConcurrentTotal: typeof globals[TOTAL] === "number" ? globals[TOTAL] : null, warnings: [...reader.warnings] };
}

const placeOf = (section: (typeof SECTIONS)[number], index: number): string => `[[${section}]] #${index + 1}`;

class PlanReader {
  readonly warnings = new Set<string>();
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  refuse(place: string, key: string, problem: string, hint?: string): never {
    const where = [this.#file, place, key].filter((part) => part !== "").join(": ");
    throw new EdgewiseError("invalid_request", `${where} ${problem}`, hint === undefined ? {} : { hint });
  }

  section(document: TomlTable, name: (typeof SECTIONS)[number]): readonly TomlTable[] {
    const value = document[name] ?? [];
    if (isTable(value)) this.refuse("", "", `has a table [${name}]: use double brackets, [[${name}]]`);
    if (!Array.isArray(value) || !value.every(isTable)) this.refuse("", name, `must be an array of tables: [[${name}]]`);
    return value as readonly TomlTable[];
  }

  /** With known keys only, under the keys they are merged by. */
  table(table: TomlTable, place: string, problem: string): TomlTable {
    const unknown = Object.keys(table).filter((key) => !TOML_KEYS.has(key));
    if (unknown.length > 0) this.refuse(place, `${problem}:`, unknown.join(", "), `Known are ${[...TOML_KEYS.keys()].join(", ")}.`);
    return canonicalTable(table, (key, other) => this.refuse(place, other, `means the same as ${key}: give one of the two`));
  }

  ablation(globals: TomlTable, block: TomlTable, place: string) {
    const { sweep = {}, ...rest } = block;
    const fixed = this.table(rest, place, "Invalid field");
    if (!isTable(sweep)) this.refuse(place, "sweep", "must be a table of lists");
    const swept = this.table(sweep, place, "Invalid sweep field");
    const tables = expandAblation(globals, fixed, swept, (key, problem) => this.refuse(place, key, problem));
    return { fixed, tables: tables.map((table) => ({ table, place })) };
  }

  /** Checks what a table says of itself. */
  values(table: TomlTable, place: string): void {
    for (const [key, value] of Object.entries(table)) {
      if (key === TOTAL && place.startsWith("[[")) this.refuse(place, key, "holds for all evaluations of the file: set it at the top");
      this.value(key, value, place);
    }
  }

  value(key: string, value: unknown, place: string): unknown {
    const name = TOML_KEYS.get(key)?.option ?? null;
    if (name === null) {
      if (typeof value !== "string" || value.trim() === "") this.refuse(place, key, "must be the name of an environment");
      return value;
    }
    const { schema, kind }: Option = OPTIONS[name];
    if (kind === "table" && key === linesKeyOf(name) && !Array.isArray(value)) this.refuse(place, key, 'must be a list of "Name: value"');
    if (kind === "table" && key === name && !isTable(value)) this.refuse(place, key, "must be a table of texts");
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    return this.refuse(place, `${[key, ...(issue?.path ?? [])].join(".")}:`, lowerFirst(issue?.message ?? "is not valid"));
  }

  /** A merged table as one evaluation. */
  evaluation(table: TomlTable, place: string): PlannedEval {
    const { env_id, [TOTAL]: _, ...settings } = table;
    const envId = String(this.value("env_id", env_id, place));
    const given: Record<string, unknown> = {};
    for (const [key, raw] of Object.entries(settings)) {
      const name = TOML_KEYS.get(key)?.option;
      if (name === undefined || name === null) continue;
      const value = this.value(key, raw, place);
      const { refused, kind }: Option = OPTIONS[name];
      if (refused !== null) {
        if (value === false) continue;
        if (refused.inFile === "error") this.refuse(place, key, `is not possible: ${refused.reason}`);
        this.warnings.add(`${this.#file}: ${key} has no effect: ${refused.reason}`);
        continue;
      }
      if (kind === "optional_path" && key !== name) given[name] ??= value;
      else if (kind === "table") given[name] = joined(given[name], value, key === name);
      else given[name] = value;
    }
    if (given.endpoint_id !== undefined && given.model !== undefined) {
      this.refuse(place, "endpoint_id", "names a model already: leave out model, or leave out endpoint_id");
    }
    // Saving is the rule here.
    if (given.save_results === false) given.no_save = true;
    return { envId, given: given as GivenOptions, place };
  }
}

/** The entries of both notations; those of the lines win whichever comes first. */
function joined(before: unknown, value: unknown, isTableForm: boolean): Readonly<Record<string, string>> {
  const [table, lines] = (isTableForm ? [value, before] : [before, value]) as Readonly<Record<string, string>>[];
  return { ...table, ...lines };
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
