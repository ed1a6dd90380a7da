/** What the address of a run's page says: which tab is shown, and what in it. */

export const TABS = ["summary", "metrics", "errors", "limits", "settings", "log", "files"] as const;
export type RunTab = (typeof TABS)[number];
export const LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR"] as const;
export type Level = (typeof LEVELS)[number];

export interface RunQuery {
  readonly tab: RunTab;
  /** Whose distribution is shown. */
  readonly metric: string;
  /** Lines of the log of this level and above. */
  readonly level: Level;
  /** Words of which each stands in a shown line of the log. */
  readonly search: string;
  /** A line of the log, from 1; null = none is pointed at. */
  readonly line: number | null;
}

export const REWARD = "reward";

/** What an address means; whatever it says wrong is as if it did not say it. */
export function runQueryOf({ tab, metric, log, q, at = "" }: Readonly<Record<string, string | undefined>>): RunQuery {
  return {
    tab: TABS.find((each) => each === tab) ?? "summary",
    metric: metric || REWARD,
    level: LEVELS.find((each) => each === log) ?? "DEBUG",
    search: q ?? "",
    line: /^[1-9]\d{0,8}$/.test(at) ? Number(at) : null,
  };
}

/** As an address says it: what is as usual is left out, and what is of another tab. */
export function addressOf({ tab, metric, level, search, line }: RunQuery): Readonly<Record<string, string>> {
  const log = { log: level === "DEBUG" ? "" : level, q: search, at: line === null ? "" : String(line) };
  const all = {
    tab: tab === "summary" ? "" : tab,
    metric: metric === REWARD || (tab !== "summary" && tab !== "metrics") ? "" : metric,
    ...(tab === "log" ? log : {}),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
}
