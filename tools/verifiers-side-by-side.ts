/**
 * Python's `verifiers` and this library side by side: the same environments (tools/verifiers/side_by_side.py,
 * test/support/side-by-side/environments.ts) against one scripted server, rows and metadata compared key by key.
 *
 *   python3 -m venv venv && venv/bin/pip install verifiers==0.1.14
 *   node tools/verifiers-side-by-side.ts venv/bin/python [--record]
 *
 * Prints every difference that docs/verifiers-compatibility.md does not list; exit code 1 where there is one. `--record` keeps what the
 * Python library wrote in test/fixtures/side-by-side, against which `npm test` holds this library without Python.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { differencesOf } from "../test/support/side-by-side/differences.ts";
import { ENVIRONMENTS } from "../test/support/side-by-side/environments.ts";
import { listedAs } from "../test/support/side-by-side/listed.ts";
import { playedHere } from "../test/support/side-by-side/played.ts";
import { startScriptServer } from "../test/support/side-by-side/script-server.ts";

const SCRIPT = join(import.meta.dirname, "verifiers/side_by_side.py");
const FIXTURES = join(import.meta.dirname, "../test/fixtures/side-by-side");

const { values, positionals } = parseArgs({ allowPositionals: true, options: { record: { type: "boolean", default: false } } });
const python = positionals[0] ?? process.env.EDGEWISE_VERIFIERS_PYTHON;
if (python === undefined || !existsSync(python)) {
  console.log(`skipped: ${python ?? "no Python"} ${python === undefined ? "was named" : "is not there"} (an interpreter that has verifiers 0.1.14)`);
  process.exit(0);
}

const server = await startScriptServer();
const folder = mkdtempSync(join(tmpdir(), "edgewise-side-by-side-"));
try {
  const code = await new Promise<number | null>((done) => {
    const child = spawn(python, [SCRIPT, server.url, folder], { stdio: ["ignore", "ignore", "inherit"] });
    child.once("close", done);
  });
  if (code !== 0) throw new Error(`${SCRIPT} ended with ${code}`);
  let unlisted = 0;
  for (const name of Object.keys(ENVIRONMENTS)) {
    const [rows, metadata] = ["results.jsonl", "metadata.json"].map((file) => readFileSync(join(folder, name, file), "utf8"));
    const theirs = { rows: (rows ?? "").split("\n").slice(0, -1), metadata: metadata ?? "" };
    const found = differencesOf(theirs, await playedHere(name, server.url));
    const others = found.filter((difference) => listedAs(name, difference) === undefined);
    unlisted += others.length;
    console.log(`${others.length === 0 ? "ok     " : "DIFFERS"} ${name}: ${theirs.rows.length} rows, ${found.length - others.length} listed differences`);
    for (const { path, theirs: a, ours: b } of others) console.log(`  ${path}\n    theirs ${a}\n    ours   ${b}`);
    if (values.record) record(name, { "results.jsonl": rows ?? "", "metadata.json": metadata ?? "" });
  }
  process.exitCode = unlisted === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  await server.close();
}

/** The port is another one each time. */
function record(name: string, files: Readonly<Record<string, string>>): void {
  mkdirSync(join(FIXTURES, name), { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(FIXTURES, name, file), text.replaceAll(server.url, "http://127.0.0.1:1/v1"));
}
