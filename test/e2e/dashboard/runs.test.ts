import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readLock } from "../../../src/cli/state/state-lock.ts";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn, launchBrowser, type OpenedDashboard, openDashboard } from "../../support/browser/dashboard-browser.ts";
import { type CliProcess, until, Workplace } from "../../support/cli/cli-process.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

const PATIENCE_MS = 60_000;
const browserPath = findBrowser();
/** What somebody may call a run. */
const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>\u202ejavascript:alert(1)`;

let place: Workplace;
let model: ModelServer;
let browser: Browser;
let serving: CliProcess;
let service = "";
let opened: OpenedDashboard[] = [];

const serve = async (port: number): Promise<void> => {
  serving = place.start(["serve", "--port", String(port)]);
  await serving.says("Edgewise listens on", PATIENCE_MS);
  service = `http://127.0.0.1:${readLock(place.state)?.port}`;
};
interface Wish {
  readonly name: string;
  readonly environment?: string;
  readonly examples?: number;
}
async function create({ name, environment = "reverse-text", examples = 2 }: Wish): Promise<string> {
  const response = await fetch(`${service}/api/v1/hosted-evaluations`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      ...{ environment_ids: [environment], inference_model: "scripted", name },
      eval_config: { num_examples: examples, rollouts_per_example: 2, max_concurrent: 2, api_base_url: model.url, api_key_var: "PRIME_API_KEY" },
    }),
  });
  expect(response.status, await response.clone().text()).toBe(200);
  return ((await response.json()) as { evaluation_id: string }).evaluation_id;
}
const settled = (id: string): Promise<void> =>
  until(
    async () => ((await (await fetch(`${service}/api/v1/evaluations/${id}`)).json()) as { edgewise: { settled: boolean } }).edgewise.settled,
    PATIENCE_MS,
    () => `run ${id} to settle`,
  );
async function open(search = "", options = {}, expected?: RegExp): Promise<OpenedDashboard> {
  const dashboard = await openDashboard(browser, `${service}/dashboard/${search}`, options, expected);
  opened.push(dashboard);
  return dashboard;
}
const names = ({ page }: OpenedDashboard): Promise<string[]> => page.locator("a.run-link").allTextContents();
/** Of a shown run, once there is one of that name. */
const row = ({ page }: OpenedDashboard, name: string) => page.locator("tbody tr", { hasText: name });

beforeAll(async () => {
  if (browserPath === null) return;
  place = new Workplace();
  model = await startModelServer({ answer: "reverse" });
  await serve(0);
  browser = await launchBrowser(browserPath);
}, 2 * PATIENCE_MS);
afterAll(async () => {
  if (browserPath === null) return;
  await browser?.close();
  place?.remove();
  await model?.close();
});

describe.skipIf(browserPath === null)(`the page of runs ${NEEDS_BROWSER}`, { timeout: 3 * PATIENCE_MS }, () => {
  const closing = async (work: () => Promise<void>): Promise<void> => {
    opened = [];
    try {
      await work();
      // Nothing was refused, nothing failed unseen, and nobody else was asked for anything.
      expect(opened.flatMap(({ faults }) => faults)).toEqual([]);
    } finally {
      for (const each of opened) await each.close();
    }
  };

  it("says that there is none yet, and how to begin one", () =>
    closing(async () => {
      const { page } = await open();
      await page.getByText("No run yet.").waitFor();
      expect(await page.locator("pre").textContent()).toContain("npx edgewise eval run");
      expect(await barriersIn(page)).toEqual([]);
    }));

  it("shows a run that is begun elsewhere, and follows it to its end without being loaded again", () =>
    closing(async () => {
      const dashboard = await open();
      const { page } = dashboard;
      await page.evaluate("window.sameDocument = true");
      model.setScript({ answer: "reverse", latency_ms: 500 });
      const id = await create({ name: "watched", examples: 8 });
      await row(dashboard, "watched").getByText("Running").waitFor();
      const done = row(dashboard, "watched").locator("progress");
      await expect.poll(() => done.getAttribute("value").then(Number), { timeout: PATIENCE_MS }).toBeGreaterThan(0);
      expect(Number(await done.getAttribute("max"))).toBe(16);
      model.setScript({ answer: "reverse" });
      await settled(id);
      await row(dashboard, "watched").getByText("Completed").waitFor();
      const { edgewise } = (await (await fetch(`${service}/api/v1/evaluations/${id}`)).json()) as { edgewise: { reward_ci95: [number, number] } };
      const [low, high] = edgewise.reward_ci95.map((each) => each.toFixed(3));
      expect(await row(dashboard, "watched").textContent()).toContain(`${low} to ${high}`);
      expect(await row(dashboard, "watched").textContent()).toContain("16 of 16");
      expect(await page.evaluate("window.sameDocument")).toBe(true);
    }));

  it("asks nothing while nobody sees it, and is as the service is when it is seen again", () =>
    closing(async () => {
      const dashboard = await open();
      const { page } = dashboard;
      await row(dashboard, "watched").waitFor();
      const show = (state: string): Promise<void> =>
        page.evaluate(
          `Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true }); document.dispatchEvent(new Event("visibilitychange"))`,
        );
      await show("hidden");
      let asked = 0;
      page.on("request", () => {
        asked += 1;
      });
      const id = await create({ name: "unseen" });
      await settled(id);
      expect([asked, await row(dashboard, "unseen").count()]).toEqual([0, 0]);
      await show("visible");
      await row(dashboard, "unseen").getByText("Completed").waitFor();
      await fetch(`${service}/api/v1/evaluations/${id}`, { method: "DELETE" });
      await row(dashboard, "unseen").waitFor({ state: "detached" });
    }));

  it("finds, filters and sorts runs; the address says how, and the way back leads to it", () =>
    closing(async () => {
      await settled(await create({ name: "beta run" }));
      await settled(await create({ name: "alpha run" }));
      const dashboard = await open();
      const { page } = dashboard;
      await row(dashboard, "alpha run").waitFor();
      expect(await names(dashboard)).toEqual(["alpha run", "beta run", "watched"]);
      await page.getByRole("searchbox").fill("run ALPHA");
      await expect.poll(() => names(dashboard)).toEqual(["alpha run"]);
      expect(new URL(page.url()).searchParams.get("q")).toBe("run ALPHA");
      await page.getByRole("button", { name: "Clear" }).click();
      await expect.poll(() => names(dashboard)).toHaveLength(3);
      await page.getByRole("button", { name: "Created" }).click();
      await expect.poll(() => names(dashboard)).toEqual(["watched", "beta run", "alpha run"]);
      expect(await page.getByRole("columnheader", { name: "Created" }).getAttribute("aria-sort")).toBe("ascending");
      await page.reload();
      await expect.poll(() => names(dashboard)).toEqual(["watched", "beta run", "alpha run"]);
      await page.goBack();
      await expect.poll(() => names(dashboard)).toEqual(["alpha run", "beta run", "watched"]);
      await page.getByLabel("Failed").check();
      await page.getByText("No run is like that.").waitFor();
      await page.getByRole("button", { name: "Show all runs" }).click();
      await expect.poll(() => names(dashboard)).toHaveLength(3);
    }));

  it("is used by keys alone: search, move, choose two, help, and open one", () =>
    closing(async () => {
      const dashboard = await open();
      const { page } = dashboard;
      await row(dashboard, "watched").waitFor();
      const focused = (): Promise<string> => page.evaluate<string>("document.activeElement?.textContent ?? ''");
      await page.keyboard.press("j");
      expect(await focused()).toBe("alpha run");
      await page.keyboard.press("x");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("x");
      await page.getByText("2 runs chosen").waitFor();
      expect(await page.locator(".chosen code").textContent()).toMatch(/^npx edgewise compare [0-9a-f]{8} [0-9a-f]{8}$/);
      expect(new URL(page.url()).searchParams.get("chosen")?.split(",")).toHaveLength(2);
      await page.keyboard.press("Shift+G");
      expect(await focused()).toBe("watched");
      await page.keyboard.press("g");
      await page.keyboard.press("g");
      expect(await focused()).toBe("alpha run");
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keys" }).waitFor();
      expect(await page.getByRole("dialog").textContent()).toContain("Choose the run for a comparison");
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.keyboard.press("/");
      await page.keyboard.type("jx watched");
      expect(await page.getByRole("searchbox").inputValue()).toBe("jx watched");
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Show all runs" }).waitFor();
      await page.goto(`${service}/dashboard/`);
      await row(dashboard, "watched").waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/dashboard\/evaluations\/[0-9a-f]{8}$/);
    }));

  it("runs nothing of what a run is called, and shows it", () =>
    closing(async () => {
      const id = await create({ name: HOSTILE });
      await settled(id);
      const dashboard = await open();
      const { page } = dashboard;
      await row(dashboard, id).waitFor();
      expect((await names(dashboard))[0]).toContain("<script>");
      expect(await page.title()).toBe("Runs · Edgewise");
      expect(await page.locator("tbody img, tbody script").count()).toBe(0);
      expect(await page.evaluate<string>("document.body.innerText")).not.toContain("\u202e");
      await fetch(`${service}/api/v1/evaluations/${id}`, { method: "DELETE" });
    }));

  it("has no barriers in both themes and at three widths, and stays within the screen", () =>
    closing(async () => {
      for (const colorScheme of ["light", "dark"] as const)
        for (const width of [390, 820, 1_440]) {
          const dashboard = await open("?chosen=0000abcd", { colorScheme, viewport: { width, height: 800 } });
          await row(dashboard, "watched").waitFor();
          expect(await barriersIn(dashboard.page), `${colorScheme} ${width}`).toEqual([]);
          expect(await dashboard.page.evaluate<number>("document.documentElement.scrollWidth"), `${width}`).toBeLessThanOrEqual(width);
        }
    }));

  it("says what a refused question was refused for, and tries again", () =>
    closing(async () => {
      const dashboard = await openDashboard(browser, `${service}/health`, {}, /503/);
      opened.push(dashboard);
      const { page } = dashboard;
      await page.route("**/api/v1/evaluations/*", (route) => route.fulfill({ status: 503, json: { detail: "It rests.", code: "internal", hint: "Wait." } }));
      await page.goto(`${service}/dashboard/`);
      await page.getByRole("alert").getByText("It rests.").waitFor();
      expect(await barriersIn(page)).toEqual([]);
      await page.unroute("**/api/v1/evaluations/*");
      await page.getByRole("button", { name: "Try again" }).click();
      await row(dashboard, "watched").waitFor();
    }));

  it("says when the service is gone, keeps what it shows, and is mended when the service is back", () =>
    closing(async () => {
      model.setScript({ answer: "reverse", latency_ms: 3_000 });
      const id = await create({ name: "through a kill", examples: 3 });
      const dashboard = await open("", {}, /ERR_|Failed to load resource/);
      await row(dashboard, "through a kill").getByText("Running").waitFor();
      const port = Number(new URL(service).port);
      process.kill(-serving.pid, "SIGKILL");
      await serving.ended;
      await dashboard.page.getByText(/^Connection lost: these runs are as they were/).waitFor();
      expect(await names(dashboard)).toContain("through a kill");
      model.setScript({ answer: "reverse" });
      await serve(port);
      await dashboard.page.getByText(/^Connection lost/).waitFor({ state: "detached" });
      await settled(id);
      await row(dashboard, "through a kill").getByText("Completed").waitFor();
    }));
});
