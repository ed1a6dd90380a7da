/** What an address says of the grid of rollouts. That of one rollout says the same, so that its neighbours are those of the list that it was opened from, and the way back leads there. */
export interface SamplesView {
  /** In the filter language (samples/filter/parse.ts), as it was typed; "" = every rollout. */
  readonly filter: string;
  /** Columns that are shown, in their order; null = the usual ones. */
  readonly columns: readonly string[] | null;
  /** Column that the list is in order of; "" = as in the results. */
  readonly sort: string;
  readonly order: "asc" | "desc";
  readonly tall: boolean;
  /** The rollout that the keys are at; null = the first. */
  readonly at: SamplePlace | null;
  /** An example a row, with its attempts beside each other. */
  readonly attempts: boolean;
}

/** A rollout by the place of its example in the results, and its number among the attempts; both from 0. */
export interface SamplePlace {
  readonly example: number;
  readonly rollout: number;
}

/** Characters of a filter; a longer one is no filter that somebody wrote. */
export const MOST_FILTER_CHARACTERS = 2_000;
const PLACE = /^(\d{1,9})\/(\d{1,9})$/;

/** What an address means; whatever it says wrong is as if it did not say it. */
export function samplesViewOf(query: Readonly<Record<string, string | undefined>>): SamplesView {
  const { filter = "", cols = "", sort = "", order = "", tall = "", at = "", attempts = "" } = query;
  const [, example, rollout] = PLACE.exec(at) ?? [];
  return {
    filter: filter.slice(0, MOST_FILTER_CHARACTERS),
    columns: cols === "" ? null : [...new Set(cols.split(",").map(unescaped))],
    sort,
    order: order === "desc" ? "desc" : "asc",
    tall: tall === "1",
    at: example === undefined ? null : { example: Number(example), rollout: Number(rollout) },
    attempts: attempts === "1",
  };
}

/** As an address says it: what is as usual is left out. */
export function samplesQuery({ filter, columns, sort, order, tall, at, attempts }: SamplesView): Readonly<Record<string, string>> {
  const all = {
    filter: filter.trim(),
    cols: columns?.map((column) => column.replaceAll("%", "%25").replaceAll(",", "%2C")).join(",") ?? "",
    sort,
    order: order === "desc" ? order : "",
    tall: tall ? "1" : "",
    at: at === null ? "" : `${at.example}/${at.rollout}`,
    attempts: attempts ? "1" : "",
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
