import { describe, expect, it } from "vitest";
import { MANIFEST_VERSION, readManifest } from "../../../src/published/manifest.ts";
import { isPublishedName, ownerOf, publishedReference, publishedSlug, teamOfOwner } from "../../../src/published/published-name.ts";
import { compareVersions, isVersion, latestOf } from "../../../src/published/published-version.ts";

describe("a version", () => {
  it("is one of semver, without build metadata", () => {
    for (const good of ["0.0.0", "1.2.3", "10.20.30", "1.0.0-rc.1", "1.0.0-alpha", "1.0.0-0.3.7", "1.0.0-x.7.z.92", "1.0.0-x-y-z.1"])
      expect(isVersion(good), good).toBe(true);
    const bad = [
      "",
      "1",
      "1.0",
      "v1.0.0",
      "01.0.0",
      "1.0.0-",
      "1.0.0-01",
      "1.0.0-a..b",
      "1.0.0+b",
      "1.0.0 ",
      "latest",
      `1.0.0-${"a".repeat(80)}`,
      "1.0.9999999999",
    ];
    for (const each of bad) expect(isVersion(each), each).toBe(false);
  });

  it("stands before those that are later", () => {
    // The order of https://semver.org, 11.4, and numbers that are no texts.
    const order = [
      "1.0.0-alpha",
      "1.0.0-alpha.1",
      "1.0.0-alpha.beta",
      "1.0.0-beta",
      "1.0.0-beta.2",
      "1.0.0-beta.11",
      "1.0.0-rc.1",
      "1.0.0",
      "1.0.2",
      "1.0.10",
      "1.2.0",
      "2.0.0",
    ];
    for (const [a, one] of order.entries())
      for (const [b, other] of order.entries()) expect(Math.sign(compareVersions(one, other)), `${one} and ${other}`).toBe(Math.sign(a - b));
  });

  it("is the latest where it is the highest release, or the highest of all where nothing was released", () => {
    const latest = (...all: string[]) => latestOf(all.map((version) => ({ version })))?.version ?? null;
    expect([latest(), latest("1.0.0-rc.2", "1.0.0-rc.10"), latest("0.9.0", "1.0.0-rc.1"), latest("0.9.0", "0.10.0", "0.9.9")]).toEqual([
      null,
      "1.0.0-rc.10",
      "0.9.0",
      "0.10.0",
    ]);
  });
});

describe("a name", () => {
  it("is one part of an address in lower case, and none of the words that stand there", () => {
    for (const good of ["a", "my-sums", "my_sums", "sums.v2", "0", "a".repeat(64)]) expect(isPublishedName(good), good).toBe(true);
    for (const bad of ["", "My", "-a", "a-", ".a", "a..b", "a/b", "a~b", "a@b", "a b", "secrets", "variables", "a".repeat(65)])
      expect(isPublishedName(bad), bad).toBe(false);
  });

  it("has its team before it, the default one as the owner of the bundled environments", () => {
    expect([ownerOf("default"), ownerOf("acme"), teamOfOwner("edgewise"), teamOfOwner("acme"), teamOfOwner("No")]).toEqual([
      "edgewise",
      "acme",
      "default",
      "acme",
      null,
    ]);
  });

  it("is read as people, lookups and creations write it", () => {
    const reference = { owner: "acme", name: "my-sums" };
    expect(publishedReference("acme/my-sums")).toEqual({ ...reference, version: null });
    expect(publishedReference("acme/my-sums@latest")).toEqual({ ...reference, version: null });
    expect(publishedReference("acme/my-sums@1.0.0-rc.1")).toEqual({ ...reference, version: "1.0.0-rc.1" });
    expect(publishedReference(`${publishedSlug(reference)}@1.0.0`)).toEqual({ ...reference, version: "1.0.0" });
    for (const none of ["my-sums", "a/b/c", "acme/my-sums@", "acme/my-sums@1.0", "acme/my-sums@1.0.0@2.0.0", "Acme/my-sums", "acme/", "acme~a/b", ""])
      expect(publishedReference(none), none).toBeNull();
  });
});

describe("a stored manifest", () => {
  it("of another version is refused by name, and what is none is damaged", () => {
    const failure = (text: string) => {
      const read = readManifest(text, "acme/my-sums@1.0.0");
      return read.ok ? null : [read.error.code, read.error.message.includes("acme/my-sums@1.0.0")];
    };
    expect(failure(JSON.stringify({ format: MANIFEST_VERSION + 1 }))).toEqual(["stored_version_unknown", true]);
    for (const text of ["", "[]", "{", JSON.stringify({ format: MANIFEST_VERSION })]) expect(failure(text)).toEqual(["storage_damaged", true]);
  });
});
