import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn } from "../../support/browser/dashboard-browser.ts";
import { DashboardPlace, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";

const browserPath = findBrowser();
let place: DashboardPlace;

beforeAll(async () => {
  if (browserPath !== null) place = await DashboardPlace.start(browserPath);
}, 2 * PATIENCE_MS);
afterAll(() => place?.close());

describe.skipIf(browserPath === null)(`the palette ${NEEDS_BROWSER}`, { timeout: 3 * PATIENCE_MS }, () => {
  it("leads by keys to a run by its name, from within a field too, and is left by Escape", async () => {
    const hostile = await place.create({ name: `<img src=x onerror="document.title='taken'">` });
    const wanted = await place.create({ name: "the wanted run" });
    for (const id of [hostile, wanted]) await place.settled(id);
    const faults = await place.faultsOf(async () => {
      for (const colorScheme of ["light", "dark"] as const) {
        const { page } = await place.open("", { colorScheme });
        await page.getByRole("searchbox", { name: "Search" }).focus();
        await page.keyboard.press("Control+k");
        const field = page.getByRole("combobox", { name: /^A page, or a run/ });
        await page.getByRole("option", { name: /onerror/ }).waitFor();
        expect(await barriersIn(page)).toEqual([]);
        await page.keyboard.press("Escape");
        await field.waitFor({ state: "detached" });
        await page.keyboard.press("Control+k");
        await expect
          .poll(() => page.evaluate<boolean>("document.activeElement?.matches('dialog [role=combobox]') ?? false"), { timeout: PATIENCE_MS })
          .toBe(true);
        await page.keyboard.type("neither <b>");
        await page.getByText("No page and no run is called “neither <b>”. Type the name of a page").waitFor();
        expect(await barriersIn(page)).toEqual([]);
        await page.keyboard.press("Control+a");
        await page.keyboard.type("wanted");
        await expect
          .poll(() => page.getByRole("listbox").getByRole("option").allTextContents(), { timeout: PATIENCE_MS })
          .toEqual([expect.stringContaining("the wanted run")]);
        await page.keyboard.press("ArrowDown");
        expect(await page.getByRole("listbox").getByRole("option").getAttribute("aria-selected")).toBe("true");
        await page.keyboard.press("Enter");
        await page.waitForURL(`**/dashboard/evaluations/${wanted}`);
        expect(await page.title()).not.toBe("taken");
      }
    });
    expect(faults).toEqual([]);
  });
});
