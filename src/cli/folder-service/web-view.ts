/** `edgewise eval view --web [PATH]`: results folders of this machine in the pages of the dashboard. */
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { CommandContext } from "../service/command-context.ts";
import { dashboardAddress } from "../service/dashboard-address.ts";
import { assetsBeside } from "../service/runtime/assets.ts";
import { browserOf, startBrowser } from "../terminal/browser.ts";
import { thousands } from "../../report/text/format.ts";
import { CliError, EXIT, type ExitCode, reasonOf, systemCode } from "../terminal/cli-error.ts";
import { nothingFound } from "../view/eval-view.ts";
import type { Places } from "../view/find-runs.ts";
import { doorOfFolders } from "./door-of-folders.ts";
import { folderPorts } from "./folder-ports.ts";
import { FoundFolders } from "./found-folders.ts";
import { startWebServer } from "./web-server.ts";

const COMMAND = "npx edgewise eval view --web";

export interface WebWish {
  /** 0 = a free one. */
  readonly port: number;
  /** Nothing is opened. */
  readonly print: boolean;
}

/** Serves until somebody ends it. */
export async function webView({ cwd, env, terminal }: CommandContext, places: Places, { port, print }: WebWish): Promise<ExitCode> {
  const now = Date.now;
  const folders = new FoundFolders(cwd, places, now);
  const { length } = folders.all;
  if (length === 0) throw nothingFound(places, `${COMMAND} PATH`);
  const only = length === 1 && places.path !== null ? (folders.all[0]?.id ?? null) : null;
  const shown = places.path !== null ? resolve(cwd, places.path) : `${places.outputsDir}/evals, ${places.envDir}/*/outputs/evals`;
  // Built files lie beside the command.
  const assets = { fetch: assetsBeside(fileURLToPath(new URL("./cli.js", import.meta.url))) };
  const server = await startWebServer(port, doorOfFolders(folderPorts({ folders, shown, assets, now }))).catch((error: unknown) => {
    const why = systemCode(error) === "EADDRINUSE" ? "another program listens there" : reasonOf(error);
    throw new CliError(`port ${port} cannot be listened at: ${why}`, { hints: [`Leave --port out, and a free one is taken: ${COMMAND}`], cause: error });
  });
  try {
    const address = dashboardAddress(server.url, only);
    terminal.print(address);
    terminal.tell(`${length === 1 ? "One results folder" : `${thousands(length)} results folders`}, for looking at. Ctrl-C ends this.`);
    const browser = print ? null : browserOf(process.platform, env);
    if (!print && browser === null) terminal.tell("There is no display here: open the address in a browser.");
    const problem = browser === null ? null : await startBrowser(browser, address, { env, cwd });
    if (problem !== null) terminal.tell(`warning: the browser could not be started (${problem}): open the address in one.`);
    await ended();
    return EXIT.completed;
  } finally {
    await server.close();
  }
}

const ended = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
