import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const modules = join(root, "node_modules");
const exec = promisify(execFile);

/** A project of somebody else: the packed package in its `node_modules`, with the dependencies it names and nothing more. */
let project: string;
let model: ModelServer;

interface Ended {
  readonly code: number;
  readonly output: string;
}
async function run(command: string, args: readonly string[]): Promise<Ended> {
  try {
    const { stdout, stderr } = await exec(command, [...args], { cwd: project, timeout: 120_000, env: { PATH: process.env.PATH ?? "", HOME: project } });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code = 1, stdout = "", stderr = "" } = error as { code?: number; stdout?: string; stderr?: string };
    return { code, output: stdout + stderr };
  }
}
const node = (...args: readonly string[]): Promise<Ended> => run(process.execPath, args);
const write = (name: string, text: string): void => writeFileSync(join(project, name), text);

/** What an example may take from the one before it. */
const TAKEN = {
  dataset: "{ question: string }[]",
  rubric: 'import("edgewise").Rubric',
  client: 'import("edgewise").LoaderContext["client"]',
};

/** Whole modules among the TypeScript of a page; what they take for granted is declared. */
function examplesOf(page: string): readonly string[] {
  const text = readFileSync(join(root, "docs", page), "utf8");
  const blocks = [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = ""]) => code).filter((code) => code.startsWith("import "));
  return blocks.map((code) => {
    const taken = Object.entries(TAKEN).filter(
      ([name]) => new RegExp(`[{ ]${name}[, (]`).test(code) && !new RegExp(`const ${name}\\b|load[:(].*\\b${name}\\b`).test(code),
    );
    return `${code}\n${taken.map(([name, type]) => `declare const ${name}: ${type};`).join("\n")}\nexport {};\n`;
  });
}

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "edgewise-package-"));
  model = await startModelServer();
  const { stdout } = await exec("npm", ["pack", "--json", "--pack-destination", project], { cwd: root, timeout: 120_000, maxBuffer: 16 * 1024 * 1024 });
  expect(stdout).toContain("edgewise-");
  const tarball = readdirSync(project).find((name) => name.endsWith(".tgz")) ?? "";
  mkdirSync(join(project, "node_modules", "@types"), { recursive: true });
  await exec("tar", ["-xzf", join(project, tarball), "-C", join(project, "node_modules")]);
  const home = join(project, "node_modules", "edgewise");
  await exec("mv", [join(project, "node_modules", "package"), home]);
  const { dependencies } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as { dependencies: Record<string, string> };
  for (const name of [...Object.keys(dependencies), "typescript", "@types/node"]) {
    mkdirSync(join(project, "node_modules", name, ".."), { recursive: true });
    symlinkSync(join(modules, name), join(project, "node_modules", name));
  }
  expect((await node("node_modules/edgewise/bin/edgewise.js", "env", "init", "my-sums")).code).toBe(0);
}, 180_000);
afterAll(async () => {
  rmSync(project, { recursive: true, force: true, maxRetries: 5 });
  await model.close();
});

describe("the packed package in a project of its own", () => {
  it("has every page that its README and its guides lead to", () => {
    const home = join(project, "node_modules", "edgewise");
    const pages = readdirSync(join(home, "docs"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
    expect(pages.length).toBeGreaterThan(20);
    const missing = ["README.md", ...pages.map((name) => join("docs", name))].flatMap((page) =>
      [...readFileSync(join(home, page), "utf8").matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)]
        .map(([, target = ""]) => join(page, "..", target))
        .filter((target) => !existsSync(join(home, target)))
        .map((target) => `${page}: ${target}`),
    );
    expect(missing).toEqual([]);
  });

  it("compiles the example of env init and every example of the guides with the settings that env init wrote, types of the package included", async () => {
    expect(JSON.parse(readFileSync(join(project, "package.json"), "utf8"))).toMatchObject({ type: "module" });
    const examples = ["own-environments.md", "porting-from-verifiers.md", "benchmarks.md"].flatMap(examplesOf);
    expect(examples.length).toBeGreaterThanOrEqual(8);
    for (const [index, code] of examples.entries())
      write(`environments/my_sums/example-${index}.ts`, code.replace('"./environments/my_sums/my_sums.ts"', '"./my_sums.ts"'));
    const { code, output } = await node("node_modules/typescript/bin/tsc", "-p", ".");
    expect(output).toBe("");
    expect(code).toBe(0);
  });

  it("runs the example's tests in Node, and the example in workerd", async () => {
    const tests = await node("node_modules/edgewise/bin/edgewise.js", "env", "test", "my-sums");
    expect(tests).toMatchObject({ code: 0, output: expect.stringContaining("pass 3") });
    expect(await node("--test", "environments/my_sums/my_sums.test.ts")).toMatchObject({ code: 0, output: expect.stringContaining("pass 3") });
    const { code, output } = await node(
      "node_modules/edgewise/bin/edgewise.js",
      "eval",
      "run",
      "my-sums",
      "-m",
      "scripted",
      "-b",
      model.url,
      "-n",
      "2",
      "-r",
      "1",
    );
    expect(output).toContain("rollouts: 2");
    expect(code).toBe(0);
  });

  it("evaluates in a script, without the engine", async () => {
    write(
      "script.mjs",
      `import { createClient, loadEnvironment } from "edgewise";
       const environment = await loadEnvironment("reverse-text");
       const client = createClient("openai_chat_completions", { base_url: ${JSON.stringify(model.url)}, api_key: "EMPTY", api_key_var: "NONE" });
       const { outputs, metadata } = await environment.evaluate(client, "scripted", { numExamples: 3, rolloutsPerExample: 2 });
       console.log(outputs.length, metadata.avg_reward);`,
    );
    expect(await node("script.mjs")).toEqual({ code: 0, output: "6 1\n" });
  });

  it("evaluates in a script by an engine of its own", async () => {
    write(
      "engine.mjs",
      `import { connectEngine } from "edgewise/evaluators";
       const engine = await connectEngine({ environments: ["./environments/my_sums"] });
       const options = { model: "scripted", api_base_url: ${JSON.stringify(model.url)}, num_examples: 2, rollouts_per_example: 1 };
       const { status, metrics } = await engine.runEvaluation({ environment: "./environments/my_sums", options });
       console.log(status, Object.keys(metrics).length > 0);
       await engine.close();`,
    );
    expect(await node("engine.mjs")).toEqual({ code: 0, output: "COMPLETED true\n" });
  });

  it("is deployed with the project's environments by one file", async () => {
    write(
      "worker.ts",
      `import { createWorker } from "edgewise/worker";
       import mySums from "./environments/my_sums/my_sums.ts";
       export { AlertBook, AnswerDesk, Budget, Directory, Dispatcher, EnvironmentOutbound, Evaluator, Limiter, Monitor, Registry, Run, Schedule } from "edgewise/worker";
       export default createWorker({ environments: [mySums] });`,
    );
    const settings = readFileSync(join(project, "node_modules", "edgewise", "wrangler.toml"), "utf8");
    write(
      "wrangler.toml",
      settings.replace('main = "src/worker.ts"', 'main = "worker.ts"').replace('directory = "dist/assets"', 'directory = "node_modules/edgewise/dist/assets"'),
    );
    const { code, output } = await node(join(modules, "wrangler", "bin", "wrangler.js"), "deploy", "--dry-run", "--outdir", "built");
    expect(output).toContain("env.RUN");
    expect(output).toContain("env.ASSETS");
    // Those of the dashboard, and not none.
    expect(readdirSync(join(project, "node_modules/edgewise/dist/assets/dashboard/assets")).length).toBeGreaterThan(3);
    expect(code).toBe(0);
    expect(readFileSync(join(project, "built", "worker.js"), "utf8")).toContain('id: "my-sums"');
  });
});
