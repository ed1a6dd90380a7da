import { fixed } from "../text/format.ts";
import { printable } from "../text/printable.ts";
import { padTo, wrap } from "../text/text-width.ts";

/** The first row of a report, reduced to what the table shows, so that a row of megabytes is not kept. */
export interface Example {
  readonly prompt: string;
  readonly completion: string;
  readonly reward: number;
}

/** Characters of a cell that are kept at all; far more than a table shows. */
const KEPT = 10_000;
const CELL_LINES = 24;
const MIN_WIDTH = 40;
const MAX_WIDTH = 160;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

export function exampleOf(row: Readonly<Record<string, unknown>>, reward: number): Example {
  const error = isObject(row.error) ? `\n\nerror: ${String(row.error.error_chain_repr ?? row.error.error)}` : "";
  return { prompt: printable(clipped(conversation(row.prompt))), completion: printable(clipped(conversation(row.completion)) + clipped(error)), reward };
}

/** Head and tail: the question of a prompt and the answer of a completion stand at the end. */
const clipped = (text: string): string => (text.length <= KEPT ? text : `${text.slice(0, KEPT / 2)}\n…\n${text.slice(-KEPT / 2)}`);

/** Prompt, completion and reward side by side, `width` columns in all (at least 40, at most 160), long cells cut. */
export function exampleTable(example: Example, width: number): string[] {
  const reward = fixed(example.reward, 2);
  const last = Math.max("Reward".length, reward.length);
  // Four rules and two spaces around each of three cells.
  const free = Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width)) - last - 10;
  const widths = [Math.ceil(free / 2), Math.floor(free / 2), last];
  const cells = [cell(example.prompt, widths[0] ?? 2), cell(example.completion, widths[1] ?? 2), [reward.padStart(last)]];
  const height = Math.max(...cells.map((lines) => lines.length));
  const row = (texts: readonly string[]): string => `│${texts.map((text, i) => ` ${padTo(text, widths[i] ?? 0)} `).join("│")}│`;
  const rule = (left: string, middle: string, right: string): string => left + widths.map((columns) => "─".repeat(columns + 2)).join(middle) + right;
  return [
    rule("┌", "┬", "┐"),
    row(["Prompt", "Completion", "Reward"]),
    rule("├", "┼", "┤"),
    ...Array.from({ length: height }, (_, i) => row(cells.map((lines) => lines[i] ?? ""))),
    rule("└", "┴", "┘"),
  ];
}

function cell(text: string, width: number): string[] {
  const lines = wrap(text, width);
  if (lines.length <= CELL_LINES) return lines;
  const half = (CELL_LINES - 1) / 2;
  return [...lines.slice(0, Math.ceil(half)), `… ${lines.length - CELL_LINES + 1} lines …`.slice(0, width), ...lines.slice(-Math.floor(half))];
}

/** Messages as `role: text`, a blank line between; a string prompt as it is. */
function conversation(messages: unknown): string {
  if (typeof messages === "string") return messages;
  return Array.isArray(messages) ? messages.map(message).join("\n\n") : "";
}

function message(value: unknown): string {
  if (!isObject(value)) return String(value);
  const reasoning = typeof value.reasoning_content === "string" && value.reasoning_content.trim() !== "" ? `\n[reasoning]\n${value.reasoning_content}\n` : "";
  const content = contentText(value.content);
  const calls = Array.isArray(value.tool_calls)
    ? value.tool_calls.map((call) => `\n\n[tool call]\n${typeof call === "string" ? call : JSON.stringify(call)}`)
    : [];
  return `${String(value.role ?? "")}: ${reasoning}${reasoning !== "" && content !== "" ? "\n" : ""}${content}${calls.join("")}`;
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => (isObject(part) && typeof part.text === "string" ? part.text : `[${isObject(part) ? String(part.type) : typeof part}]`))
    .join(" ");
}
