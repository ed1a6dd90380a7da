import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Api } from "../../../../src/dashboard/api/ask.ts";
import { UNREACHABLE } from "../../../../src/dashboard/api/problem.ts";
import { found, KEPT_LINES, LogStore } from "../../../../src/dashboard/pages/run/log/log-store.ts";

const VIEWER = { version: "1", user: "u", team: "default", teams: [], csrf: "", via: "", folders: "" } as const;
const line = (level: string, message: string): string => `2026-11-23 10:00:00 - edgewise.run - ${level} - ${message}\n`;

/** A log in pages: what follows each event. */
class Place {
  /** `text` null: the connection breaks within it. */
  pages: { readonly text: string | null; readonly next: string; readonly more: boolean }[] = [];
  readonly after: string[] = [];
  readonly store = new LogStore(
    new Api(VIEWER, async (url) => {
      this.after.push(new URL(url, "http://x").searchParams.get("after") ?? "");
      const { text, next, more } = this.pages.shift() ?? { text: "", next: this.after.at(-1) ?? "0", more: false };
      const body = text ?? new ReadableStream({ start: (page) => page.error(new TypeError("network error")) });
      return new Response(body, { headers: { "x-edgewise-next": next, "x-edgewise-more": more ? "1" : "0" } });
    }),
    { isVisible: () => true, listen: () => () => undefined },
    "0000abcd",
  );
}

let place: Place;
beforeEach(() => {
  vi.useFakeTimers();
  place = new Place();
});
afterEach(() => {
  place.store.close();
  vi.useRealTimers();
});

describe("the log of a run", () => {
  it("is read page by page, then looked at for more while the run goes on, and once more when it is over", async () => {
    place.pages = [
      { text: line("INFO", "one"), next: "1000", more: true },
      { text: line("ERROR", "two"), next: "1007", more: false },
    ];
    place.store.follow(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(place.store.lines.value.map(({ number, level }) => [number, level])).toEqual([
      [1, "INFO"],
      [2, "ERROR"],
    ]);
    expect(place.store.isRead.value).toBe(true);
    place.pages = [{ text: line("WARNING", "three"), next: "1009", more: false }];
    await vi.advanceTimersByTimeAsync(1_000);
    place.store.follow(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(place.after).toEqual(["0", "1000", "1007", "1009"]);
    expect(place.store.lines.value).toHaveLength(3);
  });

  it("is read on after a page that was broken off, each line once", async () => {
    place.pages = [
      { text: line("INFO", "one"), next: "1000", more: true },
      { text: null, next: "1007", more: false },
    ];
    place.store.follow(true);
    await vi.advanceTimersByTimeAsync(0);
    expect([place.store.lines.value.length, place.store.problem.value?.text]).toEqual([1, UNREACHABLE.text]);
    place.pages = [{ text: line("ERROR", "two"), next: "1007", more: false }];
    await vi.advanceTimersByTimeAsync(5_000);
    expect(place.after).toEqual(["0", "1000", "1000"]);
    expect(place.store.lines.value.map(({ number }) => number)).toEqual([1, 2]);
    expect(place.store.problem.value).toBeNull();
  });

  it("keeps no control characters, and of a very long one the newest lines by their numbers", async () => {
    const many = Array.from({ length: KEPT_LINES + 5 }, (_, at) => line("INFO", `${at}\u202e\u001b[31m`)).join("");
    place.pages = [{ text: many, next: "1", more: false }];
    place.store.follow(false);
    await place.store.read();
    await vi.advanceTimersByTimeAsync(0);
    const lines = place.store.lines.value;
    expect([lines.length, lines[0]?.number, lines.at(-1)?.number]).toEqual([KEPT_LINES, 6, KEPT_LINES + 5]);
    expect(lines[0]?.text).toBe(line("INFO", "5").trimEnd());
  });

  it("is found by level and above, and by words in whatever case", () => {
    const lines = [
      { number: 1, level: "INFO", text: "Run created" },
      { number: 2, level: "WARNING", text: "slow Answer" },
      { number: 3, level: "ERROR", text: "no answer" },
    ] as const;
    const numbers = (level: "DEBUG" | "WARNING", search: string): readonly number[] => found(lines, level, search).map(({ number }) => number);
    expect(numbers("DEBUG", "")).toEqual([1, 2, 3]);
    expect(numbers("WARNING", "")).toEqual([2, 3]);
    expect(numbers("DEBUG", "ANSWER no")).toEqual([3]);
  });
});
