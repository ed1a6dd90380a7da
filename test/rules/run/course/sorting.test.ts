import { describe, expect, it } from "vitest";
import type { UnitRange } from "../../../../durable-objects/run/protocol.ts";
import { segmentKey } from "../../../../r2-layout/keys.ts";
import { SegmentBuffer } from "../../../../r2-layout/segment.ts";
import { finaliseRun } from "../../../../src/executor/finalise.ts";
import type { ExecutorPorts } from "../../../../src/executor/ports.ts";
import { Slice } from "../../../../src/executor/slice.ts";
import { PART_BYTES, SORT_BYTES } from "../../../../src/limits.ts";
import { seededRandom } from "../../../../src/seeded-random.ts";
import { unboundedBytes } from "../../../support/run/unbounded-bytes.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

interface Scene {
  readonly units: number;
  readonly permuted: readonly UnitRange[];
  readonly rowBytes: number;
  /** Rows of one segment. */
  readonly perSegment: number;
  readonly rollouts?: number;
  /** Units of which nothing is done. */
  readonly open?: (unit: number) => boolean;
}

/** A run that has all of its rows, in segments as they were committed: neighbours in position together, segments in any order. */
class Sorting {
  readonly run: RuleRun;
  readonly objects = new Map<string, Uint8Array>();
  reads = 0;
  /** Operations on storage until the executor dies; it does not by itself. */
  left = Number.POSITIVE_INFINITY;
  readonly #parts = new Map<number, Uint8Array>();

  constructor({ units, permuted, rowBytes, perSegment, rollouts = 1, open = () => false }: Scene) {
    this.run = new RuleRun({ num_examples: units, rollouts_per_example: rollouts, order_seed: 7 });
    this.run.pin(units, { permuted });
    const order = this.run.ledger.order.get();
    let buffer = new SegmentBuffer(perSegment);
    let segments = 0;
    const flush = (): void => {
      const contents = buffer.take();
      buffer = new SegmentBuffer(perSegment);
      if (contents === null) return;
      const segment = `1-0-${++segments}`;
      this.objects.set(segmentKey(this.run.ledger.config().run_id, segment), contents.bytes);
      this.run.ledger.putDones(
        contents.units.map((place) => ({ ...place, segment, rollouts: Array.from({ length: rollouts }, () => summary()), owed: false })),
      );
    };
    let bytes = 0;
    for (let unit = 0; unit < units; unit++) {
      if (open(unit)) continue;
      const lines = Array.from({ length: rollouts }, (_, index) => this.line(order.rankOf(unit), index, rowBytes));
      if (buffer.isFull || !buffer.add(unit, lines)) {
        flush();
        buffer.add(unit, lines);
      }
      bytes += lines.reduce((sum, line) => sum + line.length + 1, 0);
    }
    flush();
    const done = this.run.ledger.dones.size;
    const head = this.run.head;
    this.run.ledger.putHead({ ...head, done, row_bytes: bytes, totals: { ...head.totals, rollouts: done * rollouts } });
    this.run.call("cancel", null);
  }

  line(rank: number, rollout: number, bytes: number): string {
    const random = seededRandom(rank * 100 + rollout);
    return JSON.stringify({ example_id: rank, rollout_index: rollout, text: "x".repeat(Math.floor(bytes * (0.5 + random()))) });
  }

  expected({ units, rowBytes, rollouts = 1, open = () => false }: Scene): string {
    const order = this.run.ledger.order.get();
    let text = "";
    for (let rank = 0; rank < units; rank++) {
      if (!open(order.positionOf(rank))) for (let each = 0; each < rollouts; each++) text += `${this.line(rank, each, rowBytes)}\n`;
    }
    return text;
  }

  /** What executors write, one after the other, until the run has settled. `slice`: operations of each. */
  async written(operations = Number.POSITIVE_INFINITY): Promise<string> {
    for (let executor = 0; this.run.head.phase !== "settled"; executor++) {
      if (executor > 500) throw new Error("the final file is never written");
      const grant = this.run.grant(`writer ${executor}`);
      if (grant.task.kind !== "finalise") throw new Error(grant.task.kind);
      this.left = operations;
      const unlimited = { slice: Number.POSITIVE_INFINITY, wanted: Number.POSITIVE_INFINITY, wall: Number.POSITIVE_INFINITY } as const;
      const slice = new Slice(
        { ...unlimited, rollouts: Number.POSITIVE_INFINITY, subrequests: Number.POSITIVE_INFINITY } as ConstructorParameters<typeof Slice>[0],
        () => 0,
      );
      const stop = new AbortController();
      await finaliseRun(this.#ports(stop), grant, grant.task, stop.signal, slice).catch(() => undefined);
      this.run.now += this.run.timing.lease + this.run.timing.grace + 1;
    }
    return new TextDecoder().decode([...this.objects].find(([key]) => key.endsWith("results.jsonl"))?.[1]);
  }

  #ports(stop: AbortController): ExecutorPorts {
    const { run, objects } = this;
    const used = (): void => {
      if (--this.left < 0) {
        stop.abort();
        throw new Error("the executor is gone");
      }
    };
    const stub = new Proxy(
      {},
      {
        get: (_, name: string) => async (request: never) => {
          if (name === "metadata") return { edgewise: { reward_ci95: null }, pass_at_k: {} };
          if (name === "events") return [];
          return run.call(name as "window", request);
        },
      },
    );
    const store = {
      read: async (key: string, offset: number, length: number) => {
        used();
        this.reads++;
        return (objects.get(key) ?? new Uint8Array(0)).slice(offset, offset + length);
      },
      create: async (key: string, bytes: Uint8Array) => {
        used();
        expect(bytes.byteLength).toBeLessThanOrEqual(SORT_BYTES);
        if (objects.has(key)) return "other";
        objects.set(key, bytes.slice());
        return "stored";
      },
      put: async (key: string, bytes: Uint8Array) => void objects.set(key, bytes.slice()),
      startUpload: async () => "u",
      uploadPart: async (_key: string, _id: string, part: number, bytes: Uint8Array) => {
        used();
        expect(bytes.byteLength).toBeLessThanOrEqual(PART_BYTES);
        this.#parts.set(part, bytes.slice());
        return `etag ${part}`;
      },
      completeUpload: async (key: string, _id: string, parts: readonly { part: number }[]) =>
        void objects.set(key, Buffer.concat(parts.map(({ part }) => this.#parts.get(part) ?? new Uint8Array(0)))),
    };
    return { run: () => stub, store, bytes: unboundedBytes(), log: () => undefined } as unknown as ExecutorPorts;
  }
}

const scenes: Record<string, Scene> = {
  "of one part, which fits into memory": { units: 500, permuted: [{ lo: 0, hi: 500 }], rowBytes: 300, perSegment: 40 },
  "of several parts that were permuted, several sorted segments each": {
    units: 9_000,
    permuted: [
      { lo: 0, hi: 8_192 },
      { lo: 8_192, hi: 9_000 },
    ],
    rowBytes: 4_000,
    perSegment: 30,
  },
  "that grew behind examples in the order of the data set": { units: 4_000, permuted: [{ lo: 1_500, hi: 4_000 }], rowBytes: 4_000, perSegment: 512 },
  "that was cancelled with holes": {
    units: 9_000,
    permuted: [
      { lo: 0, hi: 3_000 },
      { lo: 3_000, hi: 6_000 },
      { lo: 6_000, hi: 9_000 },
    ],
    rowBytes: 4_000,
    perSegment: 100,
    open: (unit) => unit % 7 === 3 || (unit >= 2_500 && unit < 6_500),
  },
  "of large units, which are read where they are": { units: 60, permuted: [{ lo: 0, hi: 60 }], rowBytes: 150_000, perSegment: 512, rollouts: 3 },
  "with a unit too large for a segment of others": { units: 300, permuted: [{ lo: 0, hi: 300 }], rowBytes: 30_000, perSegment: 512, rollouts: 2 },
};

describe("the results of a run whose examples were permuted", () => {
  it.each(Object.entries(scenes))("%s, are in the order of the data set", async (_, scene) => {
    const sorting = new Sorting(scene);
    expect((await sorting.written()) === sorting.expected(scene)).toBe(true);
  });

  it("are the same wherever the executors that write them die", async () => {
    const scene = scenes["of several parts that were permuted, several sorted segments each"] as Scene;
    const sorting = new Sorting(scene);
    // A sorted segment of 16 MiB takes some 140 reads here.
    expect((await sorting.written(200)) === sorting.expected(scene)).toBe(true);
  });

  it("are read twice where they are more than memory holds: as they lie, and in few reads from what was put into order", async () => {
    const scene = scenes["of several parts that were permuted, several sorted segments each"] as Scene;
    const sorting = new Sorting(scene);
    await sorting.written();
    const segments = Math.ceil(scene.units / scene.perSegment);
    expect(sorting.reads).toBeLessThan(1.2 * segments);
  });

  it("are left alone by executors that cannot put them into order", () => {
    const { run } = new Sorting({ units: 3_000, permuted: [{ lo: 0, hi: 3_000 }], rowBytes: 4_000, perSegment: 512 });
    expect(run.join("of before", { sorts: false })).toEqual({ kind: "none" });
    expect(run.join("newer")).toMatchObject({ kind: "grant", task: { kind: "finalise" } });
  });
});
