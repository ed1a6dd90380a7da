import { expect, it } from "vitest";
import { KnownIds } from "../../../src/api/cells/known-ids.ts";

it("ids of a chunk are read once, as long as others leave room, and again after a failure", async () => {
  const known = new KnownIds(5);
  const read: string[] = [];
  const of = (digest: string, ...ids: number[]) =>
    known.of(digest, async () => {
      read.push(digest);
      return ids;
    });
  expect([await of("a", 1, 2), await of("b", 3, 4), await of("a"), await of("c", 5, 6)]).toEqual([
    [1, 2],
    [3, 4],
    [1, 2],
    [5, 6],
  ]);
  expect(await of("a")).toEqual([1, 2]);
  expect(await of("b", 3, 4)).toEqual([3, 4]);
  expect(read).toEqual(["a", "b", "c", "b"]);
  await expect(known.of("d", () => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
  expect(await of("d", 9)).toEqual([9]);
});
