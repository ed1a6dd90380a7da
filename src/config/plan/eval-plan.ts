import { MAX_EVALUATIONS } from "../../limits.ts";
import { expandAblation, mergeTables } from "../options/ablations.ts";
import type { Option } from "../options/option.ts";
import { type GivenOptions, OPTIONS, type OptionName } from "../options/options.ts";
import { rowPlace } from "../endpoints/row-place.ts";
import { issueText } from "../issue-text.ts";
import { didYouMean } from "../nearest.ts";
import { type PlanProblem, PlanProblems } from "./plan-problems.ts";
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
}

const SECTIONS = ["eval", "ablation"] as const;
const TOTAL = "max_concurrent_total" satisfies OptionName;
/** Holds for all evaluations of a file. */
function isFileWide(key: string): boolean {
  const name = TOML_KEYS.get(key)?.option ?? null;
  return name !== null && (OPTIONS[name] as Option).fileWide;
}

/**
 * The evaluations that a config file asks for: globals, `[[eval]]` and `[[ablation]]`. `document` is the parsed file, or the same as JSON;
 * `file` is what errors call it. Throws `PlanProblems` with everything that is wrong, each with file, table and key, in the order in which
 * the Python library looks; values are checked last. `most`: evaluations that it may come to.
 */
export function planEvals(document: unknown, file: string, most = MAX_EVALUATIONS): EvalPlan {
  const { plan, problems } = readPlan(document, file, most);
  if (problems.length > 0) throw new PlanProblems(problems);
  return plan;
}

/** The same for whoever has more to find wrong: the plan is what is left of it without what has problems. */
export function readPlan(document: unknown, file: string, most = MAX_EVALUATIONS): { readonly plan: EvalPlan; readonly problems: readonly PlanProblem[] } {
  const reader = new PlanReader(file, most);
  const plan = reader.plan(isTable(document) ? document : null);
  return { plan, problems: reader.problems };
}

/** Problems told of one file: each is compared with the others, and nobody mends more of them at once. */
const MAX_PROBLEMS = 200;

const placeOf = (section: (typeof SECTIONS)[number], index: number): string => `[[${section}]] #${index + 1}`;
const GLOBALS = "global settings";

/** Ends the reading of one table or value; what it says is among the problems by then. */
class Refused extends Error {}

interface Noted {
  readonly place: string;
  readonly key: string;
  readonly msg: string;
  readonly joint?: string;
  readonly hint?: string;
  /** Where the text has it, if not at `place` and `key`. */
  readonly shown?: readonly string[];
}

/** What is wrong in a list of tables is told by its table, as the file has that: `[[price]] #1 (model "x")`, and not `prices.0`. */
function shownAt(name: OptionName, value: unknown, [index, ...path]: readonly PropertyKey[], place: string): Pick<Noted, "shown"> {
  const list = name === "prices" ? "price" : name === "limits" ? "limit" : null;
  if (list === null || typeof index !== "number") return {};
  return { shown: [place === GLOBALS ? "" : place, rowPlace(list, index, (value as readonly unknown[])[index]), path.join(".")] };
}

class PlanReader {
  readonly problems: PlanProblem[] = [];
  readonly #file: string;
  /** Evaluations that may still come. */
  #left: number;
  /** Tables that could not be read: nothing that follows from them is a problem of its own. */
  readonly #unread = new Set<string>();

  constructor(file: string, most: number) {
    this.#file = file;
    this.#left = most;
  }

  plan(document: TomlTable | null): EvalPlan {
    const none: EvalPlan = { evals: [], maxConcurrentTotal: null };
    if (document === null) {
      this.#note({ place: "", key: "", msg: "must be a table with [[eval]] or [[ablation]]", joint: ": " });
      return none;
    }
    const [evals, ablations] = SECTIONS.map((name) => this.#attempt("", () => this.#section(document, name), [])) as [
      readonly TomlTable[],
      readonly TomlTable[],
    ];
    if (evals.length + ablations.length === 0 && this.problems.length === 0) {
      this.#note({ place: "", key: "", msg: "has no [[eval]] and no [[ablation]]: add at least one [[eval]] with an env_id" });
    }
    for (const [index, table] of evals.entries()) {
      if ("env_id" in table || "id" in table) continue;
      this.#note({ place: placeOf("eval", index), key: "env_id", msg: "is missing: every [[eval]] names its environment" });
      this.#unread.add(placeOf("eval", index));
    }
    const { eval: _eval, ablation: _ablation, ...top } = document;
    if (evals.length > this.#left) {
      this.#note({ place: "", key: "eval", msg: `asks for ${evals.length} evaluations; at most ${this.#left} are possible` });
      return none;
    }
    this.#left -= evals.length;
    const globals = this.#table(top, GLOBALS, "Invalid global field", SECTIONS);
    const own = evals.map((table, index) => this.#table(table, placeOf("eval", index), "Invalid field"));
    const merged = own.map((table, index) => ({ table: mergeTables(globals, table), place: placeOf("eval", index) }));
    const blocks = ablations.map((table, index) => this.#ablation(globals, table, placeOf("ablation", index)));
    const tables = [...merged, ...blocks.flatMap(({ tables }) => tables)];
    for (const place of new Set(tables.flatMap(({ table, place }) => ("env_id" in table || this.#unread.has(place) ? [] : [place])))) {
      this.#note({ place, key: "env_id", msg: "is missing: name it in the block, in its sweep or at the top of the file" });
    }
    // Values last, each where it stands.
    this.#values(globals, GLOBALS);
    for (const [index, table] of own.entries()) this.#values(table, placeOf("eval", index));
    for (const [index, { fixed, swept }] of blocks.entries()) {
      this.#values(fixed, placeOf("ablation", index));
      for (const each of swept) this.#values(each, placeOf("ablation", index));
    }
    const planned = tables.flatMap(({ table, place }) =>
      "env_id" in table ? this.#attempt<PlannedEval[]>(place, () => [this.#evaluation(table, place)], []) : [],
    );
    return { evals: planned, maxConcurrentTotal: typeof globals[TOTAL] === "number" ? globals[TOTAL] : null };
  }

  /** `joint`: between the key and what is wrong with it. What was told of a key in the table it comes from is not told again. */
  #note({ place, key, msg, joint = " ", hint, shown = [place, key] }: Noted): void {
    if (this.problems.length >= MAX_PROBLEMS) return;
    if (key !== "" && this.problems.some((known) => known.key === key && known.msg === msg && (known.place === place || known.place === GLOBALS))) return;
    const text = `${[this.#file, ...shown].filter((part) => part !== "").join(": ")}${joint}${msg}`;
    this.problems.push({ place, key, msg, text, ...(hint === undefined ? {} : { hint }) });
  }

  #refuse(place: string, key: string, msg: string, joint = " "): never {
    this.#note({ place, key, msg, joint });
    throw new Refused();
  }

  #attempt<T>(place: string, work: () => T, otherwise: T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#unread.add(place);
      return otherwise;
    }
  }

  #section(document: TomlTable, name: (typeof SECTIONS)[number]): readonly TomlTable[] {
    const value = document[name] ?? [];
    if (isTable(value)) this.#refuse("", "", `has a table [${name}]: use double brackets, [[${name}]]`);
    if (!Array.isArray(value) || !value.every(isTable)) this.#refuse("", name, `must be an array of tables: [[${name}]]`);
    return value as readonly TomlTable[];
  }

  /** Its known keys, under those they are merged by. `further`: what else may stand there. */
  #table(table: TomlTable, place: string, label: string, further: readonly string[] = []): TomlTable {
    const known = [...TOML_KEYS.keys()];
    const fields = Object.entries(table).filter(([key]) => {
      if (TOML_KEYS.has(key)) return true;
      if (this.problems.length >= MAX_PROBLEMS) return false;
      const meant = didYouMean(key, [...known, ...further]);
      const text = `${[this.#file, place].join(": ")}: ${label}: ${key}${meant}`;
      this.problems.push({ place, key, msg: `${label}${meant}`, text, hint: `Known are ${known.join(", ")}.` });
      return false;
    });
    return this.#attempt(
      place,
      () => canonicalTable(Object.fromEntries(fields), (key, other) => this.#refuse(place, other, `means the same as ${key}: give one of the two`)),
      {},
    );
  }

  #ablation(globals: TomlTable, block: TomlTable, place: string) {
    const { sweep = {}, ...rest } = block;
    const fixed = this.#table(rest, place, "Invalid field", ["sweep"]);
    const nothing = { fixed, swept: [], tables: [] };
    if (!isTable(sweep)) {
      this.#note({ place, key: "sweep", msg: "must be a table of lists" });
      return nothing;
    }
    const problems = this.problems.length;
    const swept = this.#table(sweep, place, "Invalid sweep field");
    // What is left of a sweep may be nothing, which is no problem of its own.
    if (this.problems.length > problems && Object.keys(swept).length === 0) return nothing;
    return this.#attempt(
      place,
      () => {
        const tables = expandAblation(globals, fixed, swept, this.#left, (key, problem) => this.#refuse(place, key, problem));
        this.#left -= tables.length;
        const { env_args: _, ...lists } = swept;
        const values = Object.entries(lists).flatMap(([key, list]) => (list as readonly unknown[]).map((value) => ({ [key]: value })));
        return { fixed, swept: values, tables: tables.map((table) => ({ table, place })) };
      },
      nothing,
    );
  }

  /** Checks what a table says of itself. */
  #values(table: TomlTable, place: string): void {
    for (const [key, value] of Object.entries(table)) {
      if (isFileWide(key) && place !== GLOBALS) this.#note({ place, key, msg: "holds for all evaluations of the file: set it at the top" });
      else this.#attempt(place, () => this.#value(key, value, place), null);
    }
  }

  #value(key: string, value: unknown, place: string): unknown {
    const name = TOML_KEYS.get(key)?.option ?? null;
    if (name === null) {
      if (typeof value !== "string" || value.trim() === "") this.#refuse(place, key, "must be the name of an environment");
      return value;
    }
    const { schema, kind }: Option = OPTIONS[name];
    if (kind === "table" && key === linesKeyOf(name) && !Array.isArray(value)) this.#refuse(place, key, 'must be a list of "Name: value"');
    if (kind === "table" && key === name && !isTable(value)) this.#refuse(place, key, "must be a table of texts");
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) {
      const at = [key, ...issue.path].join(".");
      this.#note({ place, key: at, msg: lowerFirst(issueText(issue)), joint: ": ", ...shownAt(name, value, issue.path, place) });
    }
    throw new Refused();
  }

  /** A merged table as one evaluation. */
  #evaluation(table: TomlTable, place: string): PlannedEval {
    const { env_id, [TOTAL]: _, ...settings } = table;
    const envId = String(this.#value("env_id", env_id, place));
    const given: Record<string, unknown> = {};
    for (const [key, raw] of Object.entries(settings)) {
      const name = TOML_KEYS.get(key)?.option;
      if (name === undefined || name === null) continue;
      // What is wrong with one value is told; the others are looked at all the same.
      const value = this.#attempt<unknown>(place, () => this.#value(key, raw, place), undefined);
      if (value === undefined) continue;
      const { kind }: Option = OPTIONS[name];
      if (kind === "optional_path" && key !== name) given[name] ??= value;
      else if (kind === "table") given[name] = joined(given[name], value, key === name);
      else given[name] = value;
    }
    if (given.endpoint_id !== undefined && given.model !== undefined) {
      this.#refuse(place, "endpoint_id", "names a model already: leave out model, or leave out endpoint_id");
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
