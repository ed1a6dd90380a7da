import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Command } from "commander";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { servedEnvironments } from "../../../../src/cli/environments/local-environments.ts";
import { evalWishes } from "../../../../src/cli/eval-run/wish/eval-wishes.ts";
import { WishProblems } from "../../../../src/cli/eval-run/wish/wish-problems.ts";
import { addFlags, type GivenOptions, givenOptions } from "../../../../src/cli/command-line/flags.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-wishes-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(cwd, path)), { recursive: true });
  writeFileSync(join(cwd, path), text);
};
const wishes = (named: string, given: GivenOptions = {}) => evalWishes(named, given, { cwd, env: {} });
const refusal = async (work: Promise<unknown>): Promise<{ readonly message: string; readonly exitCode: number; readonly hints: readonly string[] }> => {
  try {
    await work;
  } catch (error) {
    return error as { message: string; exitCode: number; hints: string[] };
  }
  throw new Error("was accepted");
};

const ENTRY = (url: string): string => `[[endpoint]]\nendpoint_id = "e"\nmodel = "m"\nurl = "${url}"\nkey = "E_API_KEY"\n`;

describe("environments with commas between them", () => {
  it("are one evaluation each, with the same settings", async () => {
    const { evals, maxConcurrentTotal } = await wishes("gsm8k, edgewise/reverse-text@1.0", { model: "x", max_concurrent_total: 4 });
    expect(evals).toEqual([
      { named: "gsm8k", reference: "gsm8k", envId: "gsm8k", label: "gsm8k", place: null, given: { model: "x" }, replicas: [] },
      {
        named: "edgewise/reverse-text@1.0",
        reference: "edgewise/reverse-text@1.0",
        envId: "reverse-text",
        label: "reverse-text",
        place: null,
        given: { model: "x" },
        replicas: [],
      },
    ]);
    expect(maxConcurrentTotal).toBe(4);
  });

  it("must all be named", async () => {
    expect(await refusal(wishes("gsm8k,"))).toMatchObject({ exitCode: 2, message: expect.stringContaining("without a name") });
  });
});

describe("an environment in Python that is called like a bundled one", () => {
  it("is asked about its arguments itself, and reads what it calls a data set", () => {
    const problems = new WishProblems("x");
    const wish = { named: "gsm8k", reference: "gsm8k", envId: "gsm8k", label: "gsm8k", place: null, replicas: [] };
    const given = { env_args: { turns: 2, dataset: "./not-there.jsonl" } };
    const known = [{ id: "gsm8k", args: [] }] as never;
    problems.look({ ...wish, given, isPython: true }, known, cwd);
    expect(() => problems.refuse()).not.toThrow();
    problems.look({ ...wish, given }, known, cwd);
    expect(() => problems.refuse()).toThrow("x has 2 problems");
  });
});

describe("a link that is called like a bundled environment", () => {
  const asking = (linked: readonly string[], asked: string[] = []) => ({
    ...{ cwd, env: {} },
    linkedNames: async () => {
      asked.push("links");
      return linked;
    },
  });
  beforeEach(() => write("all.toml", '[[eval]]\nenv_id = "gsm8k"\n[eval.env_args]\nof_the_link = 2\n'));

  it("is asked about its arguments itself", async () => {
    expect((await evalWishes("all.toml", {}, asking(["gsm8k"]))).evals).toMatchObject([{ envId: "gsm8k", isLinked: true }]);
    expect(await refusal(evalWishes("all.toml", {}, asking(["other"])))).toMatchObject({ message: expect.stringContaining("no such argument") });
  });

  it("is not meant where the bundled one is named with its owner", async () => {
    write("all.toml", '[[eval]]\nenv_id = "edgewise/gsm8k"\n[eval.env_args]\nof_the_link = 2\n');
    expect(await refusal(evalWishes("all.toml", {}, asking(["gsm8k"])))).toMatchObject({ message: expect.stringContaining("no such argument") });
  });

  it("is not asked for where the arguments fit", async () => {
    const asked: string[] = [];
    write("all.toml", '[[eval]]\nenv_id = "gsm8k"\n');
    await evalWishes("all.toml", {}, asking(["gsm8k"], asked));
    expect(asked).toEqual([]);
  });
});

describe("a benchmark folder in the place of an environment", () => {
  const task = JSON.stringify({ task_id: "a", instruction: "?", verifier: { kind: "in_process", function: "contains", expected: "!" } });

  it("is played by the environment benchmark, and called by its own name", async () => {
    write("capitals/tasks.jsonl", task);
    write("more/capitals/tasks.jsonl", task);
    const [one] = (await wishes("./capitals", { model: "x" })).evals;
    expect(one).toMatchObject({ named: "./capitals", envId: "benchmark", benchmark: "capitals", label: "capitals" });
    expect(one?.given).toEqual({ model: "x", env_args: { path: "./capitals" }, eval_name: "capitals" });
    const two = (await wishes("./capitals,./more/capitals,gsm8k", {})).evals;
    expect(two.map(({ label }) => label)).toEqual(["capitals path=./capitals", "capitals path=./more/capitals", "gsm8k"]);
    write("more/capitals/metadata.yaml", "name: [");
    expect(await refusal(wishes("./more/capitals"))).toMatchObject({ exitCode: 2, message: expect.stringContaining("metadata.yaml is no YAML") });
    write("more/capitals/metadata.yaml", "name: Capitals of Europe");
    expect((await wishes("./more/capitals")).evals[0]).toMatchObject({ label: "Capitals of Europe", given: { eval_name: "Capitals of Europe" } });
    // Its tasks are uploaded: a service elsewhere can play them.
    const elsewhere = await evalWishes("./capitals", {}, { cwd, env: { EDGEWISE_URL: "https://example.com" } });
    expect(elsewhere.evals[0]?.reference).toBe("benchmark");
    expect(await refusal(wishes("./capitals", { env_args: { path: "./more/capitals" } }))).toMatchObject({
      message: expect.stringContaining("names other tasks"),
    });
  });

  it("may be named by what it is called in the folder of benchmarks; who names none is told of them", async () => {
    write("benchmarks/capitals/tasks.jsonl", task);
    write("benchmarks/capitals/metadata.yaml", "id: caps");
    write("benchmarks/gsm8k/tasks.jsonl", task);
    write("suite/words/tasks.jsonl", task);
    expect((await wishes("caps")).evals[0]).toMatchObject({
      named: "caps",
      envId: "benchmark",
      label: "capitals",
      given: { env_args: { path: "benchmarks/capitals" } },
    });
    expect((await wishes("words", { benchmarks_path: "./suite" })).evals[0]).toMatchObject({ given: { env_args: { path: "suite/words" } } });
    expect((await wishes("gsm8k")).evals[0]?.envId).toBe("gsm8k");
    write("evals.toml", 'model = "m"\n[[eval]]\nenv_id = "capital"\n');
    const { hints } = await refusal(wishes("evals.toml"));
    expect(hints).toContainEqual("Benchmarks in ./benchmarks: capitals, gsm8k. Did you mean capitals?");
  });

  it("is an environment where it has the module of one", async () => {
    write("both/tasks.jsonl", task);
    write(
      "both/index.ts",
      `import { defineEnvironment, z } from "edgewise";
export default defineEnvironment({ id: "both", version: "1", description: "", args: z.object({}), load: () => { throw new Error("no"); } });`,
    );
    expect((await wishes("./both")).evals[0]).toMatchObject({ envId: "both", given: {} });
    expect(await refusal(wishes("./neither"))).toMatchObject({ exitCode: 2, message: expect.stringContaining("there is no environment at") });
  });
});

describe("a folder that is called like a bundled environment", () => {
  const SUMS = `import { defineEnvironment, z } from "edgewise";
export default defineEnvironment({ id: "arithmetic", version: "9", description: "", args: z.object({}), load: () => { throw new Error("no"); } });`;

  it("is what its name means, which is said first, also with --strict", async () => {
    write("environments/arithmetic/index.ts", SUMS);
    const found = await wishes("arithmetic,gsm8k", { strict: true });
    expect(found.warnings).toEqual(["arithmetic is environments/arithmetic/index.ts here, and not the bundled environment of that name"]);
    expect(found.environments.find(({ id }) => id === "arithmetic")?.version).toBe("9");
    expect(found.bundled).toEqual(["gsm8k"]);
    expect((await wishes("gsm8k")).warnings).toEqual([]);
  });

  it("is not also the bundled one", async () => {
    write("environments/arithmetic/index.ts", SUMS);
    expect(await refusal(wishes("arithmetic,edgewise/arithmetic"))).toMatchObject({ exitCode: 2, message: expect.stringContaining("asked for twice") });
  });

  it("takes its place in a service only under that name, or when it is named by its path", async () => {
    write("environments/other/index.ts", SUMS);
    expect(await refusal(servedEnvironments([], cwd))).toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/other\/index\.ts says that its id is arithmetic, which is that of a bundled environment/),
    });
    expect((await servedEnvironments(["./environments/other"], cwd)).environments.find(({ id }) => id === "arithmetic")?.version).toBe("9");
    rmSync(join(cwd, "environments/other"), { recursive: true });
    write("environments/arithmetic/index.ts", SUMS);
    expect((await servedEnvironments([], cwd)).environments.find(({ id }) => id === "arithmetic")?.version).toBe("9");
  });
});

describe("a config file", () => {
  it("takes what belongs to the terminal from the command line, and names all other flags in the first warning", async () => {
    write("c.toml", '[[eval]]\nenv_id = "gsm8k"\nnum_examples = 3');
    const { evals, warnings } = await wishes("c.toml", { num_examples: 9, model: "x", verbose: true, disable_tui: true, no_save: true });
    expect(evals[0]?.given).toEqual({ num_examples: 3, verbose: true, disable_tui: true, no_save: true });
    expect(warnings).toEqual(["-m/--model, -n/--num-examples have no effect beside a config file: set model, num_examples in c.toml"]);
  });

  it("names a registry beside itself", async () => {
    write("configs/endpoints.toml", ENTRY("https://here.example/v1"));
    write("configs/eval/c.toml", 'endpoints_path = "../endpoints.toml"\n[[eval]]\nenv_id = "gsm8k"\nendpoint_id = "e"');
    const { evals, warnings } = await wishes("configs/eval/c.toml");
    expect(evals[0]?.given).toEqual({ model: "m", api_base_url: "https://here.example/v1", api_key_var: "E_API_KEY" });
    expect(warnings).toEqual([]);
  });

  it("leaves an endpoint that no registry on disk has to the service", async () => {
    write("c.toml", '[[eval]]\nenv_id = "gsm8k"\n[[eval]]\nenv_id = "gsm8k"\nendpoint_id = "x"');
    const { evals } = await wishes("c.toml");
    expect(evals.map(({ given, replicas }) => [given.endpoint_id, given.model, replicas])).toEqual([
      [undefined, undefined, []],
      ["x", undefined, []],
    ]);
  });

  it("goes on with one run per folder", async () => {
    write("c.toml", 'resume = "out/x"\n[[eval]]\nenv_id = "gsm8k"\n[[eval]]\nenv_id = "arithmetic"');
    expect((await refusal(wishes("c.toml"))).message).toContain("out/x is the folder of one run");
  });

  it("must be there, and ask for something", async () => {
    expect((await refusal(wishes("none.toml"))).message).toBe(`the config file ${join(cwd, "none.toml")} does not exist`);
    mkdirSync(join(cwd, "folder.toml"));
    expect((await refusal(wishes("folder.toml"))).message).toContain("is not a file");
    write("c.toml", '[[ablation]]\nenv_id = "a"\nsweep = { temperature = [] }');
    expect((await refusal(wishes("c.toml"))).message).toContain("asks for no evaluation");
  });

  it("is refused with --strict for everything that would have no effect", async () => {
    write("c.toml", 'disable_env_server = true\n[[eval]]\nenv_id = "gsm8k"');
    const { message, exitCode, hints } = await refusal(wishes("c.toml", { strict: true, num_examples: 9 }));
    expect([exitCode, message, hints]).toEqual([
      2,
      "c.toml has 2 problems",
      [
        "-n/--num-examples has no effect beside a config file: set num_examples in c.toml",
        expect.stringContaining("c.toml: disable_env_server has no effect: "),
      ],
    ]);
    const { warnings } = await wishes("c.toml", { num_examples: 9 });
    expect(warnings[0], "the flags come first").toContain("-n/--num-examples");
    write("c.toml", '[[eval]]\nenv_id = "gsm8k"');
    expect((await wishes("c.toml", { strict: true })).evals).toHaveLength(1);
    const hosted = { hosted: true, strict: true, num_examples: 9 };
    expect((await evalWishes("c.toml", hosted, { cwd, env: { EDGEWISE_URL: "https://service.example" } })).evals[0]?.given.num_examples).toBe(9);
  });

  it("tells everything that is wrong at once, with file, table and key, and what was meant", async () => {
    write(
      "c.toml",
      `temprature = 1
      [[eval]]
      env_id = "gsm8k"
      env_args = { dataset = "rows.jsonl", max_token = 1 }
      [[eval]]
      env_id = "arithmetik"
      rollouts_per_example = 0
      [[eval]]
      env_id = "arithmetic"
      rollouts_per_exmple = 2
      env_args = { dificulty = "easy" }
      [[eval]]
      env_id = "arithmetic"
      env_args = { difficulty = "impossible" }
      [[eval]]
      env_id = "./none.ts"
      [[eval]]
      env_id = "gsm8k"
      endpoint_id = "x"
      [[ablation]]
      env_id = "gsm8k"
      [ablation.sweep]
      top_p = [1]
      [ablation.sweep.env_args]
      dataset = ["one.jsonl", "two.jsonl"]`,
    );
    const { message, hints } = await refusal(wishes("c.toml"));
    expect(message).toBe("c.toml has 12 problems");
    expect(hints).toEqual([
      "c.toml: global settings: Invalid global field: temprature (did you mean temperature?)",
      "c.toml: [[eval]] #3: Invalid field: rollouts_per_exmple (did you mean rollouts_per_example?)",
      "c.toml: [[ablation]] #1: Invalid sweep field: top_p",
      "c.toml: [[eval]] #2: rollouts_per_example: must be at least 1",
      `c.toml: [[eval]] #5: there is no environment at ${join(cwd, "none.ts")}`,
      expect.stringMatching(/^c\.toml: \[\[eval\]\] #1: env_args\.max_token: gsm8k has no such argument.*; it takes .*dataset/),
      `c.toml: [[eval]] #1: env_args.dataset: the data set ${join(cwd, "rows.jsonl")} does not exist`,
      'c.toml: [[eval]] #2: there is no environment "arithmetik" (did you mean arithmetic?)',
      expect.stringMatching(
        /^c\.toml: \[\[eval\]\] #3: env_args\.dificulty: arithmetic has no such argument \(did you mean difficulty\?\); it takes difficulty, /,
      ),
      expect.stringMatching(/^c\.toml: \[\[eval\]\] #4: env_args\.difficulty: invalid /),
      `c.toml: [[ablation]] #1: env_args.dataset: the data set ${join(cwd, "one.jsonl")} does not exist`,
      `c.toml: [[ablation]] #1: env_args.dataset: the data set ${join(cwd, "two.jsonl")} does not exist`,
    ]);
  });

  it("names the runs of a sweep by what varies, where they have no name", async () => {
    write("c.toml", '[[ablation]]\nenv_id = "gsm8k"\nsweep = { temperature = [0, 1] }\n[[eval]]\nenv_id = "arithmetic"');
    const names = async (): Promise<unknown> => (await wishes("c.toml")).evals.map(({ given }) => given.eval_name);
    expect(await names()).toEqual([undefined, "gsm8k temperature=0", "gsm8k temperature=1"]);
    write("c.toml", 'eval_name = "nightly"\n[[ablation]]\nenv_id = "gsm8k"\nsweep = { temperature = [0, 1] }');
    expect(await names()).toEqual(["nightly", "nightly"]);
  });

  it("of which one thing is wrong says just that", async () => {
    write("c.toml", '[[eval]]\nenv_id = "arithmetik"');
    expect(await refusal(wishes("c.toml"))).toMatchObject({
      exitCode: 2,
      message: 'c.toml: [[eval]] #1: there is no environment "arithmetik" (did you mean arithmetic?)',
      hints: [expect.stringContaining("Available: ")],
    });
  });

  it("limits rollouts by an option of the environment, which wins when it is given", async () => {
    write("c.toml", '[[eval]]\nenv_id = "gsm8k"\ntimeout = 30\n[[eval]]\nenv_id = "arithmetic"\ntimeout = 30\nextra_env_kwargs = { timeout_seconds = 5 }');
    const { evals } = await wishes("c.toml");
    expect(evals.map(({ given }) => given)).toEqual([{ extra_env_kwargs: { timeout_seconds: 30 } }, { extra_env_kwargs: { timeout_seconds: 5 } }]);
  });
});

describe("the registry", () => {
  it("is looked for below the current folder, and missing there is no news", async () => {
    expect(await wishes("gsm8k", { model: "e" })).toMatchObject({ warnings: [], evals: [{ given: { model: "e" } }] });
    write("configs/endpoints.toml", ENTRY("https://one.example/v1") + ENTRY("https://two.example/v1"));
    const { evals } = await wishes("gsm8k", { model: "e" });
    expect(evals[0]).toMatchObject({
      given: { model: "m" },
      replicas: [{ api_base_url: "https://one.example/v1" }, { api_base_url: "https://two.example/v1" }],
    });
  });

  it("may be named by its folder, where the TOML file comes first", async () => {
    write("own/endpoints.toml", ENTRY("https://one.example/v1"));
    write("own/endpoints.py", "ENDPOINTS = {}");
    expect((await wishes("gsm8k", { model: "e", endpoints_path: "own" })).evals[0]?.given.model).toBe("m");
  });

  it("may have keys that nothing reads, which are named with what was meant", async () => {
    write("configs/endpoints.toml", `${ENTRY("https://one.example/v1")}heders = { X = "y" }\n`);
    expect((await wishes("gsm8k", { model: "e" })).warnings).toEqual([
      expect.stringMatching(/endpoints\.toml: \[\[endpoint\]\] #1 \(e\): heders has no effect: there is no such key \(did you mean headers\?\)$/),
    ]);
    write("configs/endpoints.toml", '[[endpoint]]\nendpoint_id = "e"\nmodel = "m"\nurll = "https://one.example/v1"\nkey = "K"');
    expect((await wishes("gsm8k", { model: "e" })).warnings[0]).toContain("url is missing; it has urll (did you mean url?)");
  });

  it("that is named and missing, is wrong, or is none of TOML, is a warning, and names are taken as they are", async () => {
    write("bad.toml", '[[endpoint]]\nendpoint_id = "e"');
    write("broken.toml", "[[endpoint");
    write("py/endpoints.py", "ENDPOINTS = {}");
    for (const [path, warning] of [
      ["none.toml", "none.toml does not exist"],
      ["bad.toml", "model and url and key are missing"],
      ["broken.toml", "broken.toml:1:"],
      ["py", "registries are read from TOML files only"],
    ] as const) {
      const { evals, warnings } = await wishes("gsm8k", { model: "e", endpoints_path: path });
      expect(evals[0]?.given, path).toEqual({ model: "e" });
      expect(warnings, path).toEqual([expect.stringContaining(warning)]);
    }
    const { message } = await refusal(wishes("gsm8k", { endpoint_id: "e", endpoints_path: "py" }));
    expect(message).toContain("endpoint_id is looked up in a TOML registry");
  });
});

describe("flags", () => {
  const typed = (...args: readonly string[]): GivenOptions => {
    const command = new Command().exitOverride().allowUnknownOption(false);
    addFlags(command);
    command.parse(args, { from: "user" });
    return givenOptions(command, (path) => path === "envs");
  };

  it("-p is a provider or a folder of environments", () => {
    expect(typed("-p", "openai")).toEqual({ provider: "openai" });
    expect(typed("-p", "envs")).toEqual({ env_dir_path: "envs" });
    expect(typed("-p", "./not-there-yet")).toEqual({ env_dir_path: "./not-there-yet" });
    expect(() => typed("-p", "opnai")).toThrow('-p: "opnai" is no provider and no folder');
    expect(typed("-p", "openai", "--provider", "anthropic")).toEqual({ provider: "anthropic" });
  });

  it("of a push to the Hub name a data set that may be called so, and a run that is saved", async () => {
    expect(typed("-H", "-D", "me/x", "--hf-hub-public")).toEqual({ save_to_hf_hub: true, hf_hub_dataset_name: "me/x", hf_hub_public: true });
    expect(() => typed("-D", "me/x/y")).toThrow("-D/--hf-hub-dataset-name: ");
    expect((await refusal(wishes("gsm8k", { hf_hub_dataset_name: "me/x" }))).message).toBe(
      "-D/--hf-hub-dataset-name has no effect without -H/--save-to-hf-hub",
    );
    expect((await refusal(wishes("gsm8k", { save_to_hf_hub: true, no_save: true }))).message).toContain("pushes the results folder, and none is to be saved");
  });

  it("of environments in Python are named where there is none", async () => {
    const given = typed("--disable-env-server", "--env-var", "A,B=C", "--env-var", "D", "--python", "py");
    expect(given).toEqual({ disable_env_server: true, env_vars: ["A", "B=C", "D"], python: "py" });
    expect(() => typed("--env-var", "A=sk-secret")).toThrow("--env-var: 0 must be the name of a variable, or NAME=OTHER");
    expect((await wishes("gsm8k", { disable_env_server: true, env_vars: ["A"] })).warnings).toEqual([
      "--env-var has no effect: no environment here is Python",
      "--disable-env-server has no effect: no environment here is Python",
    ]);
  });
});
