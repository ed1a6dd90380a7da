import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * A file or folder of other people's data, which is never in this repository: below `EDGEWISE_TEST_DATA`. Null when the variable or
 * the file is not there, and says so: whoever asks skips its tests.
 */
export function testData(...path: readonly string[]): string | null {
  const root = process.env.EDGEWISE_TEST_DATA;
  const found = root === undefined || root === "" ? null : join(root, ...path);
  if (found !== null && existsSync(found)) return found;
  console.log(`skipped: ${found === null ? `EDGEWISE_TEST_DATA is not set (tests that read ${path.join("/")})` : `there is no ${found}`}`);
  return null;
}
