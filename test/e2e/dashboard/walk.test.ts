import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { DashboardPlace, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";

const browserPath = findBrowser();
let place: DashboardPlace;

beforeAll(async () => {
  if (browserPath !== null) place = await DashboardPlace.start(browserPath);
}, 2 * PATIENCE_MS);
afterAll(() => place?.close());

/** Tabs that lead to anything on a page. */
const MOST_TABS = 80;

/** What is typed into the form of a run; nothing: where the model is. */
const FILLED = [
  ["Environment (required)", "reverse-text"],
  ["Where the model is", "Another"],
  ["Model (required)", "scripted"],
  ["API base URL", ""],
  ["Num examples", "3"],
] as const;

/** To the field with this label, by Tab alone. */
async function tabToField(page: Page, label: string): Promise<void> {
  const wanted = await page.getByLabel(label, { exact: true }).getAttribute("id");
  for (let pressed = 0; pressed < MOST_TABS; pressed += 1) {
    if ((await page.evaluate<string>("document.activeElement?.id ?? ''")) === wanted) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${label} is not reached by Tab`);
}

async function tabTo(page: Page, text: string): Promise<void> {
  for (let pressed = 0; pressed < MOST_TABS; pressed += 1) {
    if ((await page.evaluate<string>("document.activeElement?.textContent ?? ''")) === text) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${text} is not reached by Tab`);
}

describe.skipIf(browserPath === null)(`the dashboard ${NEEDS_BROWSER}`, { timeout: 3 * PATIENCE_MS }, () => {
  it("is gone through once by keys alone: a run is begun and watched, its samples, a rollout, the next one, and back to the list to compare two", async () => {
    await place.settled(await place.create({ name: "first", examples: 3 }));
    place.model.setScript({ answer: "reverse", latency_ms: 400 });
    const faults = await place.faultsOf(async () => {
      const { page } = await place.open();
      const { keyboard } = page;
      await page.evaluate("window.sameDocument = true");
      await page.locator("a.run-link").first().waitFor();
      await keyboard.press("g");
      await keyboard.press("n");
      await page.getByLabel("Environment (required)").waitFor();
      for (const [label, text] of FILLED) {
        await tabToField(page, label);
        await keyboard.type(text === "" ? place.model.url : text);
      }
      await tabTo(page, "Start the run");
      await keyboard.press("Enter");
      await page.waitForURL(/\/dashboard\/evaluations\/[0-9a-f]{8}$/);
      await page.locator(".run-head .status", { hasText: "Running" }).waitFor();
      await page.locator(".run-head .status", { hasText: "Completed" }).waitFor();
      await page.getByRole("link", { name: "Samples" }).waitFor();
      // The focus is on the new page, so that the next Tab is its first.
      expect(await page.evaluate<string>("document.activeElement?.id ?? ''")).toBe("content");
      await tabTo(page, "Samples");
      await keyboard.press("Enter");
      await page.getByRole("link", { name: "0 · " }).first().waitFor();
      await keyboard.press("j");
      await keyboard.press("Enter");
      await page.waitForURL(/\/samples\/0\/\d(?:\?|$)/);
      await page.getByRole("article").first().waitFor();
      await keyboard.press("ArrowRight");
      await page.waitForURL(/\/samples\/(?:0\/1|1\/0)(?:\?|$)/);
      await keyboard.press("Escape");
      await page.waitForURL(/\/samples(?:\?|$)/);
      await keyboard.press("g");
      await keyboard.press("r");
      await page.locator("a.run-link").first().waitFor();
      for (const key of ["j", "x", "j", "x"]) await keyboard.press(key);
      await page.getByText("2 runs chosen").waitFor();
      await keyboard.press("c");
      await page.waitForURL(/\/dashboard\/compare\?/);
      await page.getByRole("heading", { name: "Examples" }).waitFor();
      expect(await page.evaluate("window.sameDocument")).toBe(true);
    });
    expect(faults).toEqual([]);
  });
});
