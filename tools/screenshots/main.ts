/**
 * `npm run screenshots`: a picture of every page of the dashboard in both themes and at three widths, of services that it begins for that, in
 * `outputs/screenshots/`: with something on it, empty, loading, failed, stale, and of results folders. Names as arguments choose pictures, a `*` at the end
 * of one all that begin so: `npm run screenshots -- run compare 'settings*'`. Ends with 1 where a page says something that should not be on the console, or
 * is wider than its screen.
 */
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { findBrowser, NEEDS_BROWSER } from "../../test/support/browser/browser.ts";
import { NO_IDS, SERVICES } from "./services.ts";
import { type Ids, type ServiceName, type Shot, shotsOf } from "./shots.ts";
import { takePicture } from "./take-picture.ts";

const THEMES = ["light", "dark"] as const;
/** A phone, a tablet, a screen. */
const WIDTHS = [390, 820, 1_440] as const;
const folder = fileURLToPath(new URL("../../outputs/screenshots/", import.meta.url));

const browserPath = findBrowser();
if (browserPath === null) {
  console.error(`Pictures need a browser ${NEEDS_BROWSER}.`);
  process.exit(1);
}
const asked = process.argv.slice(2);
const isAsked = ({ name }: Shot): boolean =>
  asked.length === 0 || asked.some((each) => (each.endsWith("*") ? name.startsWith(each.slice(0, -1)) : name === each));
const wanted = (ids: Ids): readonly Shot[] => shotsOf(ids).filter(isAsked);
mkdirSync(folder, { recursive: true });
let bad = 0;
for (const name of new Set<ServiceName>(wanted(NO_IDS).map(({ service }) => service))) {
  const service = await SERVICES[name](browserPath);
  try {
    for (const shot of wanted(service.ids).filter((each) => each.service === name))
      for (const colorScheme of THEMES) {
        // The widths at once: what takes time is waiting.
        const faults = WIDTHS.map(async (width) => {
          const path = `${folder}${shot.name}-${width}-${colorScheme}.png`;
          const found = await takePicture(service, shot, { path, colorScheme, viewport: { width, height: 900 } }).catch((error: unknown) => [String(error)]);
          return found.map((fault) => `BAD ${shot.name} ${width} ${colorScheme}: ${fault}`);
        });
        for (const fault of (await Promise.all(faults)).flat()) {
          console.log(fault);
          bad += 1;
        }
      }
  } finally {
    await service.close();
  }
}
console.log(`${folder}: ${bad === 0 ? "nothing wrong was seen by itself; now look at them" : `${bad} faults`}`);
process.exitCode = bad === 0 ? 0 : 1;
