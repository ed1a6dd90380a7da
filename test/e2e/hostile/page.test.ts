import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readLock } from "../../../src/cli/state/state-lock.ts";
import { Browser, findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { until, Workplace } from "../../support/cli/cli-process.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

/** A name of the attacker's that resolves to this machine, as a name of anybody's may at its second look-up. */
const FOREIGN = "evil.example";
const PATIENCE_MS = 60_000;
const browserPath = findBrowser();
const attacks = readFileSync(fileURLToPath(new URL("../../support/browser/attacking-page.js", import.meta.url)), "utf8");

let place: Workplace;
let model: ModelServer;
let attacker: Server;
let browser: Browser;
let service = "";
let id = "";

beforeAll(async () => {
  if (browserPath === null) return;
  place = new Workplace();
  // It answers after everything is over.
  model = await startModelServer({ answer: { text: "late" }, latency_ms: 600_000 });
  await place.start(["serve", "--port", "0"]).says("Edgewise listens on");
  service = `http://127.0.0.1:${readLock(place.state)?.port}`;
  attacker = createServer((_request, response) => response.setHeader("content-type", "text/html").end(`<title>attack</title><script>${attacks}</script>`));
  await new Promise<void>((resolve) => attacker.listen(0, "127.0.0.1", resolve));
  const created = await fetch(`${service}/api/v1/hosted-evaluations`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      environment_ids: ["edgewise/reverse-text"],
      inference_model: "scripted",
      eval_config: { num_examples: 2, rollouts_per_example: 1, api_base_url: model.url, api_key_var: "PRIME_API_KEY" },
    }),
  });
  id = ((await created.json()) as { evaluation_id: string }).evaluation_id;
  await until(
    async () => (await state()).status === "RUNNING",
    PATIENCE_MS,
    () => "the run to be worked on",
  );
  browser = await Browser.start(browserPath, [FOREIGN]);
}, 2 * PATIENCE_MS);
afterAll(async () => {
  if (browserPath === null) return;
  await browser?.close();
  attacker?.close();
  place?.remove();
  await model?.close();
});

interface RunState {
  readonly status: string;
  readonly suspended: boolean;
}
const state = async (): Promise<RunState> => {
  const run = (await (await fetch(`${service}/api/v1/evaluations/${id}`)).json()) as { status: string; edgewise: { suspended: boolean } };
  return { status: run.status, suspended: run.edgewise.suspended };
};
const runs = async (): Promise<number> => ((await (await fetch(`${service}/api/v1/evaluations/`)).json()) as { total: number }).total;

/** What a page came by: texts that it could read, and things that loaded. */
interface Loot {
  readonly read: readonly string[];
  readonly loaded: readonly string[];
  readonly tried: number;
}

describe.skipIf(browserPath === null)(`a page that attacks the local service ${NEEDS_BROWSER}`, () => {
  const port = (): number => (attacker.address() as AddressInfo).port;

  it.each([
    ["of another port of this machine", () => `http://127.0.0.1:${port()}/`, () => service],
    ["of another port, under the other name of this machine", () => `http://localhost:${port()}/`, () => service],
    ["that asks by the same name, another port", () => `http://localhost:${port()}/`, () => service.replace("127.0.0.1", "localhost")],
    ["of elsewhere", () => `http://${FOREIGN}:${port()}/`, () => service],
    ["of elsewhere, whose name leads to this machine", () => `http://${FOREIGN}:${port()}/`, () => service.replace("127.0.0.1", FOREIGN)],
  ])("%s reads nothing, changes nothing, and ends nothing", { timeout: 3 * PATIENCE_MS }, async (_where, from, target) => {
    const { workerd_pid } = readLock(place.state) ?? {};
    const page = await browser.open(from());
    const loot = await page.evaluate<Loot>(`attack(${JSON.stringify(target())}, ${JSON.stringify(id)})`);
    expect(loot.tried).toBeGreaterThan(40);
    expect({ read: loot.read, loaded: loot.loaded }).toEqual({ read: [], loaded: [] });
    expect(await state()).toEqual({ status: "RUNNING", suspended: false });
    expect(await runs()).toBe(1);
    expect(readLock(place.state)).toMatchObject({ workerd_pid });
  });

  it("gets nothing either where it has made its own name the service's (DNS rebinding)", { timeout: 3 * PATIENCE_MS }, async () => {
    // Its page came from its server; then the name was changed to this machine: what it asks now is of its own origin, and comes here.
    const page = await browser.open(`${service.replace("127.0.0.1", FOREIGN)}/dashboard/`);
    const shown = await page.evaluate<string>("document.body.innerText");
    expect(shown).toContain("unauthorized");
    for (const path of ["/api/v1/evaluations/", `/api/v1/evaluations/${id}`, `/dashboard/evaluations/${id}`, "/cdn-cgi/local/r2/public/edgewise/x"]) {
      const status = await page.evaluate<number>(`fetch(${JSON.stringify(path)}).then((response) => response.status)`);
      expect([401, 404], path).toContain(status);
    }
    const interrupted = await page.evaluate<number>(`fetch("/api/v1/evaluations/${id}/interrupt", { method: "POST" }).then((response) => response.status)`);
    expect(interrupted).toBe(401);
    expect(await state()).toEqual({ status: "RUNNING", suspended: false });
  });

  it("would have had it, were it a program of this machine or the service's own page", { timeout: 2 * PATIENCE_MS }, async () => {
    const own = await browser.open(`${service}/dashboard/`);
    await until(
      async () => (await own.evaluate<string>("document.body.innerText")).includes("reverse-text"),
      PATIENCE_MS,
      () => "the page to show the run",
    );
    const interrupted = await fetch(`${service}/api/v1/evaluations/${id}/interrupt`, { method: "POST" });
    expect(interrupted.status).toBe(200);
    await until(
      async () => (await state()).suspended,
      PATIENCE_MS,
      () => "the run to be suspended",
    );
  });
});
