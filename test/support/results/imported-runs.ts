/** Logs imported by the command line in a folder of their own, and what came of it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Outcome, runInProcess } from "../cli/cli-in-process.ts";

export type ImportedRow = Readonly<Record<string, unknown>> & { readonly metrics: Readonly<Record<string, number>> };

export interface ImportedFolder {
  readonly path: string;
  readonly metadata: Readonly<Record<string, unknown>> & {
    readonly avg_metrics: Readonly<Record<string, number>>;
    readonly edgewise: Readonly<Record<string, unknown>>;
  };
  readonly rows: readonly ImportedRow[];
}

/** The folders that a command says it has imported, in its order. */
export async function imported(cwd: string, ...args: readonly string[]): Promise<Outcome & { readonly runs: readonly ImportedFolder[] }> {
  const outcome = await runInProcess(["import", ...args], { cwd });
  const runs = outcome.out.filter((line) => line.startsWith("Imported: ")).map((line) => folderIn(join(cwd, line.slice("Imported: ".length))));
  return { ...outcome, runs };
}

export const folderIn = (path: string): ImportedFolder => ({
  path,
  metadata: JSON.parse(readFileSync(join(path, "metadata.json"), "utf8")) as ImportedFolder["metadata"],
  rows: readFileSync(join(path, "results.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as ImportedRow),
});
