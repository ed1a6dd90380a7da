/** `edgewise serve`: the service on this machine until Ctrl-C. */
import { setTimeout as sleep } from "node:timers/promises";
import { EMBEDDED_BASE_URL, EMBEDDED_MODEL } from "../../../config/endpoints/providers.ts";
import { CliError, EXIT, type ExitCode } from "../../terminal/cli-error.ts";
import type { CommandContext } from "../../service/command-context.ts";
import { CrashLoop } from "../../service/crash-loop.ts";
import { watchDisk } from "../../disk/disk-watch.ts";
import { replacement, servedEnvironments } from "../../environments/local-environments.ts";
import { Interrupts } from "../../terminal/interrupts.ts";
import { watchState } from "../../state/state-damage.ts";
import { watchMissed } from "../../schedules/missed-watch.ts";
import { dashboardAddress } from "../../service/dashboard-address.ts";
import { openService } from "../../service/open-service.ts";

export interface ServeOptions {
  readonly port: number;
  /** Environments of this machine, beside those in the folder of environments. */
  readonly paths: readonly string[];
  readonly envDir: string;
}

export async function serve(command: CommandContext & ServeOptions): Promise<ExitCode> {
  const { terminal, env, cwd, paths, envDir } = command;
  if (env.EDGEWISE_URL) throw new CliError("EDGEWISE_URL names a service that runs already; unset it to run one here", { exitCode: EXIT.usage });
  const { environments, worker } = await servedEnvironments(paths, cwd, envDir);
  // Alarms that were due come as soon as the runtime is up, which is before the service is handed out here.
  const startedAt = Date.now();
  const interrupts = new Interrupts();
  const crashes = new CrashLoop();
  const onCrash = (environments: readonly string[]): void => terminal.tell(crashes.note(environments));
  const onHang = (environments: readonly string[]): void => terminal.tell(crashes.hung(environments));
  try {
    const service = await openService({ ...command, command: "edgewise serve", keyNames: [], attended: false, stays: true, worker, onCrash, onHang });
    if (service.role === "client") {
      await service.close();
      const { pid, command: other } = service.owner ?? { pid: 0, command: "" };
      throw new CliError(`a service for this folder runs already: ${service.url} (process ${pid}, ${other})`, {
        hints: ["Use that one, end it, or set EDGEWISE_STATE_DIR to another folder."],
      });
    }
    try {
      const lost = new AbortController();
      const signal = AbortSignal.any([interrupts.signal, crashes.signal, lost.signal]);
      watchMissed(service.client, signal, startedAt, (line) => terminal.tell(line));
      if (service.stateFolder !== null) {
        watchDisk(service.stateFolder, (line) => terminal.tell(line));
        watchState(service.stateFolder, (error) => lost.abort(error));
      }
      for (const own of environments) {
        const instead = replacement(own, cwd);
        if (instead !== null) terminal.tell(`warning: ${instead}`);
      }
      for (const line of welcome(
        service.url,
        environments.map(({ id }) => id),
      ))
        terminal.print(line);
      while (!signal.aborted) await sleep(60_000, undefined, { signal }).catch(() => undefined);
      for (const broken of [crashes.signal, lost.signal]) if (broken.aborted) throw broken.reason;
      terminal.tell("Ending; unfinished runs go on when the service is started again.");
      // Ctrl-C is how a service ends.
      return EXIT.completed;
    } finally {
      await service.close();
    }
  } finally {
    interrupts.dispose();
  }
}

function welcome(url: string, environments: readonly string[]): readonly string[] {
  const body = JSON.stringify({
    environment_ids: ["arithmetic"],
    inference_model: EMBEDDED_MODEL,
    eval_config: { num_examples: 5, api_base_url: EMBEDDED_BASE_URL },
  });
  return [
    `Edgewise listens on ${url} (Ctrl-C ends it).`,
    `Dashboard: ${dashboardAddress(url)}`,
    `Environments: ${environments.join(", ")}`,
    `Start a run from another terminal in this folder:  npx edgewise eval run arithmetic --provider ${EMBEDDED_BASE_URL}`,
    `Or over HTTP:  curl -X POST ${url}/api/v1/hosted-evaluations -H 'content-type: application/json' -d '${body}'`,
  ];
}
