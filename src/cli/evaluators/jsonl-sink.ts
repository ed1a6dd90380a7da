import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { Sink } from "../../training/sink.ts";
import { reasonOf, usageError } from "../terminal/cli-error.ts";
import type { ListedPoint } from "./evaluator-answer.ts";

/** A file of points, a line of JSON for each; one that is there already goes on with those that it lacks. */
export class JsonlSink implements Sink<ListedPoint> {
  readonly #path: string;
  readonly #known: Set<string>;

  /** Throws a usage error for a file that cannot be read, or holds something else. `file`: as it was typed. */
  constructor(path: string, file: string) {
    this.#path = path;
    try {
      const text = existsSync(path) ? readFileSync(path, "utf8") : "";
      // A line that was being written when its process was killed is written again behind it.
      const lines = text.split("\n").slice(0, -1);
      if (text !== "" && !text.endsWith("\n")) appendFileSync(path, "\n");
      this.#known = new Set(lines.flatMap((line) => keyOfLine(line)));
    } catch (error) {
      throw usageError(`the file ${file} cannot be gone on with: ${reasonOf(error)}`);
    }
  }

  async post(points: readonly ListedPoint[]): Promise<void> {
    const lacking = points.filter((point) => !this.#known.has(keyOf(point)));
    if (lacking.length === 0) return;
    appendFileSync(this.#path, lacking.map((point) => `${JSON.stringify(point)}\n`).join(""));
    for (const point of lacking) this.#known.add(keyOf(point));
  }
}

const keyOf = ({ name, step, run_id }: Pick<ListedPoint, "name" | "step" | "run_id">): string => `${name} ${step} ${run_id}`;

function keyOfLine(line: string): readonly string[] {
  try {
    return [keyOf(JSON.parse(line) as ListedPoint)];
  } catch {
    return [];
  }
}
