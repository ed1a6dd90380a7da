/** What the code of an environment says, as the log of a run has it. */
import type { StoredEvent } from "./stored-event.ts";

export interface EnvironmentLine {
  readonly level: StoredEvent["level"];
  /** A single line, without the mark. */
  readonly message: string;
}

/** Takes what is printed. `text` is made only where it is kept. */
export interface Printer {
  print(level: EnvironmentLine["level"], text: () => string): void;
}

/** No message of the engine begins so: what an environment prints cannot pass for one. */
const MARK = "[env] ";

export const markedLine = (message: string): string => `${MARK}${message}`;
export const isEnvironmentLine = (message: string): boolean => message.startsWith(MARK);
