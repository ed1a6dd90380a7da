import { describe, expect, it } from "vitest";
import { wallOf } from "../../../src/config/plan/walls.ts";
import { type IsolateIdentity, IsolateNames, identityDigest } from "../../../src/isolates/isolate-names.ts";

const identity: IsolateIdentity = { team: "acme", code: "c", library: "l", hosts: ["api.example.com"], secrets: { A_KEY: "value" } };

describe("the name of an isolate", () => {
  it("is another for each team, code, library, host and secret, and tells none of them", async () => {
    const others: Partial<IsolateIdentity>[] = [
      { team: "other" },
      { code: "d" },
      { library: "m" },
      { hosts: [] },
      { secrets: {} },
      { secrets: { A_KEY: "other" } },
    ];
    const digests = await Promise.all([{}, ...others].map((changes) => identityDigest({ ...identity, ...changes })));
    expect(new Set(digests).size).toBe(7);
    expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(await identityDigest({ ...identity })).toBe(digests[0]);
  });

  it("is one by which a run says what it needs: shared with runs of the same code and team, and with none where it has secrets", () => {
    const published = { owner: "acme", name: "sums", version: "1.0.0", digest: "a".repeat(64) };
    const of = (changes: object) => wallOf({ run_id: "0123abcd", team: "acme", published, ...changes });
    expect(of({ run_id: "89abcdef" })).toBe(of({}));
    const all = [
      {},
      { team: undefined },
      { published: { ...published, digest: "b".repeat(64) } },
      { secrets: ["KEY"] },
      { secrets: ["KEY"], run_id: "89abcdef" },
    ].map(of);
    expect(new Set(all).size).toBe(5);
    expect([of({ published: undefined }), of({ wall: "own" })]).toEqual([undefined, "acme own"]);
  });

  it("is a new one after the isolate of the old one was given up, for all who come later", () => {
    const names = new IsolateNames();
    const [first, second] = [names.enter("a"), names.enter("a")];
    expect([first, second]).toEqual(["a.0", "a.0"]);
    names.retire(first);
    expect(names.enter("a")).toBe("a.1");
    // The other session of the old one has nothing to say of the new one.
    names.retire(second);
    names.leave(second);
    expect(names.enter("a")).toBe("a.1");
  });
});

describe("isolates that nobody works in", () => {
  it("are kept up to a number, and beyond it the longest unused are given up", () => {
    const names = new IsolateNames();
    const all = ["a", "b", "c", "d"].map((digest) => names.enter(digest));
    expect(names.retireIdle(1)).toEqual([]);
    for (const name of all.slice(0, 3)) names.leave(name);
    expect(names.retireIdle(1)).toEqual(["a.0", "b.0"]);
    expect(names.retireIdle(1)).toEqual([]);
    expect([names.enter("a"), names.enter("c"), names.enter("d")]).toEqual(["a.1", "c.0", "d.0"]);
  });
});
