import { spawn } from "node:child_process";
import { cpSync, globSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Workplace } from "../../support/cli/cli-process.ts";
import { type RequestBoundServer, startRequestBoundServer } from "../../support/model-server/request-bound-server.ts";
import { verifiersPython } from "../../support/python/verifiers-python.ts";

const found = verifiersPython("the same rows from vf-eval and from eval run");
const FOLDERS = fileURLToPath(new URL("../../fixtures/python-environments", import.meta.url));
const SIZE = ["-n", "4", "-r", "3", "-s"];

/** What each shows, and what it is given besides. */
const ENVIRONMENTS: readonly { readonly id: string; readonly what: string; readonly args?: (url: string) => object }[] = [
  { id: "capitals", what: "a single turn with a parser" },
  { id: "guessing", what: "several turns, a stop condition, a cleanup and an error of the library" },
  { id: "calculating", what: "tools, one of which fails" },
  { id: "shopping", what: "tools with a state of their own" },
  { id: "medley", what: "a group of environments" },
  { id: "ranking", what: "rewards of a whole group" },
  { id: "judged", what: "a judge with a key of its own", args: (url) => ({ judge_url: url }) },
  { id: "council", what: "six calls of the model at once" },
];

type Row = Readonly<Record<string, unknown>>;

describe.skipIf(found === null)("an environment of the Python library, not written for us", () => {
  let place: Workplace;
  let model: RequestBoundServer;
  beforeAll(async () => {
    place = new Workplace();
    model = await startRequestBoundServer();
    cpSync(FOLDERS, join(place.folder, "environments"), { recursive: true });
  });
  afterAll(async () => {
    place.remove();
    await model.close();
  });

  it.each(ENVIRONMENTS)("has the rows of vf-eval, key by key: $what ($id)", async ({ id, args }) => {
    const { python, vfEval } = found as NonNullable<typeof found>;
    const given = args === undefined ? [] : ["-a", JSON.stringify(args(model.url))];
    const asked = ["-m", "mock", "-b", model.url, "-k", "KEY", ...SIZE, "--disable-tui", ...given];
    const keys = { KEY: "model-key", JUDGE_API_KEY: "judge-key" };
    const folder = join(place.folder, "environments", id);

    const theirs = await ended(vfEval, [id, "--env-dir-path", join(place.folder, "environments"), ...asked], {
      cwd: folder,
      env: { ...process.env, ...keys, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" },
    });
    const expected = rowsIn(folder, theirs);
    rmSync(join(folder, "outputs"), { recursive: true });

    const { code, stdout, stderr } = await place.run(["eval", "run", id, "--python", python, "--env-var", "JUDGE_API_KEY", ...asked], keys);
    expect(code, stdout + stderr).toBe(0);
    expect(rowsIn(folder, stdout + stderr).map(shown)).toEqual(expected.map(shown));
  });
});

/** The row as text, so that the order of its keys counts: without times, and without what only we have. */
function shown(row: Row): string {
  const { timing, rollout_index: _, scored_anew: __, error, ...rest } = row;
  const { code: ___, ...plain } = (error ?? {}) as Record<string, unknown>;
  return JSON.stringify({ ...rest, error: error === null ? null : plain, timed: Object.keys(timing as object) });
}

/** Rows of the one results folder, in an order that is the same for both: which attempt was which nobody says in Python's. */
function rowsIn(folder: string, output: string): readonly Row[] {
  const files = globSync("outputs/**/results.jsonl", { cwd: folder });
  expect(files, output).toHaveLength(1);
  const rows = readFileSync(join(folder, files[0] ?? ""), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
  return rows.sort((a, b) => Number(a.example_id) - Number(b.example_id) || (shown(a) < shown(b) ? -1 : 1));
}

function ended(command: string, args: readonly string[], options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.once("error", reject);
    child.once("close", () => resolve(output));
  });
}
