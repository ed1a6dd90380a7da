import type { JsonObject } from "../config/plan/run-config.ts";
import { type Episode, episodeOf, isEpisode, textOf } from "../imports/traces/episode.ts";
import { rowOfEpisode } from "../imports/traces/episode-row.ts";
import { isId, MAX_ID, sampleIn } from "../pushed/sample.ts";
import { BatchError, type ScannedSample } from "../pushed/scanned-sample.ts";

/** What each line is, as the header `X-Prime-Line-Format` says it; absent = `trace`. */
export const LINE_FORMATS = ["trace", "episode"] as const;
export type LineFormat = (typeof LINE_FORMATS)[number];

/** A line that was sent, with the ids that it is known by. */
export interface TraceLine {
  readonly episode: Episode;
  /** Of the episode, or of the trace that stands alone. */
  readonly id: string;
  /** Of the evaluation that it belongs to. */
  readonly run: string;
}

/** Reads a line at the door. Throws a `BatchError` for what is none of this format, or does not say which it is and where it belongs. */
export function readTraceLine({ position, bytes }: ScannedSample, format: LineFormat): TraceLine {
  const field = `traces.${position}`;
  const { value } = sampleIn(field, bytes);
  const is = Array.isArray(value.traces) ? "episode" : isEpisode(value) ? "trace" : null;
  if (is === null) throw new BatchError(field, "must be an episode of verifiers (task, traces), or a trace (nodes, rewards)");
  if (is !== format) throw new BatchError(field, `must be of the line format ${format}; it is of the format ${is}`);
  const episode = episodeOf(value);
  if (!isId(episode.id)) throw new BatchError(`${field}.id`, `must be a text of at most ${MAX_ID} characters`);
  if (episode.run === null) throw new BatchError(`${field}.run.id`, "must be the id of the evaluation");
  return { episode, id: episode.id, run: episode.run };
}

/** The row of a line that was taken in. One whose task has no index belongs to the example that is its task, by key or digest. */
export function rowOfLine(bytes: Uint8Array): JsonObject {
  const episode = episodeOf(sampleIn("traces", bytes).value);
  const row = rowOfEpisode(episode);
  const task = textOf(episode.task.key) ?? textOf(episode.task.hash);
  return {
    ...(row.example_id === undefined && isId(task) ? { example_id: task } : {}),
    ...row,
    // Whatever a metric is called.
    ...(episode.id === null ? {} : { sample_id: episode.id }),
  };
}
