import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ArgumentFacts, OptionList } from "../../../src/dashboard/api/answers.ts";
import { problemOf } from "../../../src/dashboard/api/problem.ts";
import type { Evaluation } from "../../../src/dashboard/api/run-answers.ts";
import { shapeOf } from "../../../src/dashboard/design/field/field-shape.ts";
import { givenOf, readGiven, withValue } from "../../../src/dashboard/design/field/given.ts";
import { valuesText } from "../../../src/dashboard/design/field/values-text.ts";
import { changesOf } from "../../../src/dashboard/pages/new-run/changes.ts";
import { EMPTY_DRAFT } from "../../../src/dashboard/pages/new-run/draft.ts";
import { draftOfRun } from "../../../src/dashboard/pages/new-run/draft-of-run.ts";
import { DraftStorage } from "../../../src/dashboard/pages/new-run/draft-storage.ts";
import { fieldLabel, formOf } from "../../../src/dashboard/pages/new-run/form.ts";
import { GROUP_TITLES, isLookedFor, labelOf } from "../../../src/dashboard/pages/new-run/form-options.ts";
import { creationOf } from "../../../src/dashboard/pages/new-run/request.ts";
import { serviceProblems } from "../../../src/dashboard/pages/new-run/service-problems.ts";
import { settingsOf } from "../../../src/dashboard/pages/new-run/settings.ts";
import { openDoor } from "../../support/door/fake-ports.ts";

const list = (await (await openDoor().call("GET", "/options")).json()) as OptionList;
const argument = (name: string, schema: ArgumentFacts["schema"], more: Partial<ArgumentFacts> = {}): ArgumentFacts => ({
  ...{ name, schema, required: false, description: null, ...more },
});
const form = formOf(list, [argument("depth", { type: "integer" }), argument("level", { enum: ["easy", "hard"] })], true);

describe("a field that is made from a schema", () => {
  it.each([
    [{ type: "string" }, "text", "text"],
    [{ type: "integer", minimum: 1, maximum: 9 }, "integer", "whole number from 1 to 9"],
    [{ type: "number", exclusiveMinimum: 0 }, "number", "number above 0"],
    [{ type: "boolean" }, "boolean", "yes or no"],
    [{ enum: ["a", 1, null] }, "choice", '"a", 1, null'],
    [{ const: "only" }, "choice", '"only"'],
    [{ anyOf: [{ type: "integer" }, { type: "null" }] }, "integer", "whole number or null"],
    [{ type: ["string", "null"] }, "text", "string or null"],
    [{ type: "array", items: { type: "string" } }, "lines", "list of text"],
    [{ type: "array", items: { type: "number" } }, "json", "list of number"],
    [{ type: "object", properties: {} }, "json", "object"],
    [{}, "json", "JSON"],
    [{ type: 7, enum: "no list", anyOf: [null, 3] }, "json", "JSON"],
    [{ $ref: "#/elsewhere" }, "json", "JSON"],
  ])("%j is %s, and says what it takes", (schema, kind, text) => {
    expect([shapeOf(schema).kind, valuesText(schema)]).toEqual([kind, text]);
  });

  it("takes every value that there is, written so that it is read as the same", () => {
    const schema = fc.constantFrom(
      ...[{ type: "string" }, { type: "integer" }, { type: "number" }, { type: "boolean" }, { enum: ["true", true, "1", 1] }, {}],
      { type: "array", items: { type: "string" } },
    );
    fc.assert(
      fc.property(schema, fc.jsonValue(), (of, value) => {
        const shape = shapeOf(of);
        const read = readGiven(shape, givenOf(shape, value));
        expect(read.ok && JSON.stringify(read.value)).toBe(JSON.stringify(value));
      }),
      {
        numRuns: 500,
        // What no text can be made of.
        examples: [
          [{ type: "integer" }, { toString: null }],
          [{ type: "array", items: { type: "string" } }, [{ toString: null }]],
        ],
      },
    );
    expect(valuesText({ type: [{ toString: null }, "null"] })).toBe('{"toString":null} or null');
  });

  it.each([
    [{ type: "integer" }, "1.5", "is not a whole number"],
    [{ type: "integer" }, "9007199254740993", "is too large a number to be exact"],
    [{ type: "number" }, "1e999", "is too large a number to be exact"],
    [{ type: "number", maximum: 1 }, "2", "must be at most 1"],
    [{ type: "object" }, "{a: 1}", "is not valid JSON"],
    [{ enum: ["a"] }, "b", "is none of its choices"],
  ])("%j says what is wrong with %s", (schema, text, msg) => {
    expect(readGiven(shapeOf(schema), { text })).toMatchObject({ ok: false, msg: expect.stringContaining(msg) });
  });
});

describe("a draft of a run", () => {
  const run = (config: object, more: object = {}): Evaluation =>
    ({
      name: "called",
      model_name: "m",
      eval_config: config,
      metadata: { env_id: "gsm8k", model: "m" },
      edgewise: { env_version: "1.0.0" },
      ...more,
    }) as unknown as Evaluation;
  const CONFIG = {
    ...{ num_examples: 5, rollouts_per_example: 3, max_concurrent: 32, max_retries: 2, timeout_minutes: null, independent_scoring: false },
    ...{ env_args: { depth: 3, level: "impossible", gone: [1] }, sampling_args: { max_tokens: null, temperature: 0, stop: "one" }, state_columns: ["turn"] },
    ...{
      api_base_url: "https://models.example/v1",
      api_key_var: "KEY",
      api_client_type: "openai_chat_completions",
      headers: ["X-A: 1"],
      headers_from_state: { "X-B": "turn" },
    },
    ...{ order: "permuted", shuffle: true, shuffle_seed: 4, common_limit: { id: "x", concurrent: 2 }, heartbeat_url: "https://beat.example", verbose: true },
  };

  it("of another run asks for everything that it was made with, what its environment no longer knows too", () => {
    const draft = draftOfRun(run(CONFIG), form, "1.2.0");
    const { settings, problems } = settingsOf(draft, form);
    expect([...problems]).toEqual([]);
    const { eval_config, ...body } = creationOf(draft, settings);
    expect(body).toEqual({ environment_ids: ["gsm8k@1.2.0"], inference_model: "m", name: "called" });
    const {
      max_concurrent: _,
      independent_scoring: __,
      api_client_type: ___,
      order: ____,
      timeout_minutes: _____,
      common_limit: ______,
      heartbeat_url: _______,
      ...kept
    } = CONFIG;
    expect(eval_config).toEqual({ ...kept, sampling_args: { temperature: 0, stop: "one" }, headers_from_state: ["X-B: turn"] });
    expect(changesOf(draft, draft).size).toBe(0);
  });

  it("of a run at several places asks for those, and of one without a name of its own for none", () => {
    const replicas = [{ api_base_url: "https://one.example", api_key_var: "K" }];
    const { api_base_url: _, ...config } = CONFIG;
    const draft = draftOfRun(run({ ...config, replicas }, { name: "gsm8k-m" }), form, "");
    const creation = creationOf(draft, settingsOf(draft, form).settings);
    expect(creation.eval_config.replicas).toEqual(replicas);
    expect(creation.name).toBeUndefined();
  });

  it("marks what is changed with what it was", () => {
    const base = draftOfRun(run(CONFIG), form, "");
    const draft = { ...base, model: "other", args: withValue(base.args, "depth", { text: "4" }), sampling: withValue(base.sampling, "top_p", { text: "1" }) };
    expect([...changesOf(base, draft)]).toEqual([
      ["model", "m"],
      ["args.depth", "3"],
      ["sampling.top_p", "not given"],
    ]);
  });

  it("lacks an environment, a model and what an environment requires", () => {
    const strict = formOf(list, [argument("path", { type: "string" }, { required: true })], false);
    expect([...settingsOf({ ...EMPTY_DRAFT, place: { kind: "address" } }, strict).problems.keys()]).toEqual([
      "args.path",
      "environment",
      "model",
      "options.api_base_url",
    ]);
  });

  it("is kept for its tab without what may be a secret, and read only where it is one", () => {
    const shelf = new Map<string, string>();
    const storage = new DraftStorage(
      { getItem: (key) => shelf.get(key) ?? null, setItem: (key, value) => void shelf.set(key, value), removeItem: (key) => void shelf.delete(key) },
      "default",
      "",
    );
    expect(storage.read()).toBeNull();
    const secret = { text: "hush-hush" };
    storage.keep({
      ...EMPTY_DRAFT,
      ...{
        model: "m",
        args: { judge_api_key: secret, auth: secret, judge: { text: '{"model":"m","api_key":"hush-hush"}', json: true }, depth: { text: "1" } },
        sampling: { extra_body: secret, max_tokens: { text: "9" } },
        options: { heartbeat_url: secret, headers: secret, verbose: { text: "true" } },
      },
    });
    expect([...shelf.values()].join("")).not.toContain("hush-hush");
    expect(storage.read()).toEqual({
      ...EMPTY_DRAFT,
      model: "m",
      args: { depth: { text: "1" } },
      sampling: { max_tokens: { text: "9" } },
      options: { verbose: { text: "true" } },
    });
    for (const other of ["no JSON", '{"version":2}', '{"version":1,"draft":{"model":7}}']) {
      for (const key of shelf.keys()) shelf.set(key, other);
      expect(storage.read(), other).toBeNull();
    }
  });
});

describe("what the service refuses", () => {
  const refusal = (detail: object[] | string) => problemOf(422, JSON.stringify({ detail, code: "invalid_request" }));

  it("stands at the fields that say it, and what is of none beside them", () => {
    const { atFields, others } = serviceProblems(
      refusal([
        { loc: ["body", "environment_ids", 0], msg: "one" },
        { loc: ["body", "inference_model"], msg: "two" },
        { loc: ["body", "eval_config", "num_examples"], msg: "three" },
        { loc: ["body", "eval_config", "sampling_args", "top_p"], msg: "four" },
        { loc: ["body", "eval_config", "env_args"], msg: "environment gsm8k: argument depth: five; unknown argument six" },
        { loc: ["body", "name"], msg: "seven" },
        { loc: ["body", "eval_config", "limits", 0, "url"], msg: "eight" },
        { loc: ["header", "Idempotency-Key"], msg: "nine" },
      ]),
      form,
    );
    expect([...atFields.keys()]).toEqual([
      "environment",
      "model",
      "options.num_examples",
      "sampling.top_p",
      "args.depth",
      "options.eval_name",
      "options.limits",
    ]);
    expect(others).toEqual(["header.Idempotency-Key: nine"]);
    expect(serviceProblems(refusal("A sentence."), form)).toEqual({ atFields: new Map(), others: ["A sentence."] });
  });
});

it("options are found by every word of their name and help", () => {
  const found = (search: string) => form.options.filter((field) => isLookedFor(field, search)).map(({ name }) => name);
  expect(found("cache days")).toEqual(["cache_days"]);
  expect(found("max concurrent")).toContain("max_concurrent_scoring");
  expect(found("no such thing")).toEqual([]);
});

describe("what fields are called", () => {
  it("is written as titles are, and no title stands twice", () => {
    expect(["num_examples", "api_base_url", "save_to_hf_hub", "top_p"].map(labelOf)).toEqual(["Num examples", "API base URL", "Save to HF Hub", "Top p"]);
    for (const { label } of [...form.options, ...form.sampling]) expect(label).toMatch(/^[A-Z]/);
    const titles = [
      ...Object.entries(GROUP_TITLES).flatMap(([group, title]) => (group === "sampling" ? [] : [title])),
      "Environment",
      "Model",
      "Numbers",
      "Sampling",
    ];
    expect(new Set(titles).size).toBe(titles.length);
    expect(["environment", "args.depth", "options.max_retries", "sampling.seed", "args.gone"].map((name) => fieldLabel(name as never, form))).toEqual([
      "Environment",
      "depth",
      "Max retries",
      "Seed",
      "gone",
    ]);
  });
});
