import { EdgewiseError } from "../../errors/result.ts";
import type { RunScores } from "../../report/run-scores.ts";
import { reasonOf, systemCode } from "../terminal/cli-error.ts";
import type { FoundRun } from "../view/find-runs.ts";
import { type FolderFacts, folderFacts } from "./folder-facts.ts";
import type { HeldRow } from "./held-row.ts";
import { FolderRows, type ReadRows, rowFileIn } from "./folder-rows.ts";
import { folderStatus } from "./folder-status.ts";
import { rolloutsOf, scoresOf } from "./folder-view.ts";

/** A folder of the list, as its files were when they were last looked at. */
export class Folder {
  readonly id: string;
  readonly path: string;
  readonly rows: FolderRows;
  #found: FoundRun;
  #facts: { readonly mark: string; readonly facts: FolderFacts } | null = null;
  #scores: { readonly of: ReadRows; readonly rows: number; readonly facts: FolderFacts; readonly scores: RunScores } | null = null;

  readonly #looked: (folder: Folder) => void;

  /** `looked`: told of every look at its rows. */
  constructor(id: string, found: FoundRun, held: HeldRow, looked: (folder: Folder) => void) {
    [this.id, this.path, this.#found, this.#looked] = [id, found.path, found, looked];
    this.rows = new FolderRows(found.path, held);
  }

  /** As it was found anew. */
  set found(found: FoundRun) {
    this.#found = found;
  }

  /** What it says of itself. */
  get facts(): FolderFacts {
    const mark = `${this.#found.changed} ${this.#found.shownPath}`;
    if (this.#facts?.mark !== mark) this.#facts = { mark, facts: folderFacts(this.#found) };
    return this.#facts.facts;
  }

  /** When anybody last wrote to it. Unix milliseconds. */
  get changed(): number {
    try {
      return Math.max(this.#found.changed, rowFileIn(this.path)?.changed ?? 0);
    } catch {
      // Whoever opens the folder is told why its rows cannot be read.
      return this.#found.changed;
    }
  }

  /** Its rows as they are now. Throws `storage_unavailable` where the file system does not give them. */
  async look(): Promise<ReadRows> {
    const { run } = this.facts;
    const rows = await this.rows.look({ clusterBy: run?.cluster_by, comparesPrompts: run?.foreign ?? true }).catch((error: unknown) => {
      if (systemCode(error) === null) throw error;
      throw new EdgewiseError("storage_unavailable", `The rows of ${this.#found.shownPath} cannot be read: ${reasonOf(error)}.`, {
        hint: "See to it that the user whose command this is may read the folder and its files (ls -la shows it); the page then goes on.",
      });
    });
    this.#looked(this);
    return rows;
  }

  /** Gives back the memory that its rows take. */
  forget(): void {
    this.rows.forget();
    this.#scores = null;
  }

  /** How sure the numbers of these rows are: they are gone through once. */
  scoresOf(rows: ReadRows, rollouts: number): RunScores {
    const known = this.#scores;
    const { facts } = this;
    if (known !== null && known.of === rows && known.rows === rows.index.rows && known.facts === facts) return known.scores;
    const scores = scoresOf(facts, rows, rollouts);
    this.#scores = { of: rows, rows: rows.index.rows, facts, scores };
    return scores;
  }

  rolloutsOf(rows: ReadRows): number {
    return rolloutsOf(this.facts, rows);
  }

  isSettled(rows: ReadRows, now: number): boolean {
    return folderStatus(this.facts, rows.index.rows, now - this.changed).isSettled;
  }
}
