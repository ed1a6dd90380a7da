/**
 * `npm run browser`: brings a Chromium for the tests that need a real page, through the package registry. No dependency of the project, since its
 * 67 MB would be part of every installation.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { BROWSER_FOLDER, BROWSER_PACKAGE, FETCHED_BROWSER } from "./browser-place.ts";

if (process.platform !== "linux" || process.arch !== "x64") {
  console.error("There is one for Linux on x64 only. Name a Chromium or Chrome of yours: EDGEWISE_TEST_BROWSER=/path/to/it");
  process.exit(1);
}
if (existsSync(FETCHED_BROWSER)) console.log(`${FETCHED_BROWSER} is there.`);
else fetchBrowser();

function fetchBrowser(): void {
  mkdirSync(dirname(BROWSER_FOLDER), { recursive: true });
  const scratch = mkdtempSync(join(dirname(BROWSER_FOLDER), "new-"));
  try {
    const { name, version, integrity } = BROWSER_PACKAGE;
    const said = execFileSync("npm", ["pack", `${name}@${version}`, "--json", "--pack-destination", scratch], { encoding: "utf8", cwd: scratch });
    const packed = join(scratch, (JSON.parse(said) as { filename: string }[])[0]?.filename ?? "");
    const digest = `sha512-${createHash("sha512").update(readFileSync(packed)).digest("base64")}`;
    if (digest !== integrity) throw new Error(`${name}@${version} is not the package that this project knows: ${digest}`);
    execFileSync("tar", ["-xzf", packed, "-C", scratch]);
    const bin = join(scratch, "package", "bin");
    const made = join(scratch, "made");
    mkdirSync(made);
    writeFileSync(join(made, "chromium"), brotliDecompressSync(readFileSync(join(bin, "chromium.br"))), { mode: 0o755 });
    writeFileSync(join(scratch, "libraries.tar"), brotliDecompressSync(readFileSync(join(bin, "al2023.tar.br"))));
    execFileSync("tar", ["-xf", join(scratch, "libraries.tar"), "-C", made]);
    // Whole from the moment it has its name.
    renameSync(made, BROWSER_FOLDER);
    console.log(FETCHED_BROWSER);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
