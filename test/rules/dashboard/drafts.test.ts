import { describe, expect, it } from "vitest";
import { DRAFTS, forgetDrafts, keepDraftsOf, type TabShelf } from "../../../src/dashboard/drafts.ts";
import { EMPTY_DRAFT } from "../../../src/dashboard/pages/new-run/draft.ts";
import { DraftStorage } from "../../../src/dashboard/pages/new-run/draft-storage.ts";

function shelf(): TabShelf & { readonly kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    get length() {
      return kept.size;
    },
    key: (at) => [...kept.keys()][at] ?? null,
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
}

describe("drafts of forms", () => {
  it("are those of who typed them: there again for the same person, and gone for the next one in the same tab", () => {
    const tab = shelf();
    keepDraftsOf(tab, "ada");
    for (const begun of ["", "wiki", "0000abcd"]) new DraftStorage(tab, "default", begun).keep({ ...EMPTY_DRAFT, model: begun });
    tab.setItem("another-page", "stays");
    keepDraftsOf(tab, "ada");
    expect(new DraftStorage(tab, "default", "wiki").read()?.model).toBe("wiki");
    keepDraftsOf(tab, "bob");
    expect(["", "wiki", "0000abcd"].map((begun) => new DraftStorage(tab, "default", begun).read())).toEqual([null, null, null]);
    expect(tab.getItem("another-page")).toBe("stays");
  });

  it("are forgotten when somebody signs out, all of them, and a browser that keeps nothing is no fault", () => {
    const tab = shelf();
    for (const team of ["a", "b"]) new DraftStorage(tab, team, "").keep(EMPTY_DRAFT);
    forgetDrafts(tab);
    expect([...tab.kept.keys()].filter((key) => key.startsWith(DRAFTS))).toEqual([]);
    const refuses = (): never => {
      throw new Error("denied");
    };
    expect(() => keepDraftsOf({ ...shelf(), getItem: refuses, setItem: refuses }, "ada")).not.toThrow();
  });
});
