import { EdgewiseError } from "../../errors/result.ts";
import type { DatasetSpec } from "../spec.ts";

/** One table of a data set: a configuration (subset) and a split of it. */
export interface HubSplit {
  readonly config: string;
  readonly split: string;
}

/** What a set with several is read by when nothing is said: the names under which the Hub keeps an unnamed configuration, and what evaluations use. */
const USUAL_CONFIGS = ["default", "main"];
const USUAL_SPLIT = "test";

/** The table that `spec` means. Throws `invalid_request` that names the argument and lists what there is. */
export function chooseSplit(id: string, tables: readonly HubSplit[], spec: Pick<DatasetSpec, "config" | "split">): HubSplit {
  const configs = [...new Set(tables.map(({ config }) => config))];
  const config = choose(id, "dataset_config", configs, spec.config, USUAL_CONFIGS);
  const splits = tables.filter((table) => table.config === config).map(({ split }) => split);
  return { config, split: choose(id, "dataset_split", [...new Set(splits)], spec.split, [USUAL_SPLIT]) };
}

function choose(id: string, argument: string, known: readonly string[], wanted: string | null, usual: readonly string[]): string {
  const chosen = wanted === null ? (known.length === 1 ? known[0] : usual.find((name) => known.includes(name))) : known.find((name) => name === wanted);
  if (chosen !== undefined) return chosen;
  const problem = wanted === null ? `argument ${argument} is needed` : `argument ${argument}: there is no ${JSON.stringify(wanted)}`;
  throw new EdgewiseError("invalid_request", `${problem}; ${id} has ${known.slice(0, 50).join(", ")}${known.length > 50 ? ", …" : ""}`);
}
