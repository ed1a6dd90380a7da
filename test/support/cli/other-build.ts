/** Another build of the command, in a folder of its own, as another commit would be: its sources are these with some texts changed. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));
/** What a build reads. */
const SOURCES = ["src", "durable-objects", "r2-layout", "tools", "bin", "package.json"];

export interface OtherBuild {
  /** As `Workplace.command` takes it. */
  readonly command: string;
  readonly remove: () => void;
}

/** `changes`: by path, a text of the file and what stands there instead. Throws where the text is not there (any more). */
export function otherBuild(changes: Readonly<Record<string, readonly [string, string]>>): OtherBuild {
  const folder = mkdtempSync(join(tmpdir(), "edgewise-build-"));
  for (const name of SOURCES) cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const [path, [text, other]] of Object.entries(changes)) {
    const before = readFileSync(join(folder, path), "utf8");
    if (!before.includes(text)) throw new Error(`${path} has no ${JSON.stringify(text)}`);
    writeFileSync(join(folder, path), before.replace(text, other));
  }
  execFileSync(process.execPath, ["tools/build.ts"], { cwd: folder, stdio: "inherit" });
  return { command: join(folder, "bin/edgewise.js"), remove: () => rmSync(folder, { recursive: true, force: true }) };
}
