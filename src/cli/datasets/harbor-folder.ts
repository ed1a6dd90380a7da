/** Folders of Harbor on this machine: one task, or a data set of tasks beside each other, as the file of tasks that a run takes. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { HARBOR_VERIFIER_FILE, harborTask } from "../../benchmarks/harbor-task.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { usageError } from "../terminal/cli-error.ts";

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
const isTask = (folder: string): boolean => isFile(join(folder, "task.toml"));
const textOf = (path: string): string | null => (isFile(path) ? readFileSync(path, "utf8") : null);

/** The folders of tasks that `folder` is or holds, by name; none = it has nothing of Harbor. */
export function harborTasks(folder: string): readonly string[] {
  if (isTask(folder)) return [folder];
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const within = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [join(folder, entry.name)] : []));
  return within.filter(isTask).sort();
}

/**
 * The tasks as a file called `file` that this process has until it ends. Throws a usage error where none of them can be verified without a
 * container: nothing of it could be run.
 */
export function harborTasksFile(path: string, folders: readonly string[], file: string): string {
  const rows = folders.map((folder) => {
    try {
      return harborTask({
        name: basename(folder),
        taskToml: textOf(join(folder, "task.toml")) ?? "",
        instruction: textOf(join(folder, "instruction.md")),
        verifier: textOf(join(folder, HARBOR_VERIFIER_FILE)),
      });
    } catch (error) {
      if (error instanceof EdgewiseError) throw usageError(error.message);
      throw error;
    }
  });
  if (rows.every(({ verifier }) => (verifier as { kind: string }).kind === "harbor")) {
    const what =
      folders.length === 1 ? "is a task of Harbor: it is verified by a script" : `holds ${folders.length} tasks of Harbor: each is verified by a script`;
    throw usageError(
      `${path} ${what} in a container, and none is started here; nothing was run`,
      `A task of text is played where ${HARBOR_VERIFIER_FILE} beside its task.toml names the function that verifies it (docs/benchmarks.md).`,
    );
  }
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  const known = written.get(text);
  if (known !== undefined) return known;
  const place = mkdtempSync(join(tmpdir(), "edgewise-harbor-"));
  process.once("exit", () => rmSync(place, { recursive: true, force: true }));
  writeFileSync(join(place, file), text);
  written.set(text, join(place, file));
  return join(place, file);
}

/** Files of this process by what is in them: a command asks several times for the file of a benchmark. */
const written = new Map<string, string>();
