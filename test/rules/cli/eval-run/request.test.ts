import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBody as createBodySchema, resumeBody as resumeBodySchema } from "../../../../src/api/schemas.ts";
import { addFlags, type GivenOptions, givenOptions } from "../../../../src/cli/command-line/flags.ts";
import { runCommandLine } from "../../../../src/cli/program.ts";
import { resumeBody } from "../../../../src/cli/command-line/request.ts";
import { createBody } from "../../../../src/config/plan/creation-body.ts";
import type { Terminal } from "../../../../src/cli/terminal/terminal.ts";

function given(...args: readonly string[]): GivenOptions {
  const command = new Command().argument("<env>").exitOverride();
  addFlags(command);
  command.parse(["gsm8k", ...args], { from: "user" });
  return givenOptions(command, (path) => path === "envs");
}

describe("flags", () => {
  it("that may be given again add up, the last of a name winning", () => {
    const typed = given(
      "--header",
      "X-A: 1",
      "--header",
      "X-B: 2",
      "--header",
      "X-A: 3",
      "--header-from-state",
      "X-C: task",
      "-x",
      '{"max_turns":2}',
      "-v",
      "--max-concurrent-scoring",
      "4",
    );
    expect(typed).toEqual({
      headers: { "X-A": "3", "X-B": "2" },
      headers_from_state: { "X-C": "task" },
      extra_env_kwargs: { max_turns: 2 },
      verbose: true,
      max_concurrent_scoring: 4,
    });
    expect(createBodySchema.parse(createBody("gsm8k", typed)).eval_config).toMatchObject(typed);
    const { expect: expected, ...resumed } = resumeBodySchema.parse(resumeBody("gsm8k", typed, {}));
    expect(expected).toMatchObject({ extra_env_kwargs: { max_turns: 2 } });
    expect(resumed).toEqual({ headers: { "X-A": "3", "X-B": "2" }, headers_from_state: { "X-C": "task" }, verbose: true, max_concurrent_scoring: 4 });
  });

  it("give a run its secrets again when it is gone on with, since it keeps none once it has settled", () => {
    const typed = given("--custom-secrets", '{"A_KEY": "of this run"}');
    expect(resumeBodySchema.parse(resumeBody("gsm8k", typed, {})).custom_secrets).toEqual({ A_KEY: "of this run" });
  });

  it("say how a run is carried out and watched", () => {
    const typed = given(
      ...["--max-concurrent-generation", "8", "-w", "3", "-N", "--heartbeat-url", "https://watch.example.com/t", "--stall-minutes", "0.5", "--priority", "2.5"],
    );
    const meant = {
      max_concurrent_generation: 8,
      num_workers: 3,
      no_interleave_scoring: true,
      heartbeat_url: "https://watch.example.com/t",
      stall_minutes: 0.5,
      priority: 2.5,
    };
    expect(typed).toEqual(meant);
    expect(createBodySchema.parse(createBody("gsm8k", typed)).eval_config).toMatchObject(meant);
    expect(resumeBodySchema.parse(resumeBody("gsm8k", typed, {}))).toMatchObject(meant);
    expect(given("--num-workers", "auto")).toEqual({ num_workers: "auto" });
  });

  it("turn batches on and off", () => {
    expect(given("--batch")).toEqual({ batch: true });
    expect(given("--no-batch")).toEqual({ batch: false });
    expect(createBodySchema.parse(createBody("gsm8k", given("--batch"))).eval_config).toMatchObject({ batch: true });
    expect(resumeBodySchema.parse(resumeBody("gsm8k", given("--no-batch"), {}))).toMatchObject({ batch: false });
    expect(resumeBodySchema.parse(resumeBody("gsm8k", given(), {}))).not.toHaveProperty("batch");
  });

  it("give exactly what was typed", () => {
    expect(given()).toEqual({});
    expect(
      given(
        "-m",
        "a/b",
        "-b",
        "http://x/v1",
        "-k",
        "K_KEY",
        "-n",
        "-1",
        "-r",
        "2",
        "-c",
        "0",
        "-t",
        "96",
        "-T",
        "0.5",
        "-S",
        '{"top_p":1}',
        "-a",
        '{"x":[1]}',
        "-C",
        "a, b",
        "-s",
        "-i",
        "-d",
      ),
    ).toEqual({
      model: "a/b",
      api_base_url: "http://x/v1",
      api_key_var: "K_KEY",
      num_examples: -1,
      rollouts_per_example: 2,
      max_concurrent: 0,
      max_tokens: 96,
      temperature: 0.5,
      sampling_args: { top_p: 1 },
      env_args: { x: [1] },
      state_columns: ["a", "b"],
      save_results: true,
      independent_scoring: true,
      disable_tui: true,
    });
    expect(
      given("--no-save", "--keep-errors", "--max-retries", "2", "--timeout-minutes", "5", "-o", "out", "--api-client-type", "openai_chat_completions"),
    ).toEqual({
      no_save: true,
      keep_errors: true,
      max_retries: 2,
      timeout_minutes: 5,
      output_dir: "out",
      api_client_type: "openai_chat_completions",
    });
    expect(given("-R")).toEqual({ resume: true });
    expect(given("-R", "some/folder", "-n", "7")).toEqual({ resume: "some/folder", num_examples: 7 });
  });
});

describe("the request for a new run", () => {
  it("carries what was typed and leaves the rest to the service, which accepts it", () => {
    const plain = createBody("gsm8k", given());
    expect(plain).toEqual({ environment_ids: ["gsm8k"], inference_model: "openai/gpt-4.1-mini", eval_config: { sampling_args: { max_tokens: null } } });
    const full = createBody(
      "gsm8k",
      given(
        "-m",
        "m",
        "-b",
        "http://x/v1",
        "-k",
        "K_KEY",
        "-n",
        "3",
        "-r",
        "2",
        "-c",
        "4",
        "-t",
        "96",
        "-T",
        "0",
        "-a",
        '{"x":1}',
        "-C",
        "a",
        "-i",
        "--max-retries",
        "1",
        "--timeout-minutes",
        "9",
        "-R",
        "-o",
        "z",
      ),
    );
    expect(full).toEqual({
      environment_ids: ["gsm8k"],
      inference_model: "m",
      eval_config: {
        env_args: { x: 1 },
        api_base_url: "http://x/v1",
        api_key_var: "K_KEY",
        num_examples: 3,
        rollouts_per_example: 2,
        max_concurrent: 4,
        sampling_args: { max_tokens: 96, temperature: 0 },
        state_columns: ["a"],
        independent_scoring: true,
        max_retries: 1,
        timeout_minutes: 9,
      },
    });
    for (const body of [plain, full]) expect(createBodySchema.safeParse(body).error).toBeUndefined();
  });

  it("lets keys of -S win over -t and -T", () => {
    const { eval_config } = createBody("gsm8k", given("-t", "10", "-T", "1", "-S", '{"max_tokens":20,"temperature":0.2,"top_p":0.9}'));
    expect(eval_config).toMatchObject({ sampling_args: { max_tokens: 20, temperature: 0.2, top_p: 0.9 } });
  });
});

describe("the request to resume", () => {
  const stored = { max_tokens: 96, temperature: 0, top_p: 1 };

  it("compares only what was typed, and passes on only what may change", () => {
    expect(resumeBody("gsm8k", given("-R"), stored)).toEqual({ expect: { env_id: "gsm8k" } });
    const body = resumeBody(
      "gsm8k",
      given(
        "-R",
        "-m",
        "m",
        "-r",
        "2",
        "-a",
        "{}",
        "-n",
        "9",
        "-c",
        "2",
        "-b",
        "http://y",
        "-k",
        "K_KEY",
        "--max-retries",
        "1",
        "--timeout-minutes",
        "5",
        "--keep-errors",
      ),
      stored,
    );
    expect(body).toEqual({
      expect: { env_id: "gsm8k", model: "m", rollouts_per_example: 2, env_args: {} },
      num_examples: 9,
      max_concurrent: 2,
      api_base_url: "http://y",
      api_key_var: "K_KEY",
      max_retries: 1,
      timeout_minutes: 5,
      keep_errors: true,
    });
    expect(resumeBodySchema.safeParse(body).error).toBeUndefined();
  });

  it("expects sampling arguments as the flags would have them, and the stored ones where none is typed", () => {
    const sampling = (...args: string[]) => (resumeBody("gsm8k", given(...args), stored).expect as { sampling_args?: unknown }).sampling_args;
    expect(sampling()).toBeUndefined();
    expect(sampling("-t", "96")).toEqual(stored);
    expect(sampling("-T", "0.5")).toEqual({ max_tokens: 96, temperature: 0.5, top_p: 1 });
    expect(sampling("-S", '{"top_p":1}')).toEqual(stored);
    expect(sampling("-S", '{"top_p":0.5,"temperature":1}', "-T", "0")).toEqual({ max_tokens: 96, temperature: 1, top_p: 0.5 });
  });
});

describe("a command line that cannot be understood", () => {
  let cwd = "";
  beforeAll(() => {
    cwd = mkdtempSync(join(tmpdir(), "edgewise-usage-"));
  });
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));

  async function run(...args: readonly string[]) {
    const out: string[] = [];
    const err: string[] = [];
    const terminal: Terminal = { print: (line) => out.push(line), tell: (line) => err.push(line), errors: process.stderr, columns: 80 };
    const code = await runCommandLine(args, { env: {}, cwd, home: cwd, terminal });
    return { code, out: out.join("\n"), err: err.join("\n") };
  }

  it("ends with 2 and says what is wrong, with an example where that helps", async () => {
    expect(await run("eval", "gsm8k", "-a", "{bad")).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^error: -a\/--env-args: not valid JSON: .*\n {2}Example: -a '\{"dataset"/),
    });
    expect(await run("eval", "gsm8k", "-S", "[1]")).toMatchObject({ code: 2, err: expect.stringMatching(/^error: -S\/--sampling-args: .*\n {2}Example: -S /) });
    expect(await run("eval", "run", "gsm8k", "-n", "many")).toMatchObject({
      code: 2,
      err: expect.stringContaining('-n/--num-examples: not a whole number: "many"'),
    });
    expect(await run("eval", "gsm8k", "-r", "0")).toMatchObject({ code: 2, err: expect.stringContaining("-r/--rollouts-per-example") });
    expect(await run("eval", "gsm8k", "--temprature", "1")).toMatchObject({ code: 2, err: expect.stringContaining("--temperature") });
    expect(await run("eval", "run")).toMatchObject({ code: 2, err: expect.stringContaining("env") });
    expect(await run("eval", "gsm8k", "surplus")).toMatchObject({ code: 2, err: expect.stringContaining("npx edgewise eval run --help") });
    expect(await run("eval", "list", "-o", "xml")).toMatchObject({ code: 2, err: expect.stringContaining("npx edgewise eval list --help") });
    expect(await run("evl")).toMatchObject({ code: 2, err: expect.stringMatching(/Did you mean eval\?[\s\S]*npx edgewise --help/) });
    expect(await run("serve", "--port", "99999")).toMatchObject({ code: 2, err: expect.stringContaining("--port") });
    expect(await run("eval", "stop", "xyz")).toMatchObject({ code: 2, err: expect.stringContaining("eight hex") });
  });

  it("names the environments there are when one is unknown, and the nearest", async () => {
    const { code, err } = await run("eval", "revers_text");
    expect(code).toBe(2);
    expect(err).toContain('there is no environment "revers_text"');
    expect(err).toContain("Did you mean reverse-text?");
    expect(err).toMatch(/Available: .*gsm8k/);
  });

  it("says what the version of a published environment is, and that one is not tried without its service", async () => {
    expect(await run("eval", "edgewise/my-sums@next")).toMatchObject({
      ...{
        code: 2,
        err: expect.stringMatching(/there is no environment "edgewise\/my-sums@next"\n {2}The version of a published environment must be MAJOR\.MINOR\.PATCH/),
      },
    });
    expect(await run("eval", "try", "acme/my-sums@1.0.0")).toMatchObject({
      ...{ code: 2, err: expect.stringContaining("npx edgewise eval run acme/my-sums@1.0.0 -n 1 -r 1") },
    });
  });

  it("names the nearest provider, and what `eval` alone could go on with", async () => {
    expect(await run("eval", "gsm8k", "--provider", "opnai")).toMatchObject({
      code: 2,
      err: expect.stringContaining("no such provider (did you mean openai?); known are"),
    });
    expect(await run("eval")).toMatchObject({ code: 2, err: expect.stringMatching(/^ {2}view\|tui [\s\S]*missing required argument 'env'/m) });
    expect((await run("eval", "stop")).err).not.toContain("view|tui");
  });

  it("ends with 2 before anything is started when a named file or folder is not there", async () => {
    expect(await run("eval", "gsm8k", "-a", '{"dataset":"data/test.jsonl"}')).toMatchObject({
      code: 2,
      err: expect.stringContaining("data/test.jsonl does not exist"),
    });
    expect(await run("eval", "gsm8k", "-R", "outputs/nothing")).toMatchObject({ code: 2, err: expect.stringContaining("outputs/nothing is not a folder") });
    expect(await run("eval", "gsm8k", "-R", ".")).toMatchObject({ code: 2, err: expect.stringContaining("has no results.jsonl and no metadata.json") });
  });

  it("writes an example that takes a bundled environment's name only with a warning", async () => {
    expect(await run("env", "init", "my-sums")).toMatchObject({ code: 0, err: "" });
    expect(await run("env", "init", "arithmetic")).toMatchObject({ code: 0, err: expect.stringContaining("bundled environment is called arithmetic too") });
    expect(await run("env", "init", "../sums")).toMatchObject({ code: 2, err: expect.stringContaining("is no name for an environment") });
  });

  it("shows help with 0, and without a command with 2", async () => {
    expect(await run("--help")).toMatchObject({ code: 0, out: expect.stringContaining("Usage: edgewise") });
    const help = await run("eval", "run", "--help");
    expect(help).toMatchObject({ code: 0 });
    for (const flag of [
      "-m,",
      "-b,",
      "-k,",
      "--api-client-type",
      "-n,",
      "-r,",
      "-c,",
      "-t,",
      "-T,",
      "-S,",
      "-a,",
      "-C,",
      "-s,",
      "-o,",
      "-R,",
      "-i,",
      "--max-retries",
      "--timeout-minutes",
      "--keep-errors",
      "--no-save",
      "-d,",
    ]) {
      expect(help.out).toContain(flag);
    }
    expect(await run()).toMatchObject({ code: 2 });
  });
});
