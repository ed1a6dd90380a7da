import { abortAllDurableObjects, evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach } from "vitest";
import { restoreClock } from "./service.ts";

/** Ways in which `object` is gone from memory. */
export const waysToGo = (object: () => DurableObjectStub) =>
  [
    ["an eviction", () => evictDurableObject(object())],
    ["a crash", () => abortAllDurableObjects()],
  ] as const;

/** Names of all that it has stored as tables and indexes. */
export const tablesOf = (object: DurableObjectStub): Promise<readonly string[]> =>
  runInDurableObject(object, (_, { storage }) =>
    storage.sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\' ORDER BY name")
      .toArray()
      .map(({ name }) => name),
  );

/** Each test of the file has the clock as it is, and nothing stored. */
export function anewForEach(): void {
  beforeEach(() => restoreClock());
  afterEach(async () => {
    restoreClock();
    await reset();
  });
}
