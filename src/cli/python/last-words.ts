import type { ChildProcess } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

const MOST_CHARACTERS = 8 * 1024;
const MOST_LINES = 15;
const SETTLE_MS = 500;

/** The end of what a process has written to its standard error. */
export class LastWords {
  #text: string;

  constructor(lines: readonly string[] = []) {
    this.#text = lines.join("\n");
  }

  add(text: string): void {
    this.#text = (this.#text + text).slice(-MOST_CHARACTERS);
  }

  get text(): string {
    return this.#text.trim();
  }

  get lines(): readonly string[] {
    return this.text === "" ? [] : this.text.split("\n").slice(-MOST_LINES);
  }

  /** Waits for what is still in the pipe; something else may hold its other end. */
  async settled({ stderr }: ChildProcess): Promise<void> {
    if (stderr === null || stderr.readableEnded) return;
    await Promise.race([new Promise<void>((resolve) => stderr.once("close", () => resolve())), sleep(SETTLE_MS, undefined, { ref: false })]);
  }
}
