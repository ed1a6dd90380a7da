import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { isRunId } from "../../../r2-layout/keys.ts";
import { findRuns, type FoundRun, type Places } from "../view/find-runs.ts";
import { Folder } from "./folder.ts";
import { HeldRow } from "./held-row.ts";

/** Between two looks at which folders there are, in milliseconds: of thousands a look takes tenths of a second. */
const LOOK_MS = 3_000;
/** Rows in memory: at some hundred bytes each a few hundred megabytes. */
const MOST_ROWS = 1_000_000;
/** Hex characters of a run's id. */
const ID_LENGTH = 8;

/** The results folders of some places by their ids, looked for again now and then. */
export class FoundFolders {
  readonly #cwd: string;
  readonly #places: Places;
  readonly #now: () => number;
  readonly #mostRows: number;
  /** Of all folders. */
  readonly held = new HeldRow();
  #folders: ReadonlyMap<string, Folder> = new Map();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #changes = "";
  #counted = 0;
  #counting = false;
  /** Whose rows are in memory; the one that was looked at last stands last. */
  #read: readonly Folder[] = [];

  /** `mostRows`: that are held of all folders together, but those of one are, however many. */
  constructor(cwd: string, places: Places, now: () => number, mostRows = MOST_ROWS) {
    [this.#cwd, this.#places, this.#now, this.#mostRows] = [cwd, places, now, mostRows];
  }

  /** All of them. Throws a usage error where the place is not there. */
  get all(): readonly Folder[] {
    this.#look();
    return [...this.#folders.values()];
  }

  of(id: string): Folder | null {
    this.#look();
    return this.#folders.get(id) ?? null;
  }

  /** Another text when there are other folders, or other things in them. */
  get changes(): string {
    this.#look();
    return `${this.#changes}-${this.#counted}`;
  }

  /** Counts the rows of folders that do not say how many they have, one after the other; the list has changed when it is done. */
  count(folders: readonly Folder[]): void {
    if (this.#counting || folders.length === 0) return;
    this.#counting = true;
    void this.#countAll(folders).finally(() => {
      this.#counting = false;
    });
  }

  async #countAll(folders: readonly Folder[]): Promise<void> {
    for (const folder of folders) {
      // Whoever opens the folder is told what is wrong with it.
      const isRead = await folder.look().then(
        () => true,
        () => false,
      );
      if (isRead) this.#counted += 1;
    }
  }

  /** Gives the memory of those back that nobody has looked at for longest. */
  #keep(looked: Folder): void {
    this.#read = [...this.#read.filter((each) => each !== looked), looked];
    const rowsOf = ({ rows }: Folder): number => rows.counts?.rows ?? 0;
    let left = this.#read.reduce((sum, each) => sum + rowsOf(each), 0);
    while (left > this.#mostRows && this.#read.length > 1) {
      const [oldest, ...others] = this.#read;
      if (oldest === undefined) return;
      left -= rowsOf(oldest);
      oldest.forget();
      this.#read = others;
    }
  }

  /** A place that was there and is gone has no folders any more. */
  #found(): readonly FoundRun[] {
    try {
      return findRuns(this.#cwd, this.#places);
    } catch (error) {
      if (this.#lookedAt === Number.NEGATIVE_INFINITY) throw error;
      return [];
    }
  }

  #look(): void {
    if (this.#now() - this.#lookedAt < LOOK_MS) return;
    const found = this.#found();
    const known = new Map([...this.#folders.values()].map((folder) => [folder.path, folder]));
    const folders = new Map<string, Folder>();
    for (const [id, run] of withIds(found)) {
      const before = known.get(run.path);
      const folder = before?.id === id ? before : new Folder(id, run, this.held, (looked) => this.#keep(looked));
      folder.found = run;
      folders.set(id, folder);
    }
    this.#folders = folders;
    const mark = createHash("sha256");
    for (const { path, changed } of found) mark.update(`${path}\n${changed}\n`);
    this.#changes = mark.digest("hex");
    this.#lookedAt = this.#now();
  }
}

/** A folder that is named as a run is has its id; another one, and one of several of that name, a digest of its place. */
function withIds(found: readonly FoundRun[]): ReadonlyMap<string, FoundRun> {
  const named = new Map<string, number>();
  for (const { path } of found) named.set(basename(path), (named.get(basename(path)) ?? 0) + 1);
  const ids = new Map<string, FoundRun>();
  for (const run of found) if (isOwn(run, named)) ids.set(basename(run.path), run);
  for (const run of found) {
    if (isOwn(run, named)) continue;
    let id = digestOf(realPath(run.path));
    while (ids.has(id)) id = digestOf(`${id} ${run.path}`);
    ids.set(id, run);
  }
  return ids;
}

/** As it is named where nobody can tell: it went a moment ago. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const isOwn = ({ path }: FoundRun, named: ReadonlyMap<string, number>): boolean => isRunId(basename(path)) && named.get(basename(path)) === 1;
const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, ID_LENGTH);
