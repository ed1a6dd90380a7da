import { join } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { beforeAll, describe, expect, it } from "vitest";
import { addHandler, handlersOf, runHandlers } from "../../../src/rollouts/state/handlers.ts";
import type { State } from "../../../src/rollouts/types.ts";

const FIXTURE = join(import.meta.dirname, "../../support/fixtures/decorated-environment.ts");

/** verifiers' order: conditions before every turn, cleanup before the completion is rendered. */
const EXPECTED = {
  stop_condition: "enough",
  environment: ["alpha", "enough", "zeta", "alpha", "enough", "cleanup first unrendered", "cleanup last", "teardown flush", "teardown close"],
  rubric: ["rubric cleanup, reward 0", "rubric teardown"],
};

describe("handlers by decorator, compiled by a bundler", () => {
  let code = "";
  beforeAll(async () => {
    const stdin = { contents: `export { events } from ${JSON.stringify(FIXTURE)};`, resolveDir: import.meta.dirname, loader: "ts" } as const;
    const { outputFiles } = await build({
      stdin,
      bundle: true,
      write: false,
      format: "esm",
      target: "es2024",
      platform: "neutral",
      external: ["node:*"],
      mainFields: ["module", "main"],
      conditions: ["worker", "browser", "import"],
      logLevel: "silent",
    });
    code = outputFiles[0]?.text ?? "";
  });

  it("run in their order in Node: by priority, then by name, overridden methods included", async () => {
    const bundled = (await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`)) as { events(): Promise<unknown> };
    expect(await bundled.events()).toEqual(EXPECTED);
  });

  it("and in workerd", async () => {
    const script = `${code}\nexport default { fetch: async () => Response.json(await events()) };`;
    const runtime = new Miniflare(convertV4MiniflareOptions({ modules: true, script, compatibilityDate: "2026-11-01" }));
    try {
      const response = await runtime.dispatchFetch("http://edgewise/");
      expect(await response.json()).toEqual(EXPECTED);
    } finally {
      await runtime.dispose();
    }
  });
});

describe("handlers by registration", () => {
  const nothing = (): boolean => false;
  const names = (owner: object): string[] => handlersOf(owner, "stop").map(({ name }) => name);

  it("run by priority, equal ones by name, below zero last", () => {
    const owner = {};
    for (const [name, priority] of [
      ["b", 0],
      ["low", -5],
      ["a", 0],
      ["high", 10],
      ["c", undefined],
    ] as const)
      addHandler(owner, "stop", name, nothing, priority === undefined ? {} : { priority });
    expect(names(owner)).toEqual(["high", "a", "b", "c", "low"]);
  });

  it("of the same name are replaced, and belong to one object alone", () => {
    const [one, other] = [{}, {}];
    addHandler(one, "stop", "a", nothing, { priority: 1 });
    addHandler(one, "stop", "a", nothing, { priority: 2 });
    expect(handlersOf(one, "stop")).toMatchObject([{ name: "a", priority: 2 }]);
    expect(names(other)).toEqual([]);
  });

  it("are refused with a priority that is no integer", () => {
    expect(() => addHandler({}, "stop", "a", nothing, { priority: 0.5 })).toThrow(/priority of a .* 0.5/);
  });

  it("all run, though one fails; its error is thrown at the end", async () => {
    const owner = {};
    const ran: string[] = [];
    addHandler(owner, "cleanup", "a", () => {
      ran.push("a");
      throw new Error("a failed");
    });
    addHandler(owner, "cleanup", "b", async () => void ran.push("b"));
    await expect(runHandlers(owner, "cleanup", {} as State)).rejects.toThrow("a failed");
    expect(ran).toEqual(["a", "b"]);
  });
});
