import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn, launchBrowser, type OpenedDashboard, openDashboard } from "../../support/browser/dashboard-browser.ts";
import { PATIENCE_MS } from "../../support/browser/dashboard-place.ts";
import { viewFolders } from "../../support/browser/viewed-folders.ts";
import { type CliProcess, Workplace } from "../../support/cli/cli-process.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

const browserPath = findBrowser();
const FIXTURES = new URL("../../fixtures/", import.meta.url).pathname;
/** What a model, or whoever names a folder, may write. */
const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;

/** What somebody may call a folder: markup, a character that turns the text around, one that ends a line. */
const HOSTILE_FOLDER = `<img src=x onerror="document.title='taken'">\u202etxt\nrm -rf`;

let place: Workplace;
let model: ModelServer;
let browser: Browser;
let viewing: CliProcess;
let address = "";
/** Ids of two runs of ours, in the order in which they were made. */
let own: readonly string[] = [];

const hostileRow = {
  example_id: 0,
  prompt: [{ role: "user", content: HOSTILE }],
  completion: [{ role: "assistant", content: HOSTILE }],
  reward: 0,
  metrics: {},
};

function hostileFolder(): void {
  const path = join(place.folder, "outputs/evals/hostile");
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "metadata.json"), JSON.stringify({ env_id: "e", model: HOSTILE, name: HOSTILE, num_examples: 1, rollouts_per_example: 1 }));
  writeFileSync(join(path, "results.jsonl"), `${JSON.stringify(hostileRow)}\n{"torn\n`);
  const named = join(place.folder, "outputs/evals", HOSTILE_FOLDER);
  mkdirSync(named);
  writeFileSync(join(named, "metadata.json"), JSON.stringify({ env_id: "e", model: "m", num_examples: 1, rollouts_per_example: 1 }));
  writeFileSync(join(named, "results.jsonl"), `${JSON.stringify(hostileRow)}\n`);
}

beforeAll(async () => {
  if (browserPath === null) return;
  place = new Workplace();
  model = await startModelServer({ answer: "reverse" });
  for (const answer of ["reverse", "wrong"] as const) {
    model.setScript({ answer });
    const known = new Set(place.resultsFolders());
    await place.run(["eval", "run", "reverse-text", "-m", "scripted", "-b", model.url, "-n", "3", "-r", "2"]);
    own = [
      ...own,
      ...place
        .resultsFolders()
        .filter((folder) => !known.has(folder))
        .map((folder) => folder.split("/").at(-1) ?? ""),
    ];
  }
  cpSync(join(FIXTURES, "verifiers-folders/0.1.14-finished"), join(place.folder, "outputs/evals/python"), { recursive: true });
  hostileFolder();
  ({ viewing, address } = await viewFolders(place));
  browser = await launchBrowser(browserPath);
}, 3 * PATIENCE_MS);
afterAll(async () => {
  await browser?.close();
  place?.remove();
  await model?.close();
});

describe.skipIf(browserPath === null)(`results folders in the dashboard ${NEEDS_BROWSER}`, { timeout: 3 * PATIENCE_MS }, () => {
  /** Opens a page, does `work`, and holds it to no fault unseen. */
  const opening = async (page: string, work: (dashboard: OpenedDashboard) => Promise<void>): Promise<void> => {
    const dashboard = await openDashboard(browser, `${address}/dashboard/${page}`);
    try {
      await work(dashboard);
      expect(dashboard.faults).toEqual([]);
    } finally {
      await dashboard.close();
    }
  };

  it("are listed with where they are, and nothing offers what cannot be done to them", () =>
    opening("", async ({ page }) => {
      await page.locator("a.run-link", { hasText: "outputs/evals/python" }).waitFor();
      expect(await page.locator("tbody tr").count()).toBe(5);
      expect(await page.locator("header nav a").allTextContents()).toEqual(["Runs", "Compare"]);
      await page.getByText("Folders:").waitFor();
      expect(await barriersIn(page)).toEqual([]);
      await page.keyboard.press("g");
      await page.keyboard.press("n");
      expect(new URL(page.url()).pathname).toBe("/dashboard/");
    }));

  it("lead from a run of ours to its samples, and to a rollout", () =>
    opening(`evaluations/${own[0]}`, async ({ page }) => {
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.getByText("Completed").waitFor();
      await page.getByText(`outputs/evals/reverse-text--scripted/${own[0]}`).waitFor();
      for (const name of ["Delete", "Resume", "Share", "Again with changes"]) expect(await page.getByRole("button", { name }).count(), name).toBe(0);
      await page.getByRole("link", { name: "Samples", exact: true }).first().click();
      await page.getByText("6 rollouts").waitFor();
      await page.getByRole("link", { name: "0 · 1" }).click();
      await page.locator("article, .message", { hasText: "assistant" }).first().waitFor();
      expect(new URL(page.url()).pathname).toContain(`/evaluations/${own[0]}/samples/0/1`);
    }));

  it("are held against each other", () =>
    opening(`compare?runs=${own.join(",")}`, async ({ page }) => {
      await page.getByText("joined: 3 examples.").waitFor();
      await page.getByText("worse").first().waitFor();
      expect(await barriersIn(page)).toEqual([]);
    }));

  it("of the Python library are shown with its log's and its rows' numbers", () =>
    opening("?q=python", async ({ page }) => {
      await page.locator("a.run-link", { hasText: "python" }).click();
      await page.getByText("12 of 12 rollouts").waitFor();
      await page.getByText(/95 % interval .* over 6 examples/).waitFor();
    }));

  it("with hostile names and rows run nothing, and say which lines are none", () =>
    opening("?q=onerror", async ({ page }) => {
      await page.locator("a.run-link", { hasText: "script" }).click();
      await page.getByText("1 line of results.jsonl cannot be read").waitFor();
      await page.getByRole("link", { name: "Samples", exact: true }).first().click();
      await page.getByRole("link", { name: "0", exact: false }).first().waitFor();
      expect(await page.title()).not.toBe("taken");
    }));

  it("with hostile folder names are shown by what stands in them, in one line", () =>
    opening("?q=txt", async ({ page }) => {
      const link = page.locator("a.run-link");
      await link.waitFor();
      const name = (await link.textContent()) ?? "";
      expect(name).toContain("<img src=x onerror=");
      expect(name).not.toMatch(/[\u202e\n]/);
      await link.click();
      await page.waitForURL(/evaluations\/[0-9a-f]{8}/);
      await page.getByText("1 of 1 rollouts").waitFor();
      expect(await page.locator("img").count()).toBe(0);
      expect(await page.title()).not.toBe("taken");
    }));

  it("have no barriers and fit, in both themes, on a phone and on a desk", async () => {
    const [run] = own;
    for (const [path, shown] of [
      ["", "a.run-link"],
      [`evaluations/${run}`, "text=Completed"],
      [`evaluations/${run}/samples`, "text=6 rollouts"],
      [`evaluations/${run}/samples/0/1`, ".message"],
      [`compare?runs=${own.join(",")}`, "text=joined: 3 examples."],
    ] as const)
      for (const [colorScheme, width] of [
        ["light", 390],
        ["dark", 390],
        ["dark", 1_280],
      ] as const) {
        const { page, faults, close } = await openDashboard(browser, `${address}/dashboard/${path}`, { colorScheme, viewport: { width, height: 800 } });
        await page.locator(shown).first().waitFor();
        expect(await barriersIn(page), `${path} ${colorScheme} ${width}`).toEqual([]);
        expect(await page.evaluate<number>("document.documentElement.scrollWidth"), `${path} ${width}`).toBeLessThanOrEqual(width);
        expect(faults).toEqual([]);
        await close();
      }
  });

  it("are gone through by keys alone, from the list to a rollout and back", () =>
    opening("?q=reverse-text", async ({ page }) => {
      await page.locator("a.run-link").nth(1).waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      await page.waitForURL(/evaluations\/[0-9a-f]{8}/);
      await page.getByText("6 of 6 rollouts").waitFor();
      await page.getByRole("link", { name: "Samples", exact: true }).first().press("Enter");
      await page.waitForURL(/\/samples/);
      await page.locator(".grid-rows [role=row]").first().waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      await page.waitForURL(/samples\/\d+\/\d+/);
      await page.locator(".message").first().waitFor();
      await page.keyboard.press("Escape");
      await page.waitForURL(/\/samples(?:\?|$)/);
    }));

  it("have none of the pages of a service, and lead back from there", () =>
    opening("schedules", async ({ page }) => {
      await page.getByText("Of results folders there are runs, samples, rollouts and comparisons.").waitFor();
      await page.keyboard.press("Control+k");
      const palette = page.getByRole("dialog");
      await palette.waitFor();
      expect(await palette.textContent()).not.toMatch(/New run|Schedules|Evaluators|Settings|Environments/);
      await page.keyboard.press("Escape");
      await page.getByRole("main").getByRole("link", { name: "Runs" }).click();
      await page.locator("a.run-link").first().waitFor();
    }));

  it("that grow are followed", async () => {
    const path = join(place.folder, "outputs/evals/growing");
    mkdirSync(path);
    const row = (id: number): string => `${JSON.stringify({ ...hostileRow, example_id: id })}\n`;
    writeFileSync(join(path, "metadata.json"), JSON.stringify({ env_id: "e", model: "m", name: "growing", num_examples: 3, rollouts_per_example: 1 }));
    writeFileSync(join(path, "results.jsonl"), row(0));
    await opening("", async ({ page }) => {
      const shown = page.locator("tbody tr", { hasText: "growing" });
      await shown.getByText("1 of 3").waitFor();
      await shown.locator("a.run-link").click();
      await page.getByText("1 of 3 rollouts").waitFor();
      appendFileSync(join(path, "results.jsonl"), row(1) + row(2));
      await page.getByText("3 of 3 rollouts").waitFor();
      await page.getByText("Completed").first().waitFor();
    });
  });

  it("answer as a service does to which the folder is pushed", async () => {
    const serving = place.start(["serve", "--port", "0"]);
    await serving.says("Edgewise listens on", PATIENCE_MS);
    const folder = join(place.folder, "outputs/evals/python");
    const { stdout } = await place.run(["push", folder]);
    const pushed = /evaluation ([0-9a-f]{8})/.exec(stdout)?.[1] ?? "";
    const service = /http:\/\/127\.0\.0\.1:\d+/.exec(serving.stdout())?.[0] ?? "";
    const linesOf = async (base: string, id: string): Promise<unknown[]> =>
      (await (await fetch(`${base}/api/v1/evaluations/${id}/columns`)).text())
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ kind }) => kind === "block");
    const list = (await (await fetch(`${address}/api/v1/evaluations?search=python`)).json()) as { evaluations: { evaluation_id: string }[] };
    const told = await linesOf(service, pushed);
    expect(told).toHaveLength(1);
    expect(await linesOf(address, list.evaluations[0]?.evaluation_id ?? "")).toEqual(told);
    serving.interrupt();
    await serving.ended;
  });

  it("stay as they are, and the command ends by Ctrl-C", async () => {
    const file = join(place.folder, "outputs/evals/python/results.jsonl");
    const before = readFileSync(file, "utf8");
    expect((await fetch(`${address}/api/v1/evaluations/${own[0]}`, { method: "DELETE" })).status).toBe(403);
    viewing.interrupt();
    expect(await viewing.ended).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(before);
  });
});
