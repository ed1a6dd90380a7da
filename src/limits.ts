/**
 * Platform limits, and the budgets we derive from them, in one place with the source of each number. The local runtime
 * enforces almost none of them (docs/architecture.md, "What the local runtime hides"), so every border checks against this module.
 *
 * Sources: `D page` = Cloudflare developer documentation, page name; `S path` = workerd source.
 */
export const KIB = 1024;
export const MIB = 1024 * KIB;

/** D durable-objects/platform/limits: row, string or BLOB. */
export const MAX_ROW_BYTES = 2 * MIB;
/** A run's config is one row. Parsing makes numbers longer than they were written (1e20), so a body's bound does not bound it. */
export const MAX_CONFIG_BYTES = MIB;
/** D r2/platform/limits. */
export const MAX_R2_KEY_BYTES = 1024;
/** D r2/objects/multipart-objects: parts are equal in size except the last, 5 MiB to 5 GiB, at most 10,000. */
export const MIN_PART_BYTES = 5 * MIB;
export const MAX_PARTS = 10_000;
/** D workers/platform/limits: connections waiting for response headers, per invocation. */
export const MAX_CONNECTIONS = 6;
/** D workers/platform/limits: default of `limits.subrequests` on the paid plan. */
export const MAX_SUBREQUESTS = 10_000;
/** D queues/platform/limits: wall time of a consumer invocation. */
export const CONSUMER_WALL_MS = 15 * 60_000;
/** D workers/platform/limits: request body on the free and pro plans. */
export const MAX_BODY_BYTES = 100_000_000;

// Budgets of an executor: at most 16 MiB in all.
export const SEGMENT_BYTES = 4 * MIB;
export const SEGMENT_ROWS = 512;
export const INPUT_CHUNK_BYTES = 1 * MIB;
export const INPUT_CHUNK_ROWS = 512;
export const INPUT_CACHE_BYTES = 4 * MIB;
/** Response bodies held at once. */
export const RESPONSE_BYTES = 8 * MIB;
/** One answer: what a deployed executor may hold of answers, over its five requests. A row of this size would be refused anyway. */
export const MAX_ANSWER_BYTES = Math.floor(RESPONSE_BYTES / (MAX_CONNECTIONS - 1));
/** A streamed answer holds its connection slot until its first headers only, so that an executor carries this many times more of them. */
export const STREAMS_PER_CONNECTION = 4;
/** Characters of one streamed answer, so that all that an executor carries stay within the same memory. */
export const MAX_STREAMED_ANSWER_CHARACTERS = Math.floor(MAX_ANSWER_BYTES / STREAMS_PER_CONNECTION);
/** One part of `results.jsonl`. */
export const PART_BYTES = 8 * MIB;

// Slice of an executor.
export const SLICE_MS = 12 * 60_000;
export const SLICE_SUBREQUESTS = Math.floor(MAX_SUBREQUESTS * 0.8);
export const SLICE_ROLLOUTS = 5_000;
/** Rollouts that a local executor holds unscored where scoring is postponed; a deployed one, whose memory is small, those it has open. */
export const HELD_ROLLOUTS = 512;
/** A unit of a deployed run ends with `timeout` rows at this age. */
export const UNIT_DEADLINE_MS = 13 * 60_000;
