import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn, type OpenedDashboard } from "../../support/browser/dashboard-browser.ts";
import { DashboardPlace, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";

const browserPath = findBrowser();
/** What whoever writes an environment may say of it. */
const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>\u202e[a](javascript:alert(1))`;

let place: DashboardPlace;
const rows = ({ page }: OpenedDashboard) => page.locator("table.environments tbody tr");
const row = (dashboard: OpenedDashboard, name: string) => rows(dashboard).filter({ has: dashboard.page.getByRole("link", { name, exact: true }) });

async function publish(id: string, version: string, description: string): Promise<void> {
  const text = `import { defineEnvironment, Rubric, SingleTurnEnv, z } from "edgewise";
const args = z.object({ ${JSON.stringify(HOSTILE)}: z.string().default(${JSON.stringify(HOSTILE)}).describe(${JSON.stringify(HOSTILE)}), level: z.enum(["easy", "hard"]).default("easy") });
export default defineEnvironment({ id: "${id}", version: "${version}", description: ${JSON.stringify(description)}, args, hosts: ["api.example.com"],
  load: () => new SingleTurnEnv({ dataset: [{ question: "one" }], rubric: new Rubric([function worth() { return 1; }]) }) });
`;
  const folder = join(place.workplace.folder, id);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${id}.ts`), text);
  writeFileSync(join(folder, "README.md"), `# Of ${version}\n\nIs *worth* reading. ${HOSTILE}\n\n![a picture](https://elsewhere.example/x.png)\n`);
  const pushed = await place.workplace.run(["env", "push", `./${id}`]);
  if (pushed.code !== 0) throw new Error(pushed.stderr);
}

beforeAll(async () => {
  if (browserPath === null) return;
  place = await DashboardPlace.start(browserPath);
  writeFileSync(join(place.workplace.folder, "package.json"), '{"type": "module"}');
  await publish("worth", "1.0.0", "Is worth something.");
  await publish("worth", "1.1.0", HOSTILE);
}, 3 * PATIENCE_MS);
afterAll(() => place?.close());

describe.skipIf(browserPath === null)(`the pages of environments ${NEEDS_BROWSER}`, { timeout: 3 * PATIENCE_MS }, () => {
  const closing = async (work: () => Promise<void>): Promise<void> => {
    expect(await place.faultsOf(work)).toEqual([]);
  };

  it("list what can be run, bundled and published, found by words that the address keeps", () =>
    closing(async () => {
      const dashboard = await place.open("environments");
      const { page } = dashboard;
      await row(dashboard, "arithmetic").getByText("Bundled").waitFor();
      const published = row(dashboard, "edgewise/worth");
      expect(await published.textContent()).toContain("Published");
      expect(await published.textContent()).toContain("1.1.0");
      await page.getByRole("searchbox").fill("PUBLISHED worth");
      await expect.poll(() => rows(dashboard).count()).toBe(1);
      expect(new URL(page.url()).searchParams.get("q")).toBe("PUBLISHED worth");
      await page.getByRole("searchbox").fill("nothing is called so");
      await page.getByText("No environment is like").waitFor();
      await page.getByRole("button", { name: "Show all environments" }).click();
      await row(dashboard, "arithmetic").waitFor();
    }));

  it("are moved through by keys alone, to what an environment takes and which runs it has", () =>
    closing(async () => {
      await place.settled(await place.create({ name: "of reverse-text" }));
      const dashboard = await place.open();
      const { page } = dashboard;
      await page.getByText("of reverse-text").waitFor();
      await page.keyboard.press("g");
      await page.keyboard.press("e");
      await row(dashboard, "reverse-text").waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type("reverse-text");
      await expect.poll(() => rows(dashboard).count()).toBe(1);
      await page.keyboard.press("Escape");
      await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/dashboard\/environments\/reverse-text$/);
      const runs = page.getByRole("region", { name: "Evaluations" });
      await runs.getByRole("link", { name: "of reverse-text" }).waitFor();
      const { edgewise } = (await place.ask<{ evaluations: { edgewise: { reward: number } }[] }>("/evaluations/?limit=1")).evaluations[0] ?? {};
      expect(await runs.textContent()).toContain(edgewise?.reward.toFixed(3));
      await page.keyboard.press("j");
      expect(await page.evaluate<string>("document.activeElement?.textContent ?? ''")).toBe("of reverse-text");
      await page.getByRole("link", { name: "Its run in the list of runs" }).click();
      await page.waitForURL(/\/dashboard\/\?env=reverse-text$/);
    }));

  it("describe a bundled one by its schema: every argument with what it takes and its default", () =>
    closing(async () => {
      const { page } = await place.open("environments/arithmetic");
      const args = page.getByRole("table", { name: "Arguments" });
      const { metadata } = await place.ask<{ metadata: { args: { name: string }[] } }>("/environmentshub/edgewise/arithmetic/@latest");
      await expect.poll(() => args.locator("tbody tr").count()).toBe(metadata.args.length);
      expect(await args.locator("tbody tr").filter({ hasText: "difficulty" }).textContent()).toContain('"medium"');
      await expect.poll(() => page.getByRole("table", { name: "Versions" }).locator("tbody tr").count()).toBe(1);
    }));

  it("show a published one with its versions and hosts, each version at an address of its own, and run nothing of what it says", () =>
    closing(async () => {
      const { page } = await place.open("environments/edgewise%2Fworth");
      const versions = page.getByRole("table", { name: "Versions" });
      await expect.poll(() => versions.locator("tbody tr").count()).toBe(2);
      expect(await versions.locator("tbody tr").allTextContents()).toEqual([expect.stringContaining("1.1.0latest"), expect.stringContaining("1.0.0")]);
      expect(await page.getByRole("region", { name: "Keys and hosts" }).textContent()).toContain("api.example.com");
      const readme = page.getByRole("region", { name: "README" });
      await readme.locator("[data-level='1']", { hasText: "Of 1.1.0" }).waitFor();
      expect(await readme.locator("em").first().textContent()).toBe("worth");
      expect(await readme.locator("a[href^=javascript]").count()).toBe(0);
      const text = await page.evaluate<string>("document.body.innerText");
      expect(text).toContain("<script>document.title='taken'</script>");
      expect(text).not.toContain("\u202e");
      expect(await page.locator("main img, main script").count()).toBe(0);
      expect(await page.title()).toBe("edgewise/worth · Edgewise");
      await versions.getByRole("link", { name: "1.0.0", exact: true }).click();
      await page.waitForURL(/\?version=1\.0\.0$/);
      await page.getByText("Is worth something.").waitFor();
      await readme.locator("[data-level='1']", { hasText: "Of 1.0.0" }).waitFor();
    }));

  it("show a linked one, how its servers are, and that it goes before what is called the same", () =>
    closing(async () => {
      const { page } = await place.open();
      const args = [{ name: "depth", schema: { type: "integer", minimum: 1 }, required: true, description: HOSTILE }];
      const link = {
        ...{ name: "wiki", urls: ["https://env.example"], environment: "wiki", version: "2.0.0", description: HOSTILE, digest: "a".repeat(64) },
        ...{ args, defaults: {}, keys: ["SEARCH_KEY"], hosts: [], linked_at: new Date().toISOString(), linked_by: "ada", command: null, lease_until: null },
      };
      const servers = [{ url: "https://env.example", state: "unreachable", problem: HOSTILE }];
      await page.route("**/api/v1/environments/linked", (route) => route.fulfill({ json: { data: [link] } }));
      await page.route("**/api/v1/environments/linked/wiki", (route) => route.fulfill({ json: { data: { ...link, servers } } }));
      await page.goto(`${place.service}/dashboard/environments?q=wiki`);
      await page.getByRole("link", { name: "wiki", exact: true }).click();
      await page.getByText("✕ cannot be reached").waitFor();
      expect(await page.getByRole("table", { name: "Arguments" }).textContent()).toContain("whole number from 1");
      expect(await page.getByRole("region", { name: "Keys and hosts" }).textContent()).toContain("SEARCH_KEY");
      expect(await page.locator("main img, main script").count()).toBe(0);
      expect(await page.title()).toBe("wiki · Edgewise");
    }));

  it("say that there is no such environment, and when the service does not answer, and try again", () =>
    closing(async () => {
      const { page } = await place.open("environments/nothing-here", {}, /404|503/);
      await page.getByText("There is no environment of that name that you may see.").waitFor();
      await page.route("**/api/v1/environmentshub/?*", (route) => route.fulfill({ status: 503, json: { detail: "It rests.", code: "internal" } }));
      await page.goto(`${place.service}/dashboard/environments`);
      await page.getByRole("alert").getByText("It rests.").waitFor();
      expect(await barriersIn(page)).toEqual([]);
      await page.unroute("**/api/v1/environmentshub/?*");
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("link", { name: "arithmetic", exact: true }).waitFor();
    }));

  it("have no barriers in both themes and at three widths, and stay within the screen", () =>
    closing(async () => {
      for (const colorScheme of ["light", "dark"] as const)
        for (const width of [390, 820, 1_440])
          for (const address of ["environments", "environments/edgewise%2Fworth"]) {
            const { page } = await place.open(address, { colorScheme, viewport: { width, height: 800 } });
            await page.locator("table tbody tr").first().waitFor();
            expect(await barriersIn(page), `${address} ${colorScheme} ${width}`).toEqual([]);
            expect(await page.evaluate<number>("document.documentElement.scrollWidth"), `${address} ${width}`).toBeLessThanOrEqual(width);
          }
    }));
});
