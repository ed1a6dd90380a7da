import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { RunView } from "../../../durable-objects/run/control.ts";
import { outputKey, segmentKey } from "../../../r2-layout/keys.ts";
import { READ_GAP_BYTES } from "../../../r2-layout/results-window.ts";
import { MIB } from "../../../src/limits.ts";
import { CONFIG, type Door, openDoor, viewFor } from "../../support/door/fake-ports.ts";

const ID = CONFIG.run_id;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const place = (unit: number, offset: number, length: number, segment = "1-1-0") => ({ unit, segment, offset, length });

function doorWith(changes: Partial<RunView> = {}): Door {
  const door = openDoor();
  door.run(ID).state = viewFor(CONFIG, changes);
  return door;
}

describe("committed rows", () => {
  it("come commit by commit, with the place to go on from", async () => {
    const door = doorWith();
    door.store.objects.set(segmentKey(ID, "1-1-0"), bytes('{"a":1}\n{"b":2}\n'));
    door.store.objects.set(segmentKey(ID, "2-7-0"), bytes('{"c":3}\n'));
    door.run(ID).commits = [
      { seq: 4, places: [place(0, 8, 8), place(1, 0, 8)] },
      { seq: 9, places: [place(2, 0, 8, "2-7-0")] },
    ];
    const response = await door.call("GET", `/evaluations/${ID}/rows?after=0&limit_bytes=1000`);
    expect(await response.text()).toBe('{"a":1}\n{"b":2}\n{"c":3}\n');
    expect([response.headers.get("x-edgewise-next"), response.headers.get("x-edgewise-more")]).toEqual(["9", "0"]);
    expect(door.store.reads).toHaveLength(2);
    const rest = await door.call("GET", `/evaluations/${ID}/rows?after=9`);
    expect([await rest.text(), rest.headers.get("x-edgewise-next")]).toEqual(["", "9"]);
  });

  it("of one commit are one read, except around many rows that no longer count, and stay in the order of their segment", async () => {
    const door = doorWith();
    const far = 3 * READ_GAP_BYTES;
    const line = (digit: number): string => `${String(digit).repeat(9)}\n`;
    const segment = new Uint8Array(far + 10);
    for (const [at, digit] of [
      [0, 0],
      [10, 1],
      [20, 2],
      [30, 3],
      [far, 4],
    ] as const)
      segment.set(bytes(line(digit)), at);
    door.store.objects.set(segmentKey(ID, "1-1-0"), segment);
    door.run(ID).commits = [{ seq: 1, places: [place(0, far, 10), place(1, 30, 10), place(2, 0, 10), place(3, 10, 10)] }];
    expect(await (await door.call("GET", `/evaluations/${ID}/rows`)).text()).toBe([0, 1, 3, 4].map(line).join(""));
    expect(door.store.reads.map((read) => read.split(" ")[1])).toEqual(["0+40", `${far}+10`]);
  });

  it("of a unit that was repaired between two commits are told apart", async () => {
    const door = doorWith();
    door.store.objects.set(segmentKey(ID, "1-1-0"), bytes('{"a":1}\n'));
    door.store.objects.set(segmentKey(ID, "2-2-0"), bytes('{"a":2}\n'));
    door.run(ID).commits = [
      { seq: 1, places: [place(0, 0, 8)] },
      { seq: 2, places: [place(0, 0, 8, "2-2-0")] },
    ];
    expect(await (await door.call("GET", `/evaluations/${ID}/rows`)).text()).toBe('{"a":1}\n{"a":2}\n');
  });

  it("leave in large pieces, however small those are in which storage hands them out: each piece waits for a turn of its own", async () => {
    const door = doorWith();
    const length = 3 * MIB;
    door.store.objects.set(segmentKey(ID, "1-1-0"), new Uint8Array(length).fill(120));
    door.run(ID).commits = [{ seq: 1, places: [place(0, 0, length)] }];
    const response = await door.call("GET", `/evaluations/${ID}/rows`);
    const sizes: number[] = [];
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) sizes.push(piece.byteLength);
    expect(sizes).toEqual([MIB, MIB, MIB]);
  });

  it("break off when a segment is missing, rather than leave rows out", async () => {
    const door = doorWith();
    door.run(ID).commits = [{ seq: 1, places: [place(0, 0, 8)] }];
    await expect((await door.call("GET", `/evaluations/${ID}/rows`)).text()).rejects.toThrow();
  });

  it.each(["limit_bytes=0", "limit_bytes=999999999", "after=x"])("refuse ?%s", async (query) => {
    expect((await doorWith().call("GET", `/evaluations/${ID}/rows?${query}`)).status).toBe(422);
  });
});

describe("results.jsonl", () => {
  const key = outputKey(CONFIG.env_id, CONFIG.model, ID, "results.jsonl");
  const path = `/evaluations/${ID}/files/results.jsonl`;
  function finished(): Door {
    const door = doorWith({ status: "COMPLETED", phase: "settled" });
    door.store.objects.set(key, bytes("0123456789"));
    return door;
  }

  it("is there once the run is settled", async () => {
    const early = await doorWith({ status: "COMPLETED", phase: "finalising" }).call("GET", path);
    expect([early.status, ((await early.json()) as { code: string }).code]).toEqual([409, "run_busy"]);
    const response = await finished().call("GET", path);
    expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([200, "10", "0123456789"]);
  });

  it("is served in ranges", async () => {
    const part = await finished().call("GET", path, undefined, { range: "bytes=4-" });
    expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([206, "bytes 4-9/10", "456789"]);
    const behind = await finished().call("GET", path, undefined, { range: "bytes=10-" });
    expect([behind.status, behind.headers.get("content-range")]).toEqual([416, "bytes */10"]);
  });

  it("is empty for a run that ended before its first row, and an error when rows are gone", async () => {
    const empty = await doorWith({ status: "FAILED", phase: "settled" }).call("GET", path);
    expect([empty.status, await empty.text()]).toEqual([200, ""]);
    const lost = doorWith({ status: "COMPLETED", phase: "settled", totals: { ...viewFor(CONFIG).totals, rollouts: 4 } });
    expect((await lost.call("GET", path)).status).toBe(503);
  });
});

describe("the other files", () => {
  it("metadata.json at any time, on one line", async () => {
    const response = await doorWith().call("GET", `/evaluations/${ID}/files/metadata.json`);
    expect([response.headers.get("content-type"), await response.text()]).toEqual(["application/json", '{"env_id":"gsm8k"}\n']);
  });

  it("eval.log: one line per log event, however many", async () => {
    const door = doorWith();
    const time = Date.UTC(2026, 10, 5, 4, 3, 2);
    door.run(ID).stored = Array.from({ length: 2001 }, (_, index) => ({
      seq: index + 1,
      time,
      type: index % 2 === 0 ? ("log" as const) : ("commit" as const),
      level: "WARNING" as const,
      message: `m${index}`,
      rollouts: 1,
    }));
    const text = await (await door.call("GET", `/evaluations/${ID}/files/eval.log`)).text();
    const lines = text.split("\n");
    expect(lines).toHaveLength(1002);
    expect(lines[1]).toBe("2026-11-05 04:03:02 - edgewise.run - WARNING - m2");
    expect(lines.at(-1)).toBe("");
  });

  it("eval.log from an event on: a page of it, with the place to go on from", async () => {
    const door = doorWith();
    const event = (seq: number, type: "log" | "commit") => ({ seq, time: 0, type, level: "INFO" as const, message: `m${seq}`, rollouts: 1 });
    door.run(ID).stored = Array.from({ length: 1002 }, (_, index) => event(index + 1, index === 1001 ? "commit" : "log"));
    const from = async (after: number) => {
      const response = await door.call("GET", `/evaluations/${ID}/files/eval.log?after=${after}`);
      const { headers } = response;
      return [(await response.text()).split("\n").length - 1, headers.get("x-edgewise-next"), headers.get("x-edgewise-more")];
    };
    expect([await from(0), await from(1000), await from(1002)]).toEqual([
      [1000, "1000", "1"],
      [1, "1002", "0"],
      [0, "1002", "0"],
    ]);
    expect((await door.call("GET", `/evaluations/${ID}/files/eval.log?after=x`)).status).toBe(422);
    expect((await openDoor().call("GET", `/evaluations/${ID}/files/eval.log?after=0`)).status).toBe(404);
  });

  it("no others", async () => {
    expect((await doorWith().call("GET", `/evaluations/${ID}/files/config.json`)).status).toBe(404);
    expect((await doorWith().call("GET", `/evaluations/${ID}/files/..%2Fconfig.json`)).status).toBe(404);
  });
});

describe("an upload", () => {
  const text = '{"question": "1+1"}\n';
  const digest = createHash("sha256").update(text).digest("hex");
  const put = (door: Door, name = digest, headers: Record<string, string> = {}) =>
    door.call("PUT", `/datasets/${name}`, text, { "content-type": "application/octet-stream", "content-length": String(text.length), ...headers });

  it("is stored once under its digest", async () => {
    const door = openDoor();
    expect((await door.call("HEAD", `/datasets/${digest}`)).status).toBe(404);
    const first = await put(door);
    expect([first.status, await first.json()]).toEqual([201, { dataset: `sha256:${digest}` }]);
    expect((await put(door)).status).toBe(200);
    expect((await door.call("HEAD", `/datasets/${digest}`)).status).toBe(200);
    expect(new TextDecoder().decode(door.store.objects.get(`datasets/${digest}`))).toBe(text);
  });

  it("under another digest is refused", async () => {
    const response = await put(openDoor(), "0".repeat(64));
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([422, "digest_mismatch"]);
  });

  it.each(["short", "A".repeat(64), `${"0".repeat(63)}g`])("under %s is refused", async (name) => {
    expect((await put(openDoor(), name)).status).toBe(422);
    expect((await openDoor().call("HEAD", `/datasets/${name}`)).status).toBe(422);
  });

  it("that says it is too large, or does not say how large it is, is refused unread", async () => {
    const door = openDoor();
    expect((await put(door, digest, { "content-length": "100000001" })).status).toBe(413);
    expect((await put(door, digest, { "content-length": "many" })).status).toBe(422);
    expect(door.store.objects.size).toBe(0);
  });
});
