import type { Browser } from "playwright-core";
import { launchBrowser } from "../../test/support/browser/dashboard-browser.ts";
import { DashboardPlace } from "../../test/support/browser/dashboard-place.ts";
import { viewFolders } from "../../test/support/browser/viewed-folders.ts";
import { Workplace } from "../../test/support/cli/cli-process.ts";
import { seededPlace } from "./seeded-place.ts";
import type { Ids, ServiceName } from "./shots.ts";

/** What answers the pages of some pictures, and the browser that they are taken in. */
export interface Service {
  readonly browser: Browser;
  /** Without a slash at its end. */
  readonly url: string;
  readonly ids: Ids;
  close(): Promise<void>;
}

export const NO_IDS: Ids = { whole: "", other: "", failing: "", running: "", waiting: "" };

/** Each begun when a picture of it is wanted. `browserPath`: of `findBrowser`. */
export const SERVICES: Readonly<Record<ServiceName, (browserPath: string) => Promise<Service>>> = {
  filled: async (browserPath) => {
    const { place, ids, close } = await seededPlace(browserPath);
    return { browser: place.browser, url: place.service, ids, close };
  },
  empty: async (browserPath) => {
    const place = await DashboardPlace.start(browserPath);
    return { browser: place.browser, url: place.service, ids: NO_IDS, close: () => place.close() };
  },
  folders: foldersShown,
};

/** Two results folders of runs in a terminal, as `edgewise eval view --web` shows them. */
async function foldersShown(browserPath: string): Promise<Service> {
  const place = new Workplace();
  try {
    for (const temperature of ["0", "1.2"]) await place.run(["eval", "run", "arithmetic", "--provider", "embedded", "-n", "20", "-r", "3", "-T", temperature]);
    const [whole = "", other = ""] = place.resultsFolders().map((folder) => folder.split("/").at(-1) ?? "");
    const { address: url } = await viewFolders(place);
    const browser = await launchBrowser(browserPath);
    const close = async (): Promise<void> => {
      await browser.close();
      place.remove();
    };
    return { browser, url, ids: { ...NO_IDS, whole, other }, close };
  } catch (error) {
    place.remove();
    throw error;
  }
}
