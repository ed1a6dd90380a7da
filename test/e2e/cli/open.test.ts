import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Workplace } from "../../support/cli/cli-process.ts";
import { Served } from "../../support/cli/served.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

const TOKEN = "owner-token-of-this-test";

let place: Workplace;
let served: Served;
let model: ModelServer;
let runId: string;

beforeAll(async () => {
  place = new Workplace();
  served = new Served(place);
  model = await startModelServer();
  await served.start();
}, 60_000);
afterAll(async () => {
  await served.end("SIGTERM");
  place.remove();
  await model.close();
});

/** A `PATH` whose `xdg-open` is this; it ends with `code` and leaves what it was given in the file. */
function browser(code: number): { readonly env: Readonly<Record<string, string>>; readonly opened: () => string } {
  const bin = join(place.folder, `bin-${code}`);
  const file = join(bin, "opened");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\nprintf '%s|' "$@" "\${EDGEWISE_TOKEN-no token}" > ${file}\nexit ${code}\n`);
  chmodSync(join(bin, "xdg-open"), 0o755);
  return { env: { PATH: `${bin}:${process.env.PATH}`, DISPLAY: ":99" }, opened: () => (existsSync(file) ? readFileSync(file, "utf8") : "") };
}

describe("a service that stays", () => {
  it("is where the last lines of a run say that it can be looked at", async () => {
    const { stdout } = await place.run(["eval", "run", "reverse-text", "-m", "scripted", "-b", model.url, "-n", "2", "-r", "1"]);
    runId = basename(place.results);
    expect(stdout).toContain(`Dashboard: ${served.url}/dashboard/evaluations/${runId}\nResults: `);
  });

  it.runIf(process.platform === "linux")("is opened in the browser, at its runs, or at one that is named by its id or its folder", async () => {
    const { env, opened } = browser(0);
    expect(await place.run(["open"], { ...env, EDGEWISE_TOKEN: "" })).toMatchObject({ code: 0, stdout: `${served.url}/dashboard/\n`, stderr: "" });
    expect(opened()).toBe(`${served.url}/dashboard/|no token|`);
    const page = `${served.url}/dashboard/evaluations/${runId}`;
    for (const named of [runId, place.results]) expect(await place.run(["open", named, "--print"])).toMatchObject({ code: 0, stdout: `${page}\n`, stderr: "" });
    expect((await fetch(page)).status).toBe(200);
    await place.run(["open", runId], env);
    expect(opened()).toBe(`${page}|no token|`);
  });

  it.runIf(process.platform === "linux")("is told by its address where there is no display, or the browser does not start", async () => {
    const without = { DISPLAY: "", WAYLAND_DISPLAY: "" };
    const said = await place.run(["open"], without);
    expect(said).toMatchObject({ code: 0, stdout: `${served.url}/dashboard/\n`, stderr: expect.stringContaining("no display here") });
    const failed = await place.run(["open"], browser(3).env);
    expect(failed).toMatchObject({ code: 0, stdout: `${served.url}/dashboard/\n`, stderr: expect.stringContaining("xdg-open ended with code 3") });
  });

  it("knows no run by a name that is none, or by an id that it never gave", async () => {
    expect(await place.run(["open", "../evil?x"])).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining('"evil?x" is not a run id') });
    const unknown = await place.run(["open", "00000000", "--print"]);
    expect(unknown).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("the service knows no run 00000000") });
  });

  it("is opened from elsewhere by EDGEWISE_URL, without its token in the address, also by who has none", async () => {
    const there = new Workplace();
    const here = new Workplace();
    const other = new Served(there);
    try {
      await other.start(null, { EDGEWISE_TOKEN: TOKEN });
      const env = { EDGEWISE_URL: `${other.url}/api/v1` };
      const asked = await here.run(["open", "--print"], { ...env, EDGEWISE_TOKEN: TOKEN });
      expect(asked).toMatchObject({ code: 0, stdout: `${other.url}/dashboard/\n`, stderr: "" });
      const signedIn = await here.run(["open", runId, "--print"], env);
      expect(signedIn).toMatchObject({ code: 0, stdout: `${other.url}/dashboard/evaluations/${runId}\n` });
      expect(existsSync(here.state)).toBe(false);
    } finally {
      await other.end("SIGTERM");
      there.remove();
      here.remove();
    }
  }, 30_000);
});

describe("where no service stays", () => {
  it("it says what to type, and makes no state", async () => {
    const empty = new Workplace();
    try {
      const said = await empty.run(["open"]);
      expect(said).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("no service runs in this folder") });
      expect(said.stderr).toContain("npx edgewise serve");
      expect(existsSync(empty.state)).toBe(false);
    } finally {
      empty.remove();
    }
  });

  it("the service of a run that works is opened, with a word that it ends with it, and the run's end names no address", async () => {
    const alone = new Workplace();
    const slow = await startModelServer({ latency_ms: 100 });
    try {
      const run = alone.start(["eval", "run", "reverse-text", "-m", "scripted", "-b", slow.url, "-n", "100", "-r", "1", "-c", "2"]);
      await run.says(/rollouts|Run /, 30_000).catch(() => undefined);
      const opened = await alone.run(["open", "--print"]);
      expect(opened).toMatchObject({ code: 0, stderr: expect.stringMatching(/This service ends with process \d+ \(edgewise eval run reverse-text\)/) });
      expect((await fetch(opened.stdout.trim())).status).toBe(200);
      expect(await run.ended).toBe(0);
      expect(run.stdout()).not.toContain("Dashboard:");
    } finally {
      alone.remove();
      await slow.close();
    }
  }, 60_000);
});
