import type { Json } from "../../config/plan/run-config.ts";
import { copyJson } from "../copy-json.ts";
import type { RolloutInput } from "../types.ts";

/** What a rollout has changed in the example it began with: the example itself is pinned, and need not be kept with each of its rollouts. */
export interface InputChanges {
  readonly set: Readonly<Record<string, unknown>>;
  readonly gone: readonly string[];
}

/** By fields of the input: one that differs anywhere is there whole. */
export function changesOf(example: RolloutInput, own: RolloutInput): InputChanges {
  const set = Object.entries(own).filter(([key, value]) => value !== undefined && !(Object.hasOwn(example, key) && isSame(example[key], value, 0)));
  return { set: Object.fromEntries(set), gone: Object.keys(example).filter((key) => own[key] === undefined) };
}

export function withChanges(example: RolloutInput, { set, gone }: InputChanges): RolloutInput {
  const input: Record<string, unknown> = { ...copyJson(example), ...set };
  for (const key of gone) Reflect.deleteProperty(input, key);
  return input as unknown as RolloutInput;
}

/** Deeper than any example: what is below is taken for a change, which costs bytes and no more. */
const DEPTH = 64;

function isSame(a: unknown, b: unknown, depth: number): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || depth > DEPTH) return false;
  if (Array.isArray(a) !== Array.isArray(b) || Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  // Also in the same order: what is written of it is the same text then.
  return keys.every((key) => Object.hasOwn(b, key) && isSame((a as Record<string, Json>)[key], (b as Record<string, Json>)[key], depth + 1));
}
