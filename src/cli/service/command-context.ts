import type { Surroundings } from "./service.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** What every command is given. */
export interface CommandContext extends Surroundings {
  readonly terminal: Terminal;
}
