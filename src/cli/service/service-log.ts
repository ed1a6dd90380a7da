import { appendFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { systemCode } from "../terminal/cli-error.ts";

const MAX_BYTES = 8 * 1024 * 1024;

/** `service.log` of a state folder: everything the runtime says, none of which belongs on the terminal. */
export class ServiceLog {
  readonly path: string;

  constructor(folder: string) {
    this.path = join(folder, "service.log");
    try {
      if (statSync(this.path).size > MAX_BYTES) renameSync(this.path, `${this.path}.1`);
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
    }
  }

  write(level: string, message: string): void {
    const time = new Date().toISOString().slice(0, 19).replace("T", " ");
    try {
      appendFileSync(this.path, `${time} - service - ${level.toUpperCase()} - ${stripVTControlCharacters(message)}\n`);
    } catch {
      // A full disk must not end the service because of its log.
    }
  }
}
