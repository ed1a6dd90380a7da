import { isSayable, quoted } from "../../../report/text/shell-word.ts";

/** What the address of a comparison says: which runs, how they are held against each other, and what is looked at. */

/** Runs that one comparison takes. */
export const MOST_RUNS = 10;
/** Examples of one page. */
export const PAGE_EXAMPLES = 100;

export const KINDS = ["worse", "better", "different", "all"] as const;
export const ORDERS = ["worst", "best", "id"] as const;
export const VIEWS = ["pair", "matrix"] as const;

export interface CompareQuery {
  /** The baseline first. */
  readonly runs: readonly string[];
  /** What the address names among them that is no id of a run, by its place in what is named, from 0, ascending. */
  readonly strange: readonly { readonly text: string; readonly at: number }[];
  /** Of `runs` which is held against the baseline where there is room for one alone: a place from 1. */
  readonly against: number;
  readonly metric: string;
  readonly only: (typeof KINDS)[number];
  readonly order: (typeof ORDERS)[number];
  readonly view: (typeof VIEWS)[number];
  /** From 1. */
  readonly page: number;
  /** The example whose transcripts are shown, by its place in the list from 1; null = none. */
  readonly at: number | null;
  readonly unpaired: boolean;
  /** The key of groups of examples; "" = that of the runs. */
  readonly cluster: string;
  /** Somebody has said that other code scores the same. */
  readonly accept: boolean;
}

/** Shows another view; `replaces`: the way back does not lead to the one before. */
export type Go = (next: CompareQuery, replaces?: boolean) => void;

const REWARD = "reward";
/** Characters that are shown of what is no id. */
const MOST_STRANGE = 60;
const one = <T extends string>(among: readonly T[], given: string): T | undefined => among.find((each) => each === given);

/** What an address means; whatever it says wrong is as if it did not say it, but for the runs: without one of them the next would be the baseline. */
export function compareQueryOf(given: Readonly<Record<string, string | undefined>>): CompareQuery {
  const { runs = "", against = "", metric = "", only = "", order = "", view = "", page = "", at = "", unpaired, cluster = "", accept } = given;
  const named = [...new Set(runs.split(",").flatMap((text) => (text.trim() === "" ? [] : [text.trim().slice(0, MOST_STRANGE)])))].slice(0, MOST_RUNS);
  const ids = named.filter(isId);
  const place = Math.max(1, ids.indexOf(against));
  return {
    runs: ids,
    strange: named.flatMap((text, at) => (isId(text) ? [] : [{ text, at }])),
    against: place,
    metric: metric === "" ? REWARD : metric,
    only: one(KINDS, only) ?? "all",
    order: one(ORDERS, order) ?? "worst",
    view: one(VIEWS, view) ?? (ids.length > 2 ? "matrix" : "pair"),
    page: /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1,
    at: /^[1-9]\d{0,6}$/.test(at) ? Number(at) : null,
    unpaired: unpaired !== undefined,
    cluster,
    accept: accept !== undefined,
  };
}

const isId = (text: string): boolean => /^[0-9a-f]{8}$/.test(text);

/** Whether what is to be the baseline is no run: nothing can be held against it, and no other run is put in its place unasked. */
export const hasNoBaseline = ({ strange }: CompareQuery): boolean => strange[0]?.at === 0;

/** All that an address names, in its order. */
const namedOf = ({ runs, strange }: CompareQuery): readonly string[] =>
  strange.reduce((all: readonly string[], { text, at }) => all.toSpliced(at, 0, text), runs);

/** As an address says it: what is as usual is left out. */
export function addressOf(query: CompareQuery): Readonly<Record<string, string>> {
  const { runs, against, metric, only, order, view, page, at, unpaired, cluster, accept } = query;
  const all = {
    runs: namedOf(query).join(","),
    against: against === 1 ? "" : (runs[against] ?? ""),
    metric: metric === REWARD ? "" : metric,
    only: only === "all" ? "" : only,
    order: order === "worst" ? "" : order,
    view: view === (runs.length > 2 ? "matrix" : "pair") ? "" : view,
    page: page === 1 ? "" : String(page),
    at: at === null ? "" : String(at),
    unpaired: unpaired ? "1" : "",
    cluster,
    accept: accept ? "1" : "",
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
}

/** What the comparison is asked with; null where there are not two runs yet. */
export function comparisonQuestionOf(query: CompareQuery): Readonly<Record<string, unknown>> | null {
  const { runs, unpaired, cluster, accept } = query;
  if (runs.length < 2 || hasNoBaseline(query)) return null;
  return { runs, ...(unpaired ? { unpaired } : {}), ...rulesOf(cluster, accept) };
}

/** What a part of its examples is asked with; null where they are not held against each other. */
export function examplesQuestionOf(query: CompareQuery, part: { readonly offset: number; readonly limit: number }): Readonly<Record<string, unknown>> | null {
  const { runs, against, metric, only, order, unpaired, cluster, accept } = query;
  if (runs.length < 2 || unpaired || hasNoBaseline(query)) return null;
  return { runs, candidate: runs[against], metric, only, order, ...part, ...rulesOf(cluster, accept) };
}

const rulesOf = (cluster: string, accept: boolean): Readonly<Record<string, unknown>> => ({
  ...(cluster === "" ? {} : { cluster_by: cluster }),
  ...(accept ? { accept_code_change: true } : {}),
});

/** Another list of examples begins at its first page, with no transcript open. */
export const relisted = (query: CompareQuery, change: Partial<CompareQuery>): CompareQuery => ({ ...query, page: 1, at: null, ...change });

/** Other runs: whichever was looked at stays, where it is still there. */
export function withRuns(query: CompareQuery, runs: readonly string[]): CompareQuery {
  const place = runs.indexOf(query.runs[query.against] ?? "");
  const isMatrix = query.view === "matrix" && runs.length > 2;
  return relisted(query, { runs, strange: [], against: Math.max(1, place), view: isMatrix || (runs.length > 2 && query.runs.length <= 2) ? "matrix" : "pair" });
}

/** The same with another of the runs as what the others are held against; whichever was held against it is looked at, else the baseline of before. */
export function withBaseline(query: CompareQuery, id: string): CompareQuery {
  const before = query.runs[0];
  const looked = query.runs[query.against] === id ? before : query.runs[query.against];
  const runs = [id, ...query.runs.filter((each) => each !== id)];
  return relisted(query, { runs, strange: [], against: Math.max(1, runs.indexOf(looked ?? "")) });
}

/** The same on a command line; null where a name is none that can be copied into a terminal: whoever made the address chose it. */
export function commandOf({ runs, metric, unpaired, cluster, accept, only }: CompareQuery): string | null {
  if (!isSayable(metric) || !isSayable(cluster)) return null;
  const flags = [
    ...(metric === REWARD ? [] : flagWords("--metric", metric)),
    ...(only === "worse" || only === "better" ? ["--show", "10"] : []),
    ...(cluster === "" ? [] : flagWords("--cluster-by", cluster)),
    ...(unpaired ? ["--unpaired"] : []),
    ...(accept ? ["--accept-code-change"] : []),
  ];
  return ["npx edgewise compare", ...runs, ...flags].join(" ");
}

/** A value that begins with a dash belongs to its flag by a sign of equality. */
const flagWords = (flag: string, value: string): readonly string[] => (value.startsWith("-") ? [quoted(`${flag}=${value}`)] : [flag, quoted(value)]);
