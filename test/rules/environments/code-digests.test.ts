import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeVerdict, coversCode, envDigestOf } from "../../../src/config/env-digest.ts";
import type { EnvironmentOfRun } from "../../../src/config/plan/run-config.ts";
import type { BuiltCode } from "../../../src/environments/definition/built-code.ts";
import { FAMILIES } from "../../../src/environments/bundled/all.ts";
import { digestOfRun, environmentDigest, findEnvironment, findOffered, listEnvironments } from "../../../src/environments/definition/load.ts";
import { codeDigests } from "../../../tools/code-digests.ts";

const ROOT = `${resolve(import.meta.dirname, "../../..")}/`;

describe("the digests of the code that the build makes", { timeout: 60_000 }, () => {
  let copy = "";
  let before: BuiltCode;
  beforeAll(async () => {
    copy = `${mkdtempSync(join(tmpdir(), "edgewise-digests-"))}/`;
    for (const part of ["src", "durable-objects", "r2-layout"]) cpSync(ROOT + part, copy + part, { recursive: true });
    for (const part of ["node_modules", "package.json"]) symlinkSync(ROOT + part, copy + part);
    before = await codeDigests(copy);
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  /** Digests with these files edited, which are then put back. */
  async function edited(edits: Readonly<Record<string, (text: string) => string>>): Promise<BuiltCode> {
    const texts = Object.keys(edits).map((path) => [path, readFileSync(copy + path, "utf8")] as const);
    for (const [path, text] of texts) writeFileSync(copy + path, edits[path]?.(text) ?? text);
    try {
      return await codeDigests(copy);
    } finally {
      for (const [path, text] of texts) writeFileSync(copy + path, text);
    }
  }
  const changed = (after: BuiltCode): string[] => Object.keys(before.bundled).filter((id) => before.bundled[id] !== after.bundled[id]);
  const one = (text: string): string => text.replace(/return /, "if (Math.random() > 2) return 0 as never;\n  return ");

  it("are there for every bundled environment, and the same wherever the sources lie", async () => {
    expect(Object.keys(before.bundled).sort()).toEqual(
      [
        ...listEnvironments()
          .map(({ id }) => id)
          .filter((id) => !Object.values(FAMILIES).some((family) => family.some((member) => member.id === id))),
        ...Object.keys(FAMILIES),
      ].sort(),
    );
    expect(await codeDigests(ROOT)).toEqual(before);
  });

  it("change with an environment's own modules, and then only its own", async () => {
    const after = await edited({ "src/environments/bundled/gsm8k/gsm8k.ts": one });
    expect(changed(after)).toEqual(["gsm8k"]);
    expect(after.library).toBe(before.library);
  });

  it("change with what of the library's rooms an environment stands on", async () => {
    const after = await edited({ "src/rubrics/math/same-value.ts": one });
    expect(changed(after)).toContain("math500");
    expect(changed(after)).not.toContain("reverse-text");
    expect(after.library).not.toBe(before.library);
    expect(changed(await edited({ "src/environments/unit/run-unit.ts": one }))).toEqual(Object.keys(before.bundled));
  });

  it("do not change with comments, types, layout, the command line, the door or the engine", async () => {
    const comment = (text: string): string => `/* said anew */\n${text.replaceAll("\n", "\n\n")}\nexport type Unused = string;\n`;
    const after = await edited({
      "src/environments/bundled/wordle/wordle.ts": comment,
      "src/rubrics/rubric.ts": comment,
      "src/cli/main.ts": (text) => `${text}\nvoid 0;`,
      "src/api/app.ts": (text) => `${text}\nvoid 0;`,
      "src/executor/executor.ts": (text) => `${text}\nvoid 0;`,
      "durable-objects/run/grants/claims.ts": (text) => `${text}\nvoid 0;`,
    });
    expect(after).toEqual(before);
  });
});

describe("the digest of a run's environment", () => {
  const digestOf = (run: EnvironmentOfRun): Promise<string | null> => digestOfRun(findOffered(run.env_id), run);

  it("is of its arguments and options too, and of none that a service does not have", async () => {
    const run = { env_id: "arithmetic", env_args: {} };
    const plain = (await digestOf(run)) ?? "";
    expect(coversCode(plain)).toBe(true);
    expect(await digestOf({ ...run, extra_env_kwargs: {} })).toBe(plain);
    expect(await digestOf({ ...run, env_args: { difficulty: "hard" } })).not.toBe(plain);
    expect(await digestOf({ ...run, extra_env_kwargs: { max_turns: 2 } })).not.toBe(plain);
    expect(await digestOf({ ...run, env_id: "nowhere" })).toBeNull();
  });

  it("is another in every deployment where nobody said what its code is", async () => {
    const definition = findEnvironment("arithmetic");
    if (definition === null) throw new Error("not there");
    const own = { ...definition, id: "own" };
    expect(await environmentDigest(own, {}, {}, "first")).not.toBe(await environmentDigest(own, {}, {}, "second"));
    expect(await environmentDigest({ ...own, source: "commit 1" }, {})).not.toBe(await environmentDigest({ ...own, source: "commit 2" }, {}));
  });
});

describe("whether a run may go on with other code", () => {
  const [a, b, old] = [envDigestOf("a".repeat(64)), envDigestOf("b".repeat(64)), "0".repeat(64)];
  it.each([
    ["the same code", { pinned: a, offered: a, accepted: false, generates: true }, "same"],
    ["nothing pinned", { pinned: null, offered: a, accepted: false, generates: true }, "same"],
    ["nothing offered", { pinned: a, offered: null, accepted: false, generates: true }, "same"],
    ["other code", { pinned: a, offered: b, accepted: false, generates: true }, "refused"],
    ["other code that is accepted", { pinned: a, offered: b, accepted: true, generates: true }, "changed"],
    ["other code that only scores again", { pinned: a, offered: b, accepted: false, generates: false }, "changed"],
    ["a digest that says nothing of the code", { pinned: old, offered: b, accepted: false, generates: true }, "changed"],
  ] as const)("%s", (_, choice, verdict) => expect(codeVerdict(choice)).toBe(verdict));
});
