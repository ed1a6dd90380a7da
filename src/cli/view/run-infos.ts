/** Metadata of runs, read when somebody asks to see it, a few at a time, and kept. */
import { type FoundRun, loadInfo, type RunInfo } from "./find-runs.ts";

const AT_ONCE = 16;

export class RunInfos {
  private readonly known = new Map<string, RunInfo>();
  private readonly waiting = new Set<string>();
  private active = 0;
  private readonly changed: () => void;

  constructor(changed: () => void) {
    this.changed = changed;
  }

  /** Null while it is being read; `changed` is called when it has been. */
  get({ path }: FoundRun): RunInfo | null {
    const info = this.known.get(path);
    if (info !== undefined) return info;
    this.waiting.add(path);
    this.fill();
    return null;
  }

  /** Reads a run's file again; until then the old content stays. */
  refresh({ path }: FoundRun): void {
    this.waiting.add(path);
    this.fill();
  }

  private fill(): void {
    while (this.active < AT_ONCE && this.next());
  }

  private next(): boolean {
    const [path] = this.waiting;
    if (path === undefined) return false;
    this.waiting.delete(path);
    this.active += 1;
    void loadInfo(path).then((info) => {
      this.known.set(path, info);
      this.active -= 1;
      this.next();
      this.changed();
    });
    return true;
  }
}
