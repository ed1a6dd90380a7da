import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SamplePlace } from "../../../../durable-objects/run/control.ts";
import type { RunHead } from "../../../../durable-objects/run/state/head.ts";
import { RowCounts } from "../../../../durable-objects/run/state/row-counts.ts";
import { type RowIndex, samplePage } from "../../../../durable-objects/run/reading/samples.ts";
import { segmentKey } from "../../../../r2-layout/keys.ts";
import { JsonRows } from "../../../../src/api/runs/json-rows.ts";
import { CONFIG, type Door, openDoor, viewFor } from "../../../support/door/fake-ports.ts";

const ID = CONFIG.run_id;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Done units by number and how many rows each has, with what was read of them. */
class Units implements RowIndex {
  readonly places: SamplePlace[] = [];
  read = 0;
  readonly rowCounts = new RowCounts((lo, hi) => {
    const found = this.places.filter(({ unit }) => unit >= lo && unit < hi);
    this.read += found.length;
    return found.reduce((sum, { rows }) => sum + rows, 0);
  });
  readonly r: number;
  readonly n: number;
  constructor(n: number, r: number) {
    [this.n, this.r] = [n, r];
  }
  put(unit: number, rows = this.r): void {
    this.places.splice(0, this.places.length, ...this.places.filter((place) => place.unit !== unit), {
      unit,
      rows,
      segment: "1-1-1",
      offset: unit,
      length: rows,
    });
    this.places.sort((a, b) => a.unit - b.unit);
    this.rowCounts.touch(unit);
  }
  head(): RunHead {
    return { n: this.n, totals: { rollouts: this.places.reduce((sum, { rows }) => sum + rows, 0) } } as RunHead;
  }
  config() {
    return { ...CONFIG, rollouts_per_example: this.r };
  }
  samplePlaces(lo: number, hi: number): SamplePlace[] {
    const found = this.places.filter(({ unit }) => unit >= lo && unit < hi);
    this.read += found.length;
    return found;
  }
}

/** `unit/row` of a page. */
function rowsOf(index: Units, offset: number, limit: number): string[] {
  const page = samplePage(index, offset, limit);
  const all = (page?.places ?? []).flatMap(({ unit, rows }) => Array.from({ length: rows }, (_, row) => `${unit}/${row}`));
  return all.slice(page?.skip, (page?.skip ?? 0) + (page?.count ?? 0));
}
const everyRow = (index: Units): string[] => index.places.flatMap(({ unit, rows }) => Array.from({ length: rows }, (_, row) => `${unit}/${row}`));

describe("a page of rows", () => {
  it("of a complete run is a division: nothing but its own units is read, wherever it lies", () => {
    const index = new Units(50_000, 1);
    for (let unit = 0; unit < 50_000; unit++) index.places.push({ unit, rows: 1, segment: "1-1-1", offset: unit, length: 1 });
    for (const offset of [0, 49_900]) {
      index.read = 0;
      expect(rowsOf(index, offset, 100)).toHaveLength(100);
      expect(index.read).toBe(100);
    }
  });

  it("of a run with holes reads its own units and a block, once the blocks are counted", () => {
    const index = new Units(50_000, 1);
    for (let unit = 0; unit < 40_000; unit++) if (unit % 7 !== 0) index.places.push({ unit, rows: 1, segment: "1-1-1", offset: unit, length: 1 });
    const all = everyRow(index);
    expect(rowsOf(index, 0, 100)).toEqual(all.slice(0, 100));
    for (const offset of [0, 17_000, all.length - 100]) {
      index.read = 0;
      expect(rowsOf(index, offset, 100)).toEqual(all.slice(offset, offset + 100));
      expect(index.read).toBeLessThan(1_100);
    }
  });

  it("is that of the rows in unit order, whatever is done, in whatever order, with whatever rows", () => {
    const change = fc.record({ unit: fc.nat(1_600), rows: fc.integer({ min: 1, max: 3 }) });
    const look = fc.record({ offset: fc.nat(5_000), limit: fc.integer({ min: 1, max: 700 }) });
    void fc.assert(
      fc.property(fc.array(fc.tuple(fc.array(change, { maxLength: 30 }), look), { maxLength: 12 }), (steps) => {
        const index = new Units(1_601, 3);
        for (const [changes, { offset, limit }] of steps) {
          for (const { unit, rows } of changes) index.put(unit, rows);
          const total = everyRow(index).length;
          const start = total === 0 ? offset : offset % (total + 5);
          expect(rowsOf(index, start, limit)).toEqual(everyRow(index).slice(start, start + limit));
          expect(samplePage(index, start, limit)).toMatchObject({ total, count: Math.max(0, Math.min(limit, total - start)) });
        }
      }),
      { numRuns: 60 },
    );
  });

  it("counts anew after a rollback", () => {
    const index = new Units(10, 1);
    index.put(3);
    expect(rowsOf(index, 0, 5)).toEqual(["3/0"]);
    index.places.splice(0, 1, { unit: 7, rows: 1, segment: "1-1-1", offset: 7, length: 1 });
    index.rowCounts.forget();
    expect(rowsOf(index, 0, 5)).toEqual(["7/0"]);
  });
});

describe("rows as elements of an array", () => {
  it("are those asked for, however the bytes are cut", () => {
    const lines = Array.from({ length: 9 }, (_, index) => `{"n":${index},"text":"ü${"x".repeat(index)}"}`);
    const whole = `${lines.join("\n")}\n`;
    void fc.assert(
      fc.property(fc.nat(8), fc.integer({ min: 1, max: 9 }), fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 30 }), (skip, wanted, cuts) => {
        const count = Math.min(wanted, lines.length - skip);
        const rows = new JsonRows(skip, count);
        const all = bytes(whole);
        const decoder = new TextDecoder();
        let text = "";
        for (let at = 0, cut = 0; at < all.byteLength; cut++) {
          const next = at + (cuts[cut] ?? 1_000);
          text += decoder.decode(rows.push(all.slice(at, next)), { stream: true });
          at = next;
        }
        expect(rows.isComplete).toBe(true);
        expect(text).toBe(lines.slice(skip, skip + count).join(","));
      }),
    );
  });
});

describe("samples", () => {
  const line = (unit: number, row: number, text = ""): string => `{"example_id":${unit},"rollout_index":${row},"text":"${text}"}\n`;
  /** Units in two segments, in the order in which they were finished. */
  function doorWith(order: readonly number[], text = "", rows = 2): Door {
    const door = openDoor();
    door.run(ID).state = viewFor(CONFIG);
    const written: Record<string, string> = { "1-1-1": "", "2-2-1": "" };
    door.run(ID).places = order
      .map((unit, index) => {
        const segment = index % 2 === 0 ? "1-1-1" : "2-2-1";
        const own = Array.from({ length: rows }, (_, row) => line(unit, row, text)).join("");
        const offset = bytes(written[segment] ?? "").byteLength;
        written[segment] += own;
        return { unit, segment, offset, length: bytes(own).byteLength, rows };
      })
      .sort((a, b) => a.unit - b.unit);
    for (const [segment, content] of Object.entries(written)) door.store.objects.set(segmentKey(ID, segment), bytes(content));
    return door;
  }
  const get = async (door: Door, query = "") => (await door.call("GET", `/evaluations/${ID}/samples${query}`)).json() as Promise<Record<string, unknown>>;

  it("come sorted by example, then rollout, with what the client pages by", async () => {
    const door = doorWith([4, 0, 3, 1, 2]);
    const rows = [0, 1, 2, 3, 4].flatMap((example_id) => [0, 1].map((rollout_index) => ({ example_id, rollout_index, text: "" })));
    expect(await get(door)).toEqual({ samples: rows, total: 10, page: 1, limit: 100, has_more: false });
    expect(await get(door, "?page=2&limit=3")).toEqual({ samples: rows.slice(3, 6), total: 10, page: 2, limit: 3, has_more: true });
    expect(await get(door, "?page=4&limit=3")).toEqual({ samples: rows.slice(9), total: 10, page: 4, limit: 3, has_more: false });
    expect(await get(door, "?page=99&limit=3")).toEqual({ samples: [], total: 10, page: 99, limit: 3, has_more: false });
    expect(await get(openDoorWithNothing())).toEqual({ samples: [], total: 0, page: 1, limit: 100, has_more: false });
  });
  function openDoorWithNothing(): Door {
    const door = openDoor();
    door.run(ID).state = viewFor(CONFIG, { status: "PENDING", phase: "preparing" });
    return door;
  }

  it("are few reads, though the rows of neighbours lie apart", async () => {
    const door = doorWith(Array.from({ length: 100 }, (_, index) => (index * 37) % 100));
    expect(((await get(door)).samples as unknown[]).length).toBe(100);
    expect(door.store.reads).toHaveLength(2);
  });

  it("are read window by window, and whole wherever a window ends", async () => {
    const door = doorWith([1, 0, 2], "ü".repeat(700_000));
    const page = (await get(door)) as { samples: { example_id: number; rollout_index: number; text: string }[] };
    expect(page.samples.map(({ example_id, rollout_index }) => `${example_id}/${rollout_index}`)).toEqual(["0/0", "0/1", "1/0", "1/1", "2/0", "2/1"]);
    expect(page.samples.every(({ text }) => text === "ü".repeat(700_000))).toBe(true);
  });

  it("are refused, naming a limit that fits, when a page is larger than can be sent", async () => {
    const door = openDoor();
    door.run(ID).state = viewFor(CONFIG);
    door.run(ID).places = Array.from({ length: 300 }, (_, unit) => ({ unit, segment: "1-1-1", offset: 0, length: 1_500_000, rows: 1 }));
    const response = await door.call("GET", `/evaluations/${ID}/samples?limit=300`);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ detail: [{ loc: ["query", "limit"], msg: expect.stringMatching(/at most 134 here/) }] });
    expect(door.store.reads).toEqual([]);
  });

  it("are an error, not half an answer, when storage does not have the first of them", async () => {
    const door = doorWith([0, 1]);
    door.store.objects.clear();
    const response = await door.call("GET", `/evaluations/${ID}/samples`);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([503, "storage_unavailable"]);
  });

  it.each(["page=0", "page=-1", "page=x", "limit=0", "limit=1001", "limit=1.5", "pag=1"])("refuse ?%s", async (query) => {
    const response = await doorWith([0]).call("GET", `/evaluations/${ID}/samples?${query}`);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ detail: [{ loc: ["query", query.split("=")[0]] }] });
  });

  it("of a run that is not there are not found", async () => {
    expect((await openDoor().call("GET", `/evaluations/${ID}/samples`)).status).toBe(404);
  });
});
