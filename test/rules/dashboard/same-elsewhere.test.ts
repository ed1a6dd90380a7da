import { execFileSync } from "node:child_process";
import { Command } from "commander";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resolveRun } from "../../../src/api/creation/resolve.ts";
import { type CreateBody, createBody as schema } from "../../../src/api/schemas.ts";
import { addFlags, givenOptions } from "../../../src/cli/command-line/flags.ts";
import { chooseEndpointOrLeave } from "../../../src/config/endpoints/endpoint-choice.ts";
import { registryOf } from "../../../src/config/endpoints/endpoint-registry.ts";
import { PROVIDER_NAMES } from "../../../src/config/endpoints/providers.ts";
import { createBody, withTimeout } from "../../../src/config/plan/creation-body.ts";
import type { ArgumentFacts, OptionList } from "../../../src/dashboard/api/answers.ts";
import { givenOf } from "../../../src/dashboard/design/field/given.ts";
import { commandLine } from "../../../src/dashboard/pages/new-run/command-line.ts";
import { type Draft, EMPTY_DRAFT } from "../../../src/dashboard/pages/new-run/draft.ts";
import { formOf } from "../../../src/dashboard/pages/new-run/form.ts";
import { type Creation, creationOf, requestText } from "../../../src/dashboard/pages/new-run/request.ts";
import { settingsOf } from "../../../src/dashboard/pages/new-run/settings.ts";
import { openDoor } from "../../support/door/fake-ports.ts";
import { ENVIRONMENTS } from "../../support/door/fake-environments.ts";

const ORIGIN = "https://edgewise.example";
const list = (await (await openDoor().call("GET", "/options")).json()) as OptionList;
const args: ArgumentFacts[] = [
  { name: "level", schema: { enum: ["easy", "it's hard"] }, required: false, description: null },
  { name: "depth", schema: { type: "integer" }, required: false, default: 2, description: null },
  { name: "prompt", schema: { type: "string" }, required: false, description: null },
  { name: "__proto__", schema: { type: "object" }, required: false, description: null },
];
const form = formOf(list, args, true);

/** The words that a shell makes of a command, its program and the variables before it left out. */
function wordsOf(command: string): readonly string[] {
  const program = `set -- ${command.replace(/^EDGEWISE_URL=\S+ npx edgewise eval run /, "")}; printf '%s\\0' "$@"`;
  return execFileSync("/bin/sh", ["-c", program], { encoding: "utf8" }).split("\0").slice(0, -1);
}

/** What the command line's own parser and reader make of it, as the body that the command sends. */
function sentBy(command: string): CreateBody {
  const run = new Command("run").argument("<env>").exitOverride();
  addFlags(run);
  run.parse([...wordsOf(command)], { from: "user" });
  const { hosted, ...given } = givenOptions(run, () => false);
  if (hosted !== true) throw new Error("the command makes a run of its own machine");
  const chosen = chooseEndpointOrLeave(given, registryOf("none", "none", []));
  return schema.parse(createBody(run.args[0] ?? "", withTimeout(chosen.given), chosen.replicas));
}

/** Every setting that a run would have, with defaults filled in. */
function resolved(body: CreateBody): unknown {
  const { custom_secrets: _, endpoint_id: __, limits, ...config } = body.eval_config;
  const request = { ...config, ...(limits === undefined ? {} : { limits }), model: body.inference_model, name: body.name };
  const [environment] = ENVIRONMENTS;
  if (environment === undefined) throw new Error("no environment");
  const resolution = resolveRun(request, { environment, attended: false, baseUrl: "https://models.example", keyVar: "MODELS_KEY" });
  return { reference: body.environment_ids, resolution };
}

function both(draft: Draft): { readonly creation: Creation; readonly command: ReturnType<typeof commandLine> } {
  const { settings, problems } = settingsOf(draft, form);
  expect([...problems]).toEqual([]);
  return { creation: creationOf(draft, settings), command: commandLine(draft, settings, ORIGIN) };
}

const draftOf = (change: Partial<Draft>): Draft => ({ ...EMPTY_DRAFT, environment: "gsm8k", model: "m", ...change });
const optionsOf = (values: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(form.options.flatMap(({ name, shape }) => (Object.hasOwn(values, name) ? [[name, givenOf(shape, values[name])] as const] : [])));

/** Text as somebody may type it: quotes, dollars, blanks, letters of anywhere. */
const typed = (most: number) =>
  fc
    .string({ unit: "grapheme", minLength: 1, maxLength: most })
    .map((text) => text.replace(/[\p{C}\u2028\u2029]/gu, "").trim())
    .filter((text) => text !== "");
const json = fc.jsonValue({ maxDepth: 2, stringUnit: "grapheme" });
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
const defined = (values: object) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

const drafts = fc
  .record({
    environment: fc.constantFrom("gsm8k", "acme/my-sums", "edgewise/gsm8k"),
    version: fc.constantFrom("", "1.2.0"),
    model: typed(60).filter((text) => !text.includes("\\")),
    place: fc.oneof(
      fc.constant({ kind: "service" as const }),
      fc.constantFrom(...PROVIDER_NAMES).map((name) => ({ kind: "provider" as const, name })),
      fc.constant({ kind: "address" as const }),
      fc.constant({ kind: "endpoint" as const, id: "team-endpoint" }),
    ),
    args: fc.record({ level: maybe(fc.constantFrom("easy", "it's hard")), depth: maybe(fc.maxSafeInteger()), prompt: maybe(fc.string()) }),
    sampling: fc.record({
      temperature: maybe(fc.double({ min: 0, max: 2, noNaN: true })),
      max_tokens: maybe(fc.integer({ min: 1, max: 1_000 })),
      stop: maybe(fc.array(typed(10), { maxLength: 3 })),
      own: maybe(json),
    }),
    options: fc.record({
      api_key_var: maybe(fc.constantFrom("MY_KEY", "OPENAI_API_KEY")),
      api_base_url: fc.constantFrom("http://127.0.0.1:8000/v1", "https://models.example/it's"),
      num_examples: maybe(fc.integer({ min: -1, max: 1_000 })),
      rollouts_per_example: maybe(fc.integer({ min: 1, max: 9 })),
      max_concurrent: maybe(fc.integer({ min: -1, max: 64 })),
      num_workers: maybe(fc.constantFrom("auto", "3")),
      state_columns: maybe(
        fc.array(
          typed(8).filter((text) => !text.includes(",")),
          { maxLength: 3 },
        ),
      ),
      headers: maybe(fc.constantFrom(["X-Team: it's ours"], ["X-A: 1", "X-B: $HOME"])),
      extra_env_kwargs: maybe(fc.dictionary(fc.constantFrom("max_turns", "a b"), json)),
      stop_when: maybe(fc.constantFrom("halfwidth<0.02", "mean>0.5", "vs 0000abcd")),
      cache: maybe(fc.constantFrom("off", "read", "read-write")),
      eval_name: maybe(typed(40)),
      independent_scoring: maybe(fc.boolean()),
      verbose: maybe(fc.boolean()),
      allow_sandbox_access: maybe(fc.constant(true)),
      max_cost: maybe(fc.constantFrom(0.5, 12, 1e2)),
      order: maybe(fc.constantFrom("permuted")),
    }),
  })
  .map(
    ({ args: given, sampling, options, ...rest }): Draft => ({
      ...rest,
      args: Object.fromEntries(
        Object.entries(defined(given)).map(([name, value]) => [name, givenOf(form.args?.find((each) => each.name === name)?.shape ?? { kind: "json" }, value)]),
      ),
      sampling: Object.fromEntries(
        Object.entries(defined(sampling)).map(([name, value]) => [
          name,
          givenOf(form.sampling.find((each) => each.name === name)?.shape ?? { kind: "json" }, value),
        ]),
      ),
      options: optionsOf(defined(options)),
    }),
  );

describe("a run that is written down", () => {
  it("is the same run as a command: read by the command line's own parser it has every setting of the request", () => {
    fc.assert(
      fc.property(drafts, (draft) => {
        const { creation, command } = both(draft);
        expect(command.unsaid).toEqual([]);
        const asked = resolved(schema.parse(creation));
        expect(asked).toMatchObject({ resolution: { ok: true } });
        expect(resolved(sentBy(command.text))).toEqual(asked);
      }),
      { numRuns: 150 },
    );
  }, 60_000);

  it("is the same run as the request that is shown, whatever its texts do to a shell", () => {
    fc.assert(
      fc.property(drafts, (draft) => {
        const { creation } = both(draft);
        const text = requestText(creation, { origin: ORIGIN, asksToken: true, team: "acme" });
        const words = execFileSync("/bin/sh", ["-c", `curl() { printf '%s\\0' "$@"; }; ${text}`], { encoding: "utf8", env: { EDGEWISE_TOKEN: "t" } }).split(
          "\0",
        );
        expect(words.slice(0, 9)).toEqual([
          ...["-X", "POST", `${ORIGIN}/api/v1/hosted-evaluations`, "-H", "Authorization: Bearer t"],
          ...["-H", "Content-Type: application/json", "-H", "X-Edgewise-Team: acme"],
        ]);
        expect(JSON.parse(words[10] ?? "")).toEqual(JSON.parse(JSON.stringify(creation)));
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  it("names no key: neither asks for one, and the token is left to who sends it", () => {
    const { creation, command } = both(draftOf({ place: { kind: "provider", name: "openai" } }));
    expect(creation.eval_config).toMatchObject({ api_base_url: "https://api.openai.com/v1", api_key_var: "OPENAI_API_KEY" });
    expect(command.text).toBe("EDGEWISE_URL=https://edgewise.example npx edgewise eval run gsm8k -m m --provider openai --hosted");
    expect(requestText(creation, { origin: ORIGIN, asksToken: true, team: null })).toContain('-H "Authorization: Bearer $EDGEWISE_TOKEN"');
    expect(requestText(creation, { origin: ORIGIN, asksToken: false, team: null })).not.toContain("Authorization");
  });

  it("is no command of an environment that would be a flag", () => {
    const { command } = both(draftOf({ environment: "--output=results" }));
    expect(command.text).not.toContain("--output");
    expect(command.unsaid).toEqual(["environment"]);
  });

  it("says what no flag says, and leaves out what would not be what is shown", () => {
    const limits = [{ url: "https://models.example", concurrent: 3 }];
    const { creation, command } = both(
      draftOf({
        model: "m\u202e1",
        place: { kind: "replicas", replicas: [{ api_base_url: "https://one.example", api_key_var: "K" }] },
        options: optionsOf({ limits, state_columns: ["a,b"], verbose: true }),
      }),
    );
    expect(command.unsaid).toEqual(["model", "replicas", "limits", "state_columns"]);
    expect(command.text).toContain("--verbose");
    expect(command.text).not.toMatch(/limits|state-columns|\u202e/);
    expect(creation).toMatchObject({ eval_config: { limits, state_columns: ["a,b"], replicas: [{ api_key_var: "K" }] } });
  });

  it("keeps an argument that is called as what every object has", () => {
    const { creation } = both(draftOf({ args: Object.fromEntries([["__proto__", { text: '{"a": 1}' }]]) }));
    expect(JSON.stringify(creation.eval_config.env_args)).toBe('{"__proto__":{"a":1}}');
  });
});
