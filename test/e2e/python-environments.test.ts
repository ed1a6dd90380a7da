import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CliProcess, keysOf, metadataOf, rowsOf, until, type Workplace } from "../support/cli/cli-process.ts";
import { freshPlaces } from "../support/cli/fresh-place.ts";
import { grid } from "../support/cli/in-place.ts";
import type { ModelServer } from "../support/model-server/model-server.ts";

/** A Python with verifiers 0.1.10 to 0.3. */
const PYTHON = process.env.EDGEWISE_TEST_PYTHON ?? "";
const VERSION = "from importlib.metadata import version; v = version('verifiers').split('.'); assert (int(v[0]), int(v[1])) < (0, 4); import datasets";
const isThere = PYTHON !== "" && spawnSync(PYTHON, ["-c", VERSION]).status === 0;
if (!isThere) console.log("skipped: EDGEWISE_TEST_PYTHON names no Python with verifiers 0.1.10 to 0.3 (environments in Python, run by the command)");

/** Says in `info` which variables its process has. */
const ECHOES = `
"""Wants its question back."""
import os
import verifiers as vf
from datasets import Dataset

def load_environment(count: int = 40):
    rows = [{"question": f"word {n}", "answer": f"word {n}", "info": {"variables": " ".join(sorted(os.environ))}} for n in range(count)]
    def same(completion, answer):
        return 1.0 if completion[-1]["content"] == answer else 0.0
    return vf.SingleTurnEnv(dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[same]))
`;
const PROJECT = `
[project]
name = "echoes"
version = "1.2.0"
dependencies = ["verifiers"]
[tool.verifiers.eval]
num_examples = 3
rollouts_per_example = 2
`;
/** Starts of Python, and what the machine has to do beside. */
const START_MS = 90_000;

describe.skipIf(!isThere)("an environment in Python", { timeout: 240_000 }, () => {
  let place: Workplace;
  let model: ModelServer;
  freshPlaces(
    (fresh) => {
      ({ place, model } = fresh);
      write("environments/echoes/echoes.py", ECHOES);
      write("environments/echoes/pyproject.toml", PROJECT);
    },
    { answer: "echo" },
  );
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(place.folder, path)), { recursive: true });
    writeFileSync(join(place.folder, path), text);
  };
  const args = (...more: readonly string[]): string[] => ["eval", "run", "echoes", "--python", PYTHON, "-m", "scripted", "-b", model.url, ...more];
  const results = (): string => place.resultsFolders("environments/echoes/outputs").at(-1) ?? expect.unreachable("there is no results folder");
  /** Numbers of the processes that serve environments of this place; what watches over each for its parent is not counted. */
  const serving = (): readonly number[] =>
    execFileSync("ps", ["-eo", "pid=,args="], { encoding: "utf8" })
      .split("\n")
      .filter((line) => line.includes(`edgewise_env ${place.folder}/`) && !line.includes("/bin/sh -c"))
      .map((line) => Number(line.trim().split(" ")[0]));
  const plays = async (cli: CliProcess): Promise<void> => await cli.says(/[1-9]\d*\/\d+ rollouts/, START_MS);
  /** The last line of a run that has something left says what to type. */
  const resumed = async (
    cli: { readonly stdout: () => string } | { readonly stdout: string },
  ): Promise<{ readonly code: number | string; readonly stdout: string; readonly stderr: string }> => {
    const said = typeof cli.stdout === "string" ? cli.stdout : cli.stdout();
    const line =
      said
        .trim()
        .split("\n")
        .findLast((each) => each.includes("npx edgewise ")) ?? expect.unreachable(said);
    const [, typed = ""] = /npx edgewise (.*)$/.exec(line) ?? [];
    return await place.run(
      typed.split(" ").map((word) => word.replaceAll("'", "")),
      { OPENAI_API_KEY: "sk-model" },
    );
  };

  it("is run by its id with what its project says, its rows are the library's, and its process has neither keys nor variables of the command", async () => {
    const env = { MODEL_KEY: "sk-model", EDGEWISE_NOTE: "n", HF_TOKEN: "hf", JUDGE_KEY: "j", OTHER_SECRET: "o", LANG: "C.UTF-8" };
    const { code, stdout, stderr } = await place.run(args("-k", "MODEL_KEY", "--env-var", "OPENAI_API_KEY=JUDGE_KEY"), env);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^warning: echoes is Python \(environments\/echoes\) and not walled in: .*; it has the variables OPENAI_API_KEY\n/),
    ]);
    expect(stdout).toMatch(/Results: environments\/echoes\/outputs\/evals\/echoes--scripted\/[0-9a-f]{8}/);
    expect(keysOf(results())).toEqual(grid(3, 2));
    expect(metadataOf(results())).toMatchObject({
      num_examples: 3,
      avg_reward: 1,
      rollouts_per_example: 2,
      edgewise: { env_version: "1.2.0", status: "COMPLETED" },
    });
    const [first] = readFileSync(join(results(), "results.jsonl"), "utf8").split("\n");
    expect(first, "as Python writes it").toMatch(/^\{"example_id": 0, "prompt": \[\{/);
    const { variables } = (JSON.parse(first ?? "") as { info: { variables: string } }).info;
    expect(variables.split(" ")).toEqual(expect.arrayContaining(["HOME", "LANG", "OPENAI_API_KEY", "PATH"]));
    expect(variables).not.toMatch(/EDGEWISE|MODEL_KEY|HF_TOKEN|JUDGE_KEY|OTHER_SECRET/);
    expect(serving()).toEqual([]);
    const tried = await place.run(["eval", "try", "environments/echoes/echoes.py", "--python", PYTHON, "-m", "scripted", "-b", model.url]);
    expect([tried.code, tried.stdout]).toEqual([0, expect.stringContaining("Example 0 of echoes with scripted")]);
  });

  it("goes on when its process is killed, in as many as -w says, and -R makes what was lost: each rollout once", async () => {
    model.setScript({ answer: "echo", latency_ms: 250 });
    const cli = place.start(args("-n", "40", "-r", "2", "-c", "8", "-w", "2"));
    await plays(cli);
    expect(serving()).toHaveLength(2);
    for (const pid of serving()) process.kill(pid, "SIGKILL");
    await cli.says(/the process of echoes \(\d of 2\) ended \(SIGKILL\) and is started again/);
    expect([0, 3]).toContain(await cli.ended);
    expect(keysOf(results())).toEqual(grid(40, 2));
    const codes = rowsOf(results()).flatMap(({ error }) => (error === null ? [] : [error.code]));
    expect(new Set(codes).size).toBeLessThanOrEqual(1);
    if (codes.length > 0) {
      expect(codes[0]).toBe("sandbox_error");
      expect(await resumed(cli)).toMatchObject({ code: 0, stderr: expect.stringContaining(`${codes.length} rollouts to do`) });
    }
    expect(keysOf(results())).toEqual(grid(40, 2));
    expect(rowsOf(results()).every(({ error, reward }) => error === null && reward === 1)).toBe(true);
    expect(serving()).toEqual([]);
  });

  it("ends with its command, killed or interrupted, and is started again by -R", async () => {
    model.setScript({ answer: "echo", latency_ms: 300 });
    const killed = place.start(args("-n", "40", "-r", "1", "-c", "4"));
    await plays(killed);
    expect(serving()).toHaveLength(1);
    killed.child.kill("SIGKILL");
    await until(() => serving().length === 0, 20_000);
    const folder = results();
    const interrupted = place.start(args("-R", folder));
    await interrupted.says("goes on", START_MS);
    await plays(interrupted);
    expect(serving()).toHaveLength(1);
    interrupted.interrupt();
    expect(await interrupted.ended).toBe(130);
    expect(serving()).toEqual([]);
    model.setScript({ answer: "echo" });
    expect(await resumed(interrupted)).toMatchObject({ code: 0 });
    expect(keysOf(folder)).toEqual(grid(40, 1));
    expect(rowsOf(folder).every(({ error }) => error === null)).toBe(true);
  });

  it("is shared by the evaluations of a config file, each with its own arguments", async () => {
    write(
      "evals.toml",
      `model = "scripted"
api_base_url = "${model.url}"
python = "${PYTHON}"
num_workers = 3
disable_env_server = true
[[eval]]
env_id = "echoes"
[[eval]]
env_id = "echoes"
env_args = { count = 2 }
num_examples = -1
[[eval]]
env_id = "arithmetic"
num_examples = 1
`,
    );
    const cli = place.start(["eval", "run", "evals.toml"]);
    const most: number[] = [];
    const look = setInterval(() => most.push(serving().length), 300);
    const code = await cli.ended;
    clearInterval(look);
    expect([code, cli.stderr()], cli.stdout()).toEqual([0, expect.stringMatching(/^warning: echoes is Python/)]);
    expect(Math.max(...most), "one process, with disable_env_server").toBe(1);
    const sizes = place.resultsFolders("environments/echoes/outputs").map((folder) => rowsOf(folder).length);
    expect(sizes.toSorted((a, b) => a - b)).toEqual([4, 6]);
  });

  it("that cannot be run is told before anything else happens: no library, a broken module, a name that is none", async () => {
    expect(spawnSync(PYTHON, ["-m", "venv", "--without-pip", join(place.folder, "bare")]).status).toBe(0);
    const bare = await place.run(["eval", "run", "echoes", "--python", "bare", "-m", "scripted", "-b", model.url]);
    expect([bare.code, bare.stderr]).toEqual([
      2,
      expect.stringMatching(
        /echoes is written for the library verifiers, which \S*bare\/bin\/python\S* has not\n.*pip install -e environments\/echoes 'verifiers<0\.4'/,
      ),
    ]);
    write("environments/broken/broken.py", "import no_such_thing\ndef load_environment(): ...\n");
    const broken = await place.run(["eval", "run", "broken", "--python", PYTHON, "-m", "scripted", "-b", model.url]);
    expect([broken.code, broken.stderr]).toEqual([1, expect.stringMatching(/broken: its process could not be started: .*no_such_thing/)]);
    const wrong = await place.run(["eval", "run", "ekkoes", "--python", PYTHON, "-m", "scripted", "-b", model.url]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('there is no environment "ekkoes"')]);
    const elsewhere = await place.run(["eval", "run", "./environments/echoes", "-m", "scripted", "-b", model.url], { EDGEWISE_URL: "https://service.example" });
    expect([elsewhere.code, elsewhere.stderr]).toEqual([
      2,
      expect.stringMatching(/EDGEWISE_URL names a service elsewhere.*npx edgewise env link echoes https/s),
    ]);
    expect(serving()).toEqual([]);
  });
});
