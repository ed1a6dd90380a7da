import { describe, expect, it } from "vitest";
import { planEvals } from "../../../src/config/plan/eval-plan.ts";
import { parseTomlText } from "../../../src/config/plan/toml-document.ts";

const plan = (text: string) => planEvals(parseTomlText(text, "c.toml"), "c.toml");
const settings = (text: string) => plan(text).evals.map(({ envId, given }) => ({ env_id: envId, ...given }));

/** What a file is refused with; with every key that there is, where the message lists them. */
function refusal(text: string): string {
  try {
    plan(text);
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    expect(code).toBe("invalid_request");
    return message;
  }
  throw new Error("was accepted");
}

describe("a config file", () => {
  it("needs no more than one environment", () => {
    expect(settings('[[eval]]\nenv_id = "gsm8k"')).toEqual([{ env_id: "gsm8k" }]);
  });

  it("has evaluations in the order of the file, each with its own arguments", () => {
    const text = `
      [[eval]]
      env_id = "a"
      [eval.env_args]
      split = "test"
      [[eval]]
      env_id = "b"
      env_args = { difficulty = "hard" }`;
    expect(settings(text)).toEqual([
      { env_id: "a", env_args: { split: "test" } },
      { env_id: "b", env_args: { difficulty: "hard" } },
    ]);
  });

  it("gives global settings to every evaluation, whose own win; tables replace each other", () => {
    const text = `
      num_examples = 50
      env_args = { split = "test", seed = 1 }
      [[eval]]
      env_id = "a"
      num_examples = 100
      [[eval]]
      env_id = "b"
      env_args = { split = "train" }`;
    expect(settings(text)).toEqual([
      { env_id: "a", num_examples: 100, env_args: { split: "test", seed: 1 } },
      { env_id: "b", num_examples: 50, env_args: { split: "train" } },
    ]);
  });

  it("drops an inherited model where an evaluation names an endpoint, and the other way round", () => {
    expect(settings('model = "m"\n[[eval]]\nenv_id = "a"\nendpoint_id = "e"')).toEqual([{ env_id: "a", endpoint_id: "e" }]);
    expect(settings('endpoint_id = "e"\n[[eval]]\nenv_id = "a"\nmodel = "m"')).toEqual([{ env_id: "a", model: "m" }]);
  });

  it("has per-evaluation counts", () => {
    const text = '[[eval]]\nenv_id = "a"\nnum_examples = 10\nrollouts_per_example = 4\n[[eval]]\nenv_id = "b"\nnum_examples = -1';
    expect(settings(text)).toEqual([
      { env_id: "a", num_examples: 10, rollouts_per_example: 4 },
      { env_id: "b", num_examples: -1 },
    ]);
  });

  it("takes the shorter names of later releases", () => {
    const text = '[sampling]\ntemperature = 0.5\n[[eval]]\nid = "a"\nargs = { split = "test" }\ntimeout = 2.5';
    expect(settings(text)).toEqual([{ env_id: "a", env_args: { split: "test" }, sampling_args: { temperature: 0.5 }, timeout: 2.5 }]);
  });

  it("mirrors the reasoning keys of [sampling] for chat templates, under what is there", () => {
    const text =
      '[[eval]]\nid = "a"\n[eval.sampling]\nreasoning_effort = "low"\nenable_thinking = true\nextra_body = { chat_template_kwargs = { enable_thinking = false } }';
    expect(settings(text)[0]?.sampling_args).toEqual({
      reasoning_effort: "low",
      enable_thinking: true,
      extra_body: { chat_template_kwargs: { reasoning_effort: "low", enable_thinking: false } },
    });
  });

  it("joins both notations of headers, the lines winning, wherever they come from", () => {
    const text = `
      header = ["X-A: line", " X-B :  two: parts "]
      [[eval]]
      env_id = "a"
      headers = { "X-A" = "table", "X-C" = "c" }
      headers_from_state = { "X-Session-ID" = "trajectory_id" }
      header_from_state = ["X-Session-ID: example_id"]`;
    expect(settings(text)).toEqual([
      { env_id: "a", headers: { "X-A": "line", "X-B": "two: parts", "X-C": "c" }, headers_from_state: { "X-Session-ID": "example_id" } },
    ]);
  });

  it("resumes by path, by itself, and not where an evaluation says so", () => {
    const text = 'resume = true\n[[eval]]\nenv_id = "a"\nresume = false\n[[eval]]\nenv_id = "b"\n[[eval]]\nenv_id = "c"\nresume = "out/x"';
    expect(settings(text).map(({ resume }) => resume)).toEqual([false, true, "out/x"]);
    expect(settings('resume_path = "out/y"\n[[eval]]\nenv_id = "a"\n[[eval]]\nenv_id = "b"\nresume = false').map(({ resume }) => resume)).toEqual([
      "out/y",
      false,
    ]);
  });

  it("keeps no results where it says so", () => {
    expect(settings('save_results = false\n[[eval]]\nenv_id = "a"')[0]).toMatchObject({ no_save: true });
    expect(settings('save_results = true\n[[eval]]\nenv_id = "a"')[0]).not.toHaveProperty("no_save");
  });

  it("has one limit for all of its evaluations", () => {
    const { maxConcurrentTotal, evals } = plan('max_concurrent_total = 8\n[[eval]]\nenv_id = "a"');
    expect(maxConcurrentTotal).toBe(8);
    expect(evals[0]?.given).toEqual({});
  });
});

describe("an ablation", () => {
  it("crosses its dimensions in the order of the file, the last varying fastest", () => {
    const text = `
      model = "m"
      [[ablation]]
      env_id = "a"
      env_args = { split = "test" }
      [ablation.sweep]
      temperature = [0.0, 1.0]
      [ablation.sweep.env_args]
      difficulty = ["e", "h"]`;
    const args = (difficulty: string) => ({ split: "test", difficulty });
    expect(settings(text)).toEqual([
      { env_id: "a", model: "m", temperature: 0, env_args: args("e") },
      { env_id: "a", model: "m", temperature: 0, env_args: args("h") },
      { env_id: "a", model: "m", temperature: 1, env_args: args("e") },
      { env_id: "a", model: "m", temperature: 1, env_args: args("h") },
    ]);
  });

  it("sweeps one setting, with those of the top", () => {
    expect(settings('num_examples = 7\n[[ablation]]\nenv_id = "a"\nsweep = { temperature = [0, 0.5, 1] }')).toEqual(
      [0, 0.5, 1].map((temperature) => ({ env_id: "a", num_examples: 7, temperature })),
    );
  });

  it("comes after the evaluations; blocks do not cross", () => {
    const text = `
      [[ablation]]
      env_id = "b"
      sweep = { temperature = [0, 1] }
      [[ablation]]
      env_id = "c"
      sweep = { max_tokens = [1, 2, 3] }
      [[eval]]
      env_id = "a"`;
    expect(plan(text).evals.map(({ envId, place }) => `${envId} ${place}`)).toEqual([
      "a [[eval]] #1",
      "b [[ablation]] #1",
      "b [[ablation]] #1",
      "c [[ablation]] #2",
      "c [[ablation]] #2",
      "c [[ablation]] #2",
    ]);
  });

  it("sweeps environments, and takes one from the top", () => {
    expect(settings('[[ablation]]\nsweep = { id = ["a", "b"] }')).toEqual([{ env_id: "a" }, { env_id: "b" }]);
    expect(settings('env_id = "a"\n[[ablation]]\nsweep = { temperature = [1] }')).toEqual([{ env_id: "a", temperature: 1 }]);
  });

  it("overrides fixed settings and global arguments by swept ones", () => {
    expect(settings('[[ablation]]\nenv_id = "a"\ntemperature = 9\nsweep = { temperature = [1] }')).toEqual([{ env_id: "a", temperature: 1 }]);
    expect(settings('env_args = { x = 1, y = 2 }\n[[ablation]]\nenv_id = "a"\nsweep = { args = { x = [3] } }')).toEqual([
      { env_id: "a", env_args: { x: 3, y: 2 } },
    ]);
  });

  it("drops an inherited endpoint where the model is swept, and the other way round", () => {
    expect(settings('endpoint_id = "e"\n[[ablation]]\nenv_id = "a"\nsweep = { model = ["m"] }')).toEqual([{ env_id: "a", model: "m" }]);
    expect(settings('model = "m"\n[[ablation]]\nenv_id = "a"\nendpoint_id = "e"\nsweep = { temperature = [1] }')).toEqual([
      { env_id: "a", endpoint_id: "e", temperature: 1 },
    ]);
  });

  it("with an empty list gives nothing", () => {
    expect(settings('[[eval]]\nenv_id = "a"\n[[ablation]]\nenv_id = "b"\nsweep = { temperature = [] }')).toEqual([{ env_id: "a" }]);
  });
});

describe("a config file is refused with file, table and key", () => {
  it.each([
    ["no TOML", '[[eval]]\nenv_id = "a', "c.toml:2:10: not valid TOML: "],
    ["a single table", '[eval]\nenv_id = "a"', "c.toml has a table [eval]: use double brackets, [[eval]]"],
    ["no array of tables", "eval = [1]", "c.toml: eval must be an array of tables: [[eval]]"],
    ["a single ablation", '[ablation]\nenv_id = "a"', "c.toml has a table [ablation]: use double brackets, [[ablation]]"],
    ["nothing to run", 'model = "m"', "c.toml has no [[eval]] and no [[ablation]]"],
    ["empty lists", "eval = []", "c.toml has no [[eval]] and no [[ablation]]"],
    ["no environment", "[[eval]]\nnum_examples = 1", "c.toml: [[eval]] #1: env_id is missing"],
    ["an environment in one of two", '[[eval]]\nenv_id = "a"\n[[eval]]\nnum_examples = 1', "c.toml: [[eval]] #2: env_id is missing"],
    ["an environment at the top only", 'env_id = "a"\n[[eval]]\nnum_examples = 1', "c.toml: [[eval]] #1: env_id is missing"],
    ["an unknown global key", 'nope = 1\n[[eval]]\nenv_id = "a"', "c.toml: global settings: Invalid global field: nope"],
    [
      "an unknown key",
      '[[eval]]\nenv_id = "a"\n[[eval]]\nenv_id = "b"\nnope = 1\nnor = 2',
      "c.toml: [[eval]] #2: Invalid field: nope\nc.toml: [[eval]] #2: Invalid field: nor",
    ],
    ["what belongs to the terminal", '[[eval]]\nenv_id = "a"\nno_save = true', "c.toml: [[eval]] #1: Invalid field: no_save"],
    ["an unknown key in a block", '[[ablation]]\nenv_id = "a"\nnope = 1\nsweep = { temperature = [1] }', "c.toml: [[ablation]] #1: Invalid field: nope"],
    ["an unknown swept key", '[[ablation]]\nenv_id = "a"\nsweep = { nope = [1] }', "c.toml: [[ablation]] #1: Invalid sweep field: nope"],
    [
      "a swept value that is none",
      '[[ablation]]\nenv_id = "a"\nsweep = { temperature = 1 }',
      "c.toml: [[ablation]] #1: sweep.temperature must be a list of values: swept fields must be lists",
    ],
    [
      "a swept argument that is none",
      '[[ablation]]\nenv_id = "a"\nsweep = { env_args = { x = 1 } }',
      "c.toml: [[ablation]] #1: sweep.env_args.x must be a list of values",
    ],
    [
      "swept arguments that are no table",
      '[[ablation]]\nenv_id = "a"\nsweep = { env_args = [1] }',
      "c.toml: [[ablation]] #1: sweep.env_args must be a table of lists",
    ],
    ["a sweep of nothing", '[[ablation]]\nenv_id = "a"', "c.toml: [[ablation]] #1: sweep must be a non-empty table"],
    ["a sweep that is no table", '[[ablation]]\nenv_id = "a"\nsweep = [1]', "c.toml: [[ablation]] #1: sweep must be a table of lists"],
    [
      "arguments fixed and swept",
      '[[ablation]]\nenv_id = "a"\nenv_args = { x = 1, y = 1, z = 1 }\nsweep = { env_args = { y = [1], x = [1] } }',
      "c.toml: [[ablation]] #1: env_args x, y are both fixed and swept",
    ],
    [
      "an ablation without environment",
      "[[ablation]]\nsweep = { temperature = [1] }",
      "c.toml: [[ablation]] #1: env_id is missing: name it in the block, in its sweep or at the top",
    ],
    ["model and endpoint", '[[eval]]\nenv_id = "a"\nmodel = "m"\nendpoint_id = "e"', "c.toml: [[eval]] #1: endpoint_id names a model already"],
    ["two names of one key", '[[eval]]\nenv_id = "a"\nid = "b"', "c.toml: [[eval]] #1: id means the same as env_id"],
    ["two tables of sampling", '[sampling]\n[sampling_args]\n[[eval]]\nenv_id = "a"', "c.toml: global settings: sampling_args means the same as sampling"],
    ["a number that is none", '[[eval]]\nenv_id = "a"\nnum_examples = "5"', "c.toml: [[eval]] #1: num_examples: invalid input: expected number"],
    [
      "a price without its output",
      '[[price]]\nmodel = "x"\ninput_usd_per_mtok = 1\n[[eval]]\nenv_id = "a"',
      'c.toml: [[price]] #1 (model "x"): output_usd_per_mtok: is missing: a number belongs here',
    ],
    [
      "a price of an evaluation",
      '[[eval]]\nenv_id = "a"\n[[eval.price]]\nendpoint_id = "e"\ninput_usd_per_mtok = 1\noutput_usd_per_mtok = -1',
      'c.toml: [[eval]] #1: [[price]] #1 (endpoint_id "e"): output_usd_per_mtok: must be at least 0',
    ],
    ["a limit of nothing", '[[limit]]\nurl = "http://a"\n[[eval]]\nenv_id = "a"', "c.toml: [[limit]] #1: concurrent: is missing: give at least one of"],
    ["a global number that is none", 'num_examples = 1.5\n[[eval]]\nenv_id = "a"', "c.toml: global settings: num_examples: invalid input: expected int"],
    ["arguments that are no table", '[[eval]]\nenv_id = "a"\nenv_args = 1', "c.toml: [[eval]] #1: env_args: must be a JSON object"],
    ["a date", '[[eval]]\nenv_id = "a"\n[eval.sampling_args]\nday = 2026-01-01', "c.toml: [[eval]] #1: sampling_args.day: "],
    ["a wrong sampling argument", '[[eval]]\nenv_id = "a"\n[eval.sampling]\ntop_p = 2', "c.toml: [[eval]] #1: sampling_args.top_p: "],
    ["a swept value that is wrong", '[[ablation]]\nenv_id = "a"\nsweep = { temperature = [0, "hot"] }', "c.toml: [[ablation]] #1: temperature: "],
    ["an environment that is no text", "[[eval]]\nenv_id = 3", "c.toml: [[eval]] #1: env_id must be the name of an environment"],
    ["a resume that is none", '[[eval]]\nenv_id = "a"\nresume = 1', "c.toml: [[eval]] #1: resume: must be the path of a results folder, true"],
    ["lines that are none", '[[eval]]\nenv_id = "a"\nheader = "X: y"', 'c.toml: [[eval]] #1: header must be a list of "Name: value"'],
    ["a line that is no text", '[[eval]]\nenv_id = "a"\nheader = [1]', "c.toml: [[eval]] #1: header: must be an object of texts or a list"],
    ["a line without a colon", '[[eval]]\nenv_id = "a"\nheader = ["X y"]', 'c.toml: [[eval]] #1: header.0: must be of the form "Name: value"'],
    ["a header without a name", '[[eval]]\nenv_id = "a"\nheader = [": y"]', "c.toml: [[eval]] #1: header.0: "],
    ["a table of headers that is none", '[[eval]]\nenv_id = "a"\nheaders = ["X: y"]', "c.toml: [[eval]] #1: headers must be a table of texts"],
    ["a header that is no text", '[[eval]]\nenv_id = "a"\nheaders = { X = 1 }', "c.toml: [[eval]] #1: headers: must be an object of texts"],
    ["a state header without a key", '[[eval]]\nenv_id = "a"\nheader_from_state = ["X:"]', "c.toml: [[eval]] #1: header_from_state.0: "],
    [
      "several addresses",
      '[[eval]]\nenv_id = "a"\napi_base_url = ["https://a.example", "https://b.example"]',
      "c.toml: [[eval]] #1: api_base_url: a list of addresses is no longer supported: use endpoint_id",
    ],
    [
      "a common limit of one",
      '[[eval]]\nenv_id = "a"\nmax_concurrent_total = 4',
      "c.toml: [[eval]] #1: max_concurrent_total holds for all evaluations of the file",
    ],
  ])("%s", (_, text, message) => {
    expect(refusal(text)).toContain(message);
  });

  it("with all that is wrong, once each, and no more than that", () => {
    const text = `
      modle = "m"
      num_examples = "5"
      [[eval]]
      env_id = "a"
      top_p = 1
      rollouts_per_example = 0
      max_concurrent = 1.5
      [[eval]]
      num_exmples = 1
      [[evals]]
      env_id = "c"
      [[ablation]]
      swep = { temperature = [1] }
      sweep = { temprature = [1] }
      [[ablation]]
      env_id = "b"
      sweep = { temperature = [0, "hot"], env_args = { x = 1 } }`;
    expect(refusal(text).split("\n")).toEqual([
      "c.toml: [[eval]] #2: env_id is missing: every [[eval]] names its environment",
      "c.toml: global settings: Invalid global field: modle (did you mean model?)",
      "c.toml: global settings: Invalid global field: evals (did you mean eval?)",
      "c.toml: [[eval]] #1: Invalid field: top_p",
      "c.toml: [[eval]] #2: Invalid field: num_exmples (did you mean num_examples?)",
      "c.toml: [[ablation]] #1: Invalid field: swep (did you mean sweep?)",
      "c.toml: [[ablation]] #1: Invalid sweep field: temprature (did you mean temperature?)",
      expect.stringContaining("c.toml: [[ablation]] #2: sweep.env_args.x must be a list of values"),
      expect.stringContaining("c.toml: global settings: num_examples: "),
      expect.stringContaining("c.toml: [[eval]] #1: rollouts_per_example: "),
      expect.stringContaining("c.toml: [[eval]] #1: max_concurrent: "),
    ]);
  });

  it("names what is wrong in the order that the reference looks", () => {
    // Everything below is wrong in the same file; each is named once what comes before it is mended.
    const wrong = [
      "[eval]\nx = 1",
      "nope = 1\n[[eval]]\nnor = 1",
      'nope = 1\n[[eval]]\nid = "a"\nnor = 1',
      '[[eval]]\nid = "a"\nnor = 1\n[[ablation]]\nnor = 1',
      '[[eval]]\nid = "a"\nnum_examples = "x"\n[[ablation]]\nsweep = { temperature = [1] }',
    ];
    expect(wrong.map(refusal).map((message) => /brackets|is missing|global field|#1: Invalid field|at the top/.exec(message)?.[0])).toEqual([
      "brackets",
      "is missing",
      "global field",
      "#1: Invalid field",
      "is missing",
    ]);
  });
});
