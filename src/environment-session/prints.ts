import { withSources } from "../errors/own-frames.ts";
import type { Outbox } from "../environment-protocol/outbox.ts";
import type { EnvironmentLine, Printer } from "../logging/environment-line.ts";

/** Prints that are told, and characters of one. */
const MAX_PRINTS = 1_000;
const MAX_CHARACTERS = 16_000;

/** What the environment's code prints, on its way to the other side. */
export class Prints implements Printer {
  readonly #outbox: Outbox;
  #prints = 0;

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  print(level: EnvironmentLine["level"], text: () => string): void {
    if (++this.#prints > MAX_PRINTS + 1) return;
    if (this.#prints > MAX_PRINTS)
      this.#outbox.put({ type: "print", level: "WARNING", text: `what is printed further is left out, after ${MAX_PRINTS} prints` });
    else this.#outbox.put({ type: "print", level, text: withSources(text().slice(0, MAX_CHARACTERS)) });
  }
}
