import type { Operation, Operations } from "../src/operations.ts";

/**
 * What the platform asks for the operations of a run: dollars per million, paid plan, beyond the included amounts. As read on
 * 2026-11-21. Not in here: the Worker's own requests and CPU time, and storage by the month.
 */
export const PRICES: Readonly<Record<Operation, number>> = {
  // developers.cloudflare.com/durable-objects/platform/pricing: RPC calls, HTTP requests and alarms
  do_requests: 0.15,
  do_rows_read: 0.001,
  // The same page: deletes count, and each index entry and each setAlarm is one more row.
  do_rows_written: 1,
  // developers.cloudflare.com/queues/platform/pricing: three per delivered message
  queue_operations: 0.4,
  // developers.cloudflare.com/r2/pricing: A = put, list, each part of an upload; B = get, head
  r2_class_a: 4.5,
  r2_class_b: 0.36,
};

export const OPERATIONS = Object.keys(PRICES) as readonly Operation[];

/** Dollars per million GB-seconds an object is in memory; it is always billed as 128 MB (same page as its requests). */
const DURATION_PRICE = 12.5;
const OBJECT_GB = 0.128;

/** How long an object works on a call, its storage included: ten times what it takes here (`run-load`). */
const WORKING_S = 0.01;

/** What happened between two counts. */
export const difference = (after: Operations, before: Operations): Operations => each((name) => after[name] - before[name]);

/** `counted` during `rollouts` rollouts, as of 1,000. */
export const perThousand = (counted: Operations, rollouts: number): Operations => each((name) => (counted[name] * 1000) / rollouts);

/** Dollars for a million rollouts, when `rollouts` took what was `counted`. */
export function dollarsPerMillion(counted: Operations, rollouts: number): number {
  return OPERATIONS.reduce((total, name) => total + (counted[name] / rollouts) * PRICES[name], 0);
}

/**
 * Dollars for the time that objects work on their calls, for a million rollouts when `rollouts` took what was `counted`. An object that is idle and
 * may hibernate is not billed (same page): ours have no timers and no connections, and are idle between two calls.
 */
export const workingDollarsPerMillion = ({ do_requests }: Operations, rollouts: number): number =>
  (do_requests / rollouts) * WORKING_S * OBJECT_GB * DURATION_PRICE;

/** Of the table in docs/architecture.md ("What a run costs"). */
export const COST_HEAD = [
  "| model | lanes | Durable Object requests | rows written | rows read | queue operations | R2 class A | R2 class B | $ per million |",
  "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
].join("\n");

/** One row of it: what was counted for 1,000 rollouts, and the dollars of a million. */
export function costRow({ model_ms, lanes }: { readonly model_ms: number; readonly lanes: number }, thousand: Operations): string {
  const { do_requests, do_rows_written, do_rows_read, queue_operations, r2_class_a, r2_class_b } = each((name) => Math.round(thousand[name]));
  const rounded = { do_requests, do_rows_written, do_rows_read, queue_operations, r2_class_a, r2_class_b };
  const dollars = dollarsPerMillion(rounded, 1_000) + workingDollarsPerMillion(rounded, 1_000);
  const cells = [`${model_ms / 1_000} s`, lanes, do_requests, do_rows_written, do_rows_read, queue_operations, r2_class_a, r2_class_b, dollars.toFixed(2)];
  return `| ${cells.join(" | ")} |`;
}

/** Dollars for keeping `objects` objects in memory while a million rollouts run at `perSecond` rollouts a second. */
export const durationDollarsPerMillion = (objects: number, perSecond: number): number => ((objects * OBJECT_GB) / perSecond) * DURATION_PRICE;

function each(value: (name: Operation) => number): Operations {
  return Object.fromEntries(OPERATIONS.map((name) => [name, value(name)])) as Operations;
}
