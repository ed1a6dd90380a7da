/** `edgewise open [RUN]`: the dashboard of the service, in a browser. */
import { basename, resolve } from "node:path";
import { ServiceError } from "../connection/http-client.ts";
import type { CommandContext } from "../service/command-context.ts";
import { dashboardAddress } from "../service/dashboard-address.ts";
import { explain } from "../service/explain.ts";
import { openService } from "../service/open-service.ts";
import type { Service } from "../service/service.ts";
import { ownerLives, readLock } from "../state/state-lock.ts";
import { stateFolder } from "../state/state-folder.ts";
import { browserOf, startBrowser } from "../terminal/browser.ts";
import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import { aboutRun, mustBeRunId } from "./ask-service.ts";

export interface OpenWish {
  /** Run id, or path of its results folder; null = the list of runs. */
  readonly run: string | null;
  /** Nothing is opened. */
  readonly print: boolean;
}

export async function openPage(context: CommandContext, { run, print }: OpenWish): Promise<ExitCode> {
  const { terminal, env, cwd } = context;
  const runId = run === null ? null : mustBeRunId(basename(resolve(cwd, run)));
  if (!env.EDGEWISE_URL) mustRun(context);
  const service = await openService({ ...context, command: "edgewise open", port: 0, keyNames: [], attended: false, idle: true, onCrash: () => undefined });
  try {
    if (service.role === "owner") throw nothingRuns();
    if (runId !== null) await mustBeKnown(runId, service, context);
    const address = dashboardAddress(service.url, runId);
    terminal.print(address);
    const { owner } = service;
    if (owner !== null && !owner.stays)
      terminal.tell(`This service ends with process ${owner.pid} (${owner.command}); \`npx edgewise serve\` runs one that stays.`);
    if (print) return EXIT.completed;
    const browser = browserOf(process.platform, env);
    if (browser === null) terminal.tell("There is no display here: open the address in a browser.");
    else {
      const problem = await startBrowser(browser, address, { env, cwd });
      if (problem !== null) terminal.tell(`warning: the browser could not be started (${problem}): open the address in one.`);
    }
    return EXIT.completed;
  } finally {
    await service.close();
  }
}

/** A service that were started for this would end with it, and its pages with it. */
function mustRun({ env, cwd }: CommandContext): void {
  const owner = readLock(stateFolder(env, cwd));
  if (owner === null || !ownerLives(owner)) throw nothingRuns();
}

const nothingRuns = (): CliError =>
  new CliError("no service runs in this folder", {
    hints: ["Start one in another terminal of this folder: npx edgewise serve", "For one that runs elsewhere set EDGEWISE_URL."],
  });

/** Where the service wants a token that this command does not have, the browser may yet be signed in. */
async function mustBeKnown(runId: string, service: Service, { env }: CommandContext): Promise<void> {
  try {
    await aboutRun(runId, service, service.client.run(runId));
  } catch (error) {
    if (error instanceof ServiceError && (error.status === 401 || error.status === 403)) return;
    throw explain(error, { service, env, wish: null });
  }
}
