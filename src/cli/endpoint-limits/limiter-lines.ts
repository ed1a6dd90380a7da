import { LIMIT_FIELDS } from "../../config/endpoints/given-limit.ts";
import type { LimitRow } from "../../config/endpoints/limit-rows.ts";
import type { Bound } from "../../endpoint-limits/bound.ts";
import { boundText, limitText, placeTitle } from "../../endpoint-limits/bound-text.ts";
import { LIMIT_KINDS, type LimitKind } from "../../endpoint-limits/limit-kinds.ts";
import { columnLines } from "../../report/text/columns.ts";
import { singleLine } from "../../report/text/printable.ts";
import { DEFAULT_TEAM } from "../../teams/team-name.ts";
import { timeOfDay } from "../../report/progress/standing-text.ts";
import type { GivenAnswer, LimiterUser, LimitField, ShownLimiter } from "./limiter-answer.ts";

/** Limiters, and limits that are given, as a terminal shows them. */

/** Users of one limiter that are named; the others are counted. */
const SHOWN_USERS = 6;

const KIND_OF = Object.fromEntries(LIMIT_KINDS.map((kind) => [LIMIT_FIELDS[kind], kind])) as Readonly<Record<LimitField, LimitKind>>;

const seconds = (ms: number): string => (ms < 9_950 ? `${(ms / 1_000).toFixed(1)}s` : `${Math.round(ms / 1_000)}s`);
const percent = (share: number | null): string => (share === null ? "-" : `${(share * 100).toFixed(1)}%`);

const COLUMNS = [
  { title: "ENDPOINT", flexible: true },
  { title: "KEY", flexible: true },
  { title: "MODEL", flexible: true },
  { title: "OPEN", align: "right" },
  { title: "WAIT", align: "right" },
  { title: "429", align: "right" },
  { title: "P50", align: "right" },
  { title: "P95", align: "right" },
  { title: "LIMITER" },
] as const;

/** A line of numbers for each limiter (`OPEN`: requests in flight), and below it what does not fit into columns: the limits, what is waited for, and by whom. */
export function limiterLines(limiters: readonly ShownLimiter[], width: number): readonly string[] {
  const [titles = "", ...rows] = columnLines(COLUMNS, limiters.map(cellsOf), width);
  return [titles, ...rows.flatMap((row, at) => [row, ...(limiters[at] === undefined ? [] : detailsOf(limiters[at]).map((line) => `  ${singleLine(line)}`))])];
}

function cellsOf({ limiter_id, api_base_url, api_key_var, model_class, state }: ShownLimiter): readonly string[] {
  const numbers = state === null ? ["-", "-", "-"] : [String(state.in_flight), String(state.waiting), percent(state.minute.refused_share)];
  const times = [state?.latency_ms?.p50, state?.latency_ms?.p95].map((ms) => (ms === undefined ? "-" : seconds(ms)));
  return [placeTitle(api_base_url), api_key_var, model_class, ...numbers, ...times, limiter_id];
}

function detailsOf({ api_base_url, given, state }: ShownLimiter): readonly string[] {
  if (state === null) return ["limit    none known: nobody calls it now, or its limiter does not answer"];
  const limits = state.limits.map(
    ({ kind, limit, source }) => `${source === "found" ? "about " : ""}${limitText(KIND_OF[kind], limit)} (${sourceText(source, given)})`,
  );
  const bound = boundOf(state.bound);
  return [
    `limit    ${limits.length === 0 ? "none known" : limits.join(", ")}`,
    ...(state.down_since === null ? [] : [`down     since ${clockText(state.down_since)}`]),
    ...(state.paused_until === null ? [] : [`paused   until ${clockText(state.paused_until)}`]),
    ...(bound === null || state.waiting === 0 ? [] : [`waiting  for ${boundText({ bound, base_url: api_base_url })}`]),
    ...(state.users.length === 0 ? [] : [`used by  ${usersText(state.users)}`]),
  ];
}

/** As the display of a run has it. */
const clockText = (iso: string): string => timeOfDay(Date.parse(iso));

const sourceText = (source: "given" | "told" | "found", given: readonly string[]): string =>
  source === "given" && given.length > 0 ? `given: ${given.join(", ")}` : source;

function boundOf(bound: NonNullable<ShownLimiter["state"]>["bound"]): Bound | null {
  if (bound === null) return null;
  const { kind, limit, source } = bound;
  return kind === "pause" || kind === "down" || kind === "start" || kind === "budget" ? { kind, limit, source } : { kind: KIND_OF[kind], limit, source };
}

/** The busiest first: `0000abcd 8 open, 30 waiting · acme/0000abce (judges, priority 2) 4 open`. */
function usersText(users: readonly LimiterUser[]): string {
  const busiest = [...users].sort((a, b) => b.in_flight + b.waiting - (a.in_flight + a.waiting));
  const named = busiest.slice(0, SHOWN_USERS).map(({ run_id, team, kind, priority, in_flight, waiting }) => {
    const run = run_id === null ? "other teams" : team === null || team === DEFAULT_TEAM ? run_id : `${team}/${run_id}`;
    const traits = [...(kind === "judges" ? ["judges"] : []), ...(priority === 1 ? [] : [`priority ${priority}`])];
    const counts = [`${in_flight} open`, ...(waiting === 0 ? [] : [`${waiting} waiting`])];
    return `${run}${traits.length === 0 ? "" : ` (${traits.join(", ")})`} ${counts.join(", ")}`;
  });
  const others = busiest.length - named.length;
  return [...named, ...(others > 0 ? [`${others} more`] : [])].join(" · ");
}

/** What is given, a line for each place. */
export function givenLines(kept: readonly GivenAnswer[], width: number): readonly string[] {
  const columns = [
    { title: "NAME" },
    { title: "ENDPOINT", flexible: true },
    { title: "KEY", flexible: true },
    { title: "MODEL", flexible: true },
    { title: "LIMIT", flexible: true },
    { title: "BY" },
  ];
  const rows = kept.flatMap(({ name, limits, updated_by }) =>
    limits.map((row, at) => [
      at === 0 ? name : "",
      row.api_base_url ?? "",
      row.api_key_var ?? "any",
      row.model ?? "any",
      amountsText(row),
      at === 0 ? updated_by : "",
    ]),
  );
  return columnLines(columns, rows, width);
}

const amountsText = (row: LimitRow): string =>
  LIMIT_KINDS.flatMap((kind) => {
    const amount = row[LIMIT_FIELDS[kind]];
    return amount === undefined ? [] : [limitText(kind, amount)];
  }).join(", ");
