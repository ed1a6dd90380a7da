import { fileURLToPath } from "node:url";
import { join } from "node:path";

/** A Chromium without a window, made for servers; brings the libraries that a bare Linux lacks. Linux on x64 only. */
export const BROWSER_PACKAGE = {
  name: "@sparticuz/chromium",
  version: "153.0.0",
  integrity: "sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA==",
} as const;

/** Where `npm run browser` puts it. `npm ci` removes it with everything else there. */
export const BROWSER_FOLDER = join(fileURLToPath(new URL("../node_modules/.cache/edgewise-browser/", import.meta.url)), BROWSER_PACKAGE.version);
export const FETCHED_BROWSER = join(BROWSER_FOLDER, "chromium");
/** Libraries for where the system has none. */
export const BROWSER_LIBRARIES = join(BROWSER_FOLDER, "lib");
