import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { metadataOf, rowsOf, type Workplace } from "../../support/cli/cli-process.ts";
import { freshPlaces } from "../../support/cli/fresh-place.ts";
import type { ModelServer } from "../../support/model-server/model-server.ts";

let place: Workplace;
let model: ModelServer;
freshPlaces((fresh) => {
  ({ place, model } = fresh);
});

const write = (name: string, text: string): void => writeFileSync(join(place.folder, name), text);
const endpoint = (): string[] => ["-m", "scripted", "-b", model.url];

/** Asks what the host should keep to itself, and puts what it found into its question. */
const CURIOUS = `
import { defineEnvironment, Rubric, SingleTurnEnv, z } from "edgewise";
async function look() {
  const found = [JSON.stringify(globalThis.process?.env ?? {})];
  for (const name of [["cloudflare", "workers"].join(":"), ["node", "fs"].join(":")]) {
    try {
      const module = await import(name);
      found.push(JSON.stringify(module.env ?? {}), String(module.readFileSync?.("/etc/passwd") ?? ""));
    } catch {}
  }
  return found.join(" ");
}
export default defineEnvironment({
  id: "curious", version: "1.0.0", description: "Looks around.", args: z.object({}), keys: ["MAP_API_KEY"],
  load: (_args, { keys }) => new SingleTurnEnv({
    dataset: async function* () { yield { question: "found: " + (await look()) + " own: " + keys.MAP_API_KEY }; },
    rubric: new Rubric([function nothing() { return 0; }]),
  }),
});
`;

/** Calls a place of its own, and says what came of it. */
const calling = (definition: string, url: string): string => `
import { defineEnvironment, Rubric, SingleTurnEnv, z } from "edgewise";
const told = () => fetch("${url}").then(({ status }) => "status " + status, (error) => error.message);
export default defineEnvironment({
  id: "calling", version: "1.0.0", description: "Calls.", args: z.object({}), ${definition}
  load: () => new SingleTurnEnv({
    dataset: async function* () { yield { question: await told() }; },
    rubric: new Rubric([function nothing() { return 0; }]),
  }),
});
`;

/** Prints a key that it should not know, and breaks in its reward function and in its data set. */
const TORN = `
import { defineEnvironment, Rubric, SingleTurnEnv, z } from "edgewise";

interface Row {
  readonly question: string;
  readonly answer: string;
}

function strict({ answer }: { answer: string }): number {
  console.log("scores", { example: answer, key: "sk-of-the-model" });
  if (answer === "two") {
  throw new RangeError("not this one");
  }
  return 1;
}

export default defineEnvironment({
  id: "torn", version: "1.0.0", description: "Breaks.", args: z.object({}),
  load: () => new SingleTurnEnv({
    dataset: async function* (count: number): AsyncGenerator<Row> {
      for (const answer of ["one", "two"]) yield { question: answer, answer };
      throw new Error("no third");
    },
    rubric: new Rubric([strict]),
  }),
});
`;

describe("an environment of one's own", () => {
  it("is written by env init, runs by its name, is listed, and is resumed by its name", async () => {
    expect(await place.run(["env", "init", "my-sums"])).toMatchObject({ code: 0, stdout: expect.stringContaining("wrote environments/my_sums/my_sums.ts") });
    expect(await place.run(["env", "init", "my_sums"])).toMatchObject({ code: 2, stderr: expect.stringContaining("exists already") });
    const { code, stdout, stderr } = await place.run(["eval", "run", "my-sums", ...endpoint(), "-n", "3", "-a", '{"largest": 3}']);
    expect(stderr).toMatch(/^Run [0-9a-f]{8}: my-sums with scripted/);
    expect(code).toBe(0);
    const folder = /Results: (\S+)/.exec(stdout)?.[1] ?? "";
    expect(folder).toMatch(/^environments\/my_sums\/outputs\/evals\/my-sums--scripted\/[0-9a-f]{8}$/);
    const rows = rowsOf(join(place.folder, folder));
    expect(rows).toHaveLength(6);
    expect(rows[0]).toMatchObject({ correctNumber: expect.any(Number), answerLength: expect.any(Number), error: null });
    expect(metadataOf(join(place.folder, folder))).toMatchObject({ edgewise: { status: "COMPLETED", env_version: "0.1.0" } });
    const grown = await place.run(["eval", "run", "my-sums", "-R", folder, "-n", "4"]);
    expect(grown).toMatchObject({ code: 0, stderr: expect.stringContaining("2 rollouts to do") });
    // The reward function is another one now: its rewards do not stand beside the others by accident.
    const file = join(place.folder, "environments/my_sums/my_sums.ts");
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace("return parser.parseAnswer(completion) === answer;", "return parser.parseAnswer(completion) !== answer;"),
    );
    const before = readFileSync(join(place.folder, folder, "results.jsonl"), "utf8");
    const refused = await place.run(["eval", "run", "my-sums", "-R", folder, "-n", "5"]);
    expect(refused.stderr).toMatch(/env_digest: the run was made with v2:\w{12}….* is now v2:\w{12}….*--accept-code-change/s);
    expect(refused.code).not.toBe(0);
    expect(readFileSync(join(place.folder, folder, "results.jsonl"), "utf8")).toBe(before);
    const taken = await place.run(["eval", "run", "my-sums", "-R", folder, "-n", "5", "--accept-code-change"]);
    expect(taken).toMatchObject({
      code: 0,
      // Once, though the log has it too.
      stderr: expect.stringMatching(/^(?:(?!warning: The code).)*warning: The code of the environment changed from v2:(?:(?!warning: The code).)*$/s),
      stdout: expect.stringMatching(/^code: 2 versions of the environment: v2:\w+… 8 rollouts, v2:\w+… 2 rollouts$/m),
    });
    expect(readFileSync(join(place.folder, folder, "results.jsonl"), "utf8").startsWith(before)).toBe(true);
    expect(rowsOf(join(place.folder, folder)).map((row) => "env_digest" in row)).toEqual([...Array(8).fill(false), true, true]);
    const { edgewise } = metadataOf(join(place.folder, folder));
    expect(Object.values((edgewise as unknown as { env_digests: Record<string, number> }).env_digests)).toEqual([8, 2]);
    const listed = await place.run(["env", "list", "-o", "json"]);
    expect(JSON.parse(listed.stdout)).toContainEqual(
      expect.objectContaining({
        id: "my-sums",
        defaults: { num_examples: 10, rollouts_per_example: 2 },
        args: [expect.objectContaining({ name: "largest", default: 20 })],
      }),
    );
    expect((await place.run(["env", "list"])).stdout).toMatch(
      /my-sums 0\.1\.0 \(environments\/my_sums\/my_sums\.ts\)\n.*\n.*\n {2}largest \(integer, default 20\): largest number in a sum/,
    );
  });

  it("sees neither the keys of models nor bindings nor files, only the keys that it declares", async () => {
    write("curious.ts", CURIOUS);
    const secrets = { MODEL_API_KEY: "sk-of-the-model", MAP_API_KEY: "of-the-map", OTHER_TOKEN: "of-somebody" };
    const { code } = await place.run(["eval", "run", "./curious.ts", ...endpoint(), "-k", "MODEL_API_KEY", "-n", "1", "-r", "1"], secrets);
    expect(code).toBe(0);
    expect(model.ledger.stats().total).toBe(1);
    const row = JSON.stringify(rowsOf(place.results)[0]);
    expect(row).toContain("own: of-the-map");
    for (const hidden of ["sk-of-the-model", "of-somebody", "LOCAL_SECRETS", "BOOT_ID", "root:"]) expect(row).not.toContain(hidden);
    expect(await place.run(["eval", "run", "./curious.ts", ...endpoint(), "-n", "1"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("MAP_API_KEY"),
    });
  });

  it("calls the hosts that it declares, and is told what to declare for others", async () => {
    const url = `${model.url.replace("127.0.0.1", "localhost")}/nothing-here`;
    const { host } = new URL(url);
    const run = async (definition: string): Promise<string> => {
      rmSync(join(place.folder, "outputs"), { recursive: true, force: true });
      write("calling.ts", calling(definition, url));
      expect(await place.run(["eval", "run", "./calling.ts", ...endpoint(), "-n", "1", "-r", "1"])).toMatchObject({ code: 0 });
      return JSON.stringify(rowsOf(place.results)[0]);
    };
    expect(await run(`hosts: ["${host}"],`)).toContain("status 404");
    expect(await run("")).toContain(`to call ${host}, its definition declares hosts`);
  });

  it("shows with -v what it prints, and says where in its source it broke", async () => {
    write("torn.ts", TORN);
    const secrets = { MODEL_API_KEY: "sk-of-the-model" };
    const { code, stderr } = await place.run(["eval", "run", "./torn.ts", ...endpoint(), "-k", "MODEL_API_KEY", "-n", "2", "-r", "1", "-v"], secrets);
    expect(code).toBe(0);
    expect(stderr).toContain("\n[env] scores { example: 'one', key: '[secret]' }\n");
    expect(stderr).toContain("First scorer_error: strict: not this one (torn.ts:12:9)");
    expect(rowsOf(place.results).map(({ error }) => (error as { error_chain_repr: string } | null)?.error_chain_repr ?? null)).toEqual([
      null,
      expect.stringMatching(/^ScorerError\('strict: not this one \(torn\.ts:12:9\)'\) -> /),
    ]);
    expect(readFileSync(join(place.results, "eval.log"), "utf8")).toMatch(/ - INFO - \[env\] scores \{ example: 'two', key: '\[secret\]' \}$/m);
    const broken = await place.run(["eval", "run", "./torn.ts", ...endpoint(), "-k", "MODEL_API_KEY", "-n", "3", "-r", "1"], secrets);
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringContaining("could not make its examples: no third (torn.ts:22:13)") });
    expect(broken.stderr).not.toContain("[env]");
  });

  it("is tried with one example, message by message, of which nothing stays", async () => {
    write("torn.ts", TORN);
    const keys = { MODEL_API_KEY: "sk-of-the-model" };
    const tried = await place.run(["eval", "try", "./torn.ts", ...endpoint(), "-k", "MODEL_API_KEY"], keys);
    expect(tried.code).toBe(0);
    expect(tried.stdout).toMatch(/^Example 0 of torn with scripted\n── user ─+\none\n── assistant · turn 1 · .* tokens ─+\n/);
    expect(tried.stdout).toContain("\nINFO [env] scores { example: 'one', key: '[secret]' }\n");
    expect(tried.stdout).toMatch(/\nstrict +1 +× 1 += 1\nnum_turns +1 +metric\nreward += 1\n/);
    expect(model.ledger.stats().total).toBe(1);
    expect(readdirSync(place.folder).filter((name) => name === ".edgewise" || name === "outputs")).toEqual([]);
    writeFileSync(join(place.folder, "torn.ts"), TORN.replace('["one", "two"]', '["two"]'));
    const broken = await place.run(["eval", "try", "./torn.ts", ...endpoint(), "-k", "MODEL_API_KEY"], keys);
    expect(broken).toMatchObject({ code: 1, stdout: expect.stringContaining("scorer_error: ScorerError('strict: not this one (torn.ts:12:9)')") });
  });

  it.each([
    ["there is nothing at the path", "./none.ts", null, /there is no environment at .*none\.ts/],
    ["it cannot be compiled", "./torn.ts", "export default {", /torn\.ts:1:1\d: .*end of file/],
    [
      "it wants files",
      "./files.ts",
      'import { readFileSync } from "node:fs";\nexport default readFileSync;',
      /files\.ts:1:\d+: node:fs cannot be imported: .*rows come by reference/,
    ],
    ["it exports none", "./empty.ts", "export const x = 1;", /exports no environment/],
    ["its code breaks", "./broken.ts", 'throw new Error("no such thing");', /broken\.ts cannot be loaded: Error: no such thing/],
  ])("is refused before anything starts when %s", async (_, path, text, message) => {
    if (text !== null) write(path, text);
    const { code, stderr } = await place.run(["eval", "run", path, ...endpoint()]);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(code).toBe(2);
  });

  it("is served with the others, and a changed one is not run by a service that has the old one", async () => {
    mkdirSync(join(place.folder, "environments", "little"), { recursive: true });
    write("environments/little/index.ts", CURIOUS.replace('"curious"', '"little"').replace('keys: ["MAP_API_KEY"],', ""));
    const serve = place.start(["serve", "--port", "0"]);
    await serve.says("Environments: ");
    expect(serve.stdout()).toMatch(/Environments: .*\blittle\b/);
    const run = ["eval", "run", "little", ...endpoint(), "-n", "1", "-r", "1"];
    expect(await place.run(run)).toMatchObject({ code: 0 });
    appendFileSync(join(place.folder, "environments/little/index.ts"), "\nexport const more = 1;\n");
    expect(await place.run(run)).toMatchObject({ code: 1, stderr: expect.stringMatching(/has little as it was before it was changed.*kill \d+/s) });
    serve.interrupt();
    await serve.ended;
    expect(await place.run(run)).toMatchObject({ code: 0 });
  });

  it("need not be installed, and says what replaces that", async () => {
    const { code, stderr } = await place.run(["env", "install", "someone/wordle"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/run from where they are.*npx edgewise eval run \.\/wordle\.ts.*npm install NAME/s);
  });
});
