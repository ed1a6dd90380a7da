import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { STANDARD_FIELDS } from "../../metrics/row-metrics.ts";
import { conversationOf } from "./branch.ts";
import { type Episode, fieldsOf, type Fields, isFields, listOf, numberOf, textOf } from "./episode.ts";

/** Stop conditions of rollouts that were cut off. */
const CUT_OFF: ReadonlySet<string> = new Set(["max_turns", "max_input_tokens", "max_output_tokens", "max_total_tokens", "compaction_failed"]);

/**
 * An episode as a row of `results.jsonl` (keys of 0.1.14, times in seconds). What the episode does not say is left out: a task without an
 * index has no `example_id`, nothing has a `rollout_index`, since lines stand in the order in which episodes ended. Never throws for what is in it.
 */
export function rowOfEpisode(episode: Episode): JsonObject {
  const { main, task } = episode;
  const data = fieldsOf(task.data);
  const index = numberOf(data.idx);
  const metrics = metricsOf(main);
  const error = errorOf(episode);
  const info = infoOf(episode);
  const stop = textOf(main?.stop_condition);
  return {
    ...(index === null ? {} : { example_id: index }),
    ...(episode.id === null ? {} : { sample_id: episode.id }),
    ...conversationOf(main, task),
    ...(data.answer === undefined || data.answer === null ? {} : { answer: data.answer as Json }),
    ...(info === null ? {} : { info }),
    reward: rewardOf(main),
    error,
    ...timingOf(main),
    is_completed: main?.is_completed === true,
    is_truncated: isCutOff(main),
    stop_condition: stop,
    metrics,
    tool_defs: listOf(main?.tools) as unknown as Json,
    ...usageOf(main),
    ...Object.fromEntries(Object.entries(metrics).filter(([name]) => !STANDARD_FIELDS.has(name))),
  };
}

/** Of a trace, each reward as its score: `rewards` and `metrics` share one space of names. A null is a score that nobody gave. */
function metricsOf(trace: Fields | null): JsonObject {
  const named = new Map<string, Json>();
  for (const [name, value] of Object.entries(fieldsOf(trace?.metrics))) if (numberOf(value) !== null) named.set(name, value as number);
  for (const [name, reward] of Object.entries(fieldsOf(trace?.rewards))) {
    const score = numberOf(fieldsOf(reward).score);
    if (score !== null && name !== "__proto__") named.set(name, score);
  }
  return Object.fromEntries(named);
}

/** Scores times their weights; 0 where nothing was scored, as rows of failed rollouts have it. */
function rewardOf(trace: Fields | null): number {
  return Object.values(fieldsOf(trace?.rewards))
    .filter(isFields)
    .reduce((sum, { score, weight }) => sum + (numberOf(score) ?? 0) * (numberOf(weight) ?? 1), 0);
}

function errorOf({ main, errors, traces }: Episode): JsonObject | null {
  const of = [...listOf(main?.errors), ...errors, ...traces.flatMap((trace) => listOf(trace.errors))][0];
  if (of === undefined) return null;
  const type = textOf(of.type) ?? "Error";
  const message = textOf(of.message) ?? "";
  const status = numberOf(of.status_code);
  return {
    error: type,
    error_chain_repr: `${type}(${JSON.stringify(message)})`,
    error_chain_str: type,
    message,
    ...(status === null ? {} : { status_code: status }),
  };
}

function isCutOff(trace: Fields | null): boolean {
  const stop = textOf(trace?.stop_condition);
  if (stop !== null && CUT_OFF.has(stop)) return true;
  const last = listOf(trace?.calls).findLast(({ error }) => error === null || error === undefined);
  return last?.finish_reason === "length";
}

/** Sums over the calls; what a cache had is part of a prompt, though these files count it apart. */
function usageOf(trace: Fields | null): JsonObject {
  const usages = listOf(trace?.calls).flatMap(({ usage }) => (isFields(usage) ? [usage] : []));
  const last = usages.at(-1);
  if (last === undefined) return {};
  const input = (usage: Fields): number => (numberOf(usage.prompt_tokens) ?? 0) + (numberOf(usage.cached_input_tokens) ?? 0);
  const output = (usage: Fields): number => numberOf(usage.completion_tokens) ?? 0;
  const sum = (count: (usage: Fields) => number): number => usages.reduce((total, usage) => total + count(usage), 0);
  return {
    token_usage: { input_tokens: sum(input), output_tokens: sum(output), final_input_tokens: input(last), final_output_tokens: output(last) },
  };
}

type Span = { readonly start: number; readonly end: number };
const spanOf = (value: unknown): Span | null => {
  const { start, end } = fieldsOf(value);
  const [from, to] = [numberOf(start), numberOf(end)];
  // Zeros stand for what was never begun.
  return from === null || to === null || to === 0 ? null : { start: from, end: to };
};

/** Seconds, under the names of rows. */
function timingOf(trace: Fields | null): JsonObject {
  const timing = fieldsOf(trace?.timing);
  const named = { setup: spanOf(timing.setup), generation: spanOf(timing.agent), scoring: spanOf(timing.scoring) };
  const spans = Object.entries(named).flatMap(([name, span]) => (span === null ? [] : [[name, { ...span, duration: span.end - span.start }] as const]));
  const start = numberOf(timing.start) ?? spans[0]?.[1].start ?? null;
  const end = Math.max(...spans.map(([, span]) => span.end));
  if (start === null || spans.length === 0) return {};
  return { timing: { start_time: start, ...Object.fromEntries(spans), total: end - start } };
}

/** What of the task no other column has; of an episode with several agents also who they were and what each got. */
function infoOf({ task, traces, main }: Episode): JsonObject | null {
  const { idx: _, prompt: __, answer: ___, ...rest } = fieldsOf(task.data);
  const info: Record<string, unknown> = { ...rest, ...fieldsOf(main?.info) };
  if (traces.length > 1) {
    info.agents = traces.map((trace) => ({
      name: textOf(fieldsOf(trace.agent).name),
      trainable: fieldsOf(trace.agent).trainable === true,
      reward: rewardOf(trace),
    }));
  }
  const present = Object.entries(info).filter(([, value]) => !isEmpty(value));
  return present.length === 0 ? null : (Object.fromEntries(present) as JsonObject);
}

/** Nothing, or what a field has that nobody set. */
const isEmpty = (value: unknown): boolean => value === null || value === undefined || (typeof value === "object" && Object.keys(value).length === 0);
