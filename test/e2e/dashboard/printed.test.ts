import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { DashboardPlace, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";

const browserPath = findBrowser();
/** What the console says of whoever looks at a picture often. */
const LOOKS = /^Canvas2D: Multiple readback/;

let place: DashboardPlace;
beforeAll(async () => {
  if (browserPath !== null) place = await DashboardPlace.start(browserPath);
}, 2 * PATIENCE_MS);
afterAll(() => place?.close());

/** The colour that most of what is drawn in the first chart has. */
const DRAWN = `(() => {
  const canvas = document.querySelector(".chart canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const counts = new Map();
  for (let at = 0; at < data.length; at += 4) if (data[at + 3] > 200) {
    const colour = data.slice(at, at + 3).join(" ");
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? "nothing";
})()`;
const chartColour = (page: Page): Promise<string> => page.evaluate<string>(DRAWN);
const grounds = (page: Page): Promise<readonly string[]> =>
  page.evaluate<string[]>(`(({ color, backgroundColor }) => [color, backgroundColor])(getComputedStyle(document.body))`);

describe.skipIf(browserPath === null)(`a page that is printed ${NEEDS_BROWSER}`, { timeout: 3 * PATIENCE_MS }, () => {
  it("is dark on white whatever the theme, its charts too, without what is for a screen and with the numbers behind a chart that are open", async () => {
    place.model.setScript({ answer: "reverse", accuracy: 0.5 });
    const id = await place.create({ name: "printed", examples: 8 });
    await place.settled(id);
    const faults = await place.faultsOf(async () => {
      const { page: light } = await place.open(`evaluations/${id}`, { colorScheme: "light" }, LOOKS);
      await expect.poll(() => chartColour(light), { timeout: PATIENCE_MS }).not.toBe("nothing");
      const [colour, onPaper] = [await chartColour(light), await grounds(light)];
      for (const theme of ["as the system", "chosen"] as const) {
        const { page } = await place.open(`evaluations/${id}`, { colorScheme: theme === "chosen" ? "light" : "dark" }, LOOKS);
        if (theme === "chosen") await page.getByRole("combobox", { name: "Theme" }).selectOption("dark");
        await expect.poll(() => chartColour(page), { timeout: PATIENCE_MS, message: theme }).not.toBe("nothing");
        await expect.poll(() => chartColour(page), { timeout: PATIENCE_MS, message: theme }).not.toBe(colour);
        expect(await grounds(page), theme).not.toEqual(onPaper);
        const table = page.locator(".chart details").first();
        await table.locator("summary").click();
        await page.emulateMedia({ media: "print" });
        await expect.poll(() => grounds(page), { timeout: PATIENCE_MS, message: theme }).toEqual(onPaper);
        await expect.poll(() => chartColour(page), { timeout: PATIENCE_MS, message: theme }).toBe(colour);
        expect(await page.locator("header.frame").isVisible(), theme).toBe(false);
        expect(await page.locator(".run-buttons").isVisible(), theme).toBe(false);
        expect(await table.locator("table").isVisible(), theme).toBe(true);
        await page.emulateMedia({ media: "screen" });
        await expect.poll(() => chartColour(page), { timeout: PATIENCE_MS, message: theme }).not.toBe(colour);
      }
    });
    expect(faults).toEqual([]);
  });
});
