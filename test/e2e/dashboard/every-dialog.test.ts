import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SETTINGS_TABS } from "../../../src/dashboard/pages/settings/settings-tabs.ts";
import { findBrowser, NEEDS_BROWSER } from "../../support/browser/browser.ts";
import { barriersIn, drawn } from "../../support/browser/dashboard-browser.ts";
import { DashboardPlace, PATIENCE_MS } from "../../support/browser/dashboard-place.ts";
import { keepThings } from "../../support/browser/kept-things.ts";

const browserPath = findBrowser();
const THEMES = ["light", "dark"] as const;
const WIDTHS = [1_280, 390] as const;
/** What the console says of a page that there is none of. */
const MISSING = /404/;

/** Pages of a service with nothing in it. */
const EMPTY = [
  ...["", "?q=nothing+is+called+so", "new", "compare", "environments?q=nothing+is+called+so", "environments/arithmetic", "schedules", "evaluators"],
  ...["evaluations/0000000a", "evaluations/0000000a/samples", "schedules/none", "evaluators/none", "nowhere"],
  ...SETTINGS_TABS.map(({ id }) => `settings?tab=${id}`),
];

let place: DashboardPlace;
beforeAll(async () => {
  if (browserPath !== null) place = await DashboardPlace.start(browserPath);
}, 2 * PATIENCE_MS);
afterAll(() => place?.close());

const isWithin = (page: Page): Promise<boolean> => page.evaluate<boolean>("document.querySelector('dialog[open]')?.contains(document.activeElement) ?? false");

/** Opens the dialog of a button, and leaves it as people do who use keys alone. */
async function leadsThrough(page: Page, name: string, where: string): Promise<void> {
  const opener = page.locator("main, header").getByRole("button", { name, exact: true }).first();
  await opener.waitFor();
  await opener.focus();
  await page.keyboard.press("Enter");
  const dialog = page.locator("dialog[open]");
  await dialog.waitFor();
  expect.soft(await isWithin(page), `${where}: the focus goes into it`).toBe(true);
  // Once round: the browser's own bar has its turn outside of the document, where nothing has the focus.
  let turns = 0;
  for (let press = 0; press < 6; press += 1) {
    await page.keyboard.press("Tab");
    if (await isWithin(page)) turns += 1;
    else expect.soft(await page.evaluate<boolean>("document.activeElement === document.body"), `${where}: the focus leaves it`).toBe(true);
  }
  expect.soft(turns, `${where}: the focus comes round`).toBeGreaterThan(2);
  expect.soft(await barriersIn(page), where).toEqual([]);
  const [wide, screen] = await page.evaluate<[number, number]>("[document.documentElement.scrollWidth, innerWidth]");
  expect.soft(wide, `${where}: its width`).toBeLessThanOrEqual(screen);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect
    .soft(
      await opener.evaluate((button: { readonly ownerDocument: { readonly activeElement: unknown } }) => button === button.ownerDocument.activeElement),
      `${where}: the focus comes back`,
    )
    .toBe(true);
}

describe.skipIf(browserPath === null)(`what stands in the way of nobody ${NEEDS_BROWSER}`, { timeout: 5 * PATIENCE_MS }, () => {
  it("is every page of a service with nothing in it, in both themes", async () => {
    const faults = await place.faultsOf(async () => {
      for (const [of, colorScheme] of THEMES.entries()) {
        const { page } = await place.open("nowhere", { colorScheme }, MISSING);
        for (const [at, address] of EMPTY.entries()) {
          const width = WIDTHS[(at + of) % WIDTHS.length] ?? WIDTHS[0];
          await page.setViewportSize({ width, height: 800 });
          await page.goto(`${place.service}/dashboard/${address}`);
          await drawn(page);
          expect.soft(await barriersIn(page), `${address} ${colorScheme}`).toEqual([]);
          expect.soft(await page.evaluate<number>("document.documentElement.scrollWidth"), `${address} at ${width}`).toBeLessThanOrEqual(width);
        }
      }
    });
    expect(faults).toEqual([]);
  });

  it("is every question before a change, and every other dialog, in both themes: the focus goes in, stays, and comes back", async () => {
    const { going, failing, whole, other } = await seeded();
    const dialogs: Readonly<Record<string, readonly string[]>> = {
      [`evaluations/${going}`]: ["Interrupt", "Stop", "JSON", "Keys", "Go to…"],
      [`evaluations/${failing}`]: ["Retry errors", "Delete", "Share"],
      [`evaluations/${whole}/samples`]: ["Columns"],
      "schedules/nightly": ["Run now", "Pause", "Delete"],
      schedules: ["Run now: nightly", "Pause: nightly"],
      "evaluators/loop": ["Run now", "Pause", "Delete"],
      "settings?tab=tokens": ["Revoke"],
      "settings?tab=secrets": ["Delete"],
      "settings?tab=alerts": ["Test", "New secret", "Delete"],
      "settings?tab=monitors": ["Pause", "New address", "Delete"],
    };
    const faults = await place.faultsOf(async () => {
      for (const [of, colorScheme] of THEMES.entries()) {
        const { page } = await place.open("nowhere", { colorScheme });
        for (const [at, [address, names]] of Object.entries(dialogs).entries()) {
          const width = WIDTHS[(at + of) % WIDTHS.length] ?? WIDTHS[0];
          await page.setViewportSize({ width, height: 800 });
          await page.goto(`${place.service}/dashboard/${address}`);
          await drawn(page);
          for (const name of names) await leadsThrough(page, name, `${address}, ${name}, ${colorScheme} at ${width}`);
        }
        await page.setViewportSize({ width: WIDTHS[of] ?? WIDTHS[0], height: 800 });
        await page.goto(`${place.service}/dashboard/evaluations/${whole}/samples`);
        await drawn(page);
        await page.getByRole("combobox", { name: /Filter/ }).focus();
        await page.keyboard.type("re");
        await page.getByRole("listbox", { name: "What may stand here" }).waitFor();
        expect.soft(await barriersIn(page), `completions, ${colorScheme}`).toEqual([]);
        await page.goto(`${place.service}/dashboard/evaluations/${whole}/samples?attempts=1`);
        await drawn(page);
        expect.soft(await barriersIn(page), `attempts, ${colorScheme}`).toEqual([]);
        await page.goto(`${place.service}/dashboard/compare?runs=${whole},${other}`);
        await drawn(page);
        await page.getByRole("button", { name: "Add a run" }).click();
        await page.getByRole("region", { name: "Runs to compare" }).waitFor();
        expect.soft(await barriersIn(page), `runs to add, ${colorScheme}`).toEqual([]);
      }
    });
    expect(faults).toEqual([]);
  });
});

/** Something to ask about on every page. */
async function seeded(): Promise<Readonly<Record<"going" | "failing" | "whole" | "other", string>>> {
  const ran = async (name: string, script: Parameters<DashboardPlace["model"]["setScript"]>[0]): Promise<string> => {
    place.model.setScript(script);
    const id = await place.create({ name });
    await place.settled(id);
    return id;
  };
  const whole = await ran("whole", { answer: "reverse" });
  const other = await ran("other", { answer: "wrong" });
  const failing = await ran("failing", { answer: "reverse", faults: [{ when: { every: 2 }, fault: { kind: "empty_choices" } }] });
  await keepThings(place);
  place.model.setScript({ answer: "reverse", latency_ms: 60_000 });
  const going = await place.create({ name: "on its way", examples: 6 });
  return { going, failing, whole, other };
}
