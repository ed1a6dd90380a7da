import { afterEach, describe, expect, it, vi } from "vitest";
import { columnsBlock, columnsHead } from "../../../src/cells/column-lines.ts";
import { usualColumns } from "../../../src/cells/column-names.ts";
import { Api } from "../../../src/dashboard/api/ask.ts";
import { holdSource } from "../../../src/dashboard/samples/held-source.ts";
import { PreviewStore } from "../../../src/dashboard/samples/previews.ts";
import { SamplesList } from "../../../src/dashboard/samples/samples-list.ts";
import { SamplesSource } from "../../../src/dashboard/samples/samples-source.ts";
import { TextSearches } from "../../../src/dashboard/samples/text-searches.ts";

const PATIENCE_MS = 10_000;
const seen = { isVisible: () => true, listen: () => () => undefined };
const ID = "0000abcd";

/** A run of six examples with two attempts each, as the service tells of it. */
class FakeRun {
  readonly asked: URL[] = [];
  readonly bodies: unknown[] = [];
  generation = 1;
  seq = 1;
  metrics = ["exact"];
  rewards = new Map<number, readonly number[]>([
    [0, [1, 0]],
    [1, [0.5, 0.25]],
  ]);
  /** Examples whose rows cannot be read. */
  readonly unreadable = new Set<number>();
  /** Answers that break off before their end. */
  cuts = 0;
  /** Examples that a search names in one answer. */
  matches: readonly (readonly number[])[] = [[]];
  readonly closed: AbortController[] = [];

  readonly api = new Api({ version: "1", user: "u", team: "t", teams: [], csrf: "", via: "", folders: "" }, async (url, init) => {
    const asked = new URL(url, "http://edgewise.test");
    if (asked.pathname.endsWith("/evaluation-states")) return this.#silent(init.signal ?? undefined);
    this.asked.push(asked);
    if (asked.pathname.endsWith("/columns")) return new Response(this.#columns(asked.searchParams));
    if (asked.pathname.endsWith("/search")) return new Response(this.#search(Number(asked.searchParams.get("after") ?? 0)));
    const body = JSON.parse(String(init.body)) as { readonly places: readonly (readonly [number, number])[]; readonly fields: readonly string[] };
    this.bodies.push(body);
    const previews = body.places.map(([example, rollout]) => ({
      example,
      rollout,
      ...(this.unreadable.has(example)
        ? { unreadable: { code: "row_unreadable", reason: "torn" } }
        : { example_id: example, values: Object.fromEntries(body.fields.map((field) => [field, `${field} ${example}/${rollout}`])) }),
    }));
    return Response.json({ previews });
  });

  #silent(signal: AbortSignal | undefined): Response {
    const stream = new ReadableStream({ start: (controller) => signal?.addEventListener("abort", () => controller.error(new Error("closed"))) });
    return new Response(stream);
  }

  #columns(query: URLSearchParams): string {
    const columns = query.get("names")?.split(",") ?? usualColumns(this.metrics);
    const { generation, seq, metrics } = this;
    const head = columnsHead({ generation, seq, examples: 6, rollouts: 2, settled: false, columns, metrics });
    const after = Number(query.get("after") ?? -1);
    const told = after >= 0 ? [...this.rewards].slice(after + 1) : [...this.rewards];
    const made = told.map(([example, rewards]) => ({
      example,
      id: example,
      rollouts: rewards.map((reward) => ({
        reward,
        error: null,
        input_tokens: 1,
        output_tokens: 2,
        truncated: false,
        metrics: Object.fromEntries(this.metrics.map((name) => [name, reward])),
      })),
    }));
    const lines: object[] = [head, columnsBlock(made, 2, columns), { kind: "end", seq, next: null }];
    if (this.cuts > 0) {
      this.cuts--;
      lines.pop();
    }
    return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  }

  #search(page: number): string {
    const found = (example: number): object => ({ kind: "match", example, rollout: 0, field: "prompt", excerpt: "" });
    const not = (example: number): object => ({ kind: "unreadable", example, rollout: 0, code: "row_unreadable", reason: "torn" });
    const lines = (this.matches[page] ?? []).map((example) => (this.unreadable.has(example) ? not(example) : found(example)));
    return [...lines, { kind: "end", scanned: 2, next: page + 1 < this.matches.length ? page + 1 : null }].map((line) => JSON.stringify(line)).join("\n");
  }
}

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});
async function holds(what: () => boolean, says: string): Promise<void> {
  await vi.waitUntil(what, { timeout: PATIENCE_MS }).catch(() => {
    throw new Error(`There never was ${says}.`);
  });
}
function opened(run: FakeRun): { readonly source: SamplesSource; readonly list: SamplesList } {
  const source = new SamplesSource(ID, run.api, seen);
  const list = new SamplesList(source, new TextSearches(ID, run.api));
  source.follow();
  closing.push(
    () => source.rest(),
    () => list.close(),
  );
  return { source, list };
}
const view = (filter: string, sort = "") => ({ filter, sort, order: "asc" as const, attempts: false });
const rows = ({ rows: { value } }: SamplesList): string => (value === null ? "none yet" : [...value].join(" "));

describe("the numbers of a run", () => {
  it("are loaded once, asked for from where they ended, and listed anew as more are done", async () => {
    const run = new FakeRun();
    const { source, list } = opened(run);
    list.show(view("reward > 0.4", "reward"));
    await holds(() => rows(list) === "2 0", "the first list");
    run.rewards.set(2, [0.75, 0]);
    run.seq = 2;
    source.refresh();
    await holds(() => rows(list) === "2 4 0", "the list with what was done since");
    expect(run.asked.map(({ searchParams }) => searchParams.get("after"))).toEqual([null, "1"]);
    expect(source.table.value?.done).toBe(6);
  });

  it("begin anew where the run is another one than before", async () => {
    const run = new FakeRun();
    const { source, list } = opened(run);
    list.show(view(""));
    await holds(() => rows(list) === "0 1 2 3", "the first list");
    run.generation = 2;
    run.rewards = new Map([[5, [1, 1]]]);
    source.refresh();
    await holds(() => rows(list) === "10 11", "the list of the other generation");
  });

  it("say that an answer broke off, keep what came, and have all of it after the next look", async () => {
    const run = new FakeRun();
    run.cuts = 1;
    const { source, list } = opened(run);
    list.show(view(""));
    await holds(() => source.problem.value !== null, "a problem");
    expect([source.isWhole.value, source.table.value?.done]).toEqual([false, 4]);
    source.refresh();
    await holds(() => source.isWhole.value && source.problem.value === null, "a whole table");
  });

  it("have a column more where a view needs one, of all rows", async () => {
    const run = new FakeRun();
    run.metrics = Array.from({ length: 40 }, (_, index) => `metric ${index}`);
    const { source, list } = opened(run);
    list.show(view('"metric 39" > 0.4'));
    await holds(() => rows(list) === "0 2", "the list by a column that is not a usual one");
    expect(source.table.value?.column("m:metric 39")?.[2]).toBe(0.5);
    expect(source.table.value?.column("m:metric 38")).toBeNull();
  });

  it("stay for a while when their page is left, and are followed again", async () => {
    const run = new FakeRun();
    const first = holdSource(ID, run.api, seen);
    await holds(() => first.source.isWhole.value, "a whole table");
    first.release();
    const second = holdSource(ID, run.api, seen);
    closing.push(second.release);
    expect(second.source).toBe(first.source);
    await holds(() => run.asked.length === 2, "a look for what is new");
    expect(run.asked[1]?.searchParams.get("after")).toBe("1");
  });
});

describe("texts of a filter", () => {
  it("are looked for by the service, page by page, and listed as they are found", async () => {
    const run = new FakeRun();
    run.matches = [[1], [0]];
    const { list } = opened(run);
    list.show(view("hello reward > 0.4"));
    await holds(() => rows(list) === "0 2", "both that were found");
    list.show(view("not hello"));
    await holds(() => rows(list) === "1 3", "the others, once all texts were looked through");
    expect(run.asked.filter(({ pathname }) => pathname.endsWith("/search")).map(({ search }) => search)).toEqual(["?text=hello", "?text=hello&after=1"]);
  });

  it("are not looked for while a filter is wrong, and what was listed stays", async () => {
    const run = new FakeRun();
    const { list } = opened(run);
    list.show(view(""));
    await holds(() => rows(list) === "0 1 2 3", "all");
    list.show(view("hello rewrd > 1"));
    await holds(() => list.problem.value !== null, "what is wrong");
    expect([rows(list), run.asked.some(({ pathname }) => pathname.endsWith("/search"))]).toEqual(["0 1 2 3", false]);
    list.show(view("reward = 1"));
    await holds(() => list.problem.value === null && rows(list) === "0", "the right one");
  });
});

describe("texts of the rows that are seen", () => {
  it("are read once for each row and field, and kept within bounds", async () => {
    const run = new FakeRun();
    const { source } = opened(run);
    await holds(() => source.isWhole.value, "a whole table");
    const table = source.table.value;
    if (table === null) throw new Error("no table");
    const previews = new PreviewStore(ID, run.api);
    closing.push(() => previews.close());
    expect(previews.value(table, 0, "prompt")).toBeUndefined();
    previews.want(table, [0, 3], ["prompt"]);
    await holds(() => previews.value(table, 3, "prompt") === "prompt 1/1", "the texts of both");
    previews.want(table, [0, 3, 1], ["prompt", "answer"]);
    await holds(() => previews.value(table, 1, "answer") === "answer 0/1", "the texts of the third");
    previews.want(table, [0, 1, 3], ["prompt", "answer"]);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(run.bodies).toMatchObject([
      {
        places: [
          [0, 0],
          [1, 1],
        ],
        fields: ["prompt"],
      },
      {
        places: [
          [0, 0],
          [1, 1],
          [0, 1],
        ],
        fields: ["answer", "prompt"],
      },
    ]);
  });

  it("that cannot be read are told apart from those that are empty, and are asked for once", async () => {
    const run = new FakeRun();
    run.unreadable.add(1);
    run.matches = [[0, 1]];
    const { source, list } = opened(run);
    await holds(() => source.isWhole.value, "a whole table");
    const table = source.table.value;
    if (table === null) throw new Error("no table");
    const previews = new PreviewStore(ID, run.api);
    closing.push(() => previews.close());
    previews.want(table, [0, 2], ["prompt"]);
    await holds(() => previews.value(table, 0, "prompt") === "prompt 0/0", "the text of the one that can be read");
    expect([previews.fault(table, 0), previews.fault(table, 2), previews.value(table, 2, "prompt")]).toEqual([null, "torn", null]);
    previews.want(table, [2], ["prompt"]);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(run.bodies).toHaveLength(1);
    list.show(view("hello"));
    await holds(() => rows(list) === "0", "what the search finds");
    expect(list.searches.unreadable).toBe(1);
    list.show(view(""));
    await holds(() => list.searches.unreadable === 0, "a list without that search");
  });

  it("are read of an attempt once it is there, and nothing is taken for them before", async () => {
    const run = new FakeRun();
    const { source } = opened(run);
    await holds(() => source.isWhole.value, "a whole table");
    const table = source.table.value;
    if (table === null) throw new Error("no table");
    const previews = new PreviewStore(ID, run.api);
    closing.push(() => previews.close());
    previews.want(table, [3, 4], ["prompt"]);
    await holds(() => previews.value(table, 3, "prompt") === "prompt 1/1", "the text of the one that is there");
    run.rewards.set(2, [1, 1]);
    run.seq = 2;
    source.refresh();
    await holds(() => table.done === 6, "the third example");
    previews.want(table, [3, 4], ["prompt"]);
    await holds(() => previews.value(table, 4, "prompt") === "prompt 2/0", "the text of the one that came later");
    expect(run.bodies).toMatchObject([{ places: [[1, 1]] }, { places: [[2, 0]] }]);
  });
});
