/** A row of `results.jsonl` of any library and version, as what the viewer shows of it. Pure; never throws for what is in a row. */
import { metricsOfRow, STANDARD_FIELDS } from "../../metrics/row-metrics.ts";
import { formatSeconds } from "../../report/text/format.ts";
import { printable } from "../../report/text/printable.ts";
import { isObject, numberOf, objectOf, valueText } from "./json-text.ts";

type Row = Readonly<Record<string, unknown>>;

export interface Section {
  readonly part: "prompt" | "completion" | "details";
  readonly title: string;
  /** Harmless lines, not wrapped. */
  readonly lines: readonly string[];
}

/** Characters of a section that are shown. */
const KEPT = 200_000;

/** What a list shows of a row; rows of 2025 call the example `id`. */
export function headOf(row: Row): { readonly example: string; readonly rollout: string; readonly reward: number | null; readonly error: string | null } {
  const rollout = numberOf(row.rollout_index);
  return {
    example: valueText(row.example_id ?? row.id ?? "?", 20),
    rollout: rollout === null ? "" : String(rollout),
    reward: numberOf(row.reward),
    error: errorName(row.error),
  };
}

function errorName(error: unknown): string | null {
  if (error === null || error === undefined) return null;
  const { code, error: name, type } = objectOf(error);
  return [code, name, type].find((text) => typeof text === "string") ?? valueText(error, 60);
}

/** Beginning of what was answered last, for a list. */
export function previewOf(row: Row): string {
  const { completion } = row;
  if (typeof completion === "string") return completion.slice(0, 400);
  const last = Array.isArray(completion) ? completion.findLast((message) => isObject(message) && contentOf(message.content).trim() !== "") : undefined;
  return contentOf(objectOf(last).content).trim().slice(0, 400);
}

/** The whole row: prompt and completion message by message, then what is known about it. */
export function sectionsOf(row: Row): readonly Section[] {
  return [...conversation("prompt", row.prompt), ...conversation("completion", row.completion), ...detailsOf(row)];
}

const section = (part: Section["part"], title: string, text: string): Section => {
  const kept = text.length > KEPT ? `${text.slice(0, KEPT)}\n… ${text.length - KEPT} characters more` : text;
  return { part, title, lines: printable(kept).replace(/\n+$/, "").split("\n") };
};

function conversation(part: "prompt" | "completion", messages: unknown): readonly Section[] {
  if (messages === null || messages === undefined) return [];
  if (!Array.isArray(messages)) return [section(part, part, typeof messages === "string" ? messages : valueText(messages, KEPT))];
  const answered = new Set<unknown>();
  return messages.flatMap((message: unknown, index) => {
    if (answered.has(message)) return [];
    if (!isObject(message)) return [section(part, part, valueText(message, KEPT))];
    const calls = (Array.isArray(message.tool_calls) ? message.tool_calls : []).map(toolCall);
    const reasoning = typeof message.reasoning_content === "string" && message.reasoning_content.trim() !== "" ? message.reasoning_content : null;
    const results = resultsOf(calls, messages.slice(index + 1));
    for (const result of results) if (result !== undefined) answered.add(result);
    const blocks = [
      ...(reasoning === null ? [] : [`[reasoning]\n${indented(reasoning)}`]),
      contentOf(message.content),
      ...calls.map(({ name, input }, i) => {
        const result = results[i];
        return `[call] ${name}(${input})${result === undefined ? "" : `\n[result]\n${indented(contentOf(result.content))}`}`;
      }),
    ].filter((block) => block !== "");
    const count = calls.length === 0 ? "" : `, ${calls.length} ${calls.length === 1 ? "call" : "calls"}`;
    return [section(part, `${part}: ${valueText(message.role ?? "message", 40)}${count}`, blocks.join("\n\n"))];
  });
}

const indented = (text: string): string => text.replaceAll(/^/gm, "  ");

interface Call {
  readonly id: unknown;
  readonly name: string;
  readonly input: string;
}

/** A call is JSON inside of JSON, or an object; that of OpenAI has a level more. */
function toolCall(raw: unknown): Call {
  let call = raw;
  if (typeof raw === "string") {
    try {
      call = JSON.parse(raw);
    } catch {
      return { id: null, name: valueText(raw, KEPT), input: "" };
    }
  }
  const fields = objectOf(call);
  const { name, arguments: input } = isObject(fields.function) ? fields.function : fields;
  return { id: fields.id, name: valueText(name ?? "?", 200), input: valueText(input ?? "", KEPT) };
}

/** The results that follow, by the id of their call; rows of 2025 have none, their results come in the order of the calls. */
function resultsOf(calls: readonly Call[], after: readonly unknown[]): readonly (Row | undefined)[] {
  const end = after.findIndex((message) => objectOf(message).role === "assistant");
  const tools = (end < 0 ? after : after.slice(0, end)).filter((message): message is Row => isObject(message) && message.role === "tool");
  return calls.map(({ id }, i) => tools.find(({ tool_call_id }) => tool_call_id !== undefined && tool_call_id === id) ?? unnamed(tools[i]));
}

const unnamed = (message: Row | undefined): Row | undefined => (message?.tool_call_id === undefined ? message : undefined);

function contentOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (content === null || content === undefined) return "";
  if (!Array.isArray(content)) return valueText(content, KEPT);
  return content.map(partText).join("\n");
}

function partText(part: unknown): string {
  const { type, text, image_url, input_audio } = objectOf(part);
  if (typeof text === "string") return text;
  const media = (kind: string, data: unknown): string =>
    `[${kind}: ${typeof data === "string" ? `${data.slice(0, 60)}${data.length > 60 ? `… ${data.length} characters` : ""}` : "?"}]`;
  if (type === "image_url") return media("image", isObject(image_url) ? image_url.url : image_url);
  if (type === "input_audio") return media(`audio ${valueText(objectOf(input_audio).format ?? "", 20)}`, objectOf(input_audio).data);
  return valueText(part, 2000);
}

function detailsOf(row: Row): readonly Section[] {
  const metrics = metricsOfRow(row);
  const pairs = (fields: readonly (readonly [string, unknown])[]): string =>
    fields.flatMap(([name, value]) => (value === undefined || value === null ? [] : [`${name}: ${valueText(value, KEPT)}`])).join("\n");
  const columns = Object.entries(row).filter(([name]) => !STANDARD_FIELDS.has(name) && !Object.hasOwn(metrics, name));
  const tools = Array.isArray(row.tool_defs) ? row.tool_defs.map((tool) => valueText(objectOf(tool).name ?? tool, 60)) : [];
  const error = objectOf(row.error);
  const failure = isObject(row.error)
    ? pairs([
        ["code", error.code],
        ["error", error.error ?? error.type],
        ["chain", error.error_chain_repr],
        ["message", error.message],
      ])
    : pairs([["error", row.error]]);
  return [
    ["error", failure],
    ["score", pairs([["reward", row.reward], ...Object.entries(metrics)])],
    [
      "task",
      pairs([
        ["example", row.example_id ?? row.id],
        ["rollout", row.rollout_index],
        ["task", row.task],
        ["answer", row.answer],
        ["stop condition", row.stop_condition],
        ["completed", row.is_completed],
        ["truncated", row.is_truncated],
      ]),
    ],
    ["usage", pairs([...Object.entries(objectOf(row.token_usage)).map(([name, value]) => [name.replaceAll("_", " "), value] as const), ...timesOf(row)])],
    ["info", row.info === undefined || row.info === null ? "" : typeof row.info === "string" ? row.info : JSON.stringify(row.info, null, 2)],
    ["state columns", pairs(columns)],
    ["tools", tools.join(", ")],
  ].flatMap(([title = "", text = ""]) => (text === "" ? [] : [section("details", title, text)]));
}

/** Milliseconds in `*_ms`, in the row itself in 2025; from 0.1.14 on seconds, spans with a start and an end. */
function timesOf(row: Row): readonly (readonly [string, string])[] {
  const times = isObject(row.timing) ? row.timing : { generation_ms: row.generation_ms, scoring_ms: row.scoring_ms, total_ms: row.total_ms };
  return Object.entries(times).flatMap(([name, value]) => {
    const number = numberOf(value);
    if (name === "start_time") return number === null ? [] : [["started", dateText(number * 1000)] as const];
    if (number !== null) return [[name.replace(/_ms$/, "").replaceAll("_", " "), formatSeconds(name.endsWith("_ms") ? number / 1000 : number)] as const];
    const [start, end] = [numberOf(objectOf(value).start), numberOf(objectOf(value).end)];
    return start === null || end === null || end < start ? [] : [[name, formatSeconds(end - start)] as const];
  });
}

/** Local time to the minute; `?` for what is no time. */
export function dateText(unixMs: number): string {
  const date = new Date(unixMs);
  if (Number.isNaN(date.getTime())) return "?";
  const two = (number: number): string => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
