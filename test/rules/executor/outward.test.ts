import { describe, expect, it } from "vitest";
import { Gate } from "../../../src/clients/gate.ts";
import { outwardOf } from "../../../src/executor/endpoints/outward.ts";

/** Requests that are answered when the test says so. */
function requests(connections: Gate | null) {
  const open: { readonly url: string; readonly answer: () => void; readonly fail: () => void }[] = [];
  let spent = 0;
  const fetch = (url: string, init?: RequestInit): Promise<Response> => {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    open.push({ url, answer: () => resolve(new Response(null, { status: 204 })), fail: () => reject(new Error("lost")) });
    init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    return promise;
  };
  const send = outwardOf({ fetch }, { spend: () => void spent++ }, connections);
  return { open, send: (url: string, signal?: AbortSignal) => send(url, { method: "POST", ...(signal === undefined ? {} : { signal }) }), spent: () => spent };
}
const moment = () => new Promise((resolve) => setTimeout(resolve, 0));
const urls = ({ open }: ReturnType<typeof requests>): string[] => open.map(({ url }) => url);

describe("what environments at the other end of a network are told", () => {
  it("takes the connections that models have free, until its headers come, and is counted as a request", async () => {
    const connections = new Gate(2);
    const sent = requests(connections);
    const first = sent.send("a");
    await moment();
    expect(connections.inFlight).toBe(1);
    sent.open[0]?.answer();
    expect((await first).status).toBe(204);
    expect([connections.inFlight, sent.spent()]).toEqual([0, 1]);
  });

  it("waits for no model: where they have all connections it goes by the one beside, one at a time, and gives that back whatever becomes of it", async () => {
    const connections = new Gate(1);
    await connections.enter();
    const sent = requests(connections);
    const all = ["a", "b", "c", "d"].map((url) => sent.send(url).catch(() => null));
    await moment();
    expect(urls(sent)).toEqual(["a"]);
    sent.open[0]?.answer();
    await moment();
    expect(urls(sent)).toEqual(["a", "b"]);
    sent.open[1]?.fail();
    await moment();
    expect(urls(sent)).toEqual(["a", "b", "c"]);
    // Free again: the next one takes it, and whoever waited goes on as before.
    connections.leave();
    void sent.send("e");
    await moment();
    expect([urls(sent), connections.inFlight]).toEqual([["a", "b", "c", "e"], 1]);
    sent.open[2]?.answer();
    await moment();
    expect(urls(sent)).toEqual(["a", "b", "c", "e", "d"]);
    sent.open.at(-1)?.answer();
    await Promise.all(all);
  });

  it("is not sent once nobody wants it any more", async () => {
    const connections = new Gate(1);
    await connections.enter();
    const sent = requests(connections);
    void sent.send("a");
    const over = new AbortController();
    const second = sent.send("b", over.signal);
    over.abort(new Error("over"));
    await expect(second).rejects.toThrow("over");
    expect(urls(sent)).toEqual(["a"]);
  });

  it("goes all at once where nobody counts connections", async () => {
    const sent = requests(null);
    for (let n = 0; n < 9; n++) void sent.send(String(n));
    await moment();
    expect(sent.open).toHaveLength(9);
  });
});
