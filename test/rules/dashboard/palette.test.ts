import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Api } from "../../../src/dashboard/api/ask.ts";
import { nothingText, PaletteStore, pagesLike } from "../../../src/dashboard/palette/palette-store.ts";
import { viewerIn } from "../../../src/dashboard/viewer.ts";

const PLACES = [
  { path: "/dashboard/", name: "Runs", key: "r" },
  { path: "/dashboard/new", name: "New run", key: "n" },
];
const names = (text: string): string[] => pagesLike(text, PLACES).map(({ name }) => name);
const run = (id: string, name: string) => ({ evaluation_id: id, name, model_name: "m" });

describe("the palette", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("finds pages by words of their names", () => {
    expect([names(""), names("RUN"), names("run new"), names("compare")]).toEqual([["Runs", "New run"], ["Runs", "New run"], ["New run"], []]);
  });

  it("says what can be typed where nothing is called as it was typed, once that is known", async () => {
    const store = new PaletteStore(new Api(viewerIn({}), async () => Response.json({ evaluations: [] })), PLACES);
    store.look("zzz");
    expect(store.isLooking.value).toBe(true);
    await vi.runAllTimersAsync();
    expect([store.isLooking.value, store.ways.value]).toEqual([false, []]);
    expect(nothingText(" zz\u202ez ")).toMatch(
      /^No page and no run is called “zz.*z”\. Type the name of a page, .* or the name, id, environment or model of a run\.$/,
    );
    expect(nothingText("x".repeat(5_000)).length).toBeLessThan(300);
  });

  it("looks for runs when nobody types any more, and shows those of the last text", async () => {
    const asked: string[] = [];
    const api = new Api(viewerIn({}), async (url) => {
      asked.push(new URL(url, "http://x").searchParams.get("search") ?? "");
      return Response.json({ evaluations: [run("0000abcd", "a\u202eb")] });
    });
    const store = new PaletteStore(api, PLACES);
    for (const text of ["", "n", "ne"]) store.look(text);
    expect(store.ways.value.map(({ name }) => name)).toEqual(["New run"]);
    await vi.runAllTimersAsync();
    expect(asked).toEqual(["ne"]);
    expect(store.ways.value.map(({ name, path }) => [name, path])).toEqual([
      ["New run", "/dashboard/new"],
      ["ab", "/dashboard/evaluations/0000abcd"],
    ]);
  });

  it("says why runs could not be looked for, and still leads to pages", async () => {
    const api = new Api(viewerIn({}), () => Promise.reject(new TypeError("no network")));
    const store = new PaletteStore(api, PLACES);
    store.look("runs");
    await vi.runAllTimersAsync();
    expect([store.ways.value.map(({ name }) => name), store.problem.value]).toEqual([["Runs"], "The service does not answer."]);
  });
});
