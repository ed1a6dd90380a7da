import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runConfined } from "../../../../src/cli/environments/describer.ts";
import { type Outcome, runInProcess } from "../../../support/cli/cli-in-process.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-describing-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const SECRET = "sk-of-the-parent-0123456789";
const list = (): Promise<Outcome> => runInProcess(["env", "list", "--output", "json"], { cwd, env: { OPENAI_API_KEY: SECRET } });

function write(path: string, text: string): void {
  mkdirSync(dirname(join(cwd, path)), { recursive: true });
  writeFileSync(join(cwd, path), text);
}

/** An environment that merely lies there, with `body` as its module's code; what it puts into `found` is its description. */
function planted(name: string, body: string, imports = ""): void {
  write(
    `environments/${name}/index.ts`,
    `import { defineEnvironment, Rubric, SingleTurnEnv, z } from "edgewise";
${imports}
declare const process: any;
const found: string[] = [];
const attempt = async (what: string, work: () => unknown) => {
  try {
    found.push(what + ": " + String(await work()));
  } catch (thrown) {
    found.push(what + " failed");
  }
};
${body}
export default defineEnvironment({
  id: ${JSON.stringify(name)}, version: "1", description: found.join("; "), args: z.object({}),
  load: () => new SingleTurnEnv({ dataset: [{ question: "?" }], rubric: new Rubric([function none() { return 0; }]) }),
});
`,
  );
}

async function described(name: string): Promise<string> {
  const { code, out, err } = await list();
  expect(err).toBe("");
  expect(code).toBe(0);
  const environments = JSON.parse(out[0] ?? "") as readonly { id: string; description: string }[];
  return environments.find(({ id }) => id === name)?.description ?? "";
}

describe("an environment that is asked what it is", () => {
  it("is listed with the keys and the hosts that it declares", async () => {
    write(
      "environments/asks/index.ts",
      `import { defineEnvironment, Rubric, SingleTurnEnv, z } from "edgewise";
export default defineEnvironment({
  id: "asks", version: "1", description: "Asks.", args: z.object({}), keys: ["SEARCH_KEY"], hosts: ["api.example.com"],
  load: () => new SingleTurnEnv({ dataset: [{ question: "?" }], rubric: new Rubric([function none() { return 0; }]) }),
});
`,
    );
    const { code, out } = await runInProcess(["env", "list"], { cwd });
    expect([code, out.join("\n")]).toEqual([0, expect.stringContaining("  needs SEARCH_KEY\n  sends requests to api.example.com\n")]);
  });

  it("finds no variable, no module of Node, no process and no way out", async () => {
    let asked = 0;
    const server = createServer((_, answer) => {
      asked++;
      answer.end("here");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    planted(
      "curious",
      `const name = (text: string) => ["node", text].join(":");
await attempt("variables", () => JSON.stringify(process.env));
await attempt("files", async () => (await import(name("fs"))).readFileSync("/proc/self/environ", "utf8"));
await attempt("builtin", () => process.getBuiltinModule(name("fs")).readFileSync("/etc/passwd", "utf8"));
await attempt("binding", () => Object.keys(process.binding("fs")));
await attempt("command", async () => (await import(name("child_process"))).execSync("id"));
await attempt("kill", () => process.kill(process.ppid, 0));
await attempt("fetch", async () => (await fetch(${JSON.stringify(url)})).text());
await attempt("dispatcher", async () => {
  new Response("");
  const agent = (globalThis as any)[Symbol.for("undici.globalDispatcher.1")];
  return (await new agent.constructor().request({ origin: ${JSON.stringify(url)}, path: "/", method: "GET" })).statusCode;
});
await attempt("socket", () => new Promise((resolve) => new (console as any)._stdout.constructor().connect(${new URL(url).port}, "127.0.0.1", () => resolve("open"))));`,
    );
    const found = await described("curious");
    server.close();
    expect(found).toBe(
      "variables: {}; files failed; builtin failed; binding failed; command failed; kill failed; fetch failed; dispatcher failed; socket failed",
    );
    expect(asked).toBe(0);
  });

  it("gets from a package that lies beside it no module of Node that leads anywhere", async () => {
    write("environments/packed/node_modules/tool/package.json", '{"main": "index.js", "type": "module"}');
    write(
      "environments/packed/node_modules/tool/index.js",
      `import fs, { readFileSync } from "fs";
import { execSync } from "child_process";
import net from "net";
import { createRequire } from "module";
import { join } from "path";
export const works = [() => readFileSync("/etc/passwd"), () => fs.readdirSync("/"), () => execSync("id"), () => net.connect(1), () => createRequire("/x")("fs"), () => join("a", "b")];`,
    );
    planted("packed", `for (const [at, work] of works.entries()) await attempt(String(at), work);`, 'import { works } from "tool";');
    expect(await described("packed")).toBe("0 failed; 1 failed; 2 failed; 3 failed; 4 failed; 5: a/b");
  });

  it("speaks for itself alone: not for another one, and not as what it cannot be", async () => {
    planted("honest", 'found.push("as it is");');
    planted("liar", "JSON.stringify = () => '{\"facts\": []}'; Array.prototype.push = () => 0;");
    expect(await described("honest")).toBe("as it is");
    expect(await described("liar")).toBe("");
    write(
      "environments/forger/index.ts",
      `import { defineEnvironment, z } from "edgewise";
export default { ...defineEnvironment({ id: "x", version: "1", description: "", args: z.object({}), load: () => null as never }), id: "../../x", keys: ["EDGEWISE_TOKEN"] };`,
    );
    expect((await list()).err).toMatch(/forger\/index\.ts cannot be loaded: id is no id: .*; keys\.0 is no name of a key variable/);
  });

  it("finds what packages look for when they are loaded", async () => {
    const body = "const send = fetch.bind(globalThis); class Line extends WebSocket {} process.on('exit', () => {}); console.log('x');";
    planted("looking", `${body} found.push(String([typeof send, typeof Line, process.stdout.isTTY, process.env.COLUMNS, process.platform === "win32"]));`);
    expect(await described("looking")).toBe("function,function,,,false");
  });

  it("is refused an import of its own that is made later", async () => {
    planted("later", 'await attempt("later", () => import("edgewise"));');
    expect((await list()).err).toContain('write `import { … } from "edgewise"` at the top');
  });
});

describe("the process that it is asked in", () => {
  it("has of Node only what reads the library", async () => {
    const link = join(cwd, "link");
    symlinkSync("/etc/passwd", link);
    process.env.EDGEWISE_TEST_SECRET = SECRET;
    try {
      const { stdout, stderr } = await runConfined(`
const tries = {
  parent: async () => (await import("node:fs")).readFileSync("/proc/" + process.ppid + "/environ"),
  self: async () => (await import("node:fs")).readFileSync("/proc/self/environ"),
  link: async () => (await import("node:fs")).readFileSync(${JSON.stringify(link)}),
  above: async () => (await import("node:fs")).readFileSync(process.cwd() + "/../../package.json"),
  write: async () => (await import("node:fs")).writeFileSync(${JSON.stringify(join(cwd, "written"))}, ""),
  child: async () => (await import("node:child_process")).execSync("id"),
  thread: async () => new (await import("node:worker_threads")).Worker("1", { eval: true }),
  addon: () => process.dlopen({ exports: {} }, "/nothing.node"),
  binding: () => process.binding("fs"),
  wasi: async () => new (await import("node:wasi")).WASI({ version: "preview1", preopens: { "/": "/" } }),
  inspector: async () => (await import("node:inspector")).open(0),
  database: async () => new (await import("node:sqlite")).DatabaseSync(${JSON.stringify(join(cwd, "database"))}),
};
const done = [];
for (const [name, work] of Object.entries(tries)) try { await work(); done.push(name); } catch {}
console.log(JSON.stringify({ done, variables: Object.values(process.env) }));`);
      expect(stderr).toBe("");
      const { done, variables } = JSON.parse(stdout) as { done: readonly string[]; variables: readonly string[] };
      expect(done).toEqual([]);
      expect(variables).not.toContain(SECRET);
      expect(readdirSync(cwd)).toEqual(["link"]);
    } finally {
      delete process.env.EDGEWISE_TEST_SECRET;
    }
  });
});
