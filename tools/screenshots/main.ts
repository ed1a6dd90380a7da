/**
 * `npm run screenshots`: a picture of every page of the dashboard in both themes and at three widths, of a service that it fills for that, in
 * `outputs/screenshots/`. Names as arguments choose pages: `npm run screenshots -- run compare`. Ends with 1 where a page says something that should not
 * be on the console, or is wider than its screen.
 */
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { findBrowser, NEEDS_BROWSER } from "../../test/support/browser/browser.ts";
import { seededPlace } from "./seeded-place.ts";
import { shotsOf } from "./shots.ts";

const THEMES = ["light", "dark"] as const;
/** A phone, a tablet, a screen. */
const WIDTHS = [390, 820, 1_440] as const;
/** For charts and live numbers to be drawn: a page that follows a run is never at rest. */
const DRAWN_MS = 1_500;
/** What a service says that is overloaded. */
const REFUSED = { status: 503, json: { detail: "The service is at its limit of requests.", code: "internal", hint: "Wait a minute and try again." } };
const folder = fileURLToPath(new URL("../../outputs/screenshots/", import.meta.url));

const browserPath = findBrowser();
if (browserPath === null) {
  console.error(`Pictures need a browser ${NEEDS_BROWSER}.`);
  process.exit(1);
}
const asked = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const seeded = await seededPlace(browserPath);
const { place } = seeded;
let bad = 0;
try {
  for (const { name, address, state } of shotsOf(seeded).filter((shot) => asked.length === 0 || asked.includes(shot.name)))
    for (const colorScheme of THEMES)
      for (const width of WIDTHS) {
        const faults = await place
          .faultsOf(async () => {
            const options = { colorScheme, viewport: { width, height: 900 } };
            const { page } = await place.open(
              state === undefined ? address.replace("/dashboard/", "") : "nowhere",
              options,
              state === undefined ? undefined : /503/,
            );
            if (state !== undefined) {
              await page.route("**/api/v1/**", (route) => (state === "failed" ? route.fulfill(REFUSED) : undefined));
              await page.goto(place.service + address);
            }
            await page.waitForTimeout(DRAWN_MS);
            await page.screenshot({ path: `${folder}${name}-${width}-${colorScheme}.png`, fullPage: true });
            const drawn = await page.evaluate<number>("document.documentElement.scrollWidth");
            if (drawn > width) throw new Error(`${address} is ${drawn} pixels wide on a screen of ${width}`);
          })
          .catch((error: unknown) => [String(error)]);
        for (const fault of faults) console.log(`BAD ${name} ${width} ${colorScheme}: ${fault}`);
        bad += faults.length;
      }
} finally {
  await place.close();
}
console.log(`${folder}: ${bad === 0 ? "nothing wrong was seen by itself; now look at them" : `${bad} faults`}`);
process.exitCode = bad === 0 ? 0 : 1;
