/** Everything that is wrong with the evaluations that a command asks for, told at once. */
import { didYouMean } from "../../../config/nearest.ts";
import { EdgewiseError } from "../../../errors/result.ts";
import { argumentProblems } from "../../environments/check-arguments.ts";
import { type KnownEnvironment, mayBePublished } from "../../environments/local-environments.ts";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import { checkDataset } from "../../datasets/dataset-upload.ts";
import type { EvalWish } from "./eval-wish.ts";
import { placesOf } from "./played-benchmark.ts";
import { wishedDataset } from "./wished-dataset.ts";
import { benchmarkHints } from "../../datasets/benchmarks-by-id.ts";

export class WishProblems {
  readonly #named: string;
  readonly #problems: { readonly text: string; readonly hints: readonly string[] }[] = [];

  /** `named`: what was typed. */
  constructor(named: string) {
    this.#named = named;
  }

  add(text: string, ...hints: readonly (string | undefined)[]): void {
    // Combinations of one block have what is wrong with it in common.
    if (this.#problems.some((known) => known.text === text)) return;
    this.#problems.push({ text, hints: hints.filter((hint) => hint !== undefined) });
  }

  /** Null where it throws what is the user's to mend; `place`: where the file says it. */
  attempt<T>(place: string | null, work: () => T): T | null {
    try {
      return work();
    } catch (error) {
      this.#caught(place, error);
      return null;
    }
  }

  /** The same for what takes its time; undefined where it throws. */
  async attemptLater<T>(place: string | null, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#caught(place, error);
      return undefined;
    }
  }

  #caught(place: string | null, error: unknown): void {
    if (error instanceof CliError) this.add(at(place, error.message), ...error.hints);
    else if (error instanceof EdgewiseError) this.add(at(place, error.message), error.hint);
    else throw error;
  }

  /** What of an evaluation can be known to fail before a service is asked. `environments`: of this machine; null = the service elsewhere knows them. */
  look(wish: EvalWish, environments: readonly KnownEnvironment[] | null, cwd: string): void {
    const { envId, reference, given, place, isPython, isLinked } = wish;
    const envArgs = given.env_args ?? {};
    // One in Python, or a linked one, stands in the place of any that is called so here, and checks its arguments itself.
    const isElsewhere = isPython === true || isLinked === true;
    const environment = isElsewhere ? undefined : environments?.find(({ id }) => id === envId);
    if (environments !== null && environment === undefined && !isElsewhere && !mayBePublished(envId)) {
      const ids = environments.map(({ id }) => id);
      this.add(
        at(place, `there is no environment ${JSON.stringify(reference)}${didYouMean(envId, ids)}`),
        `Available: ${ids.join(", ")}.`,
        ...benchmarkHints(envId, placesOf(given, cwd)),
      );
    }
    if (environment !== undefined) for (const problem of argumentProblems(environment, envArgs)) this.add(at(place, problem));
    const dataset = wishedDataset(wish, cwd);
    if (dataset !== null) this.attempt(place === null ? null : `${place}: env_args.dataset`, () => checkDataset(dataset));
  }

  /** Throws a usage error with all of them, where there are any. */
  refuse(): void {
    const [first, second] = this.#problems;
    if (first === undefined) return;
    if (second === undefined) throw usageError(first.text, ...first.hints);
    throw usageError(`${this.#named} has ${this.#problems.length} problems`, ...this.#problems.map(({ text }) => text));
  }
}

const at = (place: string | null, text: string): string => (place === null ? text : `${place}: ${text}`);
