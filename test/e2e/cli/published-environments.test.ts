import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { metadataOf, rowsOf, Workplace } from "../../support/cli/cli-process.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

let place: Workplace;
let model: ModelServer;
/** A service that stays, of which every command of this folder is a client. */
beforeAll(async () => {
  place = new Workplace();
  model = await startModelServer();
  writeFileSync(join(place.folder, "package.json"), '{"type": "module"}');
  const serve = place.start(["serve", "--port", "0"]);
  await serve.says("Edgewise listens on", 40_000);
}, 60_000);
afterAll(async () => {
  place.remove();
  await model.close();
});

/** Every answer is worth so much. */
const write = (worth: number): void =>
  writeFileSync(
    join(place.folder, "worth.ts"),
    `import { defineEnvironment, Rubric, SingleTurnEnv, z } from "edgewise";
const rows = Array.from({ length: 9 }, (_, n) => ({ question: "question " + n }));
export default defineEnvironment({ id: "worth", version: "1.0.0", description: "Is worth something.", args: z.object({}),
  load: () => new SingleTurnEnv({ dataset: rows, rubric: new Rubric([function worth() { return ${worth}; }]) }) });
`,
  );
const endpoint = (): string[] => ["-m", "scripted", "-b", model.url];
const folderOf = (stdout: string): string => /Results: (\S+)/.exec(stdout)?.[1] ?? "";

describe("a published environment", () => {
  it("is run by its name, and a run goes on with the code that it was made with, whatever is pushed or deleted meanwhile", async () => {
    write(1);
    expect(await place.run(["env", "push", "worth.ts"])).toMatchObject({ code: 0, stdout: "edgewise/worth@1.0.0\n" });
    const first = await place.run(["eval", "run", "edgewise/worth", ...endpoint(), "-n", "3", "-r", "1"]);
    expect(first.code, first.stderr).toBe(0);
    const folder = folderOf(first.stdout);
    expect(folder).toMatch(/^outputs\/evals\/edgewise\/worth--scripted\/[0-9a-f]{8}$/);

    write(0.25);
    const taken = await place.run(["env", "push", "worth.ts"]);
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringMatching(/sha256 [0-9a-f]{64}, and this is [0-9a-f]{64}/)]);
    expect((await place.run(["env", "push", "worth.ts", "--version", "1.1.0"])).code).toBe(0);
    expect((await place.run(["env", "delete", "edgewise/worth@1.0.0"])).code).toBe(0);

    const grown = await place.run(["eval", "run", "edgewise/worth", "-R", folder, ...endpoint(), "-n", "5", "-r", "1"]);
    expect(grown.code, grown.stderr).toBe(0);
    const rows = rowsOf(join(place.folder, folder));
    expect(rows.map((row) => (row as unknown as { reward: number }).reward)).toEqual([1, 1, 1, 1, 1]);
    expect(metadataOf(join(place.folder, folder))).toMatchObject({ env_id: "edgewise/worth", edgewise: { env_version: "1.0.0", status: "COMPLETED" } });

    const fresh = await place.run(["eval", "run", "edgewise/worth", ...endpoint(), "-n", "2", "-r", "1"]);
    expect(fresh.code, fresh.stderr).toBe(0);
    expect(metadataOf(join(place.folder, folderOf(fresh.stdout)))).toMatchObject({ avg_reward: 0.25, edgewise: { env_version: "1.1.0" } });
    const gone = await place.run(["eval", "run", "edgewise/worth@1.0.0", ...endpoint(), "-n", "1"]);
    expect([gone.code, gone.stderr]).toEqual([2, expect.stringMatching(/edgewise\/worth@1\.0\.0 is deleted[\s\S]*The latest is edgewise\/worth@1\.1\.0/)]);
  }, 120_000);
});
