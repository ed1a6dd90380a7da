/** Where an evaluator's results are, and which job they are of. */
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { EdgewiseError } from "../../errors/result.ts";

/** Content of `results.json`. */
export interface StoredResults {
  readonly job: string;
  readonly project: string;
  readonly group: string;
  /** By the name of each evaluation. */
  readonly results: Readonly<Record<string, number>>;
  /** Rollouts without a score that the model is to blame for, by evaluation; absent = there are none. They are in no number. */
  readonly unscored?: Readonly<Record<string, number>>;
}

/** Which job it is: another one of the same name begins anew, and a resume goes on with this one. */
interface StoredJob {
  readonly version: 1;
  readonly id: string;
  /** Digest of what is evaluated, and how. */
  readonly settings: string;
}

/** The folder of a job: `<results>/<project>/<group>/<job>`. */
export class ResultsFolder {
  readonly #folder: string;

  constructor(results: string, project: string, group: string, job: string) {
    this.#folder = join(resolve(results), project, group, job);
  }

  get file(): string {
    return join(this.#folder, "results.json");
  }

  /** Null where there are none yet. Throws where they cannot be read. */
  results(): StoredResults | null {
    return this.#read<StoredResults>(this.file);
  }

  write(results: StoredResults): void {
    this.#write(this.file, results);
  }

  /** The id of the job that is to be gone on with; null where there is none. Throws `resume_mismatch` where it evaluates something else. */
  resumed(settings: string): string | null {
    const file = this.#job;
    const known = this.#read<StoredJob>(file);
    if (known !== null && known.version !== 1)
      throw new EdgewiseError("invalid_request", `${file} is of version ${String(known.version)}, and this version of edgewise reads 1`, {
        hint: "update edgewise",
      });
    if (known !== null && known.settings !== settings)
      throw new EdgewiseError("resume_mismatch", `${file} is of a job with another model or other evaluations`, {
        hint: "leave out resume to begin anew, or name another job",
      });
    return known?.id ?? null;
  }

  /** A new job is the one of this folder from here on, and its results replace those that are there. */
  begin(id: string, settings: string): void {
    rmSync(this.file, { force: true });
    this.#write(this.#job, { version: 1, id, settings } satisfies StoredJob);
  }

  get #job(): string {
    return join(this.#folder, "evaluator.json");
  }

  #read<Content>(file: string): Content | null {
    let text: string;
    try {
      text = readFileSync(file, "utf8");
    } catch (error) {
      if ((error as { code?: unknown }).code === "ENOENT") return null;
      throw error;
    }
    try {
      return JSON.parse(text) as Content;
    } catch (cause) {
      throw new EdgewiseError("invalid_request", `${file} is damaged: it is no JSON`, { cause, hint: "remove it; what was evaluated is in the service" });
    }
  }

  /** All of it or nothing. */
  #write(file: string, content: object): void {
    mkdirSync(dirname(file), { recursive: true });
    const part = `${file}.${randomUUID()}.part`;
    writeFileSync(part, `${JSON.stringify(content, null, 2)}\n`);
    renameSync(part, file);
  }
}
