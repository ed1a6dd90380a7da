import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bundleEnvironment } from "../../../../src/cli/environments/bundle.ts";
import { describeModules } from "../../../../src/cli/environments/describe.ts";
import { knowSources, ownFrame, withSources } from "../../../../src/errors/own-frames.ts";
import { failureOfRollout } from "../../../../src/rollouts/failure.ts";

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "edgewise-frames-"));
  mkdirSync(join(project, "environments", "odd"), { recursive: true });
  mkdirSync(join(project, "node_modules", "helper"), { recursive: true });
  writeFileSync(join(project, "package.json"), "{}");
  writeFileSync(join(project, "node_modules", "helper", "package.json"), '{"main": "index.js", "type": "module"}');
});
afterEach(() => rmSync(project, { recursive: true, force: true }));

async function bundled(text: string, helper = "export {};") {
  const entry = join(project, "environments", "odd", "odd.ts");
  writeFileSync(entry, text);
  writeFileSync(join(project, "node_modules", "helper", "index.js"), helper);
  return await bundleEnvironment({ entry, folder: join(project, "environments", "odd") } as never);
}

/** What `run()` of the module throws, under the name of a script. */
async function thrownBy(script: string, text: string, helper?: string): Promise<unknown> {
  const { code, map } = await bundled(text, helper);
  knowSources(script, map);
  writeFileSync(join(project, script), code("./lib/"));
  const { run } = (await import(/* @vite-ignore */ pathToFileURL(join(project, script)).href)) as { run: () => unknown };
  try {
    await run();
  } catch (thrown) {
    return thrown;
  }
  throw new Error("nothing was thrown");
}

describe("the place of an error in an environment's own source", () => {
  it("is file, line and column from the project's folder, and stands in the failure of the rollout", async () => {
    const thrown = await thrownBy("frames-a.mjs", "interface A { x: 1 }\n\nexport function run(): A {\n  throw new RangeError('no 3s');\n}\n");
    expect(ownFrame(thrown)).toBe("environments/odd/odd.ts:4:9");
    expect(failureOfRollout(thrown)).toMatchObject({
      message: "no 3s (environments/odd/odd.ts:4:9)",
      chain: [{ message: "no 3s (environments/odd/odd.ts:4:9)" }, { name: "RangeError", message: "no 3s" }],
    });
  });

  it("is the first own frame: what a package threw is named by who called it, also through causes and after waiting", async () => {
    const text = `import { help } from "helper";
const deep = async () => {
  await null;
  help();
};
export const run = () => deep().catch((cause) => {
  throw new Error("outer", { cause });
});`;
    const thrown = await thrownBy("frames-b.mjs", text, "export const help = () => {\n  throw new TypeError('inner');\n};");
    expect(ownFrame(thrown)).toBe("environments/odd/odd.ts:4:3");
  });

  it("replaces addresses in what environment code prints, without a path of this machine", async () => {
    const { map } = await bundled("export function run() {\n  throw new Error('x');\n}\n");
    knowSources("frames-c.js", map);
    const text = "Error: x\n    at run (file:///home/me/place/frames-c.js:6:9)\n    at other (file:///home/me/lib.js:1:1)";
    expect(withSources(text)).toBe("Error: x\n    at run (environments/odd/odd.ts:2:9)\n    at other (file:///home/me/lib.js:1:1)");
  });

  it("is said of a module that cannot be loaded", async () => {
    await expect(describeModules([await bundled("const table: number[][] = [];\n\nexport default table[3]![4];\n")])).rejects.toThrow(
      /odd\.ts cannot be loaded: TypeError: .* \(environments\/odd\/odd\.ts:3:\d+\)$/,
    );
  });

  it("is the function's name where nobody knows the sources, and nothing that is made up", () => {
    const broken = Object.assign(new Error("boom"), { stack: "Error: boom\n    at Mine.envResponse (worker.js:10:3)\n    at worker.js:20:1" });
    expect(failureOfRollout(broken).message).toBe("boom (in Mine.envResponse)");
    const nameless = Object.assign(new Error("boom"), { stack: "Error: boom\n    at worker.js:10:3" });
    expect(failureOfRollout(nameless).message).toBe("boom");
    expect(failureOfRollout("a text").message).toBe("a text");
    broken.message = "x".repeat(5_000);
    expect(failureOfRollout(broken).message).toMatch(/x… \(in Mine\.envResponse\)$/);
  });
});

describe("what hostile code throws", () => {
  it("is a failure of bounded text, whatever its fields do", () => {
    const spiteful = new (class extends Error {
      override get message(): string {
        throw new Error("again");
      }
      override get stack(): string {
        throw new Error("again");
      }
      override get cause(): unknown {
        throw new Error("again");
      }
    })();
    expect(failureOfRollout(spiteful)).toMatchObject({ code: "environment_error", message: "(no message)" });
    expect(failureOfRollout(Object.create(null))).toMatchObject({ message: "(no message)" });
    const loud = Object.assign(new Error("x".repeat(100_000)), { stack: `at ${"a".repeat(1_000_000)}` });
    expect(failureOfRollout(loud).message.length).toBeLessThan(1_100);
  });
});
