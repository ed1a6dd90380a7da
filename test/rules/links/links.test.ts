import { describe, expect, it } from "vitest";
import { linkAddressProblem } from "../../../src/links/link-address.ts";
import { chosenLink, filledArgs, type Link } from "../../../src/links/link.ts";
import { isLinkName, linkReference, linkSlug, nameOfSlug } from "../../../src/links/link-name.ts";

const link = (more: Partial<Link> & { readonly source?: string } = {}): Link => ({
  ...{ name: "wiki", command: null, urls: ["http://127.0.0.1:1"], linked_at: 100, linked_by: "ada", lease_until: null },
  facts: { id: "wiki", version: "1", description: "", defaults: {}, keys: [], args: [], source: more.source ?? "one" },
  ...more,
});

describe("which of the links of one name is meant", () => {
  it("is one that lives: a command's lapses at the end of its lease, and the one that lasts is there again", () => {
    const [lasting, leased] = [link(), link({ command: "c", lease_until: 1_000, linked_at: 50 })];
    expect(chosenLink([lasting, leased], 999, null)).toBe(leased);
    expect(chosenLink([lasting, leased], 1_000, null)).toBe(lasting);
    expect(chosenLink([leased], 1_000, null)).toBeNull();
    expect(chosenLink([], 0, null)).toBeNull();
  });

  it("is the one with the code of the run, whoever made it and whenever", () => {
    const links = [
      link({ source: "old" }),
      link({ command: "a", lease_until: 9_000, source: "new" }),
      link({ command: "b", lease_until: 9_000, linked_at: 200 }),
    ];
    expect(chosenLink(links, 0, "new")?.command).toBe("a");
    expect(chosenLink(links, 0, "old")?.command).toBeNull();
    // Nobody has it any more: the newest command's, whose other code the run is told of.
    expect(chosenLink(links, 0, "gone")?.command).toBe("b");
  });
});

it("arguments have the defaults that the server named, and what is given stands over them", () => {
  const args = [
    { name: "depth", schema: {}, required: false, default: 2, description: null },
    { name: "corpus", schema: {}, required: true, description: null },
  ];
  expect(filledArgs(args, {})).toEqual({ depth: 2 });
  expect(filledArgs(args, { depth: 5, corpus: "en", more: 1 })).toEqual({ depth: 5, corpus: "en", more: 1 });
});

describe("the name of a link", () => {
  it.each(["wiki-search", "Wordle", "my_env.v2", "primeintellect/wordle"])("may be %s", (name) => {
    expect(isLinkName(name)).toBe(true);
    expect(nameOfSlug(linkSlug(name))).toBe(name);
    expect(linkReference(linkSlug(name))).toEqual({ name, version: null });
    expect(linkReference(`${name}@0.1.12`)).toEqual({ name, version: "0.1.12" });
  });
  it.each(["", ".", "../x", "a/b/c", "a b", "edgewise/gsm8k", "-x", "x".repeat(101), "a@b@c"])("is not %j", (name) => expect(linkReference(name)).toBeNull());
});

describe("the address of an environment server", () => {
  const refused = (url: string, local: boolean) => linkAddressProblem(url, local) !== null;
  it.each([
    ["https://env.example/base", false, false],
    ["http://env.example", true, true],
    ["http://127.0.0.1:8000", true, false],
    ["https://127.0.0.1:8000", true, false],
    ["https://10.0.0.7", true, false],
    ["http://localhost:8000", true, false],
    ["http://192.168.1.7:8000", true, false],
    ["http://169.254.169.254", true, false],
    ["https://metadata.google.internal", true, false],
    ["https://env.example?token=x", true, true],
    ["https://ada:secret@env.example", true, true],
    ["ftp://env.example", true, true],
    ["no address", true, true],
  ] as const)("%s is refused deployed: %s, on one's own machine: %s", (url, deployed, local) => {
    expect([refused(url, false), refused(url, true)]).toEqual([deployed, local]);
  });
});
