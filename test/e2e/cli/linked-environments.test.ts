import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { metadataOf, rowsOf, Workplace } from "../../support/cli/cli-process.ts";
import { type ListeningServer, serveScripted } from "../../support/links/serve-scripted.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

const TOKEN = "tok-9f31c7a2b5d84e60";
const DEPTH = { name: "depth", schema: { type: "integer" }, required: false, default: 2, description: "How deep." };
let place: Workplace;
let model: ModelServer;
let server: ListeningServer;
/** A service that stays, of which every command of this folder is a client. */
beforeAll(async () => {
  place = new Workplace();
  model = await startModelServer();
  server = await serveScripted({ token: TOKEN, args: [DEPTH] });
  const serve = place.start(["serve", "--port", "0"]);
  await serve.says("Edgewise listens on", 40_000);
}, 60_000);
afterAll(async () => {
  place.remove();
  await server.close();
  await model.close();
});

const endpoint = (): string[] => ["-m", "scripted", "-b", model.url];
const folderOf = (stdout: string): string => /Results: (\S+)/.exec(stdout)?.[1] ?? "";
const link = (more: readonly string[] = []) =>
  place.run(["env", "link", "turn-round", server.url, "--token-var", "TURN_TOKEN", ...more], { TURN_TOKEN: TOKEN });

describe("a linked environment", () => {
  it("is linked with the token of a variable, listed with its arguments, evaluated by its name, and unlinked", async () => {
    const missing = await place.run(["env", "link", "turn-round", server.url, "--token-var", "TURN_TOKEN"]);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("TURN_TOKEN is not set")]);
    const linked = await link();
    expect(linked.code, linked.stderr).toBe(0);
    expect(linked.stdout).toMatch(
      /^turn-round 1\.0\.0 \(linked\)\n {2}Turns words round\.\n {2}at http:.*linked .* by edgewise\n {2}code f{64}\n {2}by default -n 2 -r 2\n.*depth/,
    );
    for (const command of [
      ["env", "list"],
      ["env", "info", "turn-round"],
    ]) {
      const told = await place.run(command);
      expect([told.code, told.stdout]).toEqual([0, expect.stringMatching(/turn-round 1\.0\.0 \(linked\)[\s\S]*depth/)]);
    }
    expect(JSON.parse((await place.run(["env", "list", "-o", "json"])).stdout)).toContainEqual(
      expect.objectContaining({ id: "turn-round", path: null, linked: expect.objectContaining({ urls: [server.url], digest: "f".repeat(64) }) }),
    );
    const status = await place.run(["env", "status", "turn-round"]);
    expect([status.code, status.stdout]).toEqual([
      0,
      expect.stringMatching(/turn-round 1\.0\.0 \(linked\): healthy\n.*healthy: protocol 1, version 1\.0\.0, \d+ conversations, 0 examples under way\n/),
    ]);

    const played = await place.run(["eval", "run", "turn-round", ...endpoint(), "-n", "3", "-r", "2", "-a", '{"depth": 3}']);
    expect(played.code, played.stderr).toBe(0);
    const folder = folderOf(played.stdout);
    expect(rowsOf(join(place.folder, folder))).toHaveLength(6);
    expect(metadataOf(join(place.folder, folder))).toMatchObject({
      env_id: "turn-round",
      avg_reward: 1,
      env_args: { depth: 3 },
      edgewise: { env_version: "1.0.0", status: "COMPLETED" },
    });
    expect(server.opened.at(-1)).toMatchObject({ args: { depth: 3 }, keys: {} });
    const refused = await place.run(["eval", "run", "turn-round", ...endpoint(), "-a", '{"width": 3}']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("width is no argument of turn-round")]);

    server.script.source = "e".repeat(64);
    const other = await place.run(["env", "status", "turn-round"]);
    expect([other.code, other.stdout]).toEqual([1, expect.stringMatching(/not usable\n.*has other code[\s\S]*env link turn-round/)]);
    server.script.source = "f".repeat(64);
    const gone = await place.run(["env", "unlink", "turn-round"]);
    expect([gone.code, gone.stdout]).toEqual([0, expect.stringContaining("is unlinked")]);
    const nothing = await place.run(["eval", "run", "turn-round", ...endpoint()]);
    expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining("turn-round")]);
    expect((await place.run(["env", "unlink", "turn-round"])).code).toBe(1);
    for (const { stdout, stderr } of [missing, linked, status, played, refused, other]) expect(stdout + stderr).not.toContain(TOKEN);
  }, 180_000);

  it("that cannot be reached, or has another token, is not linked, and it is said what to do", async () => {
    const none = await place.run(["env", "link", "turn-round", "http://127.0.0.1:9", "--token-var", "TURN_TOKEN"], { TURN_TOKEN: TOKEN });
    expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/http:\/\/127\.0\.0\.1:9[\s\S]*edgewise_env/)]);
    const wrong = await place.run(["env", "link", "turn-round", server.url, "--token-var", "TURN_TOKEN"], { TURN_TOKEN: "something-else-99" });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("refuses the token")]);
    expect(wrong.stderr).not.toContain("something-else-99");
    for (const args of [
      ["env", "link", "edgewise/x", server.url],
      ["env", "link", "a", "ftp://x"],
      ["env", "link", "a"],
    ])
      expect((await place.run([...args, "--token-var", "TURN_TOKEN"], { TURN_TOKEN: TOKEN })).code, args.join(" ")).toBe(2);
  }, 60_000);
});
