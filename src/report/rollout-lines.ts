/** One rollout as an author reads it: every message in its order, what the environment said, and how the reward came to be. */
import { contentText } from "../rollouts/messages.ts";
import type { JsonObject } from "../config/plan/run-config.ts";
import { readCacheUsage } from "../metrics/cache-usage.ts";
import { wholeTiming } from "../rollouts/state/stored-timing.ts";
import type { RolloutOutput } from "../rollouts/rows/output.ts";
import type { TurnFacts } from "../rollouts/state/turns-column.ts";
import type { Content, Message } from "../rollouts/types.ts";
import { tokensText, turnTexts } from "./text/turn-text.ts";
import { scoreShares } from "./score-shares.ts";
import { cachedText } from "./text/cache-text.ts";
import { fixed, formatSeconds, thousands } from "./text/format.ts";
import { printable, singleLine } from "./text/printable.ts";
import { padTo, textWidth } from "./text/text-width.ts";

export interface RolloutFacts {
  readonly row: RolloutOutput;
  /** One per answer of the model. */
  readonly turns: readonly TurnFacts[];
  /** What each metric counts for in the reward; metrics that are not in it have none that one number says. */
  readonly weights: Readonly<Record<string, number>>;
  /** What the environment printed, in order. */
  readonly printed: readonly string[];
  /** Characters of a message that are shown; null = all of them. */
  readonly limit: number | null;
}

const WIDTH = 80;
const heading = (text: string): string => `── ${text} ${"─".repeat(Math.max(2, WIDTH - 4 - textWidth(text)))}`;

/** Lines for a terminal, each without control characters. */
export function rolloutLines({ row, turns, weights, printed, limit }: RolloutFacts): string[] {
  const lines = messageLines([...(row.prompt ?? []), ...(row.completion ?? [])], { first: row.prompt?.length ?? 0, turns, limit });
  if (row.completion === null || row.completion.length === 0) lines.push(heading("no answer"));
  lines.push(heading("end"), ...endLines(row));
  if (printed.length > 0) lines.push(heading("printed by the environment"), ...printed.map(singleLine));
  lines.push(heading("scores"), ...scoreLines(row, weights));
  if (row.answer !== undefined) lines.push(`answer of the example: ${shown(textOf(row.answer), limit).join(" ")}`);
  const { error } = row;
  if (error !== null && error !== undefined)
    lines.push(heading("error"), `${singleLine(error.code ?? error.error)}: ${shown(error.error_chain_repr, limit).join("\n")}`);
  return lines;
}

interface Style {
  /** Messages before the first of the rollout's own. */
  readonly first: number;
  readonly turns: readonly TurnFacts[];
  readonly limit: number | null;
}

function messageLines(messages: readonly Message[], { first, turns, limit }: Style): string[] {
  const names = new Map<string, string>();
  let turn = 0;
  return messages.flatMap((message, index) => {
    const calls = message.role === "assistant" ? (message.tool_calls ?? []) : [];
    for (const { id, name } of calls) names.set(id, name);
    const own = message.role === "assistant" && index >= first;
    const title = own
      ? turnTitle(++turn, turns[turn - 1])
      : message.role === "tool"
        ? `tool ${singleLine(names.get(message.tool_call_id) ?? "")}`.trim()
        : message.role;
    const reasoning = message.role === "assistant" && typeof message.reasoning_content === "string" ? message.reasoning_content : "";
    return [
      heading(singleLine(title)),
      ...(reasoning === "" ? [] : ["[reasoning]", ...shown(reasoning, limit), "[answer]"]),
      ...shown(textOf(message.content), limit),
      ...calls.flatMap((call) => shown(`→ ${call.name}(${call.arguments})`, limit)),
    ];
  });
}

const turnTitle = (turn: number, facts: TurnFacts | undefined): string => [`assistant · turn ${turn}`, ...turnTexts(facts)].join(" · ");

/** Parts that are no text are named by their kind. */
function textOf(content: unknown): string {
  if (content === null || content === undefined) return "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return JSON.stringify(content);
  const others = content.filter((part: { type?: unknown }) => part.type !== "text").map((part: { type?: unknown }) => `[${String(part.type)}]`);
  return [contentText(content as Content), ...others].filter((text) => text !== "").join(" ");
}

function shown(text: string, limit: number | null): string[] {
  if (text === "") return [];
  const whole = printable(limit === null ? text : text.slice(0, limit));
  const left = limit === null ? 0 : text.length - limit;
  return [...whole.split("\n"), ...(left > 0 ? [`… ${thousands(left)} more characters (--full shows them)`] : [])];
}

function endLines(row: RolloutOutput): string[] {
  const { stop_condition, is_truncated, token_usage, timing } = row;
  const times = wholeTiming(row as unknown as JsonObject);
  const parts = [`stop condition: ${singleLine(stop_condition ?? "none")}`];
  if (is_truncated === true) parts.push("cut off");
  if (token_usage?.input_tokens !== undefined) parts.push(tokensText(token_usage.input_tokens, token_usage.output_tokens ?? 0));
  const cache = readCacheUsage(row.cache_usage);
  if (cache !== null) parts.push(`${cachedText(cache)} cached`);
  if (timing !== undefined) parts.push(`generation ${formatSeconds(times.generation_ms / 1_000)}`, `scoring ${formatSeconds(times.scoring_ms / 1_000)}`);
  return [parts.join(" · ")];
}

function scoreLines({ metrics = {}, reward }: RolloutOutput, weights: Readonly<Record<string, number>>): string[] {
  const scores = scoreShares(metrics, weights).map(({ name, value, weight, share }) => {
    if (weight === 0) return [name, value === null ? "no score" : number(value), "metric", ""];
    if (value === null) return [name, "no score", "", ""];
    if (weight === null || share === null) return [name, number(value), "weight not known", ""];
    return [name, number(value), `× ${number(weight)}`, `= ${number(share)}`];
  });
  const rows = [...scores, ["reward", "", "", `= ${number(reward)}`]].map((row) => row.map((cell) => singleLine(cell)));
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => textWidth(row[column] ?? ""))));
  return rows.map((row) =>
    row
      .map((cell, column) => padTo(cell, widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

const number = (value: number): string => (Number.isInteger(value) ? String(value) : fixed(value, 4));
