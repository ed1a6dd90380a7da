/** Which run a print of environment code belongs to. Knows the platform: the runtime alone can tell who called. */
import { AsyncLocalStorage } from "node:async_hooks";
import { formatWithOptions } from "node:util";
import { HiddenValues, hiddenBy, mask } from "../errors/masking.ts";
import type { EnvironmentLine, Printer } from "./environment-line.ts";

const LEVELS = {
  log: "INFO",
  info: "INFO",
  dir: "INFO",
  table: "INFO",
  debug: "DEBUG",
  trace: "DEBUG",
  warn: "WARNING",
  error: "ERROR",
} as const satisfies Record<string, EnvironmentLine["level"]>;

const STYLE = { depth: 4, breakLength: 160, maxArrayLength: 50, maxStringLength: 4_000 };

const printers = new AsyncLocalStorage<Printer>();
const hidden = new AsyncLocalStorage<HiddenValues>();
hiddenBy(() => hidden.getStore() ?? null);

/** None of `values` stands in what `work`, and everything it starts, writes or prints. */
export const hiding = <T>(values: readonly string[], work: () => T): T => (values.length === 0 ? work() : hidden.run(new HiddenValues(values), work));

/** As it was: what the engine itself says goes to the log of the Worker, whoever it is working for. */
const platformWarn = console.warn.bind(console);

/** Prints made by `work`, and by everything it starts, go to `printer`. */
export const printsTo = <T>(printer: Printer, work: () => T): T => printers.run(printer, work);

export const engineLog = (message: string): void => platformWarn(`executor: ${message}`);

/** Code of an environment may be asked how its objects look. */
function textOf(args: readonly unknown[]): string {
  try {
    return formatWithOptions(STYLE, ...args);
  } catch {
    return "(something that cannot be printed)";
  }
}

// Before the modules of environments are loaded, which may keep these functions for themselves.
for (const [method, level] of Object.entries(LEVELS) as [keyof typeof LEVELS, EnvironmentLine["level"]][]) {
  const platform = console[method].bind(console) as (...args: unknown[]) => void;
  console[method] = (...args: unknown[]): void => {
    const printer = printers.getStore();
    if (printer === undefined && hidden.getStore() === undefined) platform(...args);
    else if (printer === undefined) platform(mask(textOf(args)));
    else printer.print(level, () => textOf(method === "dir" || method === "table" ? args.slice(0, 1) : args));
  };
}
