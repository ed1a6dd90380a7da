import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn, type OpenedDashboard } from "../../support/browser/dashboard-browser.ts";
import { DashboardPlace, GONE, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";

const browserPath = findBrowser();
/** What somebody may call a run. */
const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>\u202ejavascript:alert(1)`;

let place: DashboardPlace;
const names = ({ page }: OpenedDashboard): Promise<string[]> => page.locator("a.run-link").allTextContents();
/** Of a shown run, once there is one of that name. */
const row = ({ page }: OpenedDashboard, name: string) => page.locator("tbody tr", { hasText: name });

beforeAll(async () => {
  if (browserPath !== null) place = await DashboardPlace.start(browserPath);
}, 2 * PATIENCE_MS);
afterAll(() => place?.close());

describe.skipIf(browserPath === null)(`the page of runs ${NEEDS_BROWSER}`, { timeout: 3 * PATIENCE_MS }, () => {
  const closing = async (work: () => Promise<void>): Promise<void> => {
    expect(await place.faultsOf(work)).toEqual([]);
  };

  it("says that there is none yet, and how to begin one", () =>
    closing(async () => {
      const { page } = await place.open();
      await page.getByText("No run yet.").waitFor();
      expect(await page.locator("pre").textContent()).toContain("npx edgewise eval run");
      expect(await barriersIn(page)).toEqual([]);
    }));

  it("shows a run that is begun elsewhere, and follows it to its end without being loaded again", () =>
    closing(async () => {
      const dashboard = await place.open();
      const { page } = dashboard;
      await page.evaluate("window.sameDocument = true");
      place.model.setScript({ answer: "reverse", latency_ms: 500 });
      const id = await place.create({ name: "watched", examples: 8 });
      await row(dashboard, "watched").getByText("Running").waitFor();
      const done = row(dashboard, "watched").locator("progress");
      await expect.poll(() => done.getAttribute("value").then(Number), { timeout: PATIENCE_MS }).toBeGreaterThan(0);
      expect(Number(await done.getAttribute("max"))).toBe(16);
      place.model.setScript({ answer: "reverse" });
      await place.settled(id);
      await row(dashboard, "watched").getByText("Completed").waitFor();
      const { edgewise } = await place.ask<{ edgewise: { reward_ci95: [number, number] } }>(`/evaluations/${id}`);
      const [low, high] = edgewise.reward_ci95.map((each) => each.toFixed(3));
      expect(await row(dashboard, "watched").textContent()).toContain(`${low} to ${high}`);
      expect(await row(dashboard, "watched").textContent()).toContain("16 of 16");
      expect(await page.evaluate("window.sameDocument")).toBe(true);
    }));

  it("asks nothing while nobody sees it, and is as the service is when it is seen again", () =>
    closing(async () => {
      const dashboard = await place.open();
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
      const id = await place.create({ name: "unseen" });
      await place.settled(id);
      expect([asked, await row(dashboard, "unseen").count()]).toEqual([0, 0]);
      await show("visible");
      await row(dashboard, "unseen").getByText("Completed").waitFor();
      await place.ask(`/evaluations/${id}`, { method: "DELETE" });
      await row(dashboard, "unseen").waitFor({ state: "detached" });
    }));

  it("finds, filters and sorts runs; the address says how, and the way back leads to it", () =>
    closing(async () => {
      await place.settled(await place.create({ name: "beta run", config: { tags: ["nightly"] } }));
      await place.settled(await place.create({ name: "alpha run" }));
      const dashboard = await place.open();
      const { page } = dashboard;
      await row(dashboard, "alpha run").waitFor();
      expect(await names(dashboard)).toEqual(["alpha run", "beta run", "watched"]);
      await page.getByRole("searchbox").fill("run ALPHA");
      await expect.poll(() => names(dashboard)).toEqual(["alpha run"]);
      expect(new URL(page.url()).searchParams.get("q")).toBe("run ALPHA");
      await page.getByRole("button", { name: "Clear" }).click();
      await expect.poll(() => names(dashboard)).toHaveLength(3);
      await page.getByRole("button", { name: "nightly" }).click();
      await expect.poll(() => names(dashboard)).toEqual(["beta run"]);
      expect(new URL(page.url()).searchParams.get("tag")).toBe("nightly");
      await page.getByRole("button", { name: "Runs of every tag" }).click();
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
      const dashboard = await place.open();
      const { page } = dashboard;
      await row(dashboard, "watched").waitFor();
      const focused = (): Promise<string> => page.evaluate<string>("document.activeElement?.textContent ?? ''");
      await page.keyboard.press("j");
      expect(await focused()).toBe("alpha run");
      await page.keyboard.press("x");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("x");
      await page.getByText("2 runs chosen").waitFor();
      expect(await page.getByRole("link", { name: "Compare", exact: true }).last().getAttribute("href")).toMatch(
        /^\/dashboard\/compare\?runs=[0-9a-f]{8}%2C[0-9a-f]{8}$/,
      );
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
      await page.goto(`${place.service}/dashboard/`);
      await row(dashboard, "watched").waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/dashboard\/evaluations\/[0-9a-f]{8}$/);
    }));

  it("runs nothing of what a run is called, and shows it", () =>
    closing(async () => {
      const id = await place.create({ name: HOSTILE });
      await place.settled(id);
      const dashboard = await place.open();
      const { page } = dashboard;
      await row(dashboard, id).waitFor();
      expect((await names(dashboard))[0]).toContain("<script>");
      expect(await page.title()).toBe("Runs · Edgewise");
      expect(await page.locator("tbody img, tbody script").count()).toBe(0);
      expect(await page.evaluate<string>("document.body.innerText")).not.toContain("\u202e");
      await place.ask(`/evaluations/${id}`, { method: "DELETE" });
    }));

  it("has no barriers in both themes and at three widths, and stays within the screen", () =>
    closing(async () => {
      for (const colorScheme of ["light", "dark"] as const)
        for (const width of [390, 820, 1_440]) {
          const dashboard = await place.open("?chosen=0000abcd", { colorScheme, viewport: { width, height: 800 } });
          await row(dashboard, "watched").waitFor();
          expect(await barriersIn(dashboard.page), `${colorScheme} ${width}`).toEqual([]);
          expect(await dashboard.page.evaluate<number>("document.documentElement.scrollWidth"), `${width}`).toBeLessThanOrEqual(width);
        }
    }));

  it("leads to other pages from one that cannot be drawn", () =>
    closing(async () => {
      const dashboard = await place.open("", {}, /ERR_FAILED|dynamically imported/);
      const { page } = dashboard;
      await row(dashboard, "watched").waitFor();
      await page.route("**/dashboard/assets/*", (route) => route.abort());
      const navigation = page.getByRole("navigation");
      await navigation.getByRole("link", { name: "Settings" }).click();
      await page.getByRole("alert").getByText("This page could not be drawn.").waitFor();
      await navigation.getByRole("link", { name: "Runs" }).click();
      await row(dashboard, "watched").waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
    }));

  it("says what a refused question was refused for, and tries again", () =>
    closing(async () => {
      const dashboard = await place.open("nowhere", {}, /503/);
      const { page } = dashboard;
      await page.getByText("There is no page at this address.").waitFor();
      await page.route("**/api/v1/evaluations/*", (route) => route.fulfill({ status: 503, json: { detail: "It rests.", code: "internal", hint: "Wait." } }));
      await page.goto(`${place.service}/dashboard/`);
      await page.getByRole("alert").getByText("It rests.").waitFor();
      expect(await barriersIn(page)).toEqual([]);
      await page.unroute("**/api/v1/evaluations/*");
      await page.getByRole("button", { name: "Try again" }).click();
      await row(dashboard, "watched").waitFor();
    }));

  it("says when the service is gone, keeps what it shows, and is mended when the service is back", () =>
    closing(async () => {
      place.model.setScript({ answer: "reverse", latency_ms: 3_000 });
      const id = await place.create({ name: "through a kill", examples: 3 });
      const dashboard = await place.open("", {}, GONE);
      await row(dashboard, "through a kill").getByText("Running").waitFor();
      const port = await place.kill();
      await dashboard.page.getByText(/^Connection lost: these runs are as they were/).waitFor();
      expect(await names(dashboard)).toContain("through a kill");
      place.model.setScript({ answer: "reverse" });
      await place.serveAgain(port);
      await dashboard.page.getByText(/^Connection lost/).waitFor({ state: "detached" });
      await place.settled(id);
      await row(dashboard, "through a kill").getByText("Completed").waitFor();
    }));
});
